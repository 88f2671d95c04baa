"""Counts per session: avoidable failures and rereads, and corrections by the person. Pure.

Events come in the order of the log, and are counted alike in every arm. A prompt is a correction if
its opening says, in English, that something is wrong, does not work, was not meant or is to be
undone; a request for more is not. Precision is preferred to recall.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from observer.core.events import Command, FileRead, FileWrite, Prompt
from observer.core.model import Recorded
from observer.core.value import Value
from observer.observations import prompts
from observer.observations.analysis import analysis_of
from observer.observations.conversation import is_refused
from observer.outcomes import not_started

_OPENING_CHARS = 240
"""Corrections do so in their first words; logs and plans are pasted behind them."""

_COURTESY = r"(?:(?:ok|okay|hm+|well|so|but|and|sorry|please|hey|thanks|great|actually)\b[\s,.!]*)*"
_OPENING = re.compile(
    _COURTESY
    + r"(?:no(?:pe)?(?:[,.!]|$| (?!problem|need|worries|idea)\b)|wrong\b|stop\b(?!\s+hook)"
    r"|wait\b|undo\b|revert\b|roll (?:it |this |that )?back\b|(?:don't|do not|never) (?!forget)"
    r"|not (?:that|this|like|what|there|here|so)\b|(?:are|r) you sure\b"
    r"|(?:that|this|it)(?:'s| is| was) (?:not|wrong|incorrect|still|the wrong|worse)\b"
    r"|i (?:said|asked|told|meant|was talking|wanted)\b|i(?:'ve| have)? reverted\b"
    r"|you(?:'ve| have)? (?:forgot|missed|broke|didn't|did not|ignored|misunderstood"
    r"|should(?:n't| not) have|were (?:not )?supposed|removed|deleted|changed the wrong)\b)",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(
    r"\bnot what i (?:asked|meant|want|said)|\bstill (?:fail|broken|not\b|no\b|doesn't|does not"
    r"|the same|wrong|see\b|getting|have the same)|\b(?:does|do|did|is|are)(?:n't| not) work"
    r"|\b(?:don't|do not|can't|cannot|still) see\b|\bnothing (?:happens|changed)\b"
    r"|\b(?:it|this|that|they|you) (?:should not|shouldn't|should never) "
    r"|\b(?:revert|undo|roll back) (?:your|that|this|these|the last)\b|\bbugged\b"
    r"|\b(?:it|this|that)(?:'s| is) (?:not|wrong|broken)\b|\bnot (?:\w+ )?correctly\b",
    re.IGNORECASE,
)


def is_correction(prompt: str) -> bool:
    """Return True if a prompt says that what was done before it is wrong."""
    said = prompts.words_of(prompt).strip().replace("\u2019", "'")[:_OPENING_CHARS]
    return bool(_OPENING.match(said) or _ANYWHERE.search(said))


KINDS = ("session-start", "prompt", "command", "file-read", "file-write", "tool-use")
"""Kinds of events that have to be taken; others are not counted."""


class SessionCourse(Value):
    """The counts of a session within the time of a trial.

    `works` are its commands and edits, `actions` also its reads of files. `repeats` are commands
    with a failure that an earlier session of the project had (each failure once), or that could
    not run for a reason that this session had met. `rereads` are reads of lines that it had read,
    and not written since. `corrections` are prompts that correct, and refused calls.
    """

    client: str
    session: str
    started_ms: int
    works: int = 0
    actions: int = 0
    repeats: int = 0
    rereads: int = 0
    corrections: int = 0


class Counting:
    """Counts what sessions do between two times; what happened before is only known.

    Args:
        from_ms: events before it are not counted.
        until_ms: nor are events at this time or later.
    """

    def __init__(self, from_ms: int, until_ms: int) -> None:
        self._from_ms = from_ms
        self._until_ms = until_ms
        self._sessions: dict[tuple[str, str], _Session] = {}
        self._failed: dict[tuple[int, str], _Session] = {}

    def take(self, recorded: Recorded) -> None:
        """Take the next event of the log."""
        event = recorded.event
        if not event.session or event.at_ms >= self._until_ms:
            return
        session = self._sessions.setdefault((event.client, event.session), _Session(event.at_ms))
        session.started_ms = min(session.started_ms, event.at_ms)
        counts = event.at_ms >= self._from_ms
        match event.body:
            case Command() as command:
                session.repeats += self._is_repeat(recorded, command, session) and counts
                session.works += counts
                session.actions += counts
            case FileWrite(path=path):
                session.write(path)
                session.works += counts
                session.actions += counts
            case FileRead(paths=paths, lines=lines):
                session.rereads += session.has_read(event.agent, paths, lines) and counts
                session.actions += counts
            case Prompt(text=text):
                session.corrections += session.is_asked and counts and is_correction(text)
                session.is_asked = True
        session.corrections += counts and is_refused(event.body)

    def courses(self) -> Sequence[SessionCourse]:
        """Return what sessions did, the first begun first."""
        found = [session.course(*name) for name, session in self._sessions.items()]
        return sorted(found, key=lambda each: (each.started_ms, each.client, each.session))

    def _is_repeat(self, recorded: Recorded, command: Command, session: _Session) -> bool:
        """Return True if a command failed as one did before, and note that it did."""
        result = analysis_of(recorded).result
        if result.ok is not False or not result.was_run:
            return False
        never_ran = not_started.start_failure(command.output, code=command.exit_code)
        failure = result.signature or never_ran.said
        if not failure:
            return False
        met_here = failure in session.failed
        session.failed.add(failure)
        first = self._failed.setdefault((recorded.project_id, failure), session)
        # While somebody fixes a failure, it occurs again: that is work, not a lack of memory.
        return bool(never_ran.reason) if met_here else first is not session


class _Session:
    """A session as far as it was taken."""

    def __init__(self, started_ms: int) -> None:
        self.started_ms = started_ms
        self.works = self.actions = 0
        self.repeats = self.rereads = self.corrections = 0
        self.is_asked = False
        self.failed: set[str] = set()
        self._read: set[tuple[str, str, str]] = set()

    def write(self, path: str) -> None:
        """Note that a file is another now: to read it again is no rereading."""
        self._read = {read for read in self._read if read[0] != path}

    def has_read(self, agent: str, paths: Sequence[str], lines: str) -> bool:
        """Return True if an agent, or sub-agent, has read these lines before, and note it."""
        read = {(path, lines, agent) for path in paths}
        is_known = bool(read) and read <= self._read
        self._read |= read
        return is_known

    def course(self, client: str, session: str) -> SessionCourse:
        """Return what it did."""
        return SessionCourse(
            client=client,
            session=session,
            started_ms=self.started_ms,
            works=self.works,
            actions=self.actions,
            repeats=self.repeats,
            rereads=self.rereads,
            corrections=self.corrections,
        )
