"""The tools that follow relations, and that list what is new: notes, lines and relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, NamedTuple, TypeAlias

import orjson
from msgspec import UNSET, Meta

from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.core.model import Item, iso
from observer.core.note_file import Claim, NoteFile
from observer.tools.basic_memory.selection import DAY_MS, RESULTS, plain, since_ms
from observer.tools.basic_memory.vault import (
    Edge,
    Format,
    ProjectName,
    Vault,
    VaultTools,
    as_answer,
    named_by,
    observation_permalink,
    relation_permalink,
)
from observer.tools.labels import labels
from observer.tools.tool import Row, ToolResult, offered, row

DEEPEST = 3
AT_ONCE = 100
"""Notes that are read together: of most only the first are shown."""
STARTS = 50
"""Notes whose related notes are listed too, where a depth asks for them."""
Timeframe = Annotated[str, Meta(description='How far back: "7d", "2 weeks", "yesterday".')]


class Entry(NamedTuple):
    """Something new in a note, and its line in a list under a head."""

    file: NoteFile
    kind: str
    title: str
    permalink: str
    line: str
    head: str = ""
    project: str = ""


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
    ) -> ToolResult:
        """Return notes with what they state and the notes around them, to go on with a topic.

        The time frame restricts what is around, not what is asked for.
        """
        vault, now = self._named(project, url), now_ms()
        since, name = since_ms(timeframe, now_ms=now), named_by(url, is_url=True)
        found = vault.matching(name) if "*" in name else vault.called(url)[:1]
        if not found:
            raise NotFound(f"no note {url[:200]!r}", hint="find it with search_notes")
        first = (page - 1) * page_size
        primary = found[first : first + page_size] if "*" in name else found
        depth = min(max(depth, 1), DEEPEST)
        arounds = [around(vault, file, depth, since, most=max_related) for file in primary]
        files = [*primary, *(each for _, notes in arounds for each in notes)]
        known, claims = vault.items(files), vault.claims(files)
        rows = [
            _context(known, claims, file, *near)
            for file, near in zip(primary, arounds, strict=True)
        ]
        related = [one for each in rows for one in each["related_results"]]
        about = {
            "uri": name if "*" in name else primary[0].permalink,
            "types": None,
            "depth": depth,
            "timeframe": iso(since),
            "generated_at": iso(now),
            "primary_count": len(rows),
            "related_count": len(related),
            "total_results": len(rows) + len(related),
            "total_relations": sum(one["type"] == "relation" for one in related),
            "total_observations": sum(map(len, claims.values())),
        }
        has_more = first + page_size < len(found)
        result = {"results": rows, "metadata": about, "page": page, "page_size": page_size}
        result["has_more"] = has_more
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
    ) -> ToolResult:
        """List what is new in a note folder; in all of them where none is named."""
        now = now_ms()
        since = since_ms(timeframe, now_ms=now)
        vaults = [] if project else self._shared()
        vaults = vaults or [self._named(project)]
        chosen = vaults[0] if len(vaults) == 1 else None
        first = (page - 1) * page_size
        entries = [
            entry if chosen else entry._replace(project=vault.name)
            for vault in vaults
            for entry in islice(_entries(vault, type, since, depth), first + page_size + 1)
        ]
        entries.sort(key=lambda entry: -entry.file.updated_ms)
        shown = entries[first : first + page_size]
        has_more = first + page_size < len(entries)
        items = [
            row(
                type=entry.kind,
                title=entry.title,
                permalink=entry.permalink,
                file_path=entry.file.path,
                created_at=iso(entry.file.created_ms),
                project=entry.project or UNSET,
            )
            for entry in shown
        ]
        result = {"items": items, "has_more": has_more}
        if output_format == "json":
            return ToolResult(orjson.dumps(items).decode(), result, is_json=True)
        name = chosen.name if chosen else "all note folders"
        lines = [f"## Recent Activity: {name} ({round((now - since) / DAY_MS)}d)", ""]
        lines += _text(shown) if shown else [f"No recent activity was found on page {page}."]
        if shown:
            more = f" Use page={page + 1} to see more." if has_more else ""
            count = f"Showing {len(shown)} items (page {page}).{more}"
            count = count if has_more or page > 1 else f"{len(shown)} items found."
            lines += ["", f"**Activity Summary:** {count}"]
        return ToolResult("\n".join(lines), result)


def around(
    vault: Vault, file: NoteFile, depth: int, since: int, *, most: int | None = None
) -> tuple[list[Edge], list[NoteFile]]:
    """Return relations some steps around a note to notes changed since, and these, nearest first.

    Of each level of depth there are `most` at most.
    """
    edges: list[Edge] = []
    seen, level = {file.item: file}, [file]
    for _ in range(depth):
        following: list[NoteFile] = []
        for here in level:
            for edge in _edges_of(vault, here):
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
    return edges, list(seen.values())[1:]


def _edges_of(vault: Vault, file: NoteFile) -> Iterator[Edge]:
    """Yield the relations of a note, in its own order, then those of others that lead to it."""
    yield from vault.edges([file]).get(file.item, ())
    with vault.files.store.read() as reader:
        back = reader.relations_to(file)
        sources = reader.note_files_of(item for item, _ in back)
    for item, relation in back:
        if item in sources and item != file.item:
            yield Edge(sources[item], relation, file)


Items: TypeAlias = Mapping[int, Item]


def _uuid(known: Items, file: NoteFile) -> str:
    return known[file.item].uuid if file.item in known else ""


def _context(
    known: Items,
    claims: Mapping[int, Sequence[Claim]],
    file: NoteFile,
    edges: list[Edge],
    notes: list[NoteFile],
) -> Row:
    observations = [
        {
            "type": "observation",
            "entity_id": file.item,
            "entity_external_id": _uuid(known, file),
            "title": file.title,
            "file_path": file.path,
            "permalink": observation_permalink(file, claim),
            "category": claim.category or "note",
            "content": claim.text,
            "created_at": iso(file.created_ms),
        }
        for claim in claims.get(file.item, ())
    ]
    return {
        "primary_result": _entity_row(known, file, with_text=True),
        "observations": observations,
        "related_results": [
            *(_relation_row(known, edge) for edge in edges),
            *(_entity_row(known, each, with_text=False) for each in notes),
        ],
    }


def _entity_row(known: Items, file: NoteFile, *, with_text: bool) -> Row:
    item = known.get(file.item)
    return row(
        type="entity",
        external_id=_uuid(known, file),
        entity_id=file.item,
        permalink=file.permalink,
        title=file.title,
        content=item.narrative if item and with_text else None,
        file_path=file.path,
        created_at=iso(file.created_ms),
        validity=(labels(item) if item else []) or UNSET,
    )


def _relation_row(known: Items, edge: Edge) -> Row:
    """Return a relation; without `to_entity_id` nothing of that name is there."""
    source, relation, target = edge
    return {
        "type": "relation",
        "entity_id": source.item,
        "title": f"{relation.kind}: {edge.to}",
        "file_path": source.path,
        "permalink": relation_permalink(edge),
        "relation_type": relation.kind,
        "from_entity": source.title,
        "from_entity_id": source.item,
        "from_entity_external_id": _uuid(known, source),
        "to_entity": target.title if target else None,
        "to_name": relation.target,
        "to_entity_id": target.item if target else None,
        "to_entity_external_id": _uuid(known, target) if target else None,
        "created_at": iso(source.created_ms),
    }


def _context_text(result: Row, vault: Vault) -> str:
    found, about = result["results"], result["metadata"]
    if not found:
        return f"No more notes on page {result['page']}."
    title = found[0]["primary_result"]["title"] if len(found) == 1 else about["uri"]
    parts = "\n\n---\n\n".join(map(_item_text, found))
    foot = "{primary_count} primary, {related_count} related | depth={depth}".format(**about)
    return f"# Context: {title}\n\n{parts}\n\n---\n*{foot} | project: {vault.name}*"


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


def _entries(vault: Vault, types: Sequence[str], since: int, depth: int) -> Iterator[Entry]:
    """Yield what is new in a note folder, the newest notes first."""
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
            for each in around(vault, file, depth - 1, since=0)[1]
        }
        known = {file.item for file in files}
        files += [each for item, each in near.items() if item not in known]
    shown = {"entity": _notes, "observation": _lines, "relation": _relations}
    for start in range(0, len(files), AT_ONCE):
        some = files[start : start + AT_ONCE]
        found = [entry for kind, of in shown.items() if kind in wanted for entry in of(vault, some)]
        yield from sorted(found, key=lambda entry: -entry.file.updated_ms)


def _notes(vault: Vault, files: Sequence[NoteFile]) -> Iterator[Entry]:
    known = vault.items(files)
    for file in files:
        folder = file.path.rpartition("/")[0]
        line = f"  • {file.title}{f' ({folder})' if folder else ''} [id: {_uuid(known, file)}]"
        yield Entry(file, "entity", file.title, file.permalink, line)


def _lines(vault: Vault, files: Sequence[NoteFile]) -> Iterator[Entry]:
    claims = vault.claims(files)
    for file in files:
        for claim in claims.get(file.item, ()):
            at, line = observation_permalink(file, claim), f"    - {claim.text}"
            yield Entry(file, "observation", file.title, at, line, claim.category or "note")


def _relations(vault: Vault, files: Sequence[NoteFile]) -> Iterator[Entry]:
    edges = vault.edges(files)
    for file in files:
        for edge in edges.get(file.item, ()):
            line = f"  • [[{file.title}]] → {edge.relation.kind} → [[{edge.to}]]"
            title = f"{file.title} -> {edge.to}"
            yield Entry(file, "relation", title, relation_permalink(edge), line)


def _text(shown: Sequence[Entry]) -> list[str]:
    """Return entries as lists: notes, lines by their category, relations."""
    lines: list[str] = []
    heads = {
        "entity": "**📄 Recent Notes & Documents ({}):**",
        "observation": "**🔍 Recent Observations ({}):**",
        "relation": "**🔗 Recent Connections ({}):**",
    }
    for kind, head in heads.items():
        of_kind = [entry for entry in shown if entry.kind == kind]
        if not of_kind:
            continue
        lines += [""] if lines else []
        lines.append(head.format(len(of_kind)))
        for category in dict.fromkeys(entry.head for entry in of_kind):
            same = [
                f"{entry.line} in {entry.project}" if entry.project else entry.line
                for entry in of_kind
                if entry.head == category
            ]
            lines += [f"  **{category}:** {len(same)} items"] if category else []
            lines += same
    return lines
