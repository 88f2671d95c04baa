"""The tool that lists what is new: notes, lines and relations, the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated, NamedTuple

import orjson
from msgspec import UNSET, Meta, to_builtins

from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.model import iso
from observer.core.note_file import NoteFile
from observer.toolsets.basic_memory import rows
from observer.toolsets.basic_memory.graph import Timeframe, around
from observer.toolsets.basic_memory.rows import Format
from observer.toolsets.basic_memory.selection import plain
from observer.toolsets.basic_memory.timeframe import since_ms, whole_days
from observer.toolsets.basic_memory.vault import (
    ProjectName,
    Vault,
    Vaults,
    observation_permalink,
    relation_permalink,
)
from observer.views.tool import Tool, ToolResult

RESULTS = ("entity", "observation", "relation")
AT_ONCE = 100
"""Notes that are read together: of most only the first are shown."""
STARTS = 50
"""Notes whose related notes are listed too, where a depth asks for them."""


class Entry(NamedTuple):
    """Something new: when it changed, its row, and its line in a list under a head."""

    at_ms: int
    row: rows.ActivityRow
    head: str
    line: str


class ActivityTools:
    """The tool of recent activity, over the note folders of a memory."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    def tools(self) -> tuple[Tool, ...]:
        """Return the tool."""
        return (Tool(run=self.recent_activity, title="Recent notes"),)

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
    ) -> ToolResult[rows.Activity]:
        """List what is new in a note folder; in all of them where none is named."""
        now = now_ms()
        since, span = since_ms(timeframe, now_ms=now), whole_days(timeframe, now_ms=now)
        vaults = [] if project else self._vaults.shared()
        vaults = vaults or [self._vaults.named(project)]
        chosen = vaults[0] if len(vaults) == 1 else None
        first = (page - 1) * page_size
        entries = [
            entry._replace(row=_in_project(entry.row, "" if chosen else vault.name))
            for vault in vaults
            for entry in islice(_entries(vault, type, since, depth), first + page_size + 1)
        ]
        entries.sort(key=lambda entry: -entry.at_ms)
        shown = entries[first : first + page_size]
        has_more = first + page_size < len(entries)
        result = rows.Activity(items=[entry.row for entry in shown], has_more=has_more)
        if output_format == "json":
            text = orjson.dumps([to_builtins(row) for row in result.items]).decode()
            return ToolResult(text, result, is_json=True)
        name = chosen.name if chosen else "all note folders"
        lines = [f"## Recent Activity: {name} ({span})", ""]
        lines += _text(shown) if shown else [f"No recent activity was found on page {page}."]
        if shown:
            lines += ["", _footer(len(shown), page, has_more=has_more)]
        return ToolResult("\n".join(lines), result)


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
    row = rows.ActivityRow(
        type=kind,  # type: ignore[arg-type]  # one of RESULTS
        title=title,
        permalink=permalink,
        file_path=file.path,
        created_at=iso(file.created_ms),
    )
    return Entry(file.updated_ms, row, head, line)


def _in_project(row: rows.ActivityRow, name: str) -> rows.ActivityRow:
    if not name:
        return row
    fields = {field: getattr(row, field) for field in row.__struct_fields__}
    return rows.ActivityRow(**{**fields, "project": name})


def _text(shown: Sequence[Entry]) -> list[str]:
    """Return entries as lists: notes, lines by their category, relations."""
    lines: list[str] = []
    heads = {
        "entity": "**📄 Recent Notes & Documents ({}):**",
        "observation": "**🔍 Recent Observations ({}):**",
        "relation": "**🔗 Recent Connections ({}):**",
    }
    for kind, head in heads.items():
        of_kind = [entry for entry in shown if entry.row.type == kind]
        if not of_kind:
            continue
        lines += [""] if lines else []
        lines.append(head.format(len(of_kind)))
        for category in dict.fromkeys(entry.head for entry in of_kind):
            same = [_placed(entry) for entry in of_kind if entry.head == category]
            lines += [f"  **{category}:** {len(same)} items"] if category else []
            lines += same
    return lines


def _placed(entry: Entry) -> str:
    return entry.line if entry.row.project is UNSET else f"{entry.line} in {entry.row.project}"


def _footer(count: int, page: int, *, has_more: bool) -> str:
    if has_more:
        return (
            f"**Activity Summary:** Showing {count} items (page {page})."
            f" Use page={page + 1} to see more."
        )
    if page > 1:
        return f"**Activity Summary:** Showing {count} items (page {page})."
    return f"**Activity Summary:** {count} items found."
