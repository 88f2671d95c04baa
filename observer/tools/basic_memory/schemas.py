"""Tools for schemas: check notes against one, suggest one, find where both differ.

A schema is Picoschema, as a schema note declares it. A field is `name: type, description`; `name?`
is optional, `name(array)` may be stated more than once, `name(enum)` is one of a list. A type with
a capital initial is a type of note: the field is a relation to one. All other fields are claims of
that category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, Meta

from observer.core.errors import BadInput, NotFound
from observer.core.note_file import NoteFile
from observer.tools.basic_memory.selection import plain
from observer.tools.basic_memory.vault import Format, ProjectName, Vault, VaultTools, as_answer
from observer.tools.tool import Row, ToolResult, offered, row

_KEY = re.compile(r"(?P<name>[^?()]+)(?P<optional>\?)?(?:\((?P<form>[^()]*)\))?(?P<late>\?)?")
_LISTED = re.compile(r"\[(?P<values>[^\]]*)\](?:,\s*(?P<about>.*))?", re.DOTALL)

SCHEMA = "schema"
REQUIRED_SHARE = 0.95
"""A field that this share of notes states is suggested as required."""
DRIFT_SHARE = 0.25
DROPPED_SHARE = 0.10
SAMPLES = 5
_FORMS = ("single-value", "array")
_COUNTED = ("name", "source", "count", "total", "percentage")
_ALIASES = {"note_type": "entity_type"}

NoteType = Annotated[str, Meta(min_length=1, description="Type of notes: person, decision …")]
Key: TypeAlias = tuple[Literal["observation", "relation"], str]
"""As what notes state a field, and its name."""


class SchemaField(NamedTuple):
    """One declared field; `values` are those of an enum."""

    name: str
    type: str
    is_required: bool = True
    is_array: bool = False
    is_relation: bool = False
    values: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """Return as what notes state it, and its name."""
        return "relation" if self.is_relation else "observation", self.name


class Schema(NamedTuple):
    """What a schema note declares; `is_strict` makes what is missing an error."""

    entity: str
    fields: list[SchemaField]
    frontmatter: list[SchemaField]
    is_strict: bool


class Statement(NamedTuple):
    """The text of a claim, or the target of a relation with its type."""

    value: str
    target_type: str = ""


class Statements(NamedTuple):
    """What a note states: claims by category and relations by kind, and its frontmatter."""

    name: str
    said: Mapping[Key, Sequence[Statement]]
    fields: Mapping[str, Any]  # Any: the author's own YAML


def read_schema(fields: Mapping[str, Any], *, entity: str) -> Schema:
    """Return the schema that frontmatter declares, for notes of a type (`entity`) or its own.

    Raises:
        BadInput: it declares none, or a field is malformed.
    """
    declared = fields.get("schema")
    if not isinstance(declared, Mapping):
        raise BadInput("the note declares no schema", hint="write `schema:` with a field a line")
    settings = fields.get("settings")
    settings = settings if isinstance(settings, Mapping) else {}
    frontmatter = settings.get("frontmatter")
    frontmatter = frontmatter if isinstance(frontmatter, Mapping) else {}
    return Schema(
        entity=str(fields.get("entity") or entity),
        fields=[_field(str(key), value) for key, value in declared.items()],
        frontmatter=[_field(str(key), value) for key, value in frontmatter.items()],
        is_strict=str(settings.get("validation")).lower() in {"strict", "error"},
    )


def _field(key: str, value: Any) -> SchemaField:  # noqa: ANN401 - the author's own YAML
    found = _KEY.fullmatch(key.strip())
    if not found:
        raise BadInput(
            f"{key[:80]!r} is not a field of a schema", hint="write name, name?, name(array)"
        )
    form = (found["form"] or "").partition(",")[0].strip()
    name, is_required = found["name"].strip(), not (found["optional"] or found["late"])
    if form == "enum":
        if isinstance(value, str):
            listed = _LISTED.fullmatch(value.strip())
            value = listed["values"].split(",") if listed else [value]
        given = value if isinstance(value, list) else []
        values = tuple(str(each).strip().strip("\"'") for each in given)
        return SchemaField(name, "enum", is_required, values=values)
    if isinstance(value, Mapping) or form == "object":
        return SchemaField(name, "object", is_required)
    kind = str(value).partition(",")[0].strip() or "any"
    return SchemaField(name, kind, is_required, form == "array", is_relation=kind[:1].isupper())


class SchemaTools(VaultTools):
    """The tools for schemas."""

    @offered("Check notes by schema", aliases=_ALIASES)
    def schema_validate(
        self,
        entity_type: Annotated[str, Meta(description="All notes of this type.")] = "",
        *,
        identifier: Annotated[str, Meta(description="One note, exactly.")] = "",
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """Check notes against their schemas: one note, those of a type, or all that have one."""
        notes_here = _TypedNotes(self._named(project))
        if identifier:
            files = [notes_here.vault.exact(identifier)]
            name: str | None = files[0].type
        else:
            files, name = notes_here.of_type(entity_type), entity_type or None
        pairs = [(file, schema) for file in files if (schema := notes_here.schema_of(file))]
        if name and not files:
            raise NotFound(
                f"No notes found of type '{name}'",
                hint="search_notes with entity_types and types shows what there is",
            )
        if name and not pairs:
            raise NotFound(
                f"No schema found for type '{name}'",
                hint=f"write a note of type schema with `entity: {name}` and `schema:`;"
                " schema_infer suggests its fields",
            )
        notes = notes_here.statements([file for file, _ in pairs])
        checks = [_checked(note, schema) for note, (_, schema) in zip(notes, pairs, strict=True)]
        total = len(files) if name else len(checks)
        result = _report(name, total, checks, [] if name else [file.type for file, _ in pairs])
        return as_answer(_report_text(result), result, output_format)

    @offered("Suggest a schema", aliases=_ALIASES)
    def schema_infer(
        self,
        entity_type: NoteType,
        *,
        threshold: Annotated[
            float, Meta(ge=0, le=1, description="Least share of notes that state a field.")
        ] = 0.25,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult:
        """Suggest a schema from what the notes of a type have in common."""
        notes_here = _TypedNotes(self._named(project))
        notes = notes_here.statements(notes_here.of_type(entity_type))
        fields = list(_usage(notes).values())
        kept = [each for each in fields if each["percentage"] >= threshold]
        required = [each["name"] for each in kept if each["percentage"] >= REQUIRED_SHARE]
        result = {
            "note_type": entity_type,
            "notes_analyzed": len(notes),
            "field_frequencies": fields,
            "suggested_schema": dict(map(_declaration, kept)),
            "suggested_required": required,
            "suggested_optional": [each["name"] for each in kept if each["name"] not in required],
            "excluded": [each["name"] for each in fields if each not in kept],
        }
        return as_answer(_suggestion_text(result), result, output_format)

    @offered("Compare a schema with its notes", aliases=_ALIASES)
    def schema_diff(
        self, entity_type: NoteType, *, project: ProjectName = "", output_format: Format = "text"
    ) -> ToolResult:
        """Compare a schema with the notes of its type: new, dropped and repeated fields."""
        notes_here = _TypedNotes(self._named(project))
        schema = notes_here.for_type(entity_type)
        if schema is None:
            raise NotFound(
                f"No schema found for type '{entity_type[:80]}'",
                hint="schema_infer suggests one; write it as a note of type schema",
            )
        notes = notes_here.statements(notes_here.of_type(entity_type))
        declared, stated = {field.key: field for field in schema.fields}, _usage(notes)
        of_declared = {key: stated.get(key) or _frequency(key, [], len(notes)) for key in declared}
        result = {
            "note_type": entity_type,
            "schema_found": True,
            "new_fields": [
                {name: each[name] for name in _COUNTED}
                for key, each in stated.items()
                if key not in declared and each["percentage"] >= DRIFT_SHARE
            ],
            "dropped_fields": [
                {name: each[name] for name in _COUNTED}
                for each in of_declared.values()
                if each["percentage"] < DROPPED_SHARE
            ],
            "cardinality_changes": [
                f"{each['name']}: schema declares {_FORMS[declared[key].is_array]} but usage is"
                f" typically {_FORMS[each['is_array']]}"
                for key, each in stated.items()
                if key in declared and each["is_array"] != declared[key].is_array
            ],
        }
        return as_answer(_drift_text(result), result, output_format)


class _TypedNotes:
    """The notes of a note folder, with the schemas among them."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self._files = vault.notes()
        self._schemas: dict[int, Schema] = {}
        self._broken: dict[str, BadInput] = {}
        declaring = [file for file in self._files if plain(file.type) == SCHEMA]
        for file, fields in zip(declaring, self._fields(declaring), strict=True):
            if not isinstance(fields.get("schema"), dict):
                continue
            try:
                self._schemas[file.item] = read_schema(fields, entity=file.title)
            except BadInput as error:
                wrong = BadInput(f"{file.path}: {error.message}", hint=error.hint)
                self._broken[plain(str(fields.get("entity") or file.title))] = wrong

    def of_type(self, name: str) -> list[NoteFile]:
        """Return the notes of a type; without one all that are no schemas."""
        wanted = plain(name)
        kinds = ((file, plain(file.type)) for file in self._files)
        return [file for file, kind in kinds if (kind == wanted if wanted else kind != SCHEMA)]

    def for_type(self, name: str) -> Schema | None:
        """Return the schema for notes of a type; BadInput if it is malformed."""
        wanted = plain(name)
        if wanted in self._broken:
            raise self._broken[wanted]
        return next((s for s in self._schemas.values() if plain(s.entity) == wanted), None)

    def schema_of(self, file: NoteFile) -> Schema | None:
        """Return the schema of a note: its own, the one it names, the one of its type."""
        [fields] = self._fields([file])
        own = fields.get("schema")
        if isinstance(own, dict):
            return read_schema(fields, entity=file.type)
        if isinstance(own, str) and own.strip():
            named = (self._schemas.get(each.item) for each in self.vault.called(own))
            if found := next(filter(None, named), None) or self.for_type(own):
                return found
        return self.for_type(file.type)

    def statements(self, files: Sequence[NoteFile]) -> list[Statements]:
        """Return what notes state, in their order."""
        claims, edges = self.vault.claims(files), self.vault.edges(files)
        found = []
        for file, fields in zip(files, self._fields(files), strict=True):
            said: dict[Key, list[Statement]] = {}
            for claim in claims.get(file.item, ()):
                key: Key = ("observation", claim.category or "note")
                said.setdefault(key, []).append(Statement(claim.text))
            for _, relation, target in edges.get(file.item, ()):
                stated = Statement(relation.target, target.type if target else "")
                said.setdefault(("relation", relation.kind), []).append(stated)
            found.append(Statements(file.title, said, fields))
        return found

    def _fields(self, files: Sequence[NoteFile]) -> list[dict[str, Any]]:
        known = self.vault.frontmatter(files)
        return [known.get(file.item, {}) for file in files]


def _checked(note: Statements, schema: Schema) -> Row:
    """Return how a note fits a schema; what is missing is an error where the schema is strict."""
    declared = {field.key for field in schema.fields}
    checks = [
        _checked_field(field, [one.value for one in note.said.get(field.key, ())])
        for field in schema.fields
    ]
    for field in schema.frontmatter:
        value = note.fields.get(field.name)
        given = value if isinstance(value, list) else [] if value in (None, "") else [value]
        checks.append(_checked_field(field, list(map(str, given)), in_frontmatter=True))
    problems = [problem for _, problem in checks if problem]
    others = {key: len(said) for key, said in note.said.items() if key not in declared}
    return {
        "note_identifier": note.name,
        "schema_entity": schema.entity,
        "passed": not (schema.is_strict and problems),
        "field_results": [found for found, _ in checks],
        "unmatched_observations": {
            name: count for (source, name), count in others.items() if source == "observation"
        },
        "unmatched_relations": [name for source, name in others if source == "relation"],
        "warnings": [] if schema.is_strict else problems,
        "errors": problems if schema.is_strict else [],
    }


def _checked_field(
    field: SchemaField, said: list[str], *, in_frontmatter: bool = False
) -> tuple[Row, str]:
    """Return what became of one field, and what is wrong with it; "" for nothing."""
    name, status, message, problem = field.name, "present", "", ""
    if wrong := [value for value in said if field.values and value not in field.values]:
        what = f"Frontmatter key '{name}' has invalid value" if in_frontmatter else ""
        what = what or f"Field '{name}' has invalid value(s)"
        problem = f"{what}: {', '.join(wrong)} (allowed: {', '.join(field.values)})"
        status, message = "enum_mismatch", problem
    elif not said and in_frontmatter:
        status, message = "missing", f"Missing frontmatter key: {name}"
        problem = f"Missing required frontmatter key: {name}" if field.is_required else ""
    elif not said:
        how = f"(no '{name} [[...]]' relation found)" if field.is_relation else ""
        how = how or f"(expected [{name}] observation)"
        need = "required field" if field.is_required else "optional field"
        what = "relation" if field.is_relation else need
        status, message = "missing", f"Missing {what}: {name} {how}"
        problem = f"Missing required field: {name} {how}" if field.is_required else ""
    found = row(
        field_name=name,
        field_type=field.type,
        required=field.is_required,
        status=status,
        values=said,
        message=message or UNSET,
    )
    return found, problem


def _usage(notes: Sequence[Statements]) -> dict[Key, Row]:
    """Return what fields notes state: claims before relations, the commonest first."""
    stated: dict[Key, list[Sequence[Statement]]] = {}
    for note in notes:
        for key, said in note.said.items():
            stated.setdefault(key, []).append(said)
    ranked = sorted(stated.items(), key=lambda pair: (pair[0][0], -len(pair[1])))
    return {key: _frequency(key, of_notes, len(notes)) for key, of_notes in ranked}


def _frequency(key: Key, stated: Sequence[Sequence[Statement]], total: int) -> Row:
    values = [one.value for of_note in stated for one in of_note]
    kinds = Counter(one.target_type for of_note in stated for one in of_note if one.target_type)
    return row(
        name=key[1],
        source=key[0],
        count=len(stated),
        total=total,
        percentage=len(stated) / total if total else 0.0,
        sample_values=list(dict.fromkeys(values))[:SAMPLES],
        is_array=sum(len(of_note) > 1 for of_note in stated) > len(stated) / 2,
        target_type=kinds.most_common(1)[0][0] if kinds else UNSET,
    )


def _declaration(each: Row) -> tuple[str, str]:
    """Return the field that notes state so often, as it is written in a schema's YAML."""
    sign = "" if each["percentage"] >= REQUIRED_SHARE else "?"
    form = "(array)" if each["is_array"] else ""
    is_claim = each["source"] == "observation"
    kind = "string" if is_claim else each.get("target_type", "note").capitalize()
    return f"{each['name']}{sign}{form}", kind


def _report(name: str | None, total: int, results: list[Row], types: Sequence[str]) -> Row:
    # Without types the report is of one.
    valid = [kind for each, kind in zip(results, types, strict=False) if each["passed"]]
    by_type = [
        {"note_type": kind, "total_notes": types.count(kind), "valid_count": valid.count(kind)}
        for kind in sorted(set(types))
    ]
    return {
        "note_type": name,
        "total_notes": len(results),
        "total_entities": total,
        "valid_count": sum(each["passed"] for each in results),
        "warning_count": sum(len(each["warnings"]) for each in results),
        "error_count": sum(len(each["errors"]) for each in results),
        "results": results,
        "type_summaries": by_type,
    }


def _report_text(result: Row) -> str:
    counts = "Notes: {total_notes} | Valid: {valid_count}"
    counts += " | Warnings: {warning_count} | Errors: {error_count}"
    head = f"# Schema Validation: {result['note_type'] or 'all'}"
    lines = [head, "", counts.format(**result), ""]
    if result["type_summaries"]:
        lines += ["## By Type", ""]
        lines += [
            f"- **{each['note_type']}**: {each['valid_count']}/{each['total_notes']} valid"
            for each in result["type_summaries"]
        ]
        lines.append("")
    for each in result["results"]:
        outcome = "valid" if each["passed"] else "INVALID"
        lines.append(f"- **{each['note_identifier']}** — {outcome}")
        lines += [f"  - warning: {problem}" for problem in each["warnings"]]
        lines += [f"  - error: {problem}" for problem in each["errors"]]
    return "\n".join(lines)


def _share(each: Row) -> str:
    counts = f"{each['percentage']:.0%} ({each['count']}/{each['total']})"
    return f"- **{each['name']}** ({each['source']}) — {counts}"


def _suggestion_text(result: Row) -> str:
    name = result["note_type"]
    lines = [f"# Schema Inference: {name}", "", f"Notes analyzed: {result['notes_analyzed']}"]
    if result["suggested_schema"]:
        lines += ["", "## Suggested Schema", "", "```yaml", "---", f"title: {name.capitalize()}"]
        lines += ["type: schema", f"entity: {name}", "version: 1", "schema:"]
        lines += [f"  {key}: {kind}" for key, kind in result["suggested_schema"].items()]
        lines += ["---", "```"]
    elif result["notes_analyzed"]:
        lines += ["", "No field is stated by enough of them; try a lower threshold."]
    if result["field_frequencies"]:
        lines += ["", "## Field Frequencies", ""]
    for each in result["field_frequencies"]:
        need = "required" if each["name"] in result["suggested_required"] else "optional"
        lines.append(f"{_share(each)} [{need}] (e.g. {', '.join(each['sample_values'])})")
    if result["excluded"]:
        lines += ["", "## Excluded (below threshold)", ""]
        lines += [f"- {each}" for each in result["excluded"]]
    return "\n".join([*lines, ""])


def _drift_text(result: Row) -> str:
    lists = {
        "New Fields (in notes but not in schema)": map(_share, result["new_fields"]),
        "Dropped Fields (in schema but rare in notes)": map(_share, result["dropped_fields"]),
        "Cardinality Changes": (f"- {each}" for each in result["cardinality_changes"]),
    }
    found = [(head, shown) for head, lines in lists.items() if (shown := list(lines))]
    parts = [line for head, shown in found for line in (f"## {head}", "", *shown, "")]
    parts = parts or ["No drift: the notes state what the schema declares."]
    return "\n".join([f"# Schema Drift: {result['note_type']}", "", *parts])
