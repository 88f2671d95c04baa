"""The text of file writes, single or grouped: pure functions to an `ObservationDraft`."""

from __future__ import annotations

from collections.abc import Sequence

from observer.code.change_summary import ChangeSummary
from observer.core.events import FileRead, FileWrite
from observer.core.text import base_name, distinct, listed, one_line, relative
from observer.observations.drafts import (
    FACT,
    FACTS,
    NARRATIVE,
    PATHS,
    SUBTITLE,
    TITLE,
    ObservationDraft,
    Where,
)

_VERBS = {
    "create": "Created",
    "edit": "Modified",
    "append": "Appended to",
    "delete": "Deleted",
    "write": "Wrote",
}


def write(
    write: FileWrite, change: ChangeSummary, where: Where, *, times: int = 1
) -> ObservationDraft:
    """Return the draft of one or several writes of a file.

    `write` is the first of them, `change` the sum of all, `times` their number.
    """
    path = relative(write.path, where.root, where.cwd)
    verb = _VERBS[write.operation]
    if write.error:
        return _failed(write, path)
    repeated = f", {times:,} edits" if times > 1 else ""
    return ObservationDraft(
        type="file-write",
        title=one_line(_titled(f"{verb} {base_name(path)}", change), TITLE),
        subtitle=one_line(f"{write.operation} {path}{repeated}", SUBTITLE),
        facts=_facts(path, change),
        files_modified=(path,),
        chars=chars_of(write),
    )


def started(write: FileWrite, change: ChangeSummary, where: Where) -> ObservationDraft:
    """Return the draft of a write whose result was never reported."""
    path = relative(write.path, where.root, where.cwd)
    return ObservationDraft(
        type="file-write",
        title=one_line(f"Began to {write.operation} {base_name(path)}", TITLE),
        subtitle="started, no result",
        facts=_facts(path, change),
        files_modified=(path,),
    )


def chars_of(write: FileWrite) -> int:
    """Return the number of characters of text in a write."""
    return len(write.content or "") + sum([len(edit.old) + len(edit.new) for edit in write.edits])


def shown_paths(read: FileRead, where: Where) -> tuple[str, ...]:
    """Return the paths of a read as they are shown, without duplicates."""
    return distinct([relative(path, where.root, where.cwd) for path in read.paths], PATHS)


def read(read: FileRead, where: Where) -> ObservationDraft:
    """Return the draft of a read of files."""
    paths = shown_paths(read, where)
    names = listed([base_name(path) for path in paths], 3)
    lines = f", lines {read.lines}" if read.lines else ""
    return ObservationDraft(
        type="file-read",
        title=one_line(f"Read {names}", TITLE),
        subtitle=one_line(f"read {listed(paths, 3)}", SUBTITLE),
        narrative=one_line(f"Read {listed(paths, FACTS)}{lines}.", NARRATIVE),
        facts=tuple(one_line(path, FACT) for path in read.paths[:FACTS]),
        files_read=paths,
    )


def _failed(write: FileWrite, path: str) -> ObservationDraft:
    why = one_line(write.error, FACT)
    return ObservationDraft(
        type="file-write",
        title=one_line(f"Failed to {write.operation} {base_name(path)}", TITLE),
        subtitle=one_line(f"{write.operation} {path}, failed", SUBTITLE),
        facts=(one_line(f"error: {why}", FACT),),
        chars=chars_of(write),
    )


def _fates(change: ChangeSummary) -> tuple[tuple[str, Sequence[str]], ...]:
    """Return what happened to symbols, as (verb, the symbols)."""
    renamed = [f"{old} to {new}" for old, new in change.renamed]
    return (
        ("added", change.new),
        ("changed the signature of", change.resigned),
        ("renamed", renamed),
        ("changed", change.changed),
        ("removed", change.gone),
        ("moved", change.moved),
        ("changed the comments of", change.commented),
    )


def _titled(opening: str, change: ChangeSummary) -> str:
    done = [f"{past} {listed(names, 3)}" for past, names in _fates(change) if names]
    if not done and change.only:
        done = [f"only {change.only}"]
    return f"{opening}: {', '.join(done)}" if done else opening


def _facts(path: str, change: ChangeSummary) -> tuple[str, ...]:
    facts = [path]
    for past, names in _fates(change):
        facts += [one_line(f"{past} {name}", FACT) for name in names]
    if change.added or change.removed:
        facts.append(f"+{change.added} -{change.removed} lines")
    return tuple(facts[:FACTS])
