"""What edits changed, line by line, for the eye: of events, or of git's patch of a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from observer.core.events import Edit, FileWrite
from observer.core.model import Recorded, item_id
from observer.core.text import relative
from observer.web.text import coloured

FOLDED = 40
"""Lines of a diff that are shown at once; the others are unfolded."""
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

    @property
    def first(self) -> str:
        """What is shown at once."""
        return coloured(self.lines[:FOLDED])

    @property
    def rest(self) -> str:
        """What is unfolded."""
        return coloured(self.lines[FOLDED:])

    @property
    def folded(self) -> int:
        """How many lines are unfolded."""
        return max(len(self.lines) - FOLDED, 0)


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
