"""What a session left open: the work that the next one may take up.

Part of interpretation (step 6): a pure function of the session as it stands, so that it can be
asked of one that was cut off as well as of one that ended.
"""

from __future__ import annotations

from observer.core.model import Session
from observer.core.value import Value
from observer.observations import session_state
from observer.observations.requests import request_of
from observer.observations.session_state import State
from observer.observations.summary import steps_of

REQUEST_CHARS = 160
"""Of the first request: whoever resumes wants to see the later ones too."""


class Unfinished(Value):
    """What a session left open; every field may be empty.

    `request` is what was asked, `dirty` the files that no commit took in, the newest first; `steps`
    are what the agent said or listed as still to do, `rejected` what was tried and did not help.
    `is_trivial` if the session was no more than a question or a greeting.
    What is red is the project's state, not a session's: see `failures`.
    """

    request: str = ""
    dirty: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    is_trivial: bool = False

    def __bool__(self) -> bool:
        """Return True if anything was left open: changes, or a plan."""
        return bool(self.dirty or self.steps)


def unfinished(session: Session) -> Unfinished:
    """Return what a session left open.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild makes it anew.
    """
    known = session_state.decode(session.state)
    return Unfinished(
        request=request_of(session, known, first_chars=REQUEST_CHARS),
        dirty=tuple(path for path, file in reversed(known.files.items()) if file.is_dirty),
        steps=steps_of(known),
        rejected=known.rejected,
        is_trivial=_is_trivial(known),
    )


def is_trivial(session: Session) -> bool:
    """Return True if nothing of a session is worth going on with: at most a question was asked.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild makes it anew.
    """
    return bool(session.state) and _is_trivial(session_state.decode(session.state))


def _is_trivial(known: State) -> bool:
    did = (
        known.commits,
        known.later,
        known.remembered,
        known.customs,
        known.plan,
        known.steps,
        known.lists,
        any(file.writes for file in known.files.values()),
        any(ran.is_check for ran in known.commands.values()),
    )
    return len(known.asks) <= 1 and not any(did)
