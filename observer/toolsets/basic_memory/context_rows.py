"""Results of `build_context`, as Basic Memory's clients know them as JSON."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from observer.views.tool import ResultRow


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
