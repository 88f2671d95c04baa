"""Time frames, memory URLs, filters, canvases, tags, paths, schemas and edits, as tables."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput, NotFound
from observer.tools.basic_memory import selection
from observer.tools.basic_memory.directory import check_canvas
from observer.tools.basic_memory.notes import TextEdit, apply
from observer.tools.basic_memory.schemas import SchemaField, read_schema
from observer.tools.basic_memory.selection import DAY_MS, moment_or_since_ms, since_ms, tags_of
from observer.tools.basic_memory.vault import leaves_folder, matcher, named_by
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


def test_a_time_frame_reaches_back_so_many_days_or_is_refused() -> None:
    for days, frames in REACHES.items():
        for text in frames.split(", "):
            assert NOW_MS - since_ms(text, now_ms=NOW_MS) == days * DAY_MS, text
    assert 2 * DAY_MS <= NOW_MS - since_ms("since Saturday", now_ms=NOW_MS) <= 4 * DAY_MS
    for reason, texts in NO_FRAMES.items():
        for text in texts:
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


def test_a_memory_url_names_a_note_or_is_refused() -> None:
    names = {
        "memory://specs/search": "specs/search",
        "specs/search": "specs/search",
        "memory://specs/*": "specs/*",
        " Search Spec ": "Search Spec",
        "memory://渡し船": "渡し船",
    }
    assert {text: named_by(text) for text in names} == names
    for text, reason in NO_URLS.items():
        with pytest.raises(BadInput) as refused:
            named_by(text, is_url=True)
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
MALFORMED_CANVAS: tuple[tuple[list[Any], list[Any], str], ...] = (
    ([{**TEXT, "id": ""}], [], "id of its own"),
    ([{**TEXT, "id": 1}], [], "id of its own"),
    ([TEXT, TEXT], [], "id of its own"),
    ([{**TEXT, "type": "video"}], [], "no valid type"),
    ([{"id": "a", "type": "text", **BOX}], [], "no valid text"),
    ([{"id": "a", "type": "link", **BOX}], [], "no valid url"),
    ([{**TEXT, "x": "0"}], [], "no valid x"),
    ([{**TEXT, "width": True}], [], "no valid width"),
    ([TEXT, FILE], [{**EDGE, "toNode": "z"}], "no valid toNode"),
    ([TEXT, FILE], [{**EDGE, "fromSide": "middle"}], "no valid fromSide"),
    ([TEXT, FILE], [{**EDGE, "id": "a"}], "id of its own"),
)


def test_a_malformed_canvas_is_refused_and_no_other() -> None:
    check_canvas([TEXT, FILE, {"id": "g", "type": "group", "label": "all", **BOX}], [EDGE])
    for nodes, edges, reason in MALFORMED_CANVAS:
        with pytest.raises(BadInput, match=reason):
            check_canvas(nodes, edges)


def test_tags_are_a_list_or_one_line() -> None:
    assert tags_of("a, b,c") == ["a", "b", "c"]
    assert tags_of("#a,# b") == ["a", "b"]
    assert tags_of(["a", " b ", "#c", "a", ""]) == ["a", "b", "c"]
    assert tags_of(["one two", "x/y", "设计"]) == ["one two", "x/y", "设计"]
    assert tags_of("") == tags_of(None) == tags_of(7) == []


PATHS = {
    ("notes", "Plan"): "notes/Plan.md",
    ("notes/2026/", "Plan"): "notes/2026/Plan.md",
    ("/", "Plan"): "Plan.md",
    ("", "Top"): "Top.md",
    ("设计", "Über uns"): "设计/Über uns.md",
    ("notes", 'a/b\\c:d*e"f<g>h|i?'): "notes/a-b-c-d-e-f-g-h-i.md",
    ("notes", "v2.0.0"): "notes/v2.0.0.md",
}
OUTSIDE = (
    ("/etc", "x"), ("..", "x"), ("a/../../b", "x"), ("~/notes", "x"), ("C:/notes", "x"),
    (".obsidian", "x"), ("notes", ".."), ("a\0b", "x"),
)  # fmt: skip


def test_a_note_is_written_inside_the_folder(folders: Folders, vault: Path) -> None:
    before = {file for file in vault.parent.rglob("*") if file.is_file()}
    for directory, title in OUTSIDE:
        with pytest.raises(BadInput):
            folders.call("write_note", title=title, content="words", directory=directory)
    assert {file for file in vault.parent.rglob("*") if file.is_file()} == before
    for (directory, title), path in PATHS.items():
        asked = {"title": title, "content": "words", "directory": directory}
        assert folders.result("write_note", **asked)["file_path"] == path
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


def test_a_field_is_read_or_refused() -> None:
    for key, value, kind, more in FIELDS_OF:
        [field] = read_schema({"schema": {key: value}}, entity="").fields
        assert field == SchemaField("name", kind, **more), key
    for declared in (None, "Person", ["a"], {"?": "x"}, {"a(b": "x"}):
        with pytest.raises(BadInput):
            read_schema({"schema": declared}, entity="")


def test_a_schema_is_strict_where_it_says_so() -> None:
    for settings in ({"validation": "strict"}, {"validation": "error"}):
        schema = read_schema({"schema": {"a": "string"}, "settings": settings}, entity="log")
        assert (schema.is_strict, schema.entity) == (True, "log")
    for lax in ({"validation": "warn"}, "strict", None):
        assert not read_schema({"schema": {"a": "x"}, "settings": lax}, entity="").is_strict


LOG = """---
type: schema
entity: log
schema: {wind: string, "sea?(enum)": [calm, rough], crew: Person, "hold(array)": string}
settings: {validation: strict, frontmatter: {status: string, "grade?": x}}
---
"""
CREWED = "- [wind] west\n- [hold] a\n- crew [[Ana Lind]]\n"
NOTES = {
    "fits": f"status: done\n---\n{CREWED}- near [[Bo Aas]]\n",
    "lacks": "status: done\n---\n- [sea] calm\n- [wind] east\n- [wind] west\n- [port] Oslo\n",
    "wrong": f"status: [a, b]\n---\n{CREWED}- [sea] green\n",
    "bare": f"---\n{CREWED}- [wind] north\n- [port] Bergen\n",
}
PROBLEMS = {
    "fits": [],
    "lacks": [
        "Missing required field: crew (no 'crew [[...]]' relation found)",
        "Missing required field: hold (expected [hold] observation)",
    ],
    "wrong": ["Field 'sea' has invalid value(s): green (allowed: calm, rough)"],
    "bare": ["Missing required frontmatter key: status"],
}


@pytest.mark.measured
def test_notes_are_checked_by_a_schema_and_compared_with_it(folders: Folders, vault: Path) -> None:
    (vault / "schemas" / "log.md").write_text(LOG)
    for name, text in NOTES.items():
        (vault / f"{name}.md").write_text(f"---\ntitle: {name}\ntype: log\n{text}")
    report = folders.result("schema_validate", entity_type="log")
    found = {each["note_identifier"]: each for each in report["results"]}
    assert {name: each["errors"] for name, each in found.items()} == PROBLEMS
    assert [name for name, each in found.items() if each["passed"]] == ["fits"]
    assert found["fits"]["unmatched_relations"] == ["near"]
    assert found["lacks"]["unmatched_observations"] == {"port": 1}
    fields = {"hold?": "string", "port?": "string", "sea?": "string", "wind": "string"}
    fields |= {"crew?": "Person", "near?": "Person"}
    assert folders.result("schema_infer", entity_type="log")["suggested_schema"] == fields
    narrow = folders.result("schema_infer", entity_type="log", threshold=0.75)
    suggested = (narrow["suggested_required"], narrow["suggested_optional"])
    assert suggested == (["wind"], ["hold", "crew"])
    drift = folders.result("schema_diff", entity_type="log")
    new = [(each["name"], each["count"]) for each in drift["new_fields"]]
    assert (new, drift["dropped_fields"]) == ([("port", 2), ("near", 1)], [])
    array = "hold: schema declares array but usage is typically single-value"
    assert drift["cardinality_changes"] == [array]


HEAD = "---\ntitle: A\n---\n"
NOTE = f"{HEAD}\n# A\n\n## One\n\nfirst\n\n### Inner\n\ndeep\n\n## Two\n\nsecond\n"
FENCED = "## One\n\n```\n## Two\n```\n\n## Two\n\nreal\n"


ONE, TWO, B = {"section": "## One"}, {"section": "Two"}, {"section": "## B"}
EDITS: tuple[tuple[str, str, str, dict[str, Any], str], ...] = (
    # the text, the operation, its content, what else it names, and the text afterwards
    ("a\n", "append", "b", {}, "a\nb"),
    ("a", "append", "b", {}, "a\nb"),
    ("", "append", "b", {}, "b"),
    ("a\n", "prepend", "b", {}, "b\na\n"),
    (f"{HEAD}\na", "prepend", "b", {}, f"{HEAD}\nb\na"),
    ("x y", "find_replace", "z", {"find_text": "y"}, "x z"),
    ("x x", "find_replace", "", {"find_text": "x", "expected": 2}, " "),
    (NOTE, "replace_section", "new", ONE, f"{HEAD}\n# A\n\n## One\nnew\n## Two\n\nsecond\n"),
    (NOTE, "replace_section", "new", {**ONE, "with_subsections": False},
     f"{HEAD}\n# A\n\n## One\nnew\n### Inner\n\ndeep\n\n## Two\n\nsecond\n"),
    (NOTE, "replace_section", "## Two\n\nnew", TWO, NOTE.replace("\nsecond\n", "new")),
    ("a", "replace_section", "new", {"section": "## Z"}, "a\n\n## Z\nnew"),
    (FENCED, "replace_section", "new", TWO, "## One\n\n```\n## Two\n```\n\n## Two\nnew"),
    ("a\n## B\nb", "insert_before_section", "new", B, "a\n\nnew\n\n## B\nb"),
    ("## B\nb", "insert_after_section", "new", {"section": "B"}, "## B\nnew\n\nb"),
    ("## B\n\nb", "insert_after_section", "new", B, "## B\nnew\n\nb"),
)  # fmt: skip
UNFIT: tuple[tuple[str, dict[str, Any], type[Exception], str], ...] = (
    ("find_replace", {}, BadInput, "find_text parameter is required"),
    ("find_replace", {"find_text": "  "}, BadInput, "find_text parameter is required"),
    ("find_replace", {"find_text": "absent"}, NotFound, "not found: 'absent'"),
    ("find_replace", {"find_text": "e", "expected": 2}, BadInput, "Expected 2 .* found 8"),
    ("replace_section", {}, BadInput, "section parameter is required"),
    ("insert_after_section", {"section": "## Z"}, NotFound, "'## Z' not found"),
    ("replace_section", {"section": "Twice"}, BadInput, "Multiple sections"),
)


def test_an_edit_changes_what_it_names_or_is_refused() -> None:
    for text, operation, content, more, after in EDITS:
        assert apply(text, TextEdit(operation, content, **more)) == after
    for operation, more, error, reason in UNFIT:
        with pytest.raises(error, match=reason):
            apply(f"{NOTE}\n## Twice\n\n## Twice\n", TextEdit(operation, "x", **more))


@given(st.text(), st.text())
def test_what_is_appended_follows_the_text_untouched(text: str, content: str) -> None:
    after = apply(text, TextEdit("append", content))
    assert after.startswith(text)
    assert after.endswith(content)
