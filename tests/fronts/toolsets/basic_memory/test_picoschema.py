"""Picoschema: fields are read, notes checked, schemas suggested and compared."""

from __future__ import annotations

from typing import Any

import pytest

from observer.core.errors import BadInput
from observer.core.note_file import Claim, Relation
from observer.tools.basic_memory.schemas import (
    SchemaField,
    Statements,
    check,
    drift,
    read_schema,
    suggested,
    usage,
)


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        ("name", "string", SchemaField("name", "string")),
        ("name", "string, full name", SchemaField("name", "string")),
        ("name?", "string", SchemaField("name", "string", is_required=False)),
        ("tag(array)", "string", SchemaField("tag", "string", is_array=True)),
        (
            "tag?(array, some)",
            "string",
            SchemaField("tag", "string", is_required=False, is_array=True),
        ),
        ("tag(array)?", "string", SchemaField("tag", "string", is_required=False, is_array=True)),
        ("works_at", "Team, employer", SchemaField("works_at", "Team", is_relation=True)),
        ("mood(enum)", ["a", "b"], SchemaField("mood", "enum", values=("a", "b"))),
        ("mood(enum)", "[a, 'b'], how", SchemaField("mood", "enum", values=("a", "b"))),
        ("mood(enum)", "a", SchemaField("mood", "enum", values=("a",))),
        ("boat", {"name": "string"}, SchemaField("boat", "object")),
        ("boat(object)", "x", SchemaField("boat", "object")),
        ("any", "", SchemaField("any", "any")),
    ],
    ids=str,
)
def test_a_field_is_read(key: str, value: Any, field: SchemaField) -> None:
    assert read_schema({"schema": {key: value}}).fields == (field,)


@pytest.mark.parametrize("declared", [None, "Person", ["a"], {"?": "x"}, {"a(b": "x"}], ids=str)
def test_what_declares_no_fields_is_refused(declared: Any) -> None:
    with pytest.raises(BadInput):
        read_schema({"schema": declared})


@pytest.mark.parametrize(
    ("settings", "is_strict"),
    [
        ({"validation": "strict"}, True),
        ({"validation": "error"}, True),
        ({"validation": "warn"}, False),
        ("strict", False),
        (None, False),
    ],
    ids=str,
)
def test_a_schema_is_strict_where_it_says_so(settings: Any, *, is_strict: bool) -> None:
    schema = read_schema({"schema": {"a": "string"}, "settings": settings}, entity="log")
    assert (schema.is_strict, schema.entity) == (is_strict, "log")


def a_note(*claims: str, crew: str = "", **fields: Any) -> Statements:
    said = (claim.partition(" ") for claim in claims)
    return Statements(
        name="Log",
        claims=tuple(Claim(category=category, text=text) for category, _, text in said),
        relations=tuple((Relation(kind="crew", target=name), "person") for name in crew.split()),
        fields=fields,
    )


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
    found = drift(usage(notes), schema, total=2)
    assert [each.name for each in found.new] == ["port"]
    assert [(each.name, each.percentage) for each in found.dropped] == [("sea", 0.0), ("crew", 0.0)]
    assert found.cardinality == ["wind: schema declares single-value but usage is typically array"]
