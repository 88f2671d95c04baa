"""Calls that a script in JavaScript writes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.code import method_calls
from observer.code.literals import MOST, MOST_CHARS


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("1", 1),
        ("-2.5", -2.5),
        ("1_000", 1000),
        ("[true, false, null, undefined]", [True, False, None, None]),
        ("[1, /* two */ 2,]", [1, 2]),
        ("{a: 1, 'b c': [{d: 'e'}]}", {"a": 1, "b c": [{"d": "e"}]}),
        ("{a: 1, ...more, b() {}, c: f(2), [d]: 3}", {"a": 1, "[d]": 3}),
        ("'\\ud83d\\ude00 \\ud83d'", "😀 \N{REPLACEMENT CHARACTER}"),
        ("'a\\\nb\\t\\q\\u{110000}'", "ab\tq"),
        ("`a\nb`", "a\nb"),
        ("String.raw`a\\n`", "a\\n"),
        ("['a', 'b'].join(' && ')", "a && b"),
        ("['a', 'b'].join()", "a,b"),
        ("/* first */ 'x'", "x"),
        ("'a tools.read(1) b'", "a tools.read(1) b"),
    ],
)
def test_a_value_that_is_written_out_is_known(argument: str, value: Any) -> None:
    assert method_calls(f"const r = await tools.read({argument}, 2);", "tools") == [("read", value)]


@pytest.mark.parametrize(
    "script",
    [
        "tools.read()",
        "tools.read(x)",
        "tools.read(1e5)",
        "tools.read(12345678901234567890)",
        "tools.read(-x)",
        "tools.read('a' + 'b')",
        "tools.read(`a${b}`)",
        "tools.read(String.raw`a${b}`)",
        "tools.read(String.raw('a'))",
        "tools.read(f('a'))",
        "tools.read(f`a`)",
        "tools.read('a'.join('b'))",
        "tools.read(['a'].join(1))",
        "tools.read(['a'].slice(1))",
        "tools.read([x])",
        f"tools.read({'[' * 30}{']' * 30})",
        "others.read(1)",
        "read(1)",
        "// tools.read(1)",
        "let x = 1; let x = f(); tools.read(x)",
        f"tools.read('{'x' * MOST_CHARS}')",
        f"{'[' * 9_000} tools.read(1)",
        "t.a(1);" * 5_000 + "tools.read(1)",
    ],
)
def test_what_is_computed_or_too_much_is_no_call(script: str) -> None:
    assert method_calls(script, "tools") == []


def test_a_name_stands_for_its_value() -> None:
    script = "const a = 'x', b = {a};\ntools.read(b); tools.read({c: a});"
    assert [one.argument for one in method_calls(script, "tools")] == [{"a": "x"}, {"c": "x"}]


def test_calls_come_in_the_order_of_the_script() -> None:
    script = "await Promise.all([tools.a(1), tools.b(2)]);\nif (x) { tools.c(3) }"
    assert [one.method for one in method_calls(script, "tools")] == ["a", "b", "c"]


def test_the_rest_of_a_broken_script_is_read() -> None:
    assert method_calls("tools.a(1);\nconst r = tools.b({c: 2", "tools")[0] == ("a", 1)


def test_no_more_than_some_calls_are_read() -> None:
    assert len(method_calls("tools.a(1);" * (MOST + 1), "tools")) == MOST


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(JSON, st.booleans())
def test_json_is_written_out(value: Any, is_ascii: bool) -> None:
    said = json.dumps(value, ensure_ascii=is_ascii)
    assert method_calls(f"tools.a({said})", "tools") == [("a", value)]
