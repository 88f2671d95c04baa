"""The `memory` tool, worded as its documentation, which agents were taught; and `resolve`."""

from __future__ import annotations

import functools
from typing import Annotated, cast, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from observer.core.clock import now_ms
from observer.core.errors import BadInput, ObserverError
from observer.core.events import Scope
from observer.core.model import iso
from observer.notes.pairs import How, OpenPairs, Settlement
from observer.notes.values import Note
from observer.search.handles import SearchOptions
from observer.search.rank import Hit
from observer.tools import render
from observer.tools.labels import labels
from observer.tools.note_api import final, pair_lines, stands
from observer.tools.parse_filters import parse_filters
from observer.tools.tool import Row, ToolResult, Tools, offered, row

ACTIONS = ("remember", "recall", "forget")
SCOPES: tuple[str, ...] = get_args(Scope)
ALL = "all"
"""The scope of which the notes of every project are recalled."""
FACT_TYPES = (
    "general",
    "preference",
    "decision",
    "context",
    "constraint",
    "heuristic",
    "rejected",
)
"""The tool's name of each fact type; `general` is stored as `fact`."""

CONFIDENCE = 0.5
"""Of a note about which nothing else is said."""


class Settling(msgspec.Struct, frozen=True):
    """Note `id` replaces or amends `other`, both stand, or `content` takes the place of both."""

    id: int
    how: How
    other: int
    content: str = ""


_write = functools.partial(offered, is_always_loaded=True, is_read_only=False, is_destructive=True)
OPEN, SAID = 10, 400
"""Pairs that an answer lists, and characters of each note in it."""


class MemoryTool(Tools):
    """The tools of one memory that keep notes and settle which hold."""

    @_write(
        "Remember, recall, forget",
        returns="action:string message:string id:integer updated:boolean deleted:boolean "
        "final_at:string memories:array similar:array dangling:array notice:string "
        "degraded:string",
    )
    def memory(  # noqa: PLR0913 - the documented parameters of one tool
        self,
        action: Annotated[str, Meta(extra_json_schema={"enum": list(ACTIONS)})],
        *,
        content: Annotated[str, Meta(description="The fact, with its reason. No secrets.")] = "",
        key: Annotated[str, Meta(description="The same key replaces the note.")] = "",
        fact_type: Annotated[
            str, Meta(description=", ".join(FACT_TYPES) + "; default: general, of recall: all.")
        ] = "",
        category: str = "",
        confidence: Annotated[
            float | UnsetType,
            Meta(extra_json_schema={"minimum": 0, "maximum": 1, "default": CONFIDENCE}),
        ] = UNSET,
        scope: Annotated[str, Meta(extra_json_schema={"enum": [*SCOPES, ALL]})] = "project",
        tags: list[str] = [],  # noqa: B006 - never changed
        supersedes: Annotated[
            list[int], Meta(description="Ids of notes that no longer hold.")
        ] = [],  # noqa: B006 - never changed
        query: Annotated[str, Meta(description="What to recall.")] = "",
        limit: Annotated[int, Meta(ge=1, le=100)] = 10,
        since: str = "",
        until: str = "",
        session: str = "",
        branch: str = "",
        id: Annotated[str, Meta(description="What to forget.")] = "",  # noqa: A002 - the documented name
    ) -> ToolResult:
        """Remember, recall or forget facts on purpose.

        remember (content, key to scope, tags, supersedes) when something is decided, ruled out,
        required, preferred, or was tried and dropped (rejected). recall (query, limit, filters)
        finds such notes alone, with scope=all of all projects; search covers everything. forget
        needs the exact id.
        """
        match action:
            case "remember":
                known = CONFIDENCE if confidence is UNSET else confidence
                _check(content, known, scope)
                note = Note(
                    content=content, confidence=known, scope=cast("Scope", scope), key=key,
                    category=category, type=_type(fact_type or "general"), tags=tuple(tags),
                    supersedes=tuple(supersedes),
                )  # fmt: skip
                there = self._memory.notes.standing(note, folder=self._here()) if key else None
                if there:
                    note = self._memory.notes.replacing(note, there, is_typed=fact_type != "")
                    sure = there.confidence if confidence is UNSET else confidence
                    note = msgspec.structs.replace(note, confidence=sure)
                return self._remember(note)
            case "recall":
                # Without one, the types of this tool that notes have, or all if none has one.
                counts, ours = self._memory.notes.counts("type"), list(map(_type, FACT_TYPES))
                kept = [one for one in ours if one in counts]
                wanted = parse_filters(
                    type=_type(fact_type) if fact_type else ",".join(kept or ours),
                    category=category, since=since,
                    until=until, session=session, branch=branch, now_ms=now_ms(),
                )  # fmt: skip
                wanted = msgspec.structs.replace(wanted, tags=tuple(tags))
                return self._recall(query, wanted, limit=limit, is_everywhere=scope == ALL)
            case "forget":
                return self._forget(id)
        raise BadInput(f"Invalid action: {action!r}", hint=f"must be {_one_of(ACTIONS)}")

    @_write(
        "Settle which notes hold",
        view="review",
        returns="settled:array open:array total:integer degraded:string",
    )
    def resolve(
        self,
        pairs: Annotated[list[Settling], Meta(max_length=50)] = [],  # noqa: B006 - never changed
        project: str = "",
    ) -> ToolResult:
        """Settle which of near notes still hold, and list pairs that nobody has settled yet."""
        settled: list[Row] = []
        for one in pairs:
            done: Row = {"id": one.id, "how": one.how, "other": one.other}
            settled.append(done)
            try:
                wanted = msgspec.convert(one, Settlement, from_attributes=True)
                done["id"] = self._memory.pairs.settle(wanted).id
            except ObserverError as problem:
                done["problem"] = render.error(problem)
        here = "" if project else self._here()
        chosen = self._memory.project_at(here) if here else None
        if chosen is None and (project or not pairs):
            chosen = self._memory.project(project)
        found = self._memory.pairs.open(chosen, limit=OPEN) if chosen else OpenPairs()
        result = row(
            settled=settled,
            open=[
                {
                    "id": pair.newer.id,
                    "said": render.one_line(pair.newer.narrative, SAID),
                    "at": iso(pair.newer.updated_ms),
                    "other": pair.older.id,
                    "other_said": render.one_line(pair.older.narrative, SAID),
                    "other_at": iso(pair.older.updated_ms),
                }
                for pair in found.pairs
            ],
            total=found.total,
            degraded=found.degraded or UNSET,
        )
        lines = [
            f"#{one['id']} {one['how']} #{one['other']}"
            + (f": {one['problem']}" if "problem" in one else "")
            for one in settled
        ]
        lines += [f"{found.total} near pairs are open"] if found.total or not settled else []
        lines += map(pair_lines, found.pairs)
        return ToolResult("\n".join(filter(None, (*lines, found.degraded))), result)

    def _remember(self, note: Note) -> ToolResult:
        kept = self._memory.notes.remember(note, folder=self._here())
        done = (
            "updated successfully (ID: {})" if kept.updated else "stored successfully with ID: {}"
        )
        message = f"Memory {done.format(kept.item.id)}"
        outcome = row(
            action="remember",
            message=message,
            id=kept.item.id,
            updated=kept.updated,
            similar=[
                {"id": one.item.id, "title": one.item.title, "score": round(one.score, 2)}
                for one in kept.similar
            ]
            or UNSET,
            dangling=list(kept.dangling) or UNSET,
        )
        lines = [
            stands(one.item, how=f"remember this again with supersedes=[{one.item.id}]")
            for one in kept.near
        ]
        if kept.dangling:
            lines.append("No note is called so yet: " + render.one_line(", ".join(kept.dangling)))
        return ToolResult("\n".join([message, *lines]), outcome)

    def _recall(
        self, query: str, wanted: SearchOptions, *, limit: int, is_everywhere: bool
    ) -> ToolResult:
        if not query.strip():
            raise BadInput("Missing query: recall requires query", hint="say what to look for")
        here = self._here()
        project = None if is_everywhere else self._memory.place_of(here)
        found = self._memory.at(here).recall(query, limit=limit, project=project, narrow=wanted)
        found = found.above_floor()
        # Of notes of all projects each says whose it is.
        name = self._memory.project_names()
        memories = [
            _recalled(hit, name(hit.item.project_id) if is_everywhere else "") for hit in found.hits
        ]
        outcome = row(
            action="recall",
            message=f"{len(memories)} found",
            memories=memories,
            degraded=found.degraded or UNSET,
        )
        text = msgspec.json.encode(memories).decode()
        return ToolResult(text, outcome, notice=found.notice)

    def _forget(self, handle: str) -> ToolResult:
        if handle == "":
            raise BadInput("Missing id: forget requires id", hint="recall shows the ids")
        text = handle.strip().removeprefix("#")
        if not (text.isascii() and text.isdecimal() and int(text[:19]) > 0 and len(text) < 19):
            raise BadInput(f"Invalid id: {text[:40]!r}", hint="must be a positive whole number")
        final_ms = self._memory.notes.erase(int(text))
        message = f"Memory {int(text)} " + ("deleted." if final_ms else "not found.")
        outcome = {"action": "forget", "message": message, "deleted": final_ms is not None}
        if final_ms is None:
            return ToolResult(message, outcome)
        is_now, how = not self._memory.notes.grace_ms, f"observer undo {int(text)}"
        until = final(final_ms, is_now=is_now, how=how)
        return ToolResult(f"{message}\n{until}", outcome | {"final_at": iso(final_ms)})


def _check(content: str, confidence: float, scope: str) -> None:
    if not content.strip():
        raise BadInput("Missing content: remember requires content", hint="say what to remember")
    if not 0.0 <= confidence <= 1.0:
        raise BadInput("Invalid confidence: must be 0.0 to 1.0", hint="leave it out for 0.5")
    if scope not in SCOPES:
        raise BadInput(f"Invalid scope: {scope!r}", hint=f"must be {_one_of(SCOPES)}")


def _type(name: str) -> str:
    if name not in FACT_TYPES:
        raise BadInput(f"Invalid fact_type: {name!r}", hint=f"must be {_one_of(FACT_TYPES)}")
    return "fact" if name == "general" else name


def _one_of(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + f" or {words[-1]}"


def _recalled(hit: Hit, project: str) -> Row:
    item = hit.item
    return row(
        id=item.id,
        content=item.narrative or item.title,
        key=item.key or None,
        fact_type="general" if item.type == "fact" else item.type,
        category=item.category or None,
        confidence=item.confidence,
        scope=item.scope,
        created_at=iso(item.created_ms),
        score=round(hit.score, 4),
        project=project or UNSET,
        tags=list(item.tags) or UNSET,
        validity=labels(item) or UNSET,
    )
