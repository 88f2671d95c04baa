"""Which sessions a trial keeps from being shown, and what it keeps of them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput, ConfigInvalid, NotFound
from observer.search.trial import DAY_MS, TrialPlan, Trials

NOW_MS = 1_742_050_000_000
SESSIONS = [f"s{n}" for n in range(2000)]


def begun(folder: Path, *, share: float = 0.5, is_same: bool = False) -> tuple[Trials, TrialPlan]:
    trials = Trials(folder / "trials")
    return trials, trials.begin(at_ms=NOW_MS, days=28, share=share, is_same=is_same)


def withheld(trials: Trials, session: str, at_ms: int = NOW_MS) -> bool:
    return trials.withhold("kiro", session, at_ms=at_ms)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_a_share_of_the_sessions_is_shown(tmp_path: Path, share: float) -> None:
    plan = TrialPlan(key="5a" * 16, start_ms=0, end_ms=1, share=share)
    shown = sum(plan.arm("kiro", session) == "shown" for session in SESSIONS)
    assert shown / len(SESSIONS) == pytest.approx(share, abs=0.04)


def test_what_is_withheld_is_what_was_drawn_also_by_the_next_daemon(tmp_path: Path) -> None:
    trials, plan = begun(tmp_path)
    arms = [plan.arm("kiro", session) for session in SESSIONS[:100]]
    assert {"shown", "withheld"} == set(arms)
    for each in (trials, Trials(tmp_path / "trials")):
        assert [withheld(each, s) for s in SESSIONS[:100]] == [arm == "withheld" for arm in arms]


@given(st.text(), st.text())
def test_any_name_of_a_session_can_be_drawn(client: str, session: str) -> None:
    plan = TrialPlan(key="5a" * 16, start_ms=0, end_ms=1)
    assert plan.arm(client, session) in {"shown", "withheld"}
    assert plan.name(client, session) != plan.name(session, f"{client}x")


def test_another_trial_draws_anew_and_the_arm_is_not_in_the_name(tmp_path: Path) -> None:
    one, other = (TrialPlan(key=key * 16, start_ms=0, end_ms=1) for key in ("5a", "5b"))
    same = sum(one.arm("kiro", s) == other.arm("kiro", s) for s in SESSIONS)
    assert same / len(SESSIONS) == pytest.approx(0.5, abs=0.04)
    assert one.name("kiro", "s1") != other.name("kiro", "s1")


def test_both_arms_are_noted_and_nothing_that_names_a_session(tmp_path: Path) -> None:
    trials, plan = begun(tmp_path)
    assert trials.met(plan) == frozenset()
    for session in [*SESSIONS[:20], *SESSIONS[:20]]:
        withheld(trials, session)
    assert trials.met(plan) == {plan.name("kiro", session) for session in SESSIONS[:20]}
    kept = next((tmp_path / "trials").glob("*.met"))
    assert "s1" not in kept.read_text().replace("\n", " ").split()
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept.parent.iterdir()} == {0o600}


def test_where_both_arms_are_the_same_nothing_is_withheld(tmp_path: Path) -> None:
    trials, plan = begun(tmp_path, is_same=True)
    assert not any(withheld(trials, session) for session in SESSIONS[:50])
    assert len(trials.met(plan)) == 50


def test_a_session_without_a_name_is_in_no_trial(tmp_path: Path) -> None:
    trials, plan = begun(tmp_path, share=0.01)
    assert not withheld(trials, "")
    assert trials.met(plan) == frozenset()


@pytest.mark.parametrize("days", [-1, 28])
def test_before_and_after_a_trial_nothing_is_withheld(tmp_path: Path, days: int) -> None:
    trials, plan = begun(tmp_path)
    assert not any(withheld(trials, s, NOW_MS + days * DAY_MS) for s in SESSIONS[:50])
    assert trials.met(plan) == frozenset()


def test_without_a_trial_nothing_is_withheld_or_written(tmp_path: Path) -> None:
    trials = Trials(tmp_path / "trials")
    assert not withheld(trials, "s1")
    assert trials.newest() is None
    assert not (tmp_path / "trials").exists()


def test_a_trial_that_is_stopped_is_over(tmp_path: Path) -> None:
    trials, _ = begun(tmp_path)
    stopped = trials.stop(NOW_MS + DAY_MS)
    assert (stopped.until_ms, trials.newest()) == (NOW_MS + DAY_MS, stopped)
    assert not any(withheld(trials, s, stopped.until_ms) for s in SESSIONS[:50])
    with pytest.raises(NotFound, match="no trial runs"):
        trials.stop(NOW_MS + 2 * DAY_MS)


def test_one_trial_runs_at_a_time_and_the_last_one_counts(tmp_path: Path) -> None:
    trials, first = begun(tmp_path)
    with pytest.raises(BadInput, match="a trial runs"):
        trials.begin(at_ms=NOW_MS + 1, days=1, share=0.5, is_same=False)
    second = trials.begin(at_ms=first.until_ms, days=1, share=0.5, is_same=True)
    assert trials.newest() == second
    assert second.key != first.key


@pytest.mark.parametrize(
    "text", ["", "{}", '{"key": "zz", "start_ms": 1, "end_ms": 2}', '{"key": "", "share": 2}']
)
def test_a_damaged_plan_is_an_error_and_no_missing_one(tmp_path: Path, text: str) -> None:
    trials, plan = begun(tmp_path)
    (tmp_path / "trials" / f"{plan.start_ms}.json").write_text(text)
    with pytest.raises(ConfigInvalid, match="json"):
        withheld(trials, "s1")
