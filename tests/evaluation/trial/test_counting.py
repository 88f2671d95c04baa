"""What is counted of a session in a trial, event by event."""

from __future__ import annotations

import itertools

from observer.core.events import AnyBody, Command, Event, FileRead, FileWrite, Prompt, SessionStart
from observer.core.model import Recorded
from observer.evaluation.trial.counting import Counting, SessionCourse

START_MS = 1_000_000
END_MS = 2_000_000
UNKNOWN = "error: unrecognized subcommand 'bun'"
MISSING = "error: Cannot find module 'zod' from 'cart.ts'"
WRAPPED = Command(command="wrap bun run test", output=UNKNOWN, exit_code=2)
BROKEN = Command(command="bun run test", output=MISSING, exit_code=1)
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected"


class Log:
    """Takes events a second apart."""

    def __init__(self, at_ms: int = START_MS) -> None:
        self.counting = Counting(START_MS, END_MS)
        self._at_ms = at_ms
        self._numbers = itertools.count(1)

    def happens(self, *bodies: AnyBody, session: str = "s1", agent: str = "") -> None:
        for body in bodies:
            number = next(self._numbers)
            self._at_ms += 1000
            event = Event(
                id=f"e{number}",
                at_ms=self._at_ms,
                client="kiro",
                session=session,
                agent=agent,
                body=body,
            )
            self.counting.take(Recorded(seq=number, event=event, project_id=1))

    def of(self, session: str = "s1") -> SessionCourse:
        return next(each for each in self.counting.courses() if each.session == session)


def test_a_failure_that_an_earlier_session_met_is_repeated_once() -> None:
    log = Log()
    log.happens(BROKEN, BROKEN)
    log.happens(BROKEN, BROKEN, session="s2")
    assert (log.of().repeats, log.of("s2").repeats) == (0, 1)


def test_what_could_not_run_is_repeated_each_time() -> None:
    log = Log()
    log.happens(WRAPPED, WRAPPED)
    log.happens(WRAPPED, WRAPPED, session="s2")
    assert (log.of().repeats, log.of("s2").repeats) == (1, 2)


def test_other_failures_and_what_passes_repeat_nothing() -> None:
    log = Log()
    passed = Command(command="bun run test", output=" 3 pass\n 0 fail", exit_code=0)
    silent = Command(command="make", exit_code=2)
    log.happens(BROKEN, WRAPPED, passed, silent)
    other = Command(command="bun run test", output=MISSING.replace("zod", "ky"), exit_code=1)
    log.happens(other, passed, silent, session="s2")
    assert (log.of("s2").repeats, log.of("s2").actions) == (0, 3)


def test_another_projects_failure_is_not_known_here() -> None:
    log = Log()
    log.happens(BROKEN)
    event = Event(id="e", at_ms=START_MS, client="kiro", session="s2", body=BROKEN)
    log.counting.take(Recorded(seq=9, event=event, project_id=2))
    assert log.of("s2").repeats == 0


def test_what_was_read_and_not_written_since_is_read_again() -> None:
    read = FileRead(paths=("/app/a.py",))
    log = Log()
    log.happens(read, read, FileRead(paths=("/app/a.py",), lines="10-20"))
    assert log.of().rereads == 1
    log.happens(FileWrite(path="/app/a.py"), read)
    assert log.of().rereads == 1
    log.happens(read, session="s2")
    log.happens(read, agent="explorer")
    log.happens(FileRead(paths=()))
    assert (log.of().rereads, log.of("s2").rereads) == (1, 0)


def test_a_prompt_corrects_what_was_done_in_its_session() -> None:
    log = Log()
    log.happens(Prompt(text="don't use the cache here"))
    assert log.of().corrections == 0
    log.happens(Prompt(text="add a footer"), Prompt(text="no, the other page"))
    assert log.of().corrections == 1


def test_a_refused_call_is_a_correction_and_no_failure() -> None:
    log = Log()
    refused = Command(command="rm -r build", output=REFUSAL, failed=True)
    log.happens(refused, FileWrite(path="/app/a.py", error=REFUSAL))
    log.happens(refused, session="s2")
    assert (log.of().corrections, log.of("s2").corrections, log.of("s2").repeats) == (2, 1, 0)


def test_what_happened_before_is_known_and_not_counted() -> None:
    log = Log(at_ms=START_MS - 5000)
    log.happens(BROKEN, WRAPPED)
    log.happens(SessionStart(), BROKEN, WRAPPED, session="s2")
    shown = log.of("s2")
    assert (shown.repeats, shown.actions, shown.works) == (1, 1, 1)
    assert shown.started_ms < START_MS


def test_what_happens_afterwards_or_in_no_session_is_not_taken() -> None:
    log = Log(at_ms=END_MS)
    log.happens(BROKEN)
    Log().happens(BROKEN, session="")
    log.happens(BROKEN, session="")
    assert log.counting.courses() == []


def test_a_read_is_an_action_and_no_work() -> None:
    log = Log()
    log.happens(FileRead(paths=("/a",)), Prompt(text="thanks"))
    assert (log.of().actions, log.of().works) == (1, 0)
