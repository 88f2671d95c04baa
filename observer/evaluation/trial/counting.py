"""What is counted of each session: failures and reads that it could have done without, corrections.

Pure: takes events in the order of the log. The same is counted of every session, whatever arm it
is in and whether anything was to be told.
"""

from __future__ import annotations

from collections.abc import Sequence

from observer.events import Command, FileRead, FileWrite, Prompt, Value
from observer.interpret import unstarted
from observer.interpret.conversation import is_refused
from observer.interpret.corrections import is_correction
from observer.interpret.gist import gist_of
from observer.model import Recorded

KINDS = ("session-start", "prompt", "command", "file-read", "file-write", "tool-use")
"""Kinds of events that have to be taken; others do not matter."""


class Course(Value):
    """What a session did within the time that counts.

    `works` are its commands and edits, `actions` also its reads of files. `repeats` are commands
    that failed as one did in an earlier session of the project (each failure once), or could not
    run for a reason that this session had met. `rereads` are reads of what it had read, and not
    written since. `corrections` are prompts that correct, and calls that the person refused.
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

    def courses(self) -> Sequence[Course]:
        """Return what sessions did, the first begun first."""
        found = [session.course(*name) for name, session in self._sessions.items()]
        return sorted(found, key=lambda each: (each.started_ms, each.client, each.session))

    def _is_repeat(self, recorded: Recorded, command: Command, session: _Session) -> bool:
        """Return True if a command failed as one did before, and note that it did."""
        verdict = gist_of(recorded).verdict
        if verdict.ok is not False or not verdict.was_run:
            return False
        never_ran = unstarted.read(command.output, code=command.exit_code)
        failure = verdict.signature or never_ran.said
        if not failure:
            return False
        met_here = failure in session.failed
        session.failed.add(failure)
        first = self._failed.setdefault((recorded.project_id, failure), session)
        # While one mends what fails, it fails again: that is work, and no want of memory.
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

    def course(self, client: str, session: str) -> Course:
        """Return what it did."""
        return Course(
            client=client,
            session=session,
            started_ms=self.started_ms,
            works=self.works,
            actions=self.actions,
            repeats=self.repeats,
            rereads=self.rereads,
            corrections=self.corrections,
        )
