"""Tools for schemas: check notes against one, suggest one, find where both differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta

from observer.core.errors import BadInput, NotFound
from observer.core.note_file import NoteFile
from observer.toolsets.basic_memory import picoschema, rows
from observer.toolsets.basic_memory.picoschema import Check, FieldUsage, Schema, Statements
from observer.toolsets.basic_memory.rows import Format, as_answer
from observer.toolsets.basic_memory.selection import plain
from observer.toolsets.basic_memory.vault import ProjectName, Vault, Vaults
from observer.views.tool import Tool, ToolResult

SCHEMA = "schema"
_ALIASES = {"note_type": "entity_type"}

NoteType = Annotated[str, Meta(min_length=1, description="Type of notes: person, decision …")]


class SchemaTools:
    """The tools for schemas, over the note folders of a memory."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, in the order of their document."""
        return (
            Tool(run=self.schema_validate, title="Check notes by schema", aliases=_ALIASES),
            Tool(run=self.schema_infer, title="Suggest a schema", aliases=_ALIASES),
            Tool(run=self.schema_diff, title="Compare a schema with its notes", aliases=_ALIASES),
        )

    def schema_validate(
        self,
        entity_type: Annotated[str, Meta(description="All notes of this type.")] = "",
        *,
        identifier: Annotated[str, Meta(description="One note, exactly.")] = "",
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult[rows.SchemaReport]:
        """Check notes against their schemas: one note, those of a type, or all that have one."""
        notes_here = _TypedNotes(self._vaults.named(project))
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
        checks = [
            picoschema.check(note, schema) for note, (_, schema) in zip(notes, pairs, strict=True)
        ]
        total = len(files) if name else len(checks)
        result = _report(name, total, checks, [] if name else [file.type for file, _ in pairs])
        return as_answer(_report_text(result), result, output_format)

    def schema_infer(
        self,
        entity_type: NoteType,
        *,
        threshold: Annotated[
            float, Meta(ge=0, le=1, description="Least share of notes that state a field.")
        ] = 0.25,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult[rows.SchemaSuggestion]:
        """Suggest a schema from what the notes of a type have in common."""
        notes_here = _TypedNotes(self._vaults.named(project))
        notes = notes_here.statements(notes_here.of_type(entity_type))
        fields = picoschema.usage(notes)
        kept = [each for each in fields if each.share >= threshold]
        required = [each.name for each in kept if each.share >= picoschema.REQUIRED_SHARE]
        result = rows.SchemaSuggestion(
            note_type=entity_type,
            notes_analyzed=len(notes),
            field_frequencies=[_frequency(each, with_samples=True) for each in fields],
            suggested_schema=picoschema.suggested(fields, threshold=threshold),
            suggested_required=required,
            suggested_optional=[each.name for each in kept if each.name not in required],
            excluded=[each.name for each in fields if each not in kept],
        )
        return as_answer(_suggestion_text(result), result, output_format)

    def schema_diff(
        self, entity_type: NoteType, *, project: ProjectName = "", output_format: Format = "text"
    ) -> ToolResult[rows.SchemaDrift]:
        """Compare a schema with the notes of its type: new, dropped and repeated fields."""
        notes_here = _TypedNotes(self._vaults.named(project))
        schema = notes_here.for_type(entity_type)
        if schema is None:
            raise NotFound(
                f"No schema found for type '{entity_type[:80]}'",
                hint="schema_infer suggests one; write it as a note of type schema",
            )
        notes = notes_here.statements(notes_here.of_type(entity_type))
        found = picoschema.drift(picoschema.usage(notes), schema, total=len(notes))
        result = rows.SchemaDrift(
            note_type=entity_type,
            schema_found=True,
            new_fields=[_frequency(each) for each in found.new],
            dropped_fields=[_frequency(each) for each in found.dropped],
            cardinality_changes=found.cardinality,
        )
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
            if isinstance(fields.get("schema"), dict):
                self._take(file, fields)

    def _take(self, file: NoteFile, fields: dict[str, Any]) -> None:
        try:
            self._schemas[file.item] = picoschema.read_schema(fields, entity=file.title)
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
            return picoschema.read_schema(fields, entity=file.type)
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
        return [
            Statements(
                name=file.title,
                claims=tuple(claims.get(file.item, ())),
                relations=tuple(
                    (each, types.get(each.target, "")) for each in relations.get(file.item, ())
                ),
                fields=fields,
            )
            for file, fields in zip(files, self._fields(files), strict=True)
        ]

    def _fields(self, files: Sequence[NoteFile]) -> list[dict[str, Any]]:
        known = self.vault.frontmatter(files)
        return [known.get(file.item, {}) for file in files]


def _report(
    name: str | None, total: int, checks: Sequence[Check], types: Sequence[str]
) -> rows.SchemaReport:
    results = [_note_check(each) for each in checks]
    by_type = [
        rows.TypeSummary(
            note_type=kind,
            total_notes=types.count(kind),
            valid_count=sum(
                check.is_valid for check, of in zip(checks, types, strict=True) if of == kind
            ),
        )
        for kind in sorted(set(types))
    ]
    return rows.SchemaReport(
        note_type=name,
        total_notes=len(checks),
        total_entities=total,
        valid_count=sum(each.passed for each in results),
        warning_count=sum(len(each.warnings) for each in results),
        error_count=sum(len(each.errors) for each in results),
        results=results,
        type_summaries=by_type,
    )


def _note_check(check: Check) -> rows.NoteCheck:
    return rows.NoteCheck(
        note_identifier=check.name,
        schema_entity=check.schema.entity,
        passed=check.is_valid,
        field_results=[
            rows.FieldResult(
                field_name=each.field.name,
                field_type=each.field.type,
                required=each.field.is_required,
                status=each.status,
                values=list(each.values),
                message=each.message or UNSET,
            )
            for each in check.fields
        ],
        unmatched_observations=check.other_claims,
        unmatched_relations=list(check.other_relations),
        warnings=[] if check.schema.is_strict else check.problems,
        errors=check.problems if check.schema.is_strict else [],
    )


def _report_text(result: rows.SchemaReport) -> str:
    counts = f"Notes: {result.total_notes} | Valid: {result.valid_count}"
    counts += f" | Warnings: {result.warning_count} | Errors: {result.error_count}"
    lines = [f"# Schema Validation: {result.note_type or 'all'}", "", counts, ""]
    if result.type_summaries:
        lines += ["## By Type", ""]
        lines += [
            f"- **{each.note_type}**: {each.valid_count}/{each.total_notes} valid"
            for each in result.type_summaries
        ]
        lines.append("")
    for each in result.results:
        lines.append(f"- **{each.note_identifier}** — {'valid' if each.passed else 'INVALID'}")
        lines += [f"  - warning: {problem}" for problem in each.warnings]
        lines += [f"  - error: {problem}" for problem in each.errors]
    return "\n".join(lines)


def _frequency(each: FieldUsage, *, with_samples: bool = False) -> rows.FieldFrequency:
    return rows.FieldFrequency(
        name=each.name,
        source="relation" if each.is_relation else "observation",
        count=each.count,
        total=each.total,
        percentage=each.share,
        sample_values=list(each.samples) if with_samples else UNSET,
        is_array=each.is_array if with_samples else UNSET,
        target_type=each.target_type or UNSET if with_samples else UNSET,
    )


def _share(each: rows.FieldFrequency) -> str:
    return f"- **{each.name}** ({each.source}) — {each.percentage:.0%} ({each.count}/{each.total})"


def _suggestion_text(result: rows.SchemaSuggestion) -> str:
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


def _drift_text(result: rows.SchemaDrift) -> str:
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
