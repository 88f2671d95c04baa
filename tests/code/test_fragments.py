"""What is shown to be torn has no sound tree; what may be whole is left to the parser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.code.outline import is_truncated, parse_symbols


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('def f():\n    """Say', id="long-string-begins"),
        pytest.param('it."""\n    return 1\n', id="long-string-ends"),
        pytest.param("x = '''", id="other-quotes"),
        pytest.param("    a,\n)\n", id="closed-only"),
        pytest.param("f(\n    '(',  # )\n", id="never-closed"),
    ],
)
def test_a_text_cut_amid_a_string_or_brackets_is_torn(text: str) -> None:
    assert is_truncated(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = '(' + \"{\"  # [\n", id="brackets-in-strings"),
        pytest.param('"#""Say ""[it"""\n', id="strings-side-by-side"),
        pytest.param('x = f"{")"}"\n', id="formatted"),
        pytest.param('x = fr"""{y}""" + (\n', id="long-and-formatted"),
        pytest.param("x = '\n(", id="one-line-string-goes-on"),
        pytest.param("f(x)\n", id="whole"),
    ],
)
def test_what_is_not_certain_is_not_shown(text: str) -> None:
    assert not is_truncated(text)


PARTS = st.lists(
    st.sampled_from(
        ["def f(x):\n", "    ", "\n", "x", '"', "'", '"""', "f", "r", "\\", "#", *"(){}"]
    )
).map("".join)


@given(PARTS)
def test_what_is_torn_has_no_sound_tree(text: str) -> None:
    assert not is_truncated(text) or parse_symbols(text, "python") is None
