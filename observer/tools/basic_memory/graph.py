"""The tools that follow relations, and that list what is new: notes, lines and relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, NamedTuple

import orjson
from msgspec import UNSET, Meta

from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.core.model import Item, iso
from observer.core.note_file import Claim, NoteFile, Relation
from observer.tools.basic_memory.selection import plain, since_ms, whole_days
from observer.tools.basic_memory.vault import (
    Format,
    ProjectName,
    Vault,
    VaultTools,
    as_answer,
    checked,
    observation_permalink,
    relation_permalink,
)
from observer.tools.labels import labels
from observer.tools.tool import ResultRow, Row, ToolResult, offered, row

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
    """Result of `build_context`: notes, each with what it states and what is around it."""

    results: list[Row]
    metadata: ContextAbout
    page: int
    page_size: int
    has_more: bool


class Activity(ResultRow):
    """Result of `recent_activity`, newest first."""

    items: list[Row]
    has_more: bool


class GraphTools(VaultTools):
    """The tools that follow relations, and the one of recent activity."""

    @offered("What is around a note")
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
    ) -> ToolResult[Context]:
        """Return notes with what they state and the notes around them, to go on with a topic.

        The time frame restricts what is around, not what is asked for.
        """
        vault, now = self._named(project, url), now_ms()
        since, name = since_ms(timeframe, now_ms=now), checked(url)
        found = vault.matching(name) if "*" in name else vault.called(url)
        if not found:
            raise NotFound(f"no note {url[:200]!r}", hint="find it with search_notes")
        first = (page - 1) * page_size
        primary = found[first : first + page_size] if "*" in name else found[:1]
        depth = min(max(depth, 1), DEEPEST)
        arounds = {
            file.item: around(vault, file, depth, since, most=max_related) for file in primary
        }
        related = [file for each in arounds.values() for file in each.notes]
        known = _Known(vault, [*primary, *related])
        items = [_context(known, file, arounds[file.item]) for file in primary]
        result = Context(
            results=items,
            metadata=_about(known, name, depth, (since, now), items),
            page=page,
            page_size=page_size,
            has_more="*" in name and first + page_size < len(found),
        )
        return as_answer(_context_text(result, vault), result, output_format)

    @offered("Recent notes")
    def recent_activity(  # noqa: PLR0913 - the documented parameters
        self,
        type: Annotated[  # noqa: A002 - the documented name
            list[str],
            Meta(description="entity, observation, relation, or types of notes: person, decision."),
        ] = [],  # noqa: B006 - never changed
        *,
        depth: Annotated[
            int, Meta(ge=1, le=3, description="2 and 3: also the notes that these relate to.")
        ] = 1,
        timeframe: Timeframe = "7d",
        page: Annotated[int, Meta(ge=1, description="Page.")] = 1,
        page_size: Annotated[int, Meta(ge=1, le=100, description="Entries a page.")] = 10,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult[Activity]:
        """List what is new in a note folder; in all of them where none is named."""
        now = now_ms()
        since, span = since_ms(timeframe, now_ms=now), whole_days(timeframe, now_ms=now)
        vaults = [] if project else self._shared()
        vaults = vaults or [self._named(project)]
        chosen = vaults[0] if len(vaults) == 1 else None
        first = (page - 1) * page_size
        entries = [
            entry if chosen else entry._replace(row=entry.row | {"project": vault.name})
            for vault in vaults
            for entry in islice(_entries(vault, type, since, depth), first + page_size + 1)
        ]
        entries.sort(key=lambda entry: -entry.at_ms)
        shown = entries[first : first + page_size]
        has_more = first + page_size < len(entries)
        result = Activity(items=[entry.row for entry in shown], has_more=has_more)
        if output_format == "json":
            return ToolResult(orjson.dumps(result.items).decode(), result, is_json=True)
        name = chosen.name if chosen else "all note folders"
        lines = [f"## Recent Activity: {name} ({span})", ""]
        lines += _text(shown) if shown else [f"No recent activity was found on page {page}."]
        if shown:
            count = f"**Activity Summary:** Showing {len(shown)} items (page {page})."
            count += f" Use page={page + 1} to see more." if has_more else ""
            whole = f"**Activity Summary:** {len(shown)} items found."
            lines += ["", count if has_more or page > 1 else whole]
        return ToolResult("\n".join(lines), result)


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
    with vault.files.reading() as reader:
        back = reader.relations_to(file)
        sources = reader.note_files_of(item for item, _ in back)
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


def _context(known: _Known, file: NoteFile, near: Around) -> Row:
    related = [_relation_row(known, edge) for edge in near.edges]
    related += [_entity_row(known, each, with_text=False) for each in near.notes]
    observations = [
        {
            "type": "observation",
            "entity_id": file.item,
            "entity_external_id": known.uuid(file),
            "title": file.title,
            "file_path": file.path,
            "permalink": observation_permalink(file, claim),
            "category": claim.category or "note",
            "content": claim.text,
            "created_at": iso(file.created_ms),
        }
        for claim in known.claims(file)
    ]
    return {
        "primary_result": _entity_row(known, file, with_text=True),
        "observations": observations,
        "related_results": related,
    }


def _entity_row(known: _Known, file: NoteFile, *, with_text: bool) -> Row:
    item = known.item(file)
    return row(
        type="entity",
        external_id=known.uuid(file),
        entity_id=file.item,
        permalink=file.permalink,
        title=file.title,
        content=item.narrative if item and with_text else None,
        file_path=file.path,
        created_at=iso(file.created_ms),
        validity=(labels(item) if item else []) or UNSET,
    )


def _relation_row(known: _Known, edge: Edge) -> Row:
    """Return a relation; without `to_entity_id` nothing of that name is there."""
    source, relation, target = edge
    return {
        "type": "relation",
        "entity_id": source.item,
        "title": f"{relation.kind}: {target.title if target else relation.target}",
        "file_path": source.path,
        "permalink": relation_permalink(source, relation, target),
        "relation_type": relation.kind,
        "from_entity": source.title,
        "from_entity_id": source.item,
        "from_entity_external_id": known.uuid(source),
        "to_entity": target.title if target else None,
        "to_name": relation.target,
        "to_entity_id": target.item if target else None,
        "to_entity_external_id": known.uuid(target) if target else None,
        "created_at": iso(source.created_ms),
    }


def _about(
    known: _Known,
    name: str,
    depth: int,
    span: tuple[int, int],
    items: list[Row],
) -> ContextAbout:
    related = [one for item in items for one in item["related_results"]]
    shown = name if "*" in name else items[0]["primary_result"]["permalink"]
    return ContextAbout(
        uri=shown,
        types=None,
        depth=depth,
        timeframe=iso(span[0]),
        generated_at=iso(span[1]),
        primary_count=len(items),
        related_count=len(related),
        total_results=len(items) + len(related),
        total_relations=sum(one["type"] == "relation" for one in related),
        total_observations=sum(len(known.claims(file)) for file in known.files.values()),
    )


def _context_text(result: Context, vault: Vault) -> str:
    primary = [item["primary_result"] for item in result.results]
    if not primary:
        return f"No more notes on page {result.page}."
    title = primary[0]["title"] if len(primary) == 1 else result.metadata.uri
    parts = [_item_text(item) for item in result.results]
    about = result.metadata
    foot = (
        f"---\n*{about.primary_count} primary, {about.related_count} related"
        f" | depth={about.depth} | project: {vault.name}*"
    )
    return f"# Context: {title}\n\n" + "\n\n---\n\n".join(parts) + f"\n\n{foot}"


def _item_text(item: Row) -> str:
    file, related = item["primary_result"], item["related_results"]
    said = [f"- [{one['category']}] {one['content']}" for one in item["observations"]]
    relations = [
        f"- {one['relation_type']} [[{one['to_entity'] or one['to_name']}]]"
        for one in related
        if one["type"] == "relation"
    ]
    notes = [
        f"- [[{one['title']}]] ({one['permalink']})" for one in related if one["type"] == "entity"
    ]
    parts = [f"## {file['title']}\npermalink: {file['permalink']}", file["content"] or ""]
    lists = (("Observations", said), ("Relations", relations), ("Related", notes))
    parts += ["\n".join([f"### {head}", *lines]) for head, lines in lists if lines]
    return "\n\n".join(filter(None, parts))


RESULTS = ("entity", "observation", "relation")
AT_ONCE = 100
"""Notes that are read together: of most only the first are shown."""
STARTS = 50
"""Notes whose related notes are listed too, where a depth asks for them."""


class Entry(NamedTuple):
    """Something new: when it changed, its row, and its line in a list under a head."""

    at_ms: int
    row: Row
    head: str
    line: str


def _entries(vault: Vault, types: Sequence[str], since: int, depth: int) -> Iterator[Entry]:
    """Yield what is new in a note folder, the newest notes first.

    Raises:
        BadInput: it has no notes of a type that is asked for.
    """
    asked = [each.strip().lower() for each in types]
    wanted = [each for each in asked if each in RESULTS] or ["entity"]
    kinds = {plain(each) for each in asked} - set(RESULTS)
    every = vault.notes()
    if unknown := kinds - {plain(file.type) for file in every}:
        raise BadInput(
            f"Invalid type: {', '.join(sorted(unknown))[:80]}",
            hint=f"use {', '.join(RESULTS)}, or a type that notes here have",
        )
    files = [f for f in every if f.updated_ms >= since and (not kinds or plain(f.type) in kinds)]
    files.sort(key=lambda file: (-file.updated_ms, file.path))
    if depth > 1:
        near = {
            each.item: each
            for file in files[:STARTS]
            for each in around(vault, file, depth - 1, since=0).notes
        }
        known = {file.item for file in files}
        files += [each for item, each in near.items() if item not in known]
    shown = {"entity": _notes, "observation": _lines, "relation": _relations}
    for start in range(0, len(files), AT_ONCE):
        some = files[start : start + AT_ONCE]
        found = [entry for kind, of in shown.items() if kind in wanted for entry in of(vault, some)]
        yield from sorted(found, key=lambda entry: -entry.at_ms)


def _notes(vault: Vault, files: Sequence[NoteFile]) -> Iterator[Entry]:
    items = vault.items(files)
    for file in files:
        folder = file.path.rpartition("/")[0]
        uuid = items[file.item].uuid if file.item in items else ""
        line = f"  • {file.title}{f' ({folder})' if folder else ''} [id: {uuid}]"
        yield _entry(file, "entity", file.title, file.permalink, line=line)


def _lines(vault: Vault, files: Sequence[NoteFile]) -> Iterator[Entry]:
    claims = vault.claims(files)
    for file in files:
        for claim in claims.get(file.item, ()):
            permalink = observation_permalink(file, claim)
            head = claim.category or "note"
            line = f"    - {claim.text}"
            yield _entry(file, "observation", file.title, permalink, head=head, line=line)


def _relations(vault: Vault, files: Sequence[NoteFile]) -> Iterator[Entry]:
    relations = vault.relations(files)
    named = [each for of_note in relations.values() for each in of_note]
    targets = vault.targets(named)
    for file in files:
        for each in relations.get(file.item, ()):
            target = targets.get(each.target)
            name = target.title if target else each.target
            permalink = relation_permalink(file, each, target)
            line = f"  • [[{file.title}]] → {each.kind} → [[{name}]]"
            yield _entry(file, "relation", f"{file.title} -> {name}", permalink, line=line)


def _entry(
    file: NoteFile, kind: str, title: str, permalink: str, *, head: str = "", line: str
) -> Entry:
    row = {
        "type": kind,
        "title": title,
        "permalink": permalink,
        "file_path": file.path,
        "created_at": iso(file.created_ms),
    }
    return Entry(file.updated_ms, row, head, line)


def _text(shown: Sequence[Entry]) -> list[str]:
    """Return entries as lists: notes, lines by their category, relations."""
    lines: list[str] = []
    heads = {
        "entity": "**📄 Recent Notes & Documents ({}):**",
        "observation": "**🔍 Recent Observations ({}):**",
        "relation": "**🔗 Recent Connections ({}):**",
    }
    for kind, head in heads.items():
        of_kind = [entry for entry in shown if entry.row["type"] == kind]
        if not of_kind:
            continue
        lines += [""] if lines else []
        lines.append(head.format(len(of_kind)))
        for category in dict.fromkeys(entry.head for entry in of_kind):
            same = [
                f"{entry.line} in {entry.row['project']}" if "project" in entry.row else entry.line
                for entry in of_kind
                if entry.head == category
            ]
            lines += [f"  **{category}:** {len(same)} items"] if category else []
            lines += same
    return lines
