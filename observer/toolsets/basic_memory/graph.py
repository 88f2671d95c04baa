"""The tool that follows relations: what is around a note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta

from observer.core.clock import now_ms
from observer.core.errors import NotFound
from observer.core.model import Item, iso
from observer.core.note_file import Claim, NoteFile, Relation
from observer.toolsets.basic_memory import rows
from observer.toolsets.basic_memory.memory_url import checked, is_pattern
from observer.toolsets.basic_memory.rows import Format, as_answer
from observer.toolsets.basic_memory.timeframe import since_ms
from observer.toolsets.basic_memory.vault import (
    ProjectName,
    Vault,
    Vaults,
    observation_permalink,
    relation_permalink,
)
from observer.views.labels import labels
from observer.views.tool import Tool, ToolResult

DEEPEST = 3
Timeframe = Annotated[str, Meta(description='How far back: "7d", "2 weeks", "yesterday".')]


class Edge(NamedTuple):
    """A relation between two notes; without `target` nothing has that name."""

    source: NoteFile
    relation: Relation
    target: NoteFile | None


class Around(NamedTuple):
    """What is around a note: edges, and the notes at their other ends, the nearest first."""

    edges: list[Edge]
    notes: list[NoteFile]


class GraphTools:
    """The tools that follow relations, over the note folders of a memory."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, in the order of their document."""
        return (Tool(run=self.build_context, title="What is around a note"),)

    def build_context(  # noqa: PLR0913 - the documented parameters
        self,
        url: Annotated[
            str, Meta(description="memory://FOLDER/NOTE, or memory://FOLDER/* for all of a folder.")
        ],
        *,
        depth: Annotated[int, Meta(ge=0, description="Relations to follow, up to 3.")] = 1,
        timeframe: Timeframe = "7d",
        page: Annotated[int, Meta(ge=1, description="Page.")] = 1,
        page_size: Annotated[int, Meta(ge=1, le=50, description="Notes a page.")] = 10,
        max_related: Annotated[
            int, Meta(ge=1, le=100, description="Most related notes of each level of depth.")
        ] = 10,
        project: ProjectName = "",
        output_format: Format = "json",
    ) -> ToolResult[rows.Context]:
        """Return notes with what they state and the notes around them, to go on with a topic.

        The time frame restricts what is around, not what is asked for.
        """
        vault, now = self._vaults.named(project, url), now_ms()
        since, name = since_ms(timeframe, now_ms=now), checked(url)
        found = vault.matching(name) if is_pattern(name) else vault.called(url)
        if not found:
            raise NotFound(f"no note {url[:200]!r}", hint="find it with search_notes")
        first = (page - 1) * page_size
        primary = found[first : first + page_size] if is_pattern(name) else found[:1]
        depth = min(max(depth, 1), DEEPEST)
        arounds = {
            file.item: around(vault, file, depth, since, most=max_related) for file in primary
        }
        related = [file for each in arounds.values() for file in each.notes]
        known = _Known(vault, [*primary, *related])
        items = [_context(known, file, arounds[file.item]) for file in primary]
        result = rows.Context(
            results=items,
            metadata=_about(known, name, depth, (since, now), items),
            page=page,
            page_size=page_size,
            has_more=first + page_size < len(found) if is_pattern(name) else False,
        )
        return as_answer(_context_text(result, vault), result, output_format)


def around(
    vault: Vault, file: NoteFile, depth: int, since: int, *, most: int | None = None
) -> Around:
    """Return what is within some relations of a note, as far as it changed since.

    Of each level of depth there are `most` notes at most, the first ones.
    """
    edges: list[Edge] = []
    seen, level = {file.item: file}, [file]
    for _ in range(depth):
        following: list[NoteFile] = []
        for here in level:
            for edge in edges_of(vault, here):
                other = edge.target if edge.source.item == here.item else edge.source
                if other is None or other.updated_ms < since or edge in edges:
                    continue
                if len(following) == most and other.item not in seen:
                    continue
                edges.append(edge)
                if other.item not in seen:
                    seen[other.item] = other
                    following.append(other)
        level = following
    return Around(edges, list(seen.values())[1:])


def edges_of(vault: Vault, file: NoteFile) -> Iterator[Edge]:
    """Yield the relations of a note, in its own order, then those of others that lead to it."""
    relations = vault.relations([file]).get(file.item, ())
    targets = vault.targets(relations)
    for each in relations:
        yield Edge(file, each, targets.get(each.target))
    back = vault.files.relations_to(file)
    sources = vault.files.of(item for item, _ in back)
    for item, relation in back:
        if item in sources and item != file.item:
            yield Edge(sources[item], relation, file)


class _Known:
    """What is read of notes at once: as they are stored, and what they state."""

    def __init__(self, vault: Vault, files: Iterable[NoteFile]) -> None:
        self.files = {file.item: file for file in files}
        self._items = vault.items(self.files.values())
        self._claims = vault.claims(self.files.values())

    def item(self, file: NoteFile) -> Item | None:
        return self._items.get(file.item)

    def uuid(self, file: NoteFile) -> str:
        item = self.item(file)
        return item.uuid if item else ""

    def claims(self, file: NoteFile) -> Sequence[Claim]:
        return self._claims.get(file.item, ())


def _context(known: _Known, file: NoteFile, near: Around) -> rows.ContextNote:
    related: list[rows.ContextRelation | rows.ContextEntity] = [
        _relation_row(known, edge) for edge in near.edges
    ]
    related += [_entity_row(known, each, with_text=False) for each in near.notes]
    return rows.ContextNote(
        primary_result=_entity_row(known, file, with_text=True),
        observations=[_observation_row(known, file, claim) for claim in known.claims(file)],
        related_results=related,
    )


def _entity_row(known: _Known, file: NoteFile, *, with_text: bool) -> rows.ContextEntity:
    item = known.item(file)
    row = rows.ContextEntity(
        external_id=known.uuid(file),
        entity_id=file.item,
        permalink=file.permalink,
        title=file.title,
        content=item.narrative if item and with_text else None,
        file_path=file.path,
        created_at=iso(file.created_ms),
    )
    said = labels(item) if item else []
    return _with_labels(row, said) if said else row


def _with_labels(row: rows.ContextEntity, said: list[str]) -> rows.ContextEntity:
    fields = {name: getattr(row, name) for name in row.__struct_fields__}
    return rows.ContextEntity(**{**fields, "validity": said})


def _observation_row(known: _Known, file: NoteFile, claim: Claim) -> rows.ContextObservation:
    return rows.ContextObservation(
        type="observation",
        entity_id=file.item,
        entity_external_id=known.uuid(file),
        title=file.title,
        file_path=file.path,
        permalink=observation_permalink(file, claim),
        category=claim.category or "note",
        content=claim.text,
        created_at=iso(file.created_ms),
    )


def _relation_row(known: _Known, edge: Edge) -> rows.ContextRelation:
    name = edge.target.title if edge.target else edge.relation.target
    return rows.ContextRelation(
        entity_id=edge.source.item,
        title=f"{edge.relation.kind}: {name}",
        file_path=edge.source.path,
        permalink=relation_permalink(edge.source, edge.relation, edge.target),
        relation_type=edge.relation.kind,
        from_entity=edge.source.title,
        from_entity_id=edge.source.item,
        from_entity_external_id=known.uuid(edge.source),
        to_entity=edge.target.title if edge.target else None,
        to_name=edge.relation.target,
        to_entity_id=edge.target.item if edge.target else None,
        to_entity_external_id=known.uuid(edge.target) if edge.target else None,
        created_at=iso(edge.source.created_ms),
    )


def _about(
    known: _Known,
    name: str,
    depth: int,
    span: tuple[int, int],
    items: list[rows.ContextNote],
) -> rows.ContextAbout:
    related = [row for item in items for row in item.related_results]
    shown = name if is_pattern(name) else items[0].primary_result.permalink
    return rows.ContextAbout(
        uri=shown,
        types=None,
        depth=depth,
        timeframe=iso(span[0]),
        generated_at=iso(span[1]),
        primary_count=len(items),
        related_count=len(related),
        total_results=len(items) + len(related),
        total_relations=sum(isinstance(row, rows.ContextRelation) for row in related),
        total_observations=sum(len(known.claims(file)) for file in known.files.values()),
    )


def _context_text(result: rows.Context, vault: Vault) -> str:
    primary = [item.primary_result for item in result.results]
    if not primary:
        return f"No more notes on page {result.page}."
    title = primary[0].title if len(primary) == 1 else result.metadata.uri
    parts = [_item_text(item) for item in result.results]
    about = result.metadata
    foot = (
        f"---\n*{about.primary_count} primary, {about.related_count} related"
        f" | depth={about.depth} | project: {vault.name}*"
    )
    return f"# Context: {title}\n\n" + "\n\n---\n\n".join(parts) + f"\n\n{foot}"


def _item_text(item: rows.ContextNote) -> str:
    file = item.primary_result
    relations = [row for row in item.related_results if isinstance(row, rows.ContextRelation)]
    notes = [row for row in item.related_results if isinstance(row, rows.ContextEntity)]
    parts = [f"## {file.title}\npermalink: {file.permalink}", file.content or ""]
    lists = (
        ("Observations", [f"- [{row.category}] {row.content}" for row in item.observations]),
        (
            "Relations",
            [f"- {row.relation_type} [[{row.to_entity or row.to_name}]]" for row in relations],
        ),
        ("Related", [f"- [[{row.title}]] ({row.permalink})" for row in notes]),
    )
    parts += ["\n".join([f"### {head}", *lines]) for head, lines in lists if lines]
    return "\n\n".join(filter(None, parts))
