"""Results of the toolset's tools, as Basic Memory's clients know them as JSON.

`as_answer` makes text or JSON of a result; the JSON is the typed result itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import orjson
from msgspec import UNSET, UnsetType, to_builtins

from observer.tools.tool import ResultRow, ToolResult

Format = Literal["default", "text", "json", "ascii", "ansi"]
Row = TypeVar("Row", bound=ResultRow)


def as_answer(text: str, result: Row, output_format: Format) -> ToolResult[Row]:
    """Return an answer in the format that a client asks for."""
    if output_format == "json":
        return ToolResult(orjson.dumps(to_builtins(result)).decode(), result, is_json=True)
    return ToolResult(text, result)


def table(head: tuple[str, ...], cells: Sequence[tuple[str, ...]], output_format: Format) -> str:
    """Return a table of plain characters, its head bold where a terminal shows that (`ansi`)."""
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    bold, plain = ("\x1b[1m", "\x1b[0m") if output_format == "ansi" else ("", "")

    def line(row: tuple[str, ...], mark: str = "", end: str = "") -> str:
        padded = (f" {mark}{cell:<{width}}{end} " for cell, width in zip(row, widths, strict=True))
        return f"|{'|'.join(padded)}|"

    return "\n".join([rule, line(head, bold, plain), rule, *map(line, cells), rule])


class WrittenNote(ResultRow, kw_only=True):
    """Result of `write_note`; `undo` is the number by which the version before comes back."""

    title: str
    permalink: str
    file_path: str
    checksum: str
    action: Literal["created", "updated"]
    undo: int | UnsetType = UNSET


class EditedNote(ResultRow):
    """Result of `edit_note`."""

    title: str
    permalink: str
    file_path: str
    checksum: str
    operation: str
    fileCreated: bool  # noqa: N815 - the documented name


class NamedNote(ResultRow):
    """A note that may be meant."""

    title: str
    permalink: str
    file_path: str


class NoteText(ResultRow, kw_only=True):
    """Result of `read_note`: a note, or those that may be meant."""

    title: str | None = None
    permalink: str | None = None
    file_path: str | None = None
    content: str | None = None
    frontmatter: dict[str, Any] | None = None  # Any: the author's own YAML
    related_results: list[NamedNote] | UnsetType = UNSET


class MovedNote(ResultRow, kw_only=True):
    """Result of `move_note`; the counts are those of a directory."""

    moved: bool
    title: str | None
    permalink: str | None
    file_path: str | None
    source: str
    destination: str
    is_directory: bool | UnsetType = UNSET
    total_files: int | UnsetType = UNSET
    successful_moves: int | UnsetType = UNSET
    failed_moves: int | UnsetType = UNSET
    undo: int | UnsetType = UNSET


class DeletedNote(ResultRow):
    """Result of `delete_note` for a note."""

    deleted: bool
    title: str
    permalink: str
    file_path: str


class DeletedDirectory(ResultRow):
    """Result of `delete_note` for a directory."""

    deleted: bool
    is_directory: bool
    identifier: str
    total_files: int
    successful_deletes: int
    failed_deletes: int
    deleted_files: list[str]
    errors: list[str]
    undo: int


def way_back(result: WrittenNote | MovedNote | DeletedDirectory) -> list[str]:
    """Return the lines that say how it is taken back."""
    if result.undo is UNSET:
        return []
    return ["", f"To go back: observer note folder undo {result.undo}"]


class FileBytes(ResultRow):
    """The bytes of a file."""

    type: Literal["base64"]
    media_type: str
    data: str


class FileContent(ResultRow, kw_only=True):
    """Result of `read_content`: text as it is, everything else as base64."""

    type: Literal["text", "image", "document"]
    text: str | UnsetType = UNSET
    content_type: str | UnsetType = UNSET
    encoding: str | UnsetType = UNSET
    source: FileBytes | UnsetType = UNSET


class FoundRow(ResultRow, kw_only=True):
    """A hit of `search_notes`: a note, an observation (a line of one) or a relation."""

    title: str
    type: Literal["entity", "observation", "relation"]
    score: float
    entity: str
    external_id: str
    permalink: str
    content: str | UnsetType = UNSET
    file_path: str
    updated_at: str
    metadata: dict[str, Any]  # Any: a few fields by the type of hit
    entity_id: int
    category: str | UnsetType = UNSET
    from_entity: str | UnsetType = UNSET
    to_entity: str | UnsetType = UNSET
    relation_type: str | UnsetType = UNSET
    validity: list[str] | UnsetType = UNSET


class FoundRows(ResultRow, kw_only=True):
    """Result of `search_notes`; `notice` says how the query was read."""

    results: list[FoundRow]
    current_page: int
    page_size: int
    total: int
    total_is_exact: bool
    has_more: bool
    notice: str | UnsetType = UNSET


class ActivityRow(ResultRow, kw_only=True):
    """Something recent."""

    type: Literal["entity", "observation", "relation"]
    title: str
    permalink: str
    file_path: str
    created_at: str
    project: str | UnsetType = UNSET


class Activity(ResultRow):
    """Result of `recent_activity`, newest first."""

    items: list[ActivityRow]
    has_more: bool


class FolderRow(ResultRow):
    """A note folder: when all of it was last read, and when its newest note was changed."""

    name: str
    path: str
    is_default: bool
    note_count: int
    last_change: str | None
    last_sync: str | None


class ProjectRows(ResultRow):
    """Result of `list_memory_projects`."""

    projects: list[FolderRow]
    default_project: str | None


class ChangedProject(ResultRow, kw_only=True):
    """Result of `create_memory_project` and `delete_project`."""

    name: str
    path: str
    created: bool | UnsetType = UNSET
    already_exists: bool | UnsetType = UNSET
    deleted: bool | UnsetType = UNSET
    is_default: bool | UnsetType = UNSET


class DirectoryNode(ResultRow, kw_only=True):
    """A folder or a file in a listing."""

    name: str
    file_path: str | None = None
    directory_path: str
    type: Literal["directory", "file"]
    children: tuple[str, ...] = ()
    title: str | None = None
    permalink: str | None = None
    external_id: str | None = None
    entity_id: int | None = None
    note_type: str | None = None
    content_type: str | None = None
    updated_at: str | None = None


class DirectoryNodes(ResultRow):
    """Result of `list_directory`: folders by path, then files by name."""

    nodes: list[DirectoryNode]
    page: int
    page_size: int
    total: int
    has_more: bool


class CanvasFile(ResultRow):
    """Result of `canvas`."""

    file_path: str
    action: Literal["created", "updated"]
    checksum: str


class CloudInfo(ResultRow):
    """Result of `cloud_info`: there is none, whatever is asked."""

    connected: bool
    authentication: str
    subscription: str | None
    tenant: str | None


class ReleaseNotes(ResultRow):
    """Result of `release_notes`: the version that runs, and the newest section of the changes."""

    version: str
    date: str
    changes: list[str]


class ChatHit(ResultRow):
    """One result of the `search` that ChatGPT knows."""

    id: str
    title: str
    url: str


class ChatHits(ResultRow):
    """Result of `search`."""

    results: list[ChatHit]
    total_count: int
    query: str


class ChatDocument(ResultRow):
    """Result of `fetch`."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class ContextEntity(ResultRow, kw_only=True, tag_field="type", tag="entity"):
    """A note in a context."""

    external_id: str
    entity_id: int
    permalink: str
    title: str
    content: str | None
    file_path: str
    created_at: str
    validity: list[str] | UnsetType = UNSET


class ContextObservation(ResultRow):
    """A line of a note in a context."""

    type: Literal["observation"]
    entity_id: int
    entity_external_id: str
    title: str
    file_path: str
    permalink: str
    category: str
    content: str
    created_at: str


class ContextRelation(ResultRow, tag_field="type", tag="relation"):
    """A relation in a context; without `to_entity_id` nothing of that name is there."""

    entity_id: int
    title: str
    file_path: str
    permalink: str
    relation_type: str
    from_entity: str
    from_entity_id: int
    from_entity_external_id: str
    to_entity: str | None
    to_name: str
    to_entity_id: int | None
    to_entity_external_id: str | None
    created_at: str


class ContextNote(ResultRow):
    """One note that was asked for, with what it states and what is around it."""

    primary_result: ContextEntity
    observations: list[ContextObservation]
    related_results: list[ContextRelation | ContextEntity]


class ContextAbout(ResultRow):
    """What a context was made of."""

    uri: str
    types: list[str] | None
    depth: int
    timeframe: str
    generated_at: str
    primary_count: int
    related_count: int
    total_results: int
    total_relations: int
    total_observations: int


class Context(ResultRow):
    """Result of `build_context`."""

    results: list[ContextNote]
    metadata: ContextAbout
    page: int
    page_size: int
    has_more: bool


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


FieldSource = Literal["observation", "relation"]


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
