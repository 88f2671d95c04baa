"""Tools for schemas: check notes against one, suggest one, find where both differ.

A schema is Picoschema, as a schema note declares it.

A field is `name: type, description`; `name?` is optional, `name(array)` may be stated more than
once, `name(enum)` is one of a list. A type with a capital initial is a type of note: the field is a
relation to one. All other fields are claims of that category.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from observer.core.errors import BadInput, NotFound
from observer.core.note_file import NoteFile
from observer.core.value import Value
from observer.tools.basic_memory.selection import plain
from observer.tools.basic_memory.vault import Format, ProjectName, Vault, VaultTools, as_answer
from observer.tools.tool import ResultRow, Row, ToolResult, offered, row

_KEY = re.compile(r"(?P<name>[^?()]+)(?P<optional>\?)?(?:\((?P<form>[^()]*)\))?(?P<late>\?)?")
_LISTED = re.compile(r"\[(?P<values>[^\]]*)\](?:,\s*(?P<about>.*))?", re.DOTALL)

REQUIRED_SHARE = 0.95
"""A field that this share of notes states is suggested as required."""
DRIFT_SHARE = 0.25
DROPPED_SHARE = 0.10
SAMPLES = 5


FieldSource = Literal["observation", "relation"]


class SchemaField(Value):
    """One declared field; `values` are those of an enum."""

    name: str
    type: str
    is_required: bool = True
    is_array: bool = False
    is_relation: bool = False
    values: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[FieldSource, str]:
        """Return as what notes state it, and its name."""
        return "relation" if self.is_relation else "observation", self.name


class Schema(Value):
    """What a schema note declares; `is_strict` makes what is missing an error."""

    entity: str
    fields: tuple[SchemaField, ...]
    frontmatter: tuple[SchemaField, ...] = ()
    is_strict: bool = False


class Statement(NamedTuple):
    """A claim by its category, or a relation by its kind, with the type of its target."""

    key: tuple[FieldSource, str]
    value: str
    target_type: str = ""


class Statements(Value):
    """What a note states: claims and relations, and its frontmatter."""

    name: str
    said: tuple[Statement, ...] = ()
    fields: Mapping[str, Any] = MappingProxyType({})  # Any: the author's own YAML


class NoteCheck(ResultRow):
    """How one note fits its schema."""

    note_identifier: str
    schema_entity: str
    passed: bool
    field_results: list[Row]
    unmatched_observations: dict[str, int]
    unmatched_relations: list[str]
    warnings: list[str]
    errors: list[str]


class SchemaReport(ResultRow):
    """Result of `schema_validate`."""

    note_type: str | None
    total_notes: int
    total_entities: int
    valid_count: int
    warning_count: int
    error_count: int
    results: list[NoteCheck]
    type_summaries: list[Row]


class FieldFrequency(ResultRow, kw_only=True):
    """How often notes of a type state a field."""

    name: str
    source: FieldSource
    count: int
    total: int
    percentage: float
    sample_values: list[str] | UnsetType = UNSET
    is_array: bool | UnsetType = UNSET
    target_type: str | UnsetType = UNSET


class SchemaSuggestion(ResultRow):
    """Result of `schema_infer`."""

    note_type: str
    notes_analyzed: int
    field_frequencies: list[FieldFrequency]
    suggested_schema: dict[str, str]
    suggested_required: list[str]
    suggested_optional: list[str]
    excluded: list[str]


class SchemaDrift(ResultRow):
    """Result of `schema_diff`."""

    note_type: str
    schema_found: bool
    new_fields: list[FieldFrequency]
    dropped_fields: list[FieldFrequency]
    cardinality_changes: list[str]


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
        if isinstance(value, str):
            listed = _LISTED.fullmatch(value.strip())
            value = listed["values"].split(",") if listed else [value]
        given = value if isinstance(value, list) else []
        values = tuple(str(each).strip().strip("\"'") for each in given)
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


def check(note: Statements, schema: Schema) -> NoteCheck:
    """Return how a note fits a schema; what is missing is an error where the schema is strict."""
    declared = {field.key for field in schema.fields}
    checks = [
        _check_field(field, [one.value for one in note.said if one.key == field.key])
        for field in schema.fields
    ]
    checks += [_check_frontmatter(field, note.fields) for field in schema.frontmatter]
    problems = [problem for _, problem in checks if problem]
    others = [one.key for one in note.said if one.key not in declared]
    return NoteCheck(
        note_identifier=note.name,
        schema_entity=schema.entity,
        passed=not (schema.is_strict and problems),
        field_results=[found for found, _ in checks],
        unmatched_observations=dict(
            Counter(name for source, name in others if source == "observation")
        ),
        unmatched_relations=list(
            dict.fromkeys(name for source, name in others if source == "relation")
        ),
        warnings=[] if schema.is_strict else problems,
        errors=problems if schema.is_strict else [],
    )


_Checked = tuple[Row, str]
"""What became of one field, and what is wrong with it; "" for nothing."""


def _check_field(field: SchemaField, said: Sequence[str]) -> _Checked:
    if said:
        return _present(field, said, f"Field '{field.name}' has invalid value(s)")
    how = (
        f"no '{field.name} [[...]]' relation found"
        if field.is_relation
        else f"expected [{field.name}] observation"
    )
    need = "required" if field.is_required else "optional"
    what = "Missing relation" if field.is_relation else f"Missing {need} field"
    problem = f"Missing required field: {field.name} ({how})" if field.is_required else ""
    return _result(field, "missing", f"{what}: {field.name} ({how})"), problem


def _check_frontmatter(field: SchemaField, fields: Mapping[str, Any]) -> _Checked:
    value = fields.get(field.name)
    if value in (None, "", []):
        problem = f"Missing required frontmatter key: {field.name}" if field.is_required else ""
        return _result(field, "missing", f"Missing frontmatter key: {field.name}"), problem
    said = [str(each) for each in (value if isinstance(value, list) else [value])]
    return _present(field, said, f"Frontmatter key '{field.name}' has invalid value")


def _present(field: SchemaField, said: Sequence[str], complaint: str) -> _Checked:
    wrong = [value for value in said if field.values and value not in field.values]
    if not wrong:
        return _result(field, "present", "", said), ""
    problem = f"{complaint}: {', '.join(wrong)} (allowed: {', '.join(field.values)})"
    return _result(field, "enum_mismatch", problem, said), problem


def _result(field: SchemaField, status: str, message: str, said: Sequence[str] = ()) -> Row:
    return row(
        field_name=field.name,
        field_type=field.type,
        required=field.is_required,
        status=status,
        values=list(said),
        message=message or UNSET,
    )


def usage(notes: Sequence[Statements]) -> list[FieldFrequency]:
    """Return what fields notes state: claims before relations, the commonest first."""
    stated: dict[tuple[FieldSource, str], list[list[Statement]]] = {}
    for note in notes:
        of_note: dict[tuple[FieldSource, str], list[Statement]] = {}
        for one in note.said:
            of_note.setdefault(one.key, []).append(one)
        for key, same in of_note.items():
            stated.setdefault(key, []).append(same)
    found = [_frequency(key, of_notes, len(notes)) for key, of_notes in stated.items()]
    return sorted(found, key=lambda each: (each.source, -each.count))


def _frequency(
    key: tuple[FieldSource, str], stated: list[list[Statement]], total: int
) -> FieldFrequency:
    source, name = key
    values = [one.value for of_note in stated for one in of_note]
    kinds = Counter(one.target_type for of_note in stated for one in of_note if one.target_type)
    return FieldFrequency(
        name=name,
        source=source,
        count=len(stated),
        total=total,
        percentage=len(stated) / total if total else 0.0,
        sample_values=list(dict.fromkeys(values))[:SAMPLES],
        is_array=sum(len(of_note) > 1 for of_note in stated) > len(stated) / 2,
        target_type=kinds.most_common(1)[0][0] if kinds else UNSET,
    )


def suggested(fields: Iterable[FieldFrequency], *, threshold: float) -> dict[str, str]:
    """Return the fields of a schema for notes that state these, as it is written in YAML."""
    return {
        each.name
        + ("" if each.percentage >= REQUIRED_SHARE else "?")
        + ("(array)" if each.is_array else ""): "string"
        if each.source == "observation"
        else (each.target_type or "note").capitalize()
        for each in fields
        if each.percentage >= threshold
    }


def drift(name: str, notes: Sequence[Statements], schema: Schema) -> SchemaDrift:
    """Return what notes of a type state that the schema does not declare, and the reverse."""
    declared = {field.key: field for field in schema.fields}
    stated = {(each.source, each.name): each for each in usage(notes)}
    dropped = [
        stated.get(key) or _frequency(key, [], len(notes))
        for key in declared
        if key not in stated or stated[key].percentage < DROPPED_SHARE
    ]
    forms = ("single-value", "array")
    changed = [
        f"{each.name}: schema declares {forms[declared[key].is_array]} but usage is typically"
        f" {forms[bool(each.is_array)]}"
        for key, each in stated.items()
        if key in declared and each.is_array != declared[key].is_array
    ]
    new = [
        each
        for key, each in stated.items()
        if key not in declared and each.percentage >= DRIFT_SHARE
    ]
    return SchemaDrift(
        note_type=name,
        schema_found=True,
        new_fields=list(map(_bare, new)),
        dropped_fields=list(map(_bare, dropped)),
        cardinality_changes=changed,
    )


def _bare(each: FieldFrequency) -> FieldFrequency:
    return replace(each, sample_values=UNSET, is_array=UNSET, target_type=UNSET)


SCHEMA = "schema"
_ALIASES = {"note_type": "entity_type"}

NoteType = Annotated[str, Meta(min_length=1, description="Type of notes: person, decision …")]


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
    ) -> ToolResult[SchemaReport]:
        """Check notes against their schemas: one note, those of a type, or all that have one."""
        notes_here = _TypedNotes(self._named(project))
        if identifier:
            files = [notes_here.vault.exact(identifier)]
            name: str | None = files[0].type
        else:
            files, name = notes_here.of_type(entity_type), entity_type or None
        pairs = [(file, schema) for file in files if (schema := notes_here.schema_of(file))]
        if not pairs and name:
            raise NotFound(
                f"No schema found for type '{name}'"
                if files
                else f"No notes found of type '{name}'",
                hint=f"write a note of type schema with `entity: {name}` and `schema:`;"
                " schema_infer suggests its fields"
                if files
                else "search_notes with entity_types and types shows what there is",
            )
        notes = notes_here.statements([file for file, _ in pairs])
        checks = [check(note, schema) for note, (_, schema) in zip(notes, pairs, strict=True)]
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
    ) -> ToolResult[SchemaSuggestion]:
        """Suggest a schema from what the notes of a type have in common."""
        notes_here = _TypedNotes(self._named(project))
        notes = notes_here.statements(notes_here.of_type(entity_type))
        fields = usage(notes)
        kept = [each for each in fields if each.percentage >= threshold]
        required = [each.name for each in kept if each.percentage >= REQUIRED_SHARE]
        result = SchemaSuggestion(
            note_type=entity_type,
            notes_analyzed=len(notes),
            field_frequencies=fields,
            suggested_schema=suggested(fields, threshold=threshold),
            suggested_required=required,
            suggested_optional=[each.name for each in kept if each.name not in required],
            excluded=[each.name for each in fields if each not in kept],
        )
        return as_answer(_suggestion_text(result), result, output_format)

    @offered("Compare a schema with its notes", aliases=_ALIASES)
    def schema_diff(
        self, entity_type: NoteType, *, project: ProjectName = "", output_format: Format = "text"
    ) -> ToolResult[SchemaDrift]:
        """Compare a schema with the notes of its type: new, dropped and repeated fields."""
        notes_here = _TypedNotes(self._named(project))
        schema = notes_here.for_type(entity_type)
        if schema is None:
            raise NotFound(
                f"No schema found for type '{entity_type[:80]}'",
                hint="schema_infer suggests one; write it as a note of type schema",
            )
        notes = notes_here.statements(notes_here.of_type(entity_type))
        result = drift(entity_type, notes, schema)
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
        return [
            file
            for file in self._files
            if (plain(file.type) == wanted if wanted else plain(file.type) != SCHEMA)
        ]

    def for_type(self, name: str) -> Schema | None:
        """Return the schema for notes of a type.

        Raises:
            BadInput: it is malformed.
        """
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
        claims, relations = self.vault.claims(files), self.vault.relations(files)
        named = [each for of_note in relations.values() for each in of_note]
        targets = self.vault.targets(named)
        types = {target: file.type for target, file in targets.items()}
        found = []
        for file, fields in zip(files, self._fields(files), strict=True):
            said = [
                Statement(("observation", each.category or "note"), each.text)
                for each in claims.get(file.item, ())
            ]
            said += [
                Statement(("relation", each.kind), each.target, types.get(each.target, ""))
                for each in relations.get(file.item, ())
            ]
            found.append(Statements(name=file.title, said=tuple(said), fields=fields))
        return found

    def _fields(self, files: Sequence[NoteFile]) -> list[dict[str, Any]]:
        known = self.vault.frontmatter(files)
        return [known.get(file.item, {}) for file in files]


def _report(
    name: str | None, total: int, results: list[NoteCheck], types: Sequence[str]
) -> SchemaReport:
    # Without types the report is of one.
    valid = [kind for each, kind in zip(results, types, strict=False) if each.passed]
    by_type = [
        {"note_type": kind, "total_notes": types.count(kind), "valid_count": valid.count(kind)}
        for kind in sorted(set(types))
    ]
    return SchemaReport(
        note_type=name,
        total_notes=len(results),
        total_entities=total,
        valid_count=sum(each.passed for each in results),
        warning_count=sum(len(each.warnings) for each in results),
        error_count=sum(len(each.errors) for each in results),
        results=results,
        type_summaries=by_type,
    )


def _report_text(result: SchemaReport) -> str:
    counts = f"Notes: {result.total_notes} | Valid: {result.valid_count}"
    counts += f" | Warnings: {result.warning_count} | Errors: {result.error_count}"
    lines = [f"# Schema Validation: {result.note_type or 'all'}", "", counts, ""]
    if result.type_summaries:
        lines += ["## By Type", ""]
        lines += [
            f"- **{each['note_type']}**: {each['valid_count']}/{each['total_notes']} valid"
            for each in result.type_summaries
        ]
        lines.append("")
    for each in result.results:
        lines.append(f"- **{each.note_identifier}** — {'valid' if each.passed else 'INVALID'}")
        lines += [f"  - warning: {problem}" for problem in each.warnings]
        lines += [f"  - error: {problem}" for problem in each.errors]
    return "\n".join(lines)


def _share(each: FieldFrequency) -> str:
    return f"- **{each.name}** ({each.source}) — {each.percentage:.0%} ({each.count}/{each.total})"


def _suggestion_text(result: SchemaSuggestion) -> str:
    name = result.note_type
    lines = [f"# Schema Inference: {name}", "", f"Notes analyzed: {result.notes_analyzed}"]
    if result.suggested_schema:
        lines += ["", "## Suggested Schema", "", "```yaml", "---", f"title: {name.capitalize()}"]
        lines += ["type: schema", f"entity: {name}", "version: 1", "schema:"]
        lines += [f"  {key}: {kind}" for key, kind in result.suggested_schema.items()]
        lines += ["---", "```"]
    elif result.notes_analyzed:
        lines += ["", "No field is stated by enough of them; try a lower threshold."]
    if result.field_frequencies:
        lines += ["", "## Field Frequencies", ""]
        for each in result.field_frequencies:
            need = "required" if each.name in result.suggested_required else "optional"
            samples = ", ".join(each.sample_values or [])
            lines.append(f"{_share(each)} [{need}] (e.g. {samples})")
    if result.excluded:
        lines += [
            "",
            "## Excluded (below threshold)",
            "",
            *(f"- {each}" for each in result.excluded),
        ]
    return "\n".join([*lines, ""])


def _drift_text(result: SchemaDrift) -> str:
    lines = [f"# Schema Drift: {result.note_type}", ""]
    lists = (
        ("New Fields (in notes but not in schema)", [_share(e) for e in result.new_fields]),
        (
            "Dropped Fields (in schema but rare in notes)",
            [_share(e) for e in result.dropped_fields],
        ),
        ("Cardinality Changes", [f"- {each}" for each in result.cardinality_changes]),
    )
    for head, each in lists:
        if each:
            lines += [f"## {head}", "", *each, ""]
    if len(lines) == 2:
        lines.append("No drift: the notes state what the schema declares.")
    return "\n".join(lines)
