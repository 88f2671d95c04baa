"""Whose words something is: the person's and this machine's agents', or anybody's.

Decided by who wrote it, not by what it says: what is shown unasked has to come from here.
"""

from __future__ import annotations

from collections.abc import Sequence

from observer.core.events import Commit
from observer.core.model import Item, Recorded, seq_of
from observer.store.interface import StoreReader

_HOOKS = "git/"
_OWN = frozenset({"commit", "amend"})
"""Of a merge, pick or revert the subject is made of what somebody else wrote."""


def is_of_here(note: Item) -> bool:
    """Return True if a note is of this project, the person's, or approved by the person."""
    return note.project_id is not None or note.author == "person" or note.approval == "approved"


def made_here(reader: StoreReader, commits: Sequence[Item]) -> frozenset[int]:
    """Return the ids of the commits that were made on this machine.

    Those are the ones that sessions or git's hooks reported as they were made. The name of an
    author proves nothing: anybody may write any name into a commit that is pulled.
    """
    if not commits:
        return frozenset()
    seqs = [seq_of(commit.id) for commit in commits]
    logged = reader.log_of_kind("commit", after_seq=min(seqs) - 1, until_seq=max(seqs))
    made = {one.seq for one in logged if _is_made(one)}
    return frozenset(commit.id for commit in commits if seq_of(commit.id) in made)


def _is_made(recorded: Recorded) -> bool:
    event = recorded.event
    is_seen = bool(event.session) or event.route.startswith(_HOOKS)
    return is_seen and isinstance(event.body, Commit) and event.body.action in _OWN
