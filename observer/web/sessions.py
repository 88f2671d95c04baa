"""The pages of one session: its course turn by turn, and its edits as diffs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from observer.clients.registry import resume_command
from observer.core.events import Command, Edit, FileWrite
from observer.core.model import Recorded, item_id
from observer.core.text import relative
from observer.memory.api import Memory
from observer.search.timeline import SessionTimeline, nested
from observer.tools import render
from observer.web.site import WebPage, WebRequest, number_in, shared

STEPS = 400
"""Items of a session that are shown at first."""
INLINE = 1_200
"""Lines of diffs that stand in the page of a session; those of other edits stand on their own."""
MOST_DIFFS = 300
OUTPUT_CHARS = 6_000
"""Of an output its end is shown, where it says how it went."""


def session(view: WebRequest) -> WebPage:
    """Show one session: its prompts at the side, and turn by turn what was done."""
    memory = view.memory
    limit = view.query.get("limit", "")
    most = min(int(limit[:6]), 20_000) if limit.isdecimal() else STEPS
    found = memory.accounts.of_session(f"s{view.name.removeprefix('s')}", limit=most)
    one = found.ran.session
    turns: list[dict[str, Any]] = []  # what came before the first has none
    for row in nested(found.items, [one, *found.children]):
        is_turn = row.item.type == "turn"
        if is_turn or not turns:
            turns.append({"turn": row.item if is_turn else None, "steps": []})
        if not is_turn:
            turns[-1]["steps"].append(row)
    title = render.one_line(found.ran.title, 120) or f"Session s{one.id}"
    values = {**shared(memory), "found": found, "session": one, "turns": turns, "limit": most}
    if view.query["as"] == "markdown":
        return WebPage("session.md", title, values, file=f"session-{one.id}.md")
    values |= _done(memory, found)
    if view.query["as"] == "html":
        sheet = Path(__file__).parent / "static" / "observer.css"
        values["sheet"] = sheet.read_text(encoding="utf-8")
        return WebPage("session-file.html", title, values, file=f"session-{one.id}.html")
    values["resume"] = resume_command(one)
    return WebPage("session.html", title, values)


def rename(view: WebRequest) -> str:
    """Call a session as a person wants, or with an empty title as before."""
    number = view.memory.choices.rename(f"s{number_in(view, 'id')}", view.form.get("title", ""))
    return f"/session/{number}"


def _done(memory: Memory, found: SessionTimeline) -> dict[str, Any]:
    """Return what stands below steps, by their id: diffs, outputs, and what mended a failure."""
    from_ms = found.items[0].created_ms if found.items and found.left_out else 0
    handle = f"s{found.ran.session.id}"
    events = memory.accounts.events(handle, "file-write", "command", from_ms=from_ms)
    outputs = {
        item_id(one.seq): one.event.body.output[-OUTPUT_CHARS:]
        for one in events
        if isinstance(one.event.body, Command) and one.event.body.output.strip()
    }
    mended = {
        link.target: item for item in found.items for link in item.links if link.kind == "fixes"
    }
    # Diffs stand below the record that they are part of: their own, or the last one of their file.
    ids, last, lines = {item.id for item in found.items}, dict[str, int](), 0
    by_step: dict[int, list[FileDiff]] = {}
    for diff in diffs_of(events):
        step = last[diff.path] = diff.item if diff.item in ids else last.get(diff.path, 0)
        lines += len(diff.lines)
        if step and lines <= INLINE:
            by_step.setdefault(step, []).append(diff)
    return {"diffs": by_step, "outputs": outputs, "mended": mended}


def edits(view: WebRequest) -> WebPage:
    """Show what a session or a turn changed, in all files or one; git's word where needed."""
    memory, asked = view.memory, view.query
    handle = f"s{view.name.removeprefix('s')}"
    ran = memory.accounts.of_session(handle, limit=STEPS)
    turn = next((one for one in ran.items if str(one.id) == asked["turn"]), None)
    span = {}
    if turn:
        span = {"from_ms": turn.created_ms, "to_ms": max(turn.updated_ms, turn.created_ms + 1)}
    diffs = list(diffs_of(memory.accounts.events(handle, "file-write", **span)))
    commits = [one for one in ran.items if one.type == "commit"]
    of_git = [
        one for one in commits if not turn or turn.created_ms <= one.created_ms <= span["to_ms"]
    ]
    is_of_git = not diffs and bool(of_git)
    if is_of_git:
        diffs = [diff for one in of_git for diff in diffs_in(memory.accounts.patch(one))]
    files = dict.fromkeys(diff.path for diff in diffs)
    chosen = [diff for diff in diffs if asked["file"] in {"", diff.path}]
    values = {
        **shared(memory),
        "session": ran.ran.session,
        "turn": turn,
        "files": {path: [one for one in diffs if one.path == path] for path in files},
        "diffs": chosen[:MOST_DIFFS],
        "left_out": max(len(chosen) - MOST_DIFFS, 0),
        "of_git": is_of_git,
    }
    return WebPage("edits.html", f"Edits of s{ran.ran.session.id}", values)


AROUND = 2
"""Lines before and after a change that are shown with it."""
MOST_LINES = 2_000
"""Lines of one side that are compared: the time grows with their square."""

Line = tuple[str, str]
"""A sign (+, -, a blank, or @ between two places) and a text."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What one edit, or one commit, did to one file; `item` is the id of the edit's own item."""

    path: str
    operation: str
    lines: tuple[Line, ...]
    at_ms: int = 0
    item: int = 0
    agent: str = ""

    @property
    def added(self) -> int:
        """Lines that came."""
        return sum(sign == "+" for sign, _ in self.lines)

    @property
    def removed(self) -> int:
        """Lines that went."""
        return sum(sign == "-" for sign, _ in self.lines)


def diffs_of(events: Iterable[Recorded]) -> Iterator[FileDiff]:
    """Yield what each write of a file that worked did; one that says no text has no lines."""
    for one in events:
        body = one.event.body
        if not isinstance(body, FileWrite) or body.error:
            continue
        yield FileDiff(
            path=relative(body.path, one.root),
            operation=body.operation,
            lines=tuple(_written(body)),
            at_ms=one.event.at_ms,
            item=item_id(one.seq),
            agent=one.event.agent,
        )


def _written(body: FileWrite) -> Iterator[Line]:
    edits = body.edits or ((Edit(new=body.content),) if body.content else ())
    for place, edit in enumerate(edits):
        if place:
            yield ("@", "")
        yield from _compared(edit.old.splitlines(), edit.new.splitlines())


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """Yield the lines of both sides, those that are the same only around a change."""
    if max(len(old), len(new)) > MOST_LINES:
        yield from (("-", line) for line in old)
        yield from (("+", line) for line in new)
        return
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND)
    for place, group in enumerate(groups):
        if place:
            yield ("@", "")
        for tag, first, last, begin, end in group:
            if tag == "equal":
                yield from ((" ", line) for line in old[first:last])
                continue
            yield from (("-", line) for line in old[first:last])
            yield from (("+", line) for line in new[begin:end])


def diffs_in(patch: str) -> Iterator[FileDiff]:
    """Yield what a patch of git did to each of its files."""
    for part in f"\n{patch}".split("\ndiff --git ")[1:]:
        head, *hunks = part.split("\n@@ ")
        lines: list[Line] = []
        for place, hunk in enumerate(hunks):
            lines += [("@", "")] * bool(place)
            for line in hunk.split("\n")[1:]:
                if line[:1] in {"+", "-", " "}:
                    lines.append((line[0], line[1:]))
        names = {line[:3]: line[4:].rstrip("\t") for line in head.splitlines()}
        new, old = names.get("+++", ""), names.get("---", "")
        path = (old if new in {"", "/dev/null"} else new)[2:] or head.splitlines()[0]
        operation = "create" if old == "/dev/null" else "delete" if new == "/dev/null" else "edit"
        yield FileDiff(path=path, operation=operation, lines=tuple(lines))
