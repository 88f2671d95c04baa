"""The text of file writes, single or grouped: pure functions to an `ObservationDraft`."""

from __future__ import annotations

from collections.abc import Sequence

from observer.code.change_summary import (
    FEW_LINES,
    ChangeSummary,
)
from observer.core.events import FileRead, FileWrite
from observer.core.text import base_name, counted, distinct, listed, one_line, relative
from observer.observations import concepts
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
_WHOLE = ("create", "write")
ONLY_LAYOUT = "only layout"
"""Ending of the title of a write that changed only layout."""


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
        narrative=one_line(_sentences(f"{verb} {path}", write.operation, change, times), NARRATIVE),
        facts=_facts(path, change),
        concepts=concepts.of_files((path,), change.symbols or change.names),
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
        narrative=one_line(
            f"Began to {write.operation} {path}; no result was reported.", NARRATIVE
        ),
        facts=_facts(path, change),
        concepts=concepts.of_files((path,), change.symbols or change.names),
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
        concepts=concepts.of_files(paths[:2]),
        files_read=paths,
    )


def _failed(write: FileWrite, path: str) -> ObservationDraft:
    why = one_line(write.error, FACT)
    return ObservationDraft(
        type="file-write",
        title=one_line(f"Failed to {write.operation} {base_name(path)}", TITLE),
        subtitle=one_line(f"{write.operation} {path}, failed", SUBTITLE),
        narrative=one_line(f"Could not {write.operation} {path}: {why}", NARRATIVE),
        facts=(one_line(f"error: {why}", FACT),),
        concepts=concepts.of_files((path,)),
        chars=chars_of(write),
    )


def _sentences(opening: str, operation: str, change: ChangeSummary, times: int) -> str:
    inside = f" in {listed(change.changed)}" if change.changed else ""
    edits = counted(times, "edit") if times > 1 else ""
    extent = ", ".join(filter(None, (edits, _lines_text(operation, change))))
    said = [f"{opening}{inside}: {extent}." if extent else f"{opening}{inside}."]
    if operation in ("edit", "append"):
        said += _replacement_text(change)
    fates = _fates(change)
    if done := [f"{verb} {listed(names, 8)}" for verb, _, names in fates if verb and names]:
        said.append(f"It {listed(done)}.")
    known = {part for symbol in change.symbols for part in symbol.split(".")}
    if change.only:
        said.append(f"Only {change.only} changed.")
    if names := [name for name in change.names if name not in known]:
        said.append(f"Brings in {', '.join(names)}.")
    if dropped := [name for name in change.dropped if name not in known]:
        said.append(f"Drops {', '.join(dropped)}.")
    return " ".join(said)


def _replacement_text(change: ChangeSummary) -> list[str]:
    """Return the text that a short change added, removed or replaced; of a longer one its start."""
    if change.before and change.after:
        return [f"`{change.before}` became `{change.after}`."]
    is_short = max(change.added, change.removed) <= FEW_LINES
    if change.after:
        return [f"{'New' if is_short else 'New text begins'}: `{change.after}`."]
    gone = "Gone" if is_short else "What went begins"
    return [f"{gone}: `{change.before}`."] if change.before else []


def _lines_text(operation: str, change: ChangeSummary) -> str:
    if operation in _WHOLE and not change.removed:
        return counted(change.added, "line") if change.added else ""
    parts = [f"{counted(change.added, 'line')} added"] if change.added else []
    if change.removed:
        what = f"{change.removed:,}" if parts else counted(change.removed, "line")
        parts.append(f"{what} removed")
    return ", ".join(parts)


def _fates(change: ChangeSummary) -> tuple[tuple[str, str, Sequence[str]], ...]:
    """Return what happened to symbols as (verb in the present, in the past, the symbols).

    Symbols that only changed inside have no present verb: they name where the change is.
    """
    renamed = [f"{old} to {new}" for old, new in change.renamed]
    return (
        ("adds", "added", change.new),
        ("changes the signature of", "changed the signature of", change.resigned),
        ("renames", "renamed", renamed),
        ("", "changed", change.changed),
        ("removes", "removed", change.gone),
        ("moves", "moved", change.moved),
        ("changes the comments of", "changed the comments of", change.commented),
    )


def _titled(opening: str, change: ChangeSummary) -> str:
    done = [f"{past} {listed(names, 3)}" for _, past, names in _fates(change) if names]
    if not done and change.only:
        done = [ONLY_LAYOUT if change.only == "layout" else f"only {change.only}"]
    return f"{opening}: {', '.join(done)}" if done else opening


def _facts(path: str, change: ChangeSummary) -> tuple[str, ...]:
    facts = [path]
    for _, past, names in _fates(change):
        facts += [one_line(f"{past} {name}", FACT) for name in names]
    if change.added or change.removed:
        facts.append(f"+{change.added} -{change.removed} lines")
    return tuple(facts[:FACTS])
