"""A pass clears what a failure of the same check sets, on the same terms, in any chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from observer.core.events import Command
from observer.core.model import Recorded
from observer.observations import session_lifecycle
from observer.observations.project_reducer import ProjectReducer
from observer.observations.session_reducer import SessionReducer

Place = Callable[..., Recorded]


class Check(NamedTuple):
    """A check, and what it prints when it fails and when it passes."""

    command: str
    failed: str
    passed: str


CHECKS = (
    Check("npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'x' is no 'y'.", ""),
    Check("pnpm typecheck", "$ tsc --noEmit\na.ts(3,5): error TS2322: x", "$ tsc --noEmit"),
    Check("pytest -q", "FAILED a.py::test_a - no\n1 failed, 3 passed in 0.1s", "4 passed in 0.1s"),
    Check("mypy .", "a.py:1: error: no  [misc]\nFound 1 error in 1 file (checked 2 source files)",
          "Success: no issues found in 2 source files"),
)  # fmt: skip
CHAINS = (
    "{}",
    "{} 2>&1 | tail -5",
    "{} 2>&1 | head -20",
    "{} 2>&1 | tee log",
    "{}; git status --short",
    "{} || true",
    "{} > log 2>&1",
    "{} 2>&1 | grep -v '^$'",
    "set -o pipefail; {} | tail -5",
    '{}; echo "exit: $?"',
)


def ran(check: Check, chain: str, *, is_ok: bool) -> Command:
    """Return how a chain with a check ends, as a shell would."""
    hides = ("|" in chain and "pipefail" not in chain) or "; git" in chain or "; echo" in chain
    said = check.passed if is_ok else check.failed
    said = "" if "> log" in chain else said
    said += f"\nexit: {int(not is_ok)}" if "echo" in chain else ""
    return Command(command=chain.format(check.command), output=said, failed=not (is_ok or hides))


def red_after(place: Place, *bodies: Command) -> list[str]:
    """Return the heads of what is red after these commands."""
    arcs = ProjectReducer(b"")
    for seq, body in enumerate(bodies, 1):
        recorded = place(body, seq)
        whole, made = SessionReducer(session_lifecycle.begin(recorded)).add_paired(recorded)
        arcs.add(whole, made)
    return [one.head for one in arcs.state.failures]


@given(st.sampled_from(CHECKS), st.sampled_from(CHAINS), st.sampled_from(CHAINS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_pass_is_believed_in_a_chain_in_which_a_failure_is(
    place: Place, check: Check, first: str, then: str
) -> None:
    failure, again = (ran(check, chain, is_ok=False) for chain in (first, then))
    if red_after(place, failure) and red_after(place, again):
        assert red_after(place, failure, ran(check, then, is_ok=True)) == []


@given(st.sampled_from(CHECKS), st.sampled_from(CHAINS), st.sampled_from(CHAINS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_failure_in_any_chain_clears_nothing(
    place: Place, check: Check, first: str, then: str
) -> None:
    failure, again = (ran(check, chain, is_ok=False) for chain in (first, then))
    if red_after(place, failure):
        assert red_after(place, failure, again) != []


@pytest.mark.parametrize("chain", CHAINS)
def test_a_failure_that_is_seen_in_a_chain_is_red(place: Place, chain: str) -> None:
    assert red_after(place, ran(CHECKS[3], chain, is_ok=False)) == ["mypy ."]


SEEN = "npx tsc --noEmit 2>&1 | grep 'error TS'"


@pytest.mark.parametrize(
    ("first", "then", "is_red"),
    [
        (SEEN, SEEN, False),
        (SEEN, "npx tsc --noEmit | grep 'error TS' | head -20", False),
        (SEEN, "npx tsc --noEmit | grep a.css", True),
        (SEEN, "npx tsc --noEmit 2>/dev/null | tail -5", True),
        (SEEN, "npx tsc --noEmit | tail -1", True),
        (SEEN, "npx tsc --noEmit &", True),
        (SEEN, "npx tsc --noEmit | jq .a", True),
        (SEEN, "npx tsc --noEmit lib | tail -5", True),
        ("npx tsc --noEmit", "npx tsc --noEmit | grep TS2322", False),
        ("pytest -q", "pytest -q | tail -5", True),
    ],
)
def test_silence_is_a_pass_where_the_failure_would_be_seen(
    place: Place, first: str, then: str, *, is_red: bool
) -> None:
    check = CHECKS[2] if "pytest" in first else CHECKS[0]
    failure = Command(command=first, output=check.failed, failed="|" not in first)
    silent = Command(command=then, output="", failed=False)
    assert bool(red_after(place, failure, silent)) is is_red


@pytest.mark.parametrize("fields", [{"interrupted": True}, {"failed": None}])
def test_the_silence_of_a_run_whose_end_nobody_knows_is_no_pass(
    place: Place, fields: dict[str, bool | None]
) -> None:
    failure = ran(CHECKS[0], SEEN, is_ok=False)
    silent = Command(command=SEEN, output="", **{"failed": False, **fields})  # type: ignore[arg-type]
    assert red_after(place, failure, silent) != []
