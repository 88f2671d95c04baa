"""Begin a trial, end it, and see what it found."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.paths import Home
from observer.search.trial import DAY_MS, TrialPlan, Trials

Run = Callable[..., Any]
Fill = Callable[[Sequence[dict[str, Any]]], None]
UNKNOWN = "error: unrecognized subcommand 'bun'"
SESSIONS = 40


def test_a_trial_begins_and_ends(run: Run, home: Home, filled: Home) -> None:
    begun = run("trial", "start", "--days", "14", "--share", "0.7", "--json")
    assert "key" not in begun.json
    assert (begun.json["share"], begun.json["is_same"]) == (0.7, False)
    assert begun.json["end_ms"] - begun.json["start_ms"] == 14 * DAY_MS
    assert run("trial", "start").code == 2
    assert run("trial", "stop").out.startswith("the trial is over")
    assert run("trial", "stop").code == 3
    assert "stopped" in run("trial").out


def test_what_begins_is_said(run: Run, filled: Home) -> None:
    assert "50% of the sessions, drawn at random, get reminders" in run("trial", "start").out
    assert "no result before its end" in run("trial").out
    assert "50% of the sessions get reminders" in run("doctor").out
    assert run("trial", "stop", "--json").json["stopped_ms"]
    assert "both arms get reminders" in run("trial", "start", "--a-a").out


@pytest.mark.parametrize("share", ["0", "1", "-1", "half"])
def test_an_arm_without_sessions_is_refused(run: Run, home: Home, share: str) -> None:
    assert run("trial", "start", "--share", share).code == 2
    assert Trials(home.trials).newest() is None


def test_where_nothing_is_shown_there_is_nothing_to_withhold(run: Run, home: Home) -> None:
    run("config", "set", "recall_hooks", "false")
    ran = run("trial", "start")
    assert ran.code == 2
    assert "recall_hooks" in ran.err


def test_without_a_trial_there_is_nothing_to_show(run: Run, filled: Home) -> None:
    ran = run("trial", "--json")
    assert ran.code == 3
    assert json.loads(ran.err)["error"]["hint"] == "begin one: observer trial start"


def tried(
    home: Home,
    fill: Fill,
    folder: Path,
    *,
    is_same: bool = False,
    share: float = 0.5,
    sessions: int = SESSIONS,
) -> None:
    """Have a trial behind one, in which those who were shown failed less often."""
    now_ms = time.time_ns() // 1_000_000
    plan = TrialPlan(
        key="5a" * 16, start_ms=now_ms - 1000, end_ms=now_ms + DAY_MS, share=share, is_same=is_same
    )
    home.trials.mkdir(parents=True)
    (home.trials / f"{plan.start_ms}.json").write_bytes(msgspec.json.encode(plan))
    trials = Trials(home.trials)
    reports = []
    for number in range(sessions):
        session = f"s{number}"
        here = {"kind": "command", "cwd": str(folder), "session": session, "client": "kiro"}
        trials.withhold("kiro", session, at_ms=now_ms)
        reports.append({**here, "command": "ls", "exit_code": 0})
        if is_same or plan.arm("kiro", session) == "withheld":
            failed = {"command": "wrap bun run test", "output": UNKNOWN, "exit_code": 2}
            reports.append({**here, **failed})
    fill(reports)
    trials.stop(time.time_ns() // 1_000_000)


def test_a_planted_effect_is_said_with_its_interval(
    run: Run, home: Home, fill: Fill, app: Path
) -> None:
    tried(home, fill, app)
    out = run("trial").out
    assert "repeated failures: fewer with reminders, by " in out
    assert "(95 % interval " in out
    assert "rereads: none happened" in out
    assert "it was stopped early" in out
    assert "sessions left out: none" in out


def test_json_says_the_same_and_more(run: Run, home: Home, fill: Fill, app: Path) -> None:
    tried(home, fill, app)
    found = run("trial", "--json").json
    failures = found["concerned"]["measures"][0]
    assert (failures["name"], failures["result"]) == ("repeated failures", "fewer")
    assert failures["effect"]["difference"]["high"] < 0
    assert failures["effect"]["p"] <= failures["p"] < 0.05
    assert found["concerned"]["shown"] + found["concerned"]["withheld"] == SESSIONS
    assert "5a5a" not in json.dumps(found)


def test_of_two_equal_arms_none_is_called_shown(
    run: Run, home: Home, fill: Fill, app: Path
) -> None:
    tried(home, fill, app, is_same=True)
    out = run("trial").out
    assert "arm A" in out
    assert "withheld" not in out
    assert "repeated failures: no difference beyond chance" in out


def test_an_arm_with_hardly_a_session_says_so(run: Run, home: Home, fill: Fill, app: Path) -> None:
    tried(home, fill, app, share=0.03)
    assert "repeated failures: too few sessions: an arm has fewer than 5" in run("trial").out


def test_a_few_sessions_say_about_how_many_are_needed(
    run: Run, home: Home, fill: Fill, app: Path
) -> None:
    tried(home, fill, app, sessions=6)
    assert re.search(r"repeated failures: too few sessions: 6 \(about \d+ show", run("trial").out)


def test_a_damaged_trial_is_found_by_the_doctor(run: Run, home: Home, filled: Home) -> None:
    assert "none runs" in run("doctor").out
    home.trials.mkdir()
    (home.trials / "7.json").write_text("{")
    ran = run("doctor")
    assert (ran.code, "delete it to end this trial" in ran.out) == (1, True)
