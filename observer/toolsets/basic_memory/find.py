"""Tools that search notes: by words, title, permalink, meaning and frontmatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from msgspec import UNSET, Meta, UnsetType, to_builtins
from msgspec.structs import replace

from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.toolsets.basic_memory import rows, selection
from observer.toolsets.basic_memory.rows import Format, as_answer
from observer.toolsets.basic_memory.selection import SearchType, Wanted, moment_or_since_ms
from observer.toolsets.basic_memory.vault import ProjectName, Vault, Vaults
from observer.views.tool import Tool, ToolResult

OTHERWISE = "no note holds every word; found by words and meaning, as search_type=hybrid does"
CRITERIA = "query, metadata_filters, tags, status, types, entity_types, categories, after_date"
SHOWN = 10

Filters = Annotated[
    dict[str, Any],
    Meta(
        description='Fields of the frontmatter: {"status": "done", "owner.name": {"$in": ["ana"]},'
        ' "priority": {"$gte": 2}}; $in, $gt, $gte, $lt, $lte, $between.'
    ),
]


class FindTools:
    """The tools that search, over the note folders of a memory."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools, in the order of their document."""
        aliases = {"note_types": "types"}
        return (
            Tool(run=self.search_notes, title="Search notes", aliases=aliases),
            Tool(run=self.search_by_metadata, title="Search by frontmatter"),
        )

    def chat_tools(self) -> tuple[Tool, ...]:
        """Return the two tools that ChatGPT's connectors call."""
        return (
            Tool(run=self.search, title="Search (ChatGPT)"),
            Tool(run=self.fetch, title="Fetch (ChatGPT)"),
        )

    def search_notes(  # noqa: PLR0913 - the documented parameters
        self,
        query: Annotated[
            str,
            Meta(description='Words that must all be there, if any note has them; AND, OR, "a b".'),
        ] = "",
        *,
        page: Annotated[int, Meta(ge=1, description="Page.")] = 1,
        page_size: Annotated[int, Meta(ge=1, le=100, description="Hits a page.")] = SHOWN,
        search_type: Annotated[
            SearchType, Meta(description="semantic and vector: by meaning; hybrid: both.")
        ] = "text",
        types: Annotated[list[str], Meta(description="Only notes of these types.")] = [],  # noqa: B006 - never changed
        entity_types: Annotated[
            list[str], Meta(description="What to return: entity, observation, relation.")
        ] = [],  # noqa: B006 - never changed
        categories: Annotated[
            list[str], Meta(description="Only observations of these categories.")
        ] = [],  # noqa: B006 - never changed
        after_date: Annotated[
            str, Meta(description="Only notes changed since: 2026-01-05, 1 week.")
        ] = "",
        metadata_filters: Filters = {},  # noqa: B006 - never changed
        tags: Annotated[list[str], Meta(description="Only notes with all of these tags.")] = [],  # noqa: B006 - never changed
        status: Annotated[str, Meta(description="Only notes of this status.")] = "",
        min_similarity: Annotated[
            float, Meta(ge=0, le=1, description="Least score, where it is searched by meaning.")
        ]
        | None = None,
        search_all_projects: Annotated[
            bool, Meta(description="All note folders, where no project is named.")
        ] = False,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult[rows.FoundRows]:
        """Search the notes of a note folder; without a query, by filters alone, newest first."""
        selection.check_types(entity_types)
        metadata = dict(metadata_filters)
        if named := selection.tags_of(tags):
            metadata.setdefault("tags", list(named))
        if status:
            metadata.setdefault("status", status)
        wanted = Wanted(
            query=query.strip(),
            search_type=search_type,
            types=types,
            entity_types=entity_types,  # type: ignore[arg-type]  # checked above
            categories=categories,
            after_ms=moment_or_since_ms(after_date, now_ms=now_ms()),
            metadata=metadata,
            min_similarity=min_similarity,
        )
        return self._found(
            wanted, project, (page, page_size), output_format, everywhere=search_all_projects
        )

    def search_by_metadata(
        self,
        filters: Filters,
        *,
        limit: Annotated[int, Meta(ge=1, le=100, description="Most notes.")] = 20,
        offset: Annotated[int, Meta(ge=0, description="Notes to leave out at the start.")] = 0,
        project: ProjectName = "",
        output_format: Format = "text",
    ) -> ToolResult[rows.FoundRows]:
        """Find notes by fields of their frontmatter, the newest first."""
        vault = self._vaults.named(project)
        if not filters:
            raise BadInput("no filters", hint='name a field: {"status": "done"}')
        found = selection.found(vault, Wanted(metadata=filters), at_most=offset + limit)
        result = _page(*found, first=offset, size=limit, number=offset // limit + 1)
        return as_answer(_shown(result, "", vault.name, output_format), result, output_format)

    def _found(
        self,
        wanted: Wanted,
        project: str,
        paged: tuple[int, int],
        output_format: Format,
        *,
        everywhere: bool = False,
    ) -> ToolResult[rows.FoundRows]:
        if wanted.is_empty:
            raise BadInput("No search criteria", hint=f"name at least one of: {CRITERIA}")
        number, size = paged
        at_most = number * size
        is_wide = everywhere and not project
        vaults = self._vaults.shared() if is_wide else [self._vaults.named(project)]
        hits, total = _of_all(vaults, wanted, at_most)
        notice: str | UnsetType = UNSET
        if not total and wanted.query and wanted.search_type == "text":
            hits, total = _of_all(vaults, wanted._replace(search_type="hybrid"), at_most)
            notice = OTHERWISE if total else UNSET
        name = ", ".join(vault.name for vault in vaults)
        result = _page(hits, total, first=at_most - size, size=size, number=number)
        result = replace(result, notice=notice)
        text = _shown(result, wanted.query, name, output_format)
        return as_answer(text, result, output_format)

    def search(
        self, query: Annotated[str, Meta(min_length=1, description="Words to look for.")]
    ) -> ToolResult[rows.ChatHits]:
        """Search the notes, for clients that know only search and fetch."""
        found = self._found(Wanted(query=query.strip()), "", (1, SHOWN), "text").result
        hits = [
            rows.ChatHit(id=hit.permalink, title=hit.title, url=hit.permalink)
            for hit in found.results
        ]
        result = rows.ChatHits(results=hits, total_count=found.total, query=query)
        return ToolResult(orjson.dumps(to_builtins(result)).decode(), result, is_json=True)

    def fetch(
        self,
        id: Annotated[str, Meta(description="Id of a result, or the title of a note.")],  # noqa: A002 - the documented name
    ) -> ToolResult[rows.ChatDocument]:
        """Return the whole text of a note, for clients that know only search and fetch."""
        vault = self._vaults.named("", id)
        file = vault.find(id)
        if file is None:
            raise NotFound(f"no note {id[:200]!r}", hint="search for it first")
        result = rows.ChatDocument(
            id=id,
            title=file.title,
            text=vault.read(file).text,
            url=id,
            metadata={"format": "markdown"},
        )
        return ToolResult(orjson.dumps(to_builtins(result)).decode(), result, is_json=True)


def _of_all(
    vaults: Sequence[Vault], wanted: Wanted, at_most: int
) -> tuple[list[rows.FoundRow], int]:
    """Return the first hits in some note folders, and how many there are."""
    of_each = [selection.found(vault, wanted, at_most=at_most) for vault in vaults]
    hits = [hit for some, _ in of_each for hit in some]
    if len(vaults) > 1:
        hits.sort(key=lambda hit: -hit.score)
    return hits, sum(count for _, count in of_each)


def _page(
    hits: list[rows.FoundRow], total: int, *, first: int, size: int, number: int
) -> rows.FoundRows:
    return rows.FoundRows(
        results=hits[first : first + size],
        current_page=number,
        page_size=size,
        total=total,
        total_is_exact=total < selection.MOST,
        has_more=first + size < total,
    )


def _shown(result: rows.FoundRows, query: str, project: str, output_format: Format) -> str:
    if not result.results and result.total:
        many = "1 result" if result.total == 1 else f"{result.total} results"
        return f"Page {result.current_page} is after the last one: there are {many} in all."
    if not result.results:
        words = f" for '{query}'" if query else ""
        return (
            f"No results found{words} in project '{project}'. Try fewer or other words,"
            " search_type=hybrid, or recent_activity."
        )
    if output_format in {"ascii", "ansi"}:
        cells = [(hit.title, hit.type, hit.permalink, f"{hit.score:.4f}") for hit in result.results]
        table = rows.table(("Title", "Type", "Permalink", "Score"), cells, output_format)
        return f"{table}\n{result.notice}" if result.notice else table
    lines = [f"# Search Results{': ' if query else ''}{query}", f"*project: {project}*", ""]
    if result.notice:
        lines += [f"*{result.notice}*", ""]
    for hit in result.results:
        lines += [
            f"### {hit.title}",
            f"- permalink: {hit.permalink}",
            f"- external_id: {hit.external_id}",
            f"- score: {hit.score:.4f}",
            *(f"- {each}" for each in ([] if hit.validity is UNSET else hit.validity)),
            "",
        ]
    count = len(result.results)
    more = " | more available" if result.has_more else ""
    shown = f"{count} {'result' if count == 1 else 'results'}"
    lines += ["---", f"*{shown} | page {result.current_page}, page_size {result.page_size}{more}*"]
    return "\n".join(lines)
