"""A JSON text is edited where it must be, and nowhere else."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.clients.config_files import jsonc
from tests.support import json_of

COMMENTED = """\
// mine
{
    /* first */
    "a": 1, // one
    "list": [
        "x", // ex
    ],
    "url": "http://host/*no comment*/", // here
}
"""


@pytest.mark.parametrize(
    ("text", "path", "value", "after"),
    [
        pytest.param("", ("a",), 1, '{\n  "a": 1\n}\n', id="empty"),
        pytest.param("// c", ("a",), 1, '// c\n{\n  "a": 1\n}\n', id="only-a-comment"),
        pytest.param("{}", ("a",), 1, '{\n  "a": 1\n}', id="empty-object"),
        pytest.param('{"a": 1}', ("b",), [2], '{"a": 1, "b": [2]}', id="one-line"),
        pytest.param('{"a": 1,}', ("b",), 2, '{"a": 1, "b": 2}', id="one-line-comma"),
        pytest.param('{"a": 1}', ("a",), {"b": 2}, '{"a": {\n  "b": 2\n}}', id="replace"),
        pytest.param(
            '{\n\t"a": {}\n}', ("a", "b"), 1, '{\n\t"a": {\n\t\t"b": 1\n\t}\n}', id="tabs-and-depth"
        ),
        pytest.param(
            "{}", ("a", "b", 0), 1, '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}', id="made"
        ),
        pytest.param('{"a": [1]}', ("a", 1), 2, '{"a": [1, 2]}', id="append"),
        pytest.param('{"a": [1, 2]}', ("a", 0), 3, '{"a": [3, 2]}', id="replace-in-list"),
        pytest.param('{"a": 1, "a": 2}', ("a",), 3, '{"a": 1, "a": 3}', id="last-of-two"),
        pytest.param('\ufeff{"a": 1}', ("a",), 2, '\ufeff{"a": 2}', id="byte-order-mark"),
        pytest.param('{"\\u0061": 1}', ("a",), 2, '{"\\u0061": 2}', id="escaped-key"),
    ],
)
def test_put_sets_a_value_there(text: str, path: jsonc.Path, value: object, after: str) -> None:
    assert jsonc.put(text, path, value) == after


def test_put_keeps_every_comment_and_its_place() -> None:
    text = jsonc.put(jsonc.put(COMMENTED, ("b",), {"c": [1]}), ("list", 1), "y")
    assert text == COMMENTED.replace('"x", // ex\n', '"x", // ex\n        "y"\n').replace(
        ", // here\n", ', // here\n    "b": {\n        "c": [\n            1\n        ]\n    }\n'
    )


@pytest.mark.parametrize(
    ("text", "path", "wrong"),
    [
        pytest.param('{"a": 1}', ("a", "b"), "a is not an object", id="number"),
        pytest.param('{"a": []}', ("a", "b"), "a is not an object", id="list"),
        pytest.param('{"a": {"b": {}}}', ("a", "b", 0), "a.b is not a list", id="object"),
    ],
)
def test_put_never_replaces_what_is_in_the_way(text: str, path: jsonc.Path, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        jsonc.put(text, path, 2)


@pytest.mark.parametrize(
    ("text", "path", "after"),
    [
        pytest.param('{"a": 1, "b": 2}', ("a",), '{"b": 2}', id="first"),
        pytest.param('{"a": 1, "b": 2}', ("b",), '{"a": 1}', id="last"),
        pytest.param('{\n  "a": 1,\n  "b": 2\n}', ("a",), '{\n  "b": 2\n}', id="first-line"),
        pytest.param('{\n  "a": 1,\n  "b": 2\n}', ("b",), '{\n  "a": 1\n}', id="last-line"),
        pytest.param('{\n  "a": 1, // c\n  "b": 2\n}', ("b",), '{\n  "a": 1 // c\n}', id="comment"),
        pytest.param('{"a": {"b": [1]}, "c": 2}', ("a", "b", 0), '{"c": 2}', id="emptied-go"),
        pytest.param('{"a": {"b": 1}}', ("a", "b"), "{}", id="root-stays"),
        pytest.param('{"a": {"b": 1, "c": 2}}', ("a", "b"), '{"a": {"c": 2}}', id="others-stay"),
        pytest.param('{"a": [1, 2, 3]}', ("a", 1), '{"a": [1, 3]}', id="middle-of-list"),
        pytest.param('{"a": 1}', ("b",), '{"a": 1}', id="not-there"),
        pytest.param('{"a": 1}', ("b", "c"), '{"a": 1}', id="nor-its-object"),
        pytest.param('{"a": [1]}', ("a", 7), '{"a": [1]}', id="nor-its-place"),
    ],
)
def test_remove_takes_one_value_out(text: str, path: jsonc.Path, after: str) -> None:
    assert jsonc.remove(text, path) == after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": ', id="cut"),
        pytest.param("{'a': 1}", id="quotes"),
        pytest.param('{"a": 1} x', id="more"),
        pytest.param('{"a": 1/**/2}', id="joined-by-a-comment"),
        pytest.param("[" * 5000, id="deep"),
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not valid JSON"):
        jsonc.load(text)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("a",), 1, id="value"),
        pytest.param(("list", 0), "x", id="place"),
        pytest.param(("list", 3), None, id="no-place"),
        pytest.param(("a", "b"), None, id="below-a-number"),
        pytest.param(("url",), "http://host/*no comment*/", id="no-comment-in-strings"),
    ],
)
def test_at_reads_past_comments(path: jsonc.Path, value: object) -> None:
    assert jsonc.at(COMMENTED, path) == value


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8)
values = json_of(scalars, st.text(max_size=4), most=12)
objects = st.dictionaries(st.text(max_size=4), values, max_size=4)
layouts = st.sampled_from([0, 1, 2, 4, -1])
NOISE = ["/* c */", "// c\n", " ", "\n", "\t"]
noises = st.lists(st.sampled_from(NOISE), max_size=5)


def written(value: object, indent: int, noise: list[str]) -> str:
    """Lay a value out, with noise wherever JSON with comments allows it."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()
    parts = re.split(r'("(?:[^"\\]|\\.)*"|[,\[\]{}:])', text)
    if not noise:
        return text
    return "".join(part + (noise[n % len(noise)] if n % 2 else "") for n, part in enumerate(parts))


@given(objects, layouts, noises, st.text(max_size=4), values)
def test_put_changes_one_member_and_remove_takes_it_back(
    value: dict[str, object], indent: int, noise: list[str], key: str, new: object
) -> None:
    text = written(value, indent, noise)
    assert jsonc.load(text) == value
    after = jsonc.put(text, (key,), new)
    assert jsonc.load(after) == {**value, key: new}
    if key not in value:
        assert after.count("/* c */") == text.count("/* c */")
    rest = {name: other for name, other in value.items() if name != key}
    assert jsonc.load(jsonc.remove(after, (key,))) == rest


def test_a_comment_before_the_last_member_ends_before_what_follows() -> None:
    assert jsonc.load(jsonc.remove('{// why\n"a": 1}', ("a",))) == {}


@given(st.lists(values, max_size=4), layouts, st.integers(0, 4))
def test_lists_grow_and_shrink_by_one(value: list[object], indent: int, place: int) -> None:
    text = written({"a": [*value, "last"], "b": 0}, indent, [])
    assert jsonc.at(jsonc.put(text, ("a", len(value) + 1), 1), ("a",)) == [*value, "last", 1]
    kept = [other for n, other in enumerate([*value, "last"]) if n != place]
    assert (jsonc.at(jsonc.remove(text, ("a", place)), ("a",)) or []) == kept


def test_an_address_in_a_string_is_no_comment() -> None:
    assert all(map(jsonc.has_comment, (COMMENTED, '{"a": 1 /* one */}')))
    assert not any(map(jsonc.has_comment, ('{"url": "http://host/*no comment*/",}', "")))
