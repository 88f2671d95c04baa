"""Results of the tools for schemas, as Basic Memory's clients know them as JSON."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from observer.views.tool import ResultRow


class FieldResult(ResultRow, kw_only=True):
    """What became of one field of a schema."""

    field_name: str
    field_type: str
    required: bool
    status: str
    values: list[str]
    message: str | UnsetType = UNSET


class NoteCheck(ResultRow):
    """How one note fits its schema."""

    note_identifier: str
    schema_entity: str
    passed: bool
    field_results: list[FieldResult]
    unmatched_observations: dict[str, int]
    unmatched_relations: list[str]
    warnings: list[str]
    errors: list[str]


class TypeSummary(ResultRow):
    """How many notes of a type fit."""

    note_type: str
    total_notes: int
    valid_count: int


class SchemaReport(ResultRow):
    """Result of `schema_validate`."""

    note_type: str | None
    total_notes: int
    total_entities: int
    valid_count: int
    warning_count: int
    error_count: int
    results: list[NoteCheck]
    type_summaries: list[TypeSummary]


class FieldFrequency(ResultRow, kw_only=True):
    """How often notes of a type state a field."""

    name: str
    source: Literal["observation", "relation"]
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
