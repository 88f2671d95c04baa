"""What a session has committed, as its summary says it: by subject and hash.

Part of interpretation (step 6), pure. What git replaced or dropped is said no more.
"""

from __future__ import annotations

from collections.abc import Iterable

from observer.interpret.wording import one_line

HASH_CHARS = 10
_OPENING = " ("


def said(subject: str, commit: str) -> str:
    """Return how a commit is said."""
    return f"{one_line(subject, 200)}{_OPENING}{one_line(commit, 64)[:HASH_CHARS]})"


def subject_of(saying: str) -> str:
    """Return the subject of a commit that is said so."""
    return saying.rpartition(_OPENING)[0]


def rewritten(sayings: tuple[str, ...], pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return what is said once commits were replaced: each old one under its new hash, once."""
    became = {old[:HASH_CHARS]: new for old, new in pairs}
    known = {_hash_of(one) for one in sayings}
    told: dict[str, str] = {}
    for one in sayings:
        new = became.get(_hash_of(one), "")
        if new[:HASH_CHARS] not in known:
            shown = said(subject_of(one), new) if new else one
            told.setdefault(_hash_of(shown), shown)
    return tuple(told.values())


def behind(sayings: tuple[str, ...], to: str) -> tuple[str, ...]:
    """Return what is left once git went back: ``~2`` commits, or to the commit of a hash."""
    if to.startswith("~"):
        return sayings[: max(0, len(sayings) - int(to[1:]))]
    found = [place for place, one in enumerate(sayings) if _is(_hash_of(one), to)]
    return sayings[: found[-1] + 1] if found else sayings


def _hash_of(saying: str) -> str:
    return saying.rpartition(_OPENING)[2].removesuffix(")")


def _is(commit: str, named: str) -> bool:
    return bool(named) and commit.startswith(named[:HASH_CHARS])
