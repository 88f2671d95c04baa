"""Time frames, memory URLs, filters, canvases, tags, paths, schemas and edits, as tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput, NotFound
from observer.tools.basic_memory import directory, selection
from observer.tools.basic_memory.notes import TextEdit, apply
from observer.tools.basic_memory.schemas import (
    SchemaField,
    Statement,
    Statements,
    check,
    drift,
    read_schema,
    suggested,
    usage,
)
from observer.tools.basic_memory.selection import (
    DAY_MS,
    moment_or_since_ms,
    since_ms,
    tags_of,
    whole_days,
)
from observer.tools.basic_memory.vault import checked, leaves_folder, matcher, named_by
from tests.tools.basic_memory.conftest import Folders

NOW_MS = 1_767_614_400_000  # 2026-01-05T12:00Z, a Monday


REACHES = {
    1: "24h, 1h, today, Yesterday",
    3: "last 3 days",
    5: "2025-12-31T12:00:00+00:00, 2025-12-31T12:00:00",
    7: "7d, 1 week, last week",
    14: "2 weeks, 2 weeks ago",
    30: "a month",
    90: "3 months",
    365: "1 year, 365d",
}
"""Days that time frames reach back."""
NO_FRAMES = {
    "Could not parse": ("", "nonsense", "since the flood", "2027-01-01"),
    "<= 1 year": ("366d", "2 years", "2020-01-01"),
}


def test_a_time_frame_reaches_back_so_many_days() -> None:
    for days, frames in REACHES.items():
        for text in frames.split(", "):
            assert NOW_MS - since_ms(text, now_ms=NOW_MS) == days * DAY_MS, text
            assert whole_days(text, now_ms=NOW_MS) == f"{days}d"
    assert 2 * DAY_MS <= NOW_MS - since_ms("since Saturday", now_ms=NOW_MS) <= 4 * DAY_MS


def test_what_is_no_time_frame_is_refused() -> None:
    for reason, frames in NO_FRAMES.items():
        for text in frames:
            with pytest.raises(BadInput, match=reason):
                since_ms(text, now_ms=NOW_MS)


def test_a_date_filter_takes_any_past_date() -> None:
    assert moment_or_since_ms("", now_ms=NOW_MS) is None
    assert moment_or_since_ms("2020-01-01T00:00Z", now_ms=NOW_MS) == 1_577_836_800_000
    with pytest.raises(BadInput, match="is not a date"):
        moment_or_since_ms("no date", now_ms=NOW_MS)


@given(st.text(max_size=40))
def test_any_text_is_a_time_frame_or_refused(text: str) -> None:
    with suppress(BadInput):
        assert since_ms(text, now_ms=NOW_MS) < NOW_MS


def test_a_memory_url_names_a_note() -> None:
    names = {
        "memory://specs/search": "specs/search",
        "specs/search": "specs/search",
        "memory://specs/*": "specs/*",
        " Search Spec ": "Search Spec",
        "memory://渡し船": "渡し船",
    }
    assert {text: named_by(text) for text in names} == names


NO_URLS = {
    "": "names nothing",
    "memory://": "names nothing",
    "memory://a//b": "empty part",
    "https://ferry.example": "another kind",
    "memory://a|b": "contains '|'",
    "memory://a?b": "contains",
    "memory://../a": "stay within",
    "memory:///etc/passwd": "stay within",
    "/etc/passwd": "stay within",
    "memory://a/../../b": "stay within",
    "a" * 2_029: "more than 2028",
}


def test_what_is_no_memory_url_is_refused() -> None:
    for text, reason in NO_URLS.items():
        with pytest.raises(BadInput) as refused:
            checked(text)
        assert reason in refused.value.message


@given(st.text(alphabet="ab./\\~:C*", max_size=12))
def test_no_name_climbs_out_of_its_folder(text: str) -> None:
    try:
        name = named_by(text)
    except BadInput:
        return
    assert not leaves_folder(name)


def test_a_star_stands_for_any_text() -> None:
    for pattern, permalink in (
        ("specs/*", "specs/search"),
        ("specs/*", "specs/old/search"),
        ("*/search", "specs/search"),
        ("Specs/*", "specs/search"),
        ("a[b]*", "a[b]c"),
    ):
        assert matcher(pattern).fullmatch(permalink)
    for pattern, permalink in (("specs/*", "spec"), ("a[b]*", "abc")):
        assert not matcher(pattern).fullmatch(permalink)


FIELDS: dict[str, Any] = {
    "status": "done",
    "priority": "3",
    "score": "0.5",
    "due": "2026-03-01",
    "owner": {"name": "ana", "teams": ["harbour", "quay"]},
    "areas": ["storage", "tides"],
    "empty": "",
}


FIT: tuple[dict[str, Any], ...] = (
    {}, {"status": "done"}, {"status": "done", "priority": 3}, {"priority": "3"},
    {"priority": {"$gt": 2}}, {"priority": {"$gte": "3"}}, {"priority": {"$lte": 3.0}},
    {"priority": {"$between": [1, 3]}}, {"score": {"$gt": 0.4}}, {"status": {"$gt": "a"}},
    {"due": {"$between": ["2026-01-01", "2026-12-31"]}}, {"status": {"$in": ["done", "draft"]}},
    {"areas": "tides"}, {"areas": ["storage", "tides"]}, {"areas": {"$in": ["booking", "tides"]}},
    {"owner.name": "ana"}, {"owner.teams": ["quay"]},
)  # fmt: skip
FIT_NOT: tuple[dict[str, Any], ...] = (
    {"status": "Done"}, {"status": "done", "priority": 4}, {"absent": "x"},
    {"priority": {"$gt": 10}}, {"priority": {"$lt": 3}}, {"priority": {"$between": [4, 9]}},
    {"status": {"$gt": 1}}, {"due": {"$lt": "2026-01-01"}}, {"status": {"$in": ["draft"]}},
    {"areas": ["storage", "booking"]}, {"areas": {"$gt": "a"}}, {"owner.name.first": "ana"},
    {"status.deep": "x"},
)  # fmt: skip
MALFORMED: tuple[dict[str, Any], ...] = (
    {"bad key!": "x"}, {"a..b": "x"}, {"a": []}, {"a": {}}, {"a": {"$in": []}}, {"a": {"$in": "x"}},
    {"a": {"$ne": 1}}, {"a": {"$gt": 1, "$lt": 2}}, {"a": {"$gt": [1]}}, {"a": {"$gt": None}},
    {"a": {"$between": [1]}}, {"a": {"$between": 1}},
)  # fmt: skip


def test_filters_fit_the_frontmatter_and_malformed_ones_are_refused() -> None:
    assert [filters for filters in FIT if not selection.parse(filters)(FIELDS)] == []
    assert [filters for filters in FIT_NOT if selection.parse(filters)(FIELDS)] == []
    for filters in MALFORMED:
        with pytest.raises(BadInput):
            selection.parse(filters)


BOX = {"x": 0, "y": 0.5, "width": 10, "height": 10}
TEXT = {"id": "a", "type": "text", "text": "hello", "color": "1", **BOX}
FILE = {"id": "b", "type": "file", "file": "notes/x.md", **BOX}
EDGE = {"id": "e", "fromNode": "a", "toNode": "b", "fromSide": "right", "label": "leads to"}


def test_a_canvas_keeps_all_of_its_fields() -> None:
    group = {"id": "g", "type": "group", "label": "all", **BOX}
    made = directory.checked([TEXT, FILE, group], [EDGE])
    assert made == {"nodes": [TEXT, FILE, group], "edges": [EDGE]}


MALFORMED_CANVAS: tuple[tuple[list[Any], list[Any], str], ...] = (
    ([{**TEXT, "id": ""}], [], "id of its own"),
    ([{**TEXT, "id": 1}], [], "id of its own"),
    ([TEXT, TEXT], [], "id of its own"),
    ([{**TEXT, "type": "video"}], [], "no known type"),
    ([{"id": "a", "type": "text", **BOX}], [], "has no text"),
    ([{"id": "a", "type": "link", **BOX}], [], "has no url"),
    ([{**TEXT, "x": "0"}], [], "no number as x"),
    ([{**TEXT, "width": True}], [], "no number as width"),
    ([TEXT, FILE], [{**EDGE, "toNode": "z"}], "no node as toNode"),
    ([TEXT, FILE], [{**EDGE, "fromSide": "middle"}], "no side as fromSide"),
    ([TEXT, FILE], [{**EDGE, "id": "a"}], "id of its own"),
)


def test_a_malformed_canvas_is_refused() -> None:
    for nodes, edges, reason in MALFORMED_CANVAS:
        with pytest.raises(BadInput, match=reason):
            directory.checked(nodes, edges)


def test_tags_are_a_list_or_one_line() -> None:
    assert tags_of("a, b,c") == ["a", "b", "c"]
    assert tags_of("#a,# b") == ["a", "b"]
    assert tags_of(["a", " b ", "#c", "a", ""]) == ["a", "b", "c"]
    assert tags_of(["one two", "x/y", "设计"]) == ["one two", "x/y", "设计"]
    assert tags_of("") == tags_of(None) == tags_of(7) == []


@pytest.mark.parametrize(
    ("directory", "title", "path"),
    [
        ("notes", "Plan", "notes/Plan.md"),
        ("notes/2026/", "Plan", "notes/2026/Plan.md"),
        ("/etc", "x", None),
        ("/", "Plan", "Plan.md"),
        ("", "Plan", "Plan.md"),
        ("设计", "Über uns", "设计/Über uns.md"),
        ("notes", 'a/b\\c:d*e"f<g>h|i?', "notes/a-b-c-d-e-f-g-h-i.md"),
        ("notes", "v2.0.0", "notes/v2.0.0.md"),
        ("..", "x", None),
        ("a/../../b", "x", None),
        ("~/notes", "x", None),
        ("C:/notes", "x", None),
        (".obsidian", "x", None),
        ("notes", "..", None),
        ("a\0b", "x", None),
    ],
)
def test_a_note_is_written_inside_the_folder(
    folders: Folders, vault: Path, directory: str, title: str, path: str | None
) -> None:
    before = {file for file in vault.parent.rglob("*") if file.is_file()}
    asked = {"title": title, "content": "words", "directory": directory}
    if path is None:
        with pytest.raises(BadInput):
            folders.call("write_note", **asked)
        assert {file for file in vault.parent.rglob("*") if file.is_file()} == before
    else:
        assert folders.call("write_note", **asked).result.file_path == path
        assert (vault / path).is_file()


LOOSE = {"is_required": False}
FIELDS_OF: tuple[tuple[str, Any, str, dict[str, Any]], ...] = (
    # the key and value of a declaration, the type of its field, and what else it is
    ("name", "string", "string", {}),
    ("name", "string, full name", "string", {}),
    ("name?", "string", "string", LOOSE),
    ("name(array)", "string", "string", {"is_array": True}),
    ("name?(array, some)", "string", "string", LOOSE | {"is_array": True}),
    ("name(array)?", "string", "string", LOOSE | {"is_array": True}),
    ("name", "Team, employer", "Team", {"is_relation": True}),
    ("name(enum)", ["a", "b"], "enum", {"values": ("a", "b")}),
    ("name(enum)", "[a, 'b'], how", "enum", {"values": ("a", "b")}),
    ("name(enum)", "a", "enum", {"values": ("a",)}),
    ("name", {"name": "string"}, "object", {}),
    ("name(object)", "x", "object", {}),
    ("name", "", "any", {}),
)


@pytest.mark.parametrize(("key", "value", "kind", "more"), FIELDS_OF)
def test_a_field_is_read(key: str, value: Any, kind: str, more: dict[str, Any]) -> None:
    assert read_schema({"schema": {key: value}}).fields == (SchemaField("name", kind, **more),)


@pytest.mark.parametrize("declared", [None, "Person", ["a"], {"?": "x"}, {"a(b": "x"}], ids=str)
def test_what_declares_no_fields_is_refused(declared: Any) -> None:
    with pytest.raises(BadInput):
        read_schema({"schema": declared})


def test_a_schema_is_strict_where_it_says_so() -> None:
    for settings in ({"validation": "strict"}, {"validation": "error"}):
        schema = read_schema({"schema": {"a": "string"}, "settings": settings}, entity="log")
        assert (schema.is_strict, schema.entity) == (True, "log")
    for lax in ({"validation": "warn"}, "strict", None):
        assert not read_schema({"schema": {"a": "string"}, "settings": lax}).is_strict


def a_note(*claims: str, crew: str = "", **fields: Any) -> Statements:
    claimed = ((claim.partition(" ")[0], claim.partition(" ")[2]) for claim in claims)
    said = [Statement(("observation", category or "note"), text) for category, text in claimed]
    said += [Statement(("relation", "crew"), name, "person") for name in crew.split()]
    return Statements(name="Log", said=tuple(said), fields=fields)


LOG = read_schema(
    {
        "schema": {"wind": "string", "sea?(enum)": ["calm", "rough"], "crew": "Person"},
        "settings": {"validation": "strict", "frontmatter": {"status": "string", "grade?": "x"}},
    }
)


@pytest.mark.parametrize(
    ("note", "problems"),
    [
        pytest.param(a_note("wind west", crew="ana", status="done"), [], id="fits"),
        pytest.param(
            a_note("sea calm", status="done"),
            [
                "Missing required field: wind (expected [wind] observation)",
                "Missing required field: crew (no 'crew [[...]]' relation found)",
            ],
            id="missing",
        ),
        pytest.param(
            a_note("wind west", "sea green", crew="ana bo", status=["a", "b"]),
            ["Field 'sea' has invalid value(s): green (allowed: calm, rough)"],
            id="not of the list",
        ),
        pytest.param(
            a_note("wind west", crew="ana"),
            ["Missing required frontmatter key: status"],
            id="frontmatter",
        ),
    ],
)
def test_a_note_is_checked(note: Statements, problems: list[str]) -> None:
    found = check(note, LOG)
    assert found.errors == problems
    assert found.passed is not bool(problems)


def test_what_the_schema_does_not_name_is_counted_beside() -> None:
    found = check(a_note("boat Else", " #x", crew="ana"), read_schema({"schema": {"wind?": "x"}}))
    assert found.unmatched_observations == {"boat": 1, "note": 1}
    assert found.unmatched_relations == ["crew"]
    assert found.passed


def test_a_schema_is_suggested_by_how_often_notes_state_a_field() -> None:
    notes = [
        a_note("wind west", "port Oslo", "port Bergen", crew="ana"),
        a_note("wind north", crew="ana bo"),
        a_note("wind east", crew="bo"),
        a_note("wind west", "rare once"),
    ]
    fields = usage(notes)
    assert suggested(fields, threshold=0.25) == {
        "wind": "string",
        "port?(array)": "string",
        "rare?": "string",
        "crew?": "Person",
    }
    assert suggested(fields, threshold=0.5) == {"wind": "string", "crew?": "Person"}
    assert fields[0].sample_values == ["west", "north", "east"]


def test_drift_names_new_dropped_and_repeated_fields() -> None:
    notes = [a_note("wind west", "wind north", "port Oslo"), a_note("wind west", "wind east")]
    schema = read_schema({"schema": {"wind": "string", "sea": "string", "crew(array)": "Person"}})
    found = drift("log", notes, schema)
    assert [each.name for each in found.new_fields] == ["port"]
    dropped = [(each.name, each.percentage) for each in found.dropped_fields]
    assert dropped == [("sea", 0.0), ("crew", 0.0)]
    assert found.cardinality_changes == [
        "wind: schema declares single-value but usage is typically array"
    ]


HEAD = "---\ntitle: A\n---\n"
NOTE = f"{HEAD}\n# A\n\n## One\n\nfirst\n\n### Inner\n\ndeep\n\n## Two\n\nsecond\n"
FENCED = "## One\n\n```\n## Two\n```\n\n## Two\n\nreal\n"


@pytest.mark.parametrize(
    ("text", "edit", "after"),
    [
        pytest.param("a\n", TextEdit("append", "b"), "a\nb", id="append"),
        pytest.param("a", TextEdit("append", "b"), "a\nb", id="append to a line"),
        pytest.param("", TextEdit("append", "b"), "b", id="append to nothing"),
        pytest.param("a\n", TextEdit("prepend", "b"), "b\na\n", id="prepend"),
        pytest.param(f"{HEAD}\na", TextEdit("prepend", "b"), f"{HEAD}\nb\na", id="behind the head"),
        pytest.param("x y", TextEdit("find_replace", "z", find_text="y"), "x z", id="replace"),
        pytest.param(
            "x x", TextEdit("find_replace", "", find_text="x", expected=2), " ", id="replace two"
        ),
        pytest.param(
            NOTE,
            TextEdit("replace_section", "new", section="## One"),
            f"{HEAD}\n# A\n\n## One\nnew\n## Two\n\nsecond\n",
            id="section with those below",
        ),
        pytest.param(
            NOTE,
            TextEdit("replace_section", "new", section="## One", with_subsections=False),
            f"{HEAD}\n# A\n\n## One\nnew\n### Inner\n\ndeep\n\n## Two\n\nsecond\n",
            id="section alone",
        ),
        pytest.param(
            NOTE,
            TextEdit("replace_section", "## Two\n\nnew", section="Two"),
            NOTE.replace("\nsecond\n", "new"),
            id="heading said twice",
        ),
        pytest.param(
            "a",
            TextEdit("replace_section", "new", section="## Z"),
            "a\n\n## Z\nnew",
            id="new section",
        ),
        pytest.param(
            FENCED,
            TextEdit("replace_section", "new", section="## Two"),
            "## One\n\n```\n## Two\n```\n\n## Two\nnew",
            id="code is no heading",
        ),
        pytest.param(
            "a\n## B\nb",
            TextEdit("insert_before_section", "new", section="## B"),
            "a\n\nnew\n\n## B\nb",
            id="before",
        ),
        pytest.param(
            "## B\nb",
            TextEdit("insert_after_section", "new", section="B"),
            "## B\nnew\n\nb",
            id="after",
        ),
        pytest.param(
            "## B\n\nb",
            TextEdit("insert_after_section", "new", section="B"),
            "## B\nnew\n\nb",
            id="after, with a gap",
        ),
    ],
)
def test_an_edit_changes_what_it_names(text: str, edit: TextEdit, after: str) -> None:
    assert apply(text, edit) == after


@pytest.mark.parametrize(
    ("edit", "error", "reason"),
    [
        (TextEdit("find_replace", "x"), BadInput, "find_text parameter is required"),
        (
            TextEdit("find_replace", "x", find_text="  "),
            BadInput,
            "find_text parameter is required",
        ),
        (TextEdit("find_replace", "x", find_text="absent"), NotFound, "not found: 'absent'"),
        (
            TextEdit("find_replace", "x", find_text="e", expected=2),
            BadInput,
            "Expected 2 .* found 8",
        ),
        (TextEdit("replace_section", "x"), BadInput, "section parameter is required"),
        (TextEdit("insert_after_section", "x", section="## Z"), NotFound, "'## Z' not found"),
        (TextEdit("replace_section", "x", section="Twice"), BadInput, "Multiple sections"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(
    edit: TextEdit, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        apply(f"{NOTE}\n## Twice\n\n## Twice\n", edit)


@given(st.text(), st.text())
def test_what_is_appended_follows_the_text_untouched(text: str, content: str) -> None:
    after = apply(text, TextEdit("append", content))
    assert after.startswith(text)
    assert after.endswith(content)
