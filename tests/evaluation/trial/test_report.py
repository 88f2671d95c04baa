"""A trial of simulated agents, whose hooks ask and report as installed ones do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.config import Settings
from observer.core.paths import Home
from observer.daemon.requests import RemindedSessions, remind
from observer.evaluation.trial import report as reporting
from observer.evaluation.trial.counting import SessionCourse
from observer.evaluation.trial.report import Measure, TrialReport, arms, report
from observer.index import Index
from observer.ingest.pipeline import Pipeline
from observer.memory.api import Memory
from observer.projects import PlaceCache
from observer.search.trial import DAY_MS, TrialPlan, Trials
from observer.spool.files import envelope
from observer.spool.spool import Spool
from observer.store.sqlite.database import SqliteStore
from observer.store.sqlite.stemmer import stemmer

START_MS = 1_742_050_000_000
WRAPPED, PLAIN = "wrap bun run test", "bun run test"
UNKNOWN = "error: unrecognized subcommand 'bun'"
GREEN = " 3 pass\n 0 fail\nRan 3 tests across 1 file. [12.00ms]"
SESSIONS = 70
OBEYS = 0.9
"""How often an agent does as it is shown."""


class Agents:
    """Agents that run a command in its wrapped form first, unless they are shown the other one."""

    def __init__(self, home: Home, folder: Path, store: SqliteStore) -> None:
        self.trials = Trials(home.trials)
        self.store = store
        self._folder = folder
        self._reminded = RemindedSessions(home.reminders)
        self._spool = Spool(home.spool)
        self._spool.prepare()
        self._at_ms = START_MS - 60_000
        self._chance = random.Random(7)
        self._memory = Memory(
            store,
            owner="ana",
            now_ms=lambda: self._at_ms,
            index=Index(home.index, stem=stemmer(), is_owner=True),
            encode=lambda *_: None,
        )
        self._pipeline = Pipeline(
            store,
            self._spool,
            settings=Settings(),
            places=PlaceCache(),
            now_ms=lambda: self._at_ms,
        )

    def work(self, sessions: int) -> None:
        """Let sessions happen, each from its start to its end."""
        for number in range(sessions):
            self.session(f"s{number}")

    def session(self, name: str) -> None:
        """Let one session happen: a test run in one form or two, now and then a correction."""
        self.reports(name, "SessionStart", source="startup")
        self.reports(name, "UserPromptSubmit", prompt="test the cart")
        for _ in range(self._chance.randint(1, 6)):
            self.runs(name, f"ls src/{self._chance.randint(1, 9)}", "cart.ts")
        is_shown = PLAIN in self.asks(name, WRAPPED)
        if not is_shown or self._chance.random() > OBEYS:
            self.runs(name, WRAPPED, UNKNOWN, code=2)
        self.runs(name, PLAIN, GREEN)
        if self._chance.random() < 0.3:
            self.reports(name, "UserPromptSubmit", prompt="no, the other cart")
        self.reports(name, "SessionEnd", reason="exit")
        while self._pipeline.drain().entries:
            pass

    def runs(self, name: str, command: str, output: str, *, code: int = 0) -> None:
        asked = {"tool_name": "Bash", "tool_input": {"command": command}}
        if code:
            self.reports(name, "PostToolUseFailure", error=f"Exit code {code}\n{output}", **asked)
        else:
            answer = {"stdout": output, "stderr": ""}
            self.reports(name, "PostToolUse", tool_response=answer, **asked)

    def reports(self, name: str, event: str, **payload: Any) -> None:
        fields, body = self._call(name, event, payload)
        self._spool.append({**fields, "at": str(self._at_ms)}, body)

    def asks(self, name: str, command: str) -> str:
        asked = {"tool_name": "Bash", "tool_input": {"command": command}}
        data = envelope(*self._call(name, "PreToolUse", asked))
        answer = remind(self._memory, self._reminded, data, at_ms=self._at_ms, trials=self.trials)
        return answer.decode()

    def _call(self, name: str, event: str, payload: dict[str, Any]) -> tuple[dict[str, str], bytes]:
        self._at_ms += 1000
        fields = {"client": "claude-code", "event": event, "cwd": str(self._folder)}
        given = {"hook_event_name": event, "session_id": name, "cwd": str(self._folder), **payload}
        given["tool_use_id"] = f"t{self._at_ms}"
        return fields, msgspec.json.encode(given)

    def learn(self) -> None:
        """Let a session find out which form works, and then the time of the trial come."""
        self.runs("s-before", WRAPPED, UNKNOWN, code=2)
        self.runs("s-before", PLAIN, GREEN)
        while self._pipeline.drain().entries:
            pass
        self._at_ms = START_MS

    def found(self, plan: TrialPlan, *, at_ms: int = 0) -> TrialReport:
        now_ms = at_ms or plan.end_ms
        return report(self.store, plan, self.trials.met(plan), now_ms=now_ms, redraws=1000)


@pytest.fixture
def agents(home: Home, tmp_path: Path) -> Iterator[Agents]:
    folder = tmp_path / "my-api"
    folder.mkdir()
    (folder / "package.json").touch()
    store = SqliteStore(home.database)
    yield Agents(home, folder, store)
    store.close()


def begun(home: Home, *, is_same: bool = False) -> TrialPlan:
    """Begin a trial with a key that is always the same."""
    plan = TrialPlan(key="5a" * 16, start_ms=START_MS, end_ms=START_MS + DAY_MS, is_same=is_same)
    home.trials.mkdir(parents=True)
    (home.trials / f"{START_MS}.json").write_bytes(msgspec.json.encode(plan))
    return plan


def of(found: TrialReport, name: str) -> Measure:
    return next(each for each in found.concerned.measures if each.name == name)


def test_a_planted_effect_is_found_where_it_was_planted(home: Home, agents: Agents) -> None:
    plan = begun(home)
    agents.learn()
    agents.work(SESSIONS)
    found = agents.found(plan)
    failures, rereads, corrections = found.concerned.measures
    assert (found.concerned.shown + found.concerned.withheld, found.is_over) == (SESSIONS, True)
    assert failures.result == "fewer"
    assert failures.p is not None
    assert failures.p < 0.01
    assert failures.effect.difference
    assert failures.effect.difference.high < 0
    assert failures.effect.withheld > 5 * failures.effect.shown
    assert rereads.result == "absent"
    assert corrections.result in {"none", "too few"}


def test_where_both_arms_are_shown_no_effect_is_found(home: Home, agents: Agents) -> None:
    plan = begun(home, is_same=True)
    agents.learn()
    agents.work(SESSIONS)
    found = agents.found(plan)
    assert min(found.concerned.shown, found.concerned.withheld) > 20
    assert {each.result for each in found.concerned.measures} <= {"none", "too few", "absent"}


def test_whatever_the_key_chance_alone_is_seldom_called_an_effect() -> None:
    """Of one of the three measures in 5 of 100 trials, though each is looked at."""
    chance = random.Random(3)
    courses = [
        SessionCourse(
            client="kiro",
            session=f"s{number}",
            started_ms=START_MS,
            works=1,
            actions=1 + int(chance.expovariate(1 / 30)),
            repeats=int(chance.expovariate(0.7)),
            rereads=int(chance.expovariate(2)),
            corrections=int(chance.expovariate(1.5)),
        )
        for number in range(60)
    ]
    called = 0
    for key in range(300):
        plan = TrialPlan(
            key=f"{key:032x}", start_ms=START_MS, end_ms=START_MS + DAY_MS, is_same=True
        )
        results = {each.result for each in arms(courses, plan, 300, is_over=True).measures}
        called += not results.isdisjoint({"fewer", "more"})
    # Of 300 trials at 5 % chance alone gives fewer than 28 in 999 of 1,000 cases.
    assert 2 <= called < 28


def test_before_its_end_a_trial_has_figures_and_no_result(home: Home, agents: Agents) -> None:
    plan = begun(home)
    agents.learn()
    agents.work(24)
    found = agents.found(plan, at_ms=START_MS + DAY_MS // 2)
    assert not found.is_over
    assert {each.result for each in found.concerned.measures} == {"open"}
    assert of(found, "repeated failures").effect.difference


def test_few_sessions_say_that_they_are_too_few(home: Home, agents: Agents) -> None:
    plan = begun(home)
    agents.learn()
    agents.work(6)
    measure = of(agents.found(plan), "repeated failures")
    assert (measure.result, measure.p) == ("too few", None)


def test_sessions_that_cannot_differ_are_left_out_and_counted(home: Home, agents: Agents) -> None:
    agents.runs("s-before", "ls", "cart.ts")
    agents._at_ms = START_MS
    agents.runs("s-before", "ls", "cart.ts")
    agents.reports("s-idle", "UserPromptSubmit", prompt="hello")
    agents._spool.append(
        {"client": "generic", "event": "command", "at": str(START_MS + 5000)},
        msgspec.json.encode(
            {
                "kind": "command",
                "command": "ls",
                "session": "s9",
                "client": "fish",
                "cwd": str(agents._folder),
            }
        ),
    )
    plan = begun(home)
    agents.session("s1")
    found = agents.found(plan)
    left = found.left_out
    assert (left.begun_before, left.of_other_clients, left.without_work) == (1, 1, 1)
    assert (found.all.shown + found.all.withheld, found.concerned.shown) == (1, 0)


def test_an_effect_in_the_wrong_direction_is_called_so() -> None:
    effect = reporting.Effect(shown=4.0, withheld=1.0, needed=10)
    assert reporting._result(effect, 0.01, 40) == "more"
    assert reporting._result(effect, 0.2, 40) == "none"
