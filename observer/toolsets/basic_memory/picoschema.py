"""Picoschema: what notes of a type should state, as a schema note declares it. Pure.

A field is `name: type, description`; `name?` is optional, `name(array)` may be stated more than
once, `name(enum)` is one of a list. A type with a capital initial is a type of note: the field is a
relation to one. All other fields are claims of that category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from observer.core.errors import BadInput
from observer.core.note_file import Claim, Relation
from observer.core.value import Value

_KEY = re.compile(r"(?P<name>[^?()]+)(?P<optional>\?)?(?:\((?P<form>[^()]*)\))?(?P<late>\?)?")
_LISTED = re.compile(r"\[(?P<values>[^\]]*)\](?:,\s*(?P<about>.*))?", re.DOTALL)

REQUIRED_SHARE = 0.95
"""A field that this share of notes states is suggested as required."""
DRIFT_SHARE = 0.25
DROPPED_SHARE = 0.10
SAMPLES = 5


class SchemaField(Value):
    """One declared field; `values` are those of an enum."""

    name: str
    type: str
    is_required: bool = True
    is_array: bool = False
    is_relation: bool = False
    values: tuple[str, ...] = ()


class Schema(Value):
    """What a schema note declares; `is_strict` makes what is missing an error."""

    entity: str
    fields: tuple[SchemaField, ...]
    frontmatter: tuple[SchemaField, ...] = ()
    is_strict: bool = False


class Statements(Value):
    """What a note states: its claims, relations with the type of their target, and frontmatter."""

    name: str
    claims: tuple[Claim, ...] = ()
    relations: tuple[tuple[Relation, str], ...] = ()
    fields: Mapping[str, Any] = MappingProxyType({})  # Any: the author's own YAML

    def said(self, field: SchemaField) -> list[str]:
        """Return what the note states for a field."""
        if field.is_relation:
            return [
                relation.target for relation, _ in self.relations if relation.kind == field.name
            ]
        return [claim.text for claim in self.claims if category_of(claim) == field.name]


def category_of(claim: Claim) -> str:
    """Return the category that a claim counts under."""
    return claim.category or "note"


def read_schema(fields: Mapping[str, Any], *, entity: str = "") -> Schema:
    """Return the schema that the frontmatter of a note declares.

    Args:
        fields: the frontmatter.
        entity: the type of the notes it is for, where the frontmatter names none.

    Raises:
        BadInput: it declares none, or a field is malformed.
    """
    declared = fields.get("schema")
    if not isinstance(declared, Mapping):
        raise BadInput("the note declares no schema", hint="write `schema:` with a field a line")
    settings = fields.get("settings")
    settings = settings if isinstance(settings, Mapping) else {}
    frontmatter = settings.get("frontmatter")
    return Schema(
        entity=str(fields.get("entity") or entity),
        fields=_fields(declared),
        frontmatter=_fields(frontmatter) if isinstance(frontmatter, Mapping) else (),
        is_strict=str(settings.get("validation")).lower() in {"strict", "error"},
    )


def _fields(declared: Mapping[str, Any]) -> tuple[SchemaField, ...]:
    return tuple(_field(str(key), value) for key, value in declared.items())


def _field(key: str, value: Any) -> SchemaField:  # noqa: ANN401 - the author's own YAML
    found = _KEY.fullmatch(key.strip())
    if not found:
        raise BadInput(
            f"{key[:80]!r} is not a field of a schema", hint="write name, name?, name(array)"
        )
    form = (found["form"] or "").partition(",")[0].strip()
    name, is_required = found["name"].strip(), not (found["optional"] or found["late"])
    if form == "enum":
        values = _enum(value)
        return SchemaField(name=name, type="enum", is_required=is_required, values=values)
    if isinstance(value, Mapping) or form == "object":
        return SchemaField(name=name, type="object", is_required=is_required)
    kind = str(value).partition(",")[0].strip() or "any"
    return SchemaField(
        name=name,
        type=kind,
        is_required=is_required,
        is_array=form == "array",
        is_relation=kind[:1].isupper(),
    )


def _enum(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - the author's own YAML
    if isinstance(value, str):
        found = _LISTED.fullmatch(value.strip())
        value = found["values"].split(",") if found else [value]
    values = value if isinstance(value, list) else []
    return tuple(str(each).strip().strip("\"'") for each in values)


class FieldCheck(Value):
    """What became of one field; a `message` that is a finding is the `problem`, too."""

    field: SchemaField
    status: str
    values: tuple[str, ...] = ()
    message: str = ""
    problem: str = ""


class Check(Value):
    """How a note fits its schema; what else it states stands beside."""

    name: str
    schema: Schema
    fields: tuple[FieldCheck, ...]
    other_claims: dict[str, int]
    other_relations: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """What is wrong, in the order of the fields."""
        return [each.problem for each in self.fields if each.problem]

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong, or the schema only warns."""
        return not (self.schema.is_strict and self.problems)


def check(note: Statements, schema: Schema) -> Check:
    """Return how a note fits a schema."""
    declared = {field.name for field in schema.fields if not field.is_relation}
    related = {field.name for field in schema.fields if field.is_relation}
    checks = [_check_field(field, note.said(field)) for field in schema.fields]
    checks += [_check_frontmatter(field, note.fields) for field in schema.frontmatter]
    return Check(
        name=note.name,
        schema=schema,
        fields=tuple(checks),
        other_claims=dict(
            Counter(name for name in map(category_of, note.claims) if name not in declared)
        ),
        other_relations=tuple(
            dict.fromkeys(each.kind for each, _ in note.relations if each.kind not in related)
        ),
    )


def _check_field(field: SchemaField, said: Sequence[str]) -> FieldCheck:
    if not said:
        return _missing(field)
    wrong = _wrong(field, said)
    message = f"Field '{field.name}' has invalid value(s): {', '.join(wrong)}" if wrong else ""
    return _present(field, said, message)


def _missing(field: SchemaField) -> FieldCheck:
    how = (
        f"no '{field.name} [[...]]' relation found"
        if field.is_relation
        else f"expected [{field.name}] observation"
    )
    need = "required" if field.is_required else "optional"
    what = "Missing relation" if field.is_relation else f"Missing {need} field"
    problem = f"Missing required field: {field.name} ({how})" if field.is_required else ""
    return FieldCheck(
        field=field, status="missing", message=f"{what}: {field.name} ({how})", problem=problem
    )


def _check_frontmatter(field: SchemaField, fields: Mapping[str, Any]) -> FieldCheck:
    value = fields.get(field.name)
    if value in (None, "", []):
        problem = f"Missing required frontmatter key: {field.name}" if field.is_required else ""
        message = f"Missing frontmatter key: {field.name}"
        return FieldCheck(field=field, status="missing", message=message, problem=problem)
    said = [str(each) for each in (value if isinstance(value, list) else [value])]
    wrong = _wrong(field, said)
    return _present(
        field,
        said,
        f"Frontmatter key '{field.name}' has invalid value: {', '.join(wrong)}" if wrong else "",
    )


def _wrong(field: SchemaField, said: Sequence[str]) -> list[str]:
    return [value for value in said if field.values and value not in field.values]


def _present(field: SchemaField, said: Sequence[str], wrong: str) -> FieldCheck:
    problem = f"{wrong} (allowed: {', '.join(field.values)})" if wrong else ""
    return FieldCheck(
        field=field,
        status="enum_mismatch" if wrong else "present",
        values=tuple(said),
        message=problem,
        problem=problem,
    )


class FieldUsage(Value):
    """How many of `total` notes state a field, and what for example."""

    name: str
    is_relation: bool
    count: int
    total: int
    samples: tuple[str, ...] = ()
    is_array: bool = False
    target_type: str = ""

    @property
    def share(self) -> float:
        """The share of notes that state it, 0 to 1."""
        return self.count / self.total

    @property
    def type(self) -> str:
        """The type under which a schema would declare it."""
        return (self.target_type or "note").capitalize() if self.is_relation else "string"


def usage(notes: Sequence[Statements]) -> list[FieldUsage]:
    """Return what fields notes state: claims before relations, the commonest first."""
    claims = _counted(
        [[(category_of(c), c.text, "") for c in note.claims] for note in notes], is_relation=False
    )
    relations = _counted(
        [[(r.kind, r.target, kind) for r, kind in note.relations] for note in notes],
        is_relation=True,
    )
    return [*claims, *relations]


def _counted(
    said: Sequence[Sequence[tuple[str, str, str]]], *, is_relation: bool
) -> list[FieldUsage]:
    """Count what notes say, each as names, values and types of targets."""
    stated: dict[str, list[list[tuple[str, str]]]] = {}
    for note in said:
        of_note: dict[str, list[tuple[str, str]]] = {}
        for name, value, kind in note:
            of_note.setdefault(name, []).append((value, kind))
        for name, values in of_note.items():
            stated.setdefault(name, []).append(values)
    found = [
        _usage(name, values, len(said), is_relation=is_relation) for name, values in stated.items()
    ]
    return sorted(found, key=lambda each: -each.count)


def _usage(
    name: str, stated: list[list[tuple[str, str]]], total: int, *, is_relation: bool
) -> FieldUsage:
    values = [value for of_note in stated for value, _ in of_note]
    kinds = Counter(kind for of_note in stated for _, kind in of_note if kind)
    several = sum(len(of_note) > 1 for of_note in stated)
    return FieldUsage(
        name=name,
        is_relation=is_relation,
        count=len(stated),
        total=total,
        samples=tuple(dict.fromkeys(values))[:SAMPLES],
        is_array=several > len(stated) / 2,
        target_type=kinds.most_common(1)[0][0] if kinds else "",
    )


def suggested(fields: Iterable[FieldUsage], *, threshold: float) -> dict[str, str]:
    """Return the fields of a schema for notes that state these, as it is written in YAML."""
    return {
        each.name
        + ("" if each.share >= REQUIRED_SHARE else "?")
        + ("(array)" if each.is_array else ""): each.type
        for each in fields
        if each.share >= threshold
    }


class Drift(NamedTuple):
    """How notes deviate from their schema."""

    new: list[FieldUsage]
    dropped: list[FieldUsage]
    cardinality: list[str]


def drift(fields: Sequence[FieldUsage], schema: Schema, *, total: int) -> Drift:
    """Return what notes state that the schema does not declare, and the reverse."""
    declared = {(field.name, field.is_relation): field for field in schema.fields}
    stated = {(each.name, each.is_relation): each for each in fields}
    dropped = [
        stated.get(key) or FieldUsage(name=key[0], is_relation=key[1], count=0, total=total)
        for key in declared
        if key not in stated or stated[key].share < DROPPED_SHARE
    ]
    changed = [
        _cardinality(each, declared[key].is_array)
        for key, each in stated.items()
        if key in declared and each.is_array != declared[key].is_array
    ]
    new = [
        each for key, each in stated.items() if key not in declared and each.share >= DRIFT_SHARE
    ]
    return Drift(new=new, dropped=dropped, cardinality=changed)


def _cardinality(each: FieldUsage, was_array: bool) -> str:  # noqa: FBT001
    now = "single-value" if was_array else "array"
    before = "array" if was_array else "single-value"
    return f"{each.name}: schema declares {before} but usage is typically {now}"
