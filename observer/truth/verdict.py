"""What must be said of an item, from how its anchors stand; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observer.model import Standing
from observer.store.truth import Anchor, Mooring
from observer.truth.prints import FILE, OUTSIDE

NAMED = 3
"""Symbols or files that one line names."""


def standings(mooring: Mooring, *, branch: str) -> list[Standing]:
    """Return what must be said of an item, seen from a work tree that is on `branch`."""
    landed = [anchor for anchor in mooring.anchors if anchor.print is not None]
    off = [anchor for anchor in landed if anchor.reason in {"changed", "deleted"}]
    told = list(_renamed(landed))
    # What was only said or run while HEAD was there is not taken back with it.
    if mooring.reverted and off:
        told.append(
            Standing(reason="reverted", commit=mooring.reverted, since_ms=mooring.reverted_ms)
        )
    elif not mooring.is_here or is_pending_on(mooring, branch):
        told += _elsewhere(mooring, branch, landed=landed, off=off)
    elif off:
        told.append(_moved_on(off, landed))
    return told


def is_pending_on(mooring: Mooring, branch: str) -> bool:
    """Tell whether it is of uncommitted work on another branch."""
    return mooring.is_pending and mooring.branch not in {"", branch}


def _elsewhere(
    mooring: Mooring, branch: str, *, landed: Sequence[Anchor], off: Sequence[Anchor]
) -> Iterator[Standing]:
    """Say where an item holds, unless the same code is here: picked, squashed or rebased."""
    is_same_code = bool(landed) and not off
    was_rewritten = mooring.branch == branch and not off
    if not is_same_code and not was_rewritten:
        where = "" if mooring.branch == branch else mooring.branch
        yield Standing(reason="elsewhere", branch=where, commit=mooring.base)


def _moved_on(off: Sequence[Anchor], landed: Sequence[Anchor]) -> Standing:
    gone = [anchor for anchor in off if anchor.reason == "deleted"]
    is_gone = len(gone) == len(off)
    first = min(off, key=lambda anchor: anchor.since_ms)
    return Standing(
        reason="deleted" if is_gone else "changed",
        subject=_named(off),
        commit=first.commit,
        share=round(len(off) / len(landed), 3),
        since_ms=first.since_ms,
    )


def _named(off: Sequence[Anchor]) -> str:
    names = list(dict.fromkeys(_name(anchor) for anchor in off))
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _name(anchor: Anchor) -> str:
    return anchor.path if anchor.symbol in {OUTSIDE, FILE} else anchor.symbol


def _renamed(landed: Sequence[Anchor]) -> Iterator[Standing]:
    moved = {
        (anchor.origin, anchor.path): anchor
        for anchor in landed
        if anchor.path != anchor.origin and anchor.reason != "deleted"
    }
    for (origin, path), anchor in moved.items():
        renaming = anchor.reason == "renamed"
        yield Standing(
            reason="renamed",
            subject=origin,
            path=path,
            commit=anchor.commit if renaming else "",
            since_ms=anchor.since_ms if renaming else 0,
        )
