"""What a trial found: its sessions by the arm that each was drawn into, and what that shows.

What decides are the sessions in which there was something to be told: until then both arms are
alike, so to look at those alone is fair, and it takes far fewer of them. The same figures of all
sessions stand beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from observer.core.model import Recorded
from observer.core.value import Value
from observer.evaluation.trial.counting import KINDS, Counting, SessionCourse
from observer.evaluation.trial.effect import ALPHA, REDRAWS, Effect, compare, stepped
from observer.search.trial import TrialPlan
from observer.store.interface import Store, StoreReader

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
Verdict = Literal["fewer", "more", "none", "too few", "absent", "open"]
"""Whether a thing happens less or more often where agents are told; `none` is no difference beyond
chance, though a change by half should have shown, `absent` that it never happened, `open` that the
trial goes on."""

MEASURES = {"repeated failures": "repeats", "rereads": "rereads", "corrections": "corrections"}
"""What is compared, and the field of a `SessionCourse` that counts it."""
TOLD_CLIENTS = frozenset({"claude-code", "cursor", "kiro", "kiro-cli"})
"""Clients whose hooks ask whether there is something to be told."""
WINDOW = 500
"""Events looked through at a time; their texts may be long."""


class Measure(Value):
    """One thing that was compared. `p` is `effect.p`, raised for the number of measures."""

    name: str
    effect: Effect
    p: float | None = None
    verdict: Verdict = "open"


class Arms(Value):
    """Some sessions, by arm, and what was compared in them."""

    told: int
    withheld: int
    measures: tuple[Measure, ...]


class UncomparedSessions(Value):
    """How many sessions of the time were not compared, and why."""

    begun_before: int = 0
    of_other_clients: int = 0
    without_work: int = 0


class TrialReport(Value):
    """What a trial found. `concerned` are the sessions in which there was something to be told."""

    start_ms: int
    until_ms: int
    share: float
    is_same: bool
    is_over: bool
    is_stopped: bool
    concerned: Arms
    all: Arms
    left_out: UncomparedSessions


def report(
    store: Store,
    plan: TrialPlan,
    met: frozenset[str],
    *,
    now_ms: int,
    redraws: int = REDRAWS,
    progress: Progress = lambda *_: nullcontext(int),
) -> TrialReport:
    """Compare the sessions of a trial, as far as it has come.

    Args:
        store: what holds them.
        plan: the trial.
        met: the names of the sessions in which there was something to be told.
        now_ms: the time.
        redraws: how often chance is tried.
        progress: shows how far the log is read.

    Raises:
        StoreUnavailable: they cannot be read.
    """
    is_over = now_ms >= plan.until_ms
    counting = Counting(plan.start_ms, plan.until_ms)
    with store.read() as reader, progress("reading", reader.newest_seq()) as advance:
        for recorded in _log(reader, advance):
            counting.take(recorded)
    courses, left_out = _chosen(counting.courses(), plan)
    concerned = [each for each in courses if plan.name(each.client, each.session) in met]
    return TrialReport(
        start_ms=plan.start_ms,
        until_ms=plan.until_ms,
        share=plan.share,
        is_same=plan.is_same,
        is_over=is_over,
        is_stopped=plan.until_ms < plan.end_ms,
        concerned=arms(concerned, plan, redraws, is_over=is_over),
        all=arms(courses, plan, redraws, is_over=False),
        left_out=left_out,
    )


def _log(reader: StoreReader, advance: Callable[[int], object]) -> Iterator[Recorded]:
    newest = reader.newest_seq()
    for after in range(0, newest, WINDOW):
        until = min(after + WINDOW, newest)
        found = [
            recorded
            for kind in KINDS
            for recorded in reader.log_of_kind(kind, after_seq=after, until_seq=until)
        ]
        yield from sorted(found, key=lambda recorded: recorded.seq)
        advance(until - after)


def _chosen(
    courses: Sequence[SessionCourse], plan: TrialPlan
) -> tuple[list[SessionCourse], UncomparedSessions]:
    """Return the sessions to compare: of agents, begun in the trial, with a command or an edit."""
    before, elsewhere, idle, chosen = 0, 0, 0, []
    for each in courses:
        if each.started_ms < plan.start_ms:
            before += each.actions > 0
        elif each.client not in TOLD_CLIENTS:
            elsewhere += 1
        elif not each.works:
            idle += 1
        else:
            chosen.append(each)
    return chosen, UncomparedSessions(
        begun_before=before, of_other_clients=elsewhere, without_work=idle
    )


def arms(courses: Sequence[SessionCourse], plan: TrialPlan, redraws: int, *, is_over: bool) -> Arms:
    """Compare sessions by the arm that each was drawn into; a verdict only where it `is_over`."""
    told = [plan.arm(each.client, each.session) == "shown" for each in courses]
    actions = [each.actions for each in courses]
    effects = [
        compare(
            [getattr(each, field) for each in courses],
            actions,
            told,
            share=plan.share,
            redraws=redraws,
        )
        for field in MEASURES.values()
    ]
    raised = stepped([effect.p for effect in effects])
    measures = (
        Measure(
            name=name,
            effect=effect,
            p=p,
            verdict=_verdict(effect, p, len(courses)) if is_over else "open",
        )
        for name, effect, p in zip(MEASURES, effects, raised, strict=True)
    )
    return Arms(told=sum(told), withheld=len(told) - sum(told), measures=tuple(measures))


def _verdict(effect: Effect, p: float | None, sessions: int) -> Verdict:
    if p is not None and p < ALPHA:
        return "fewer" if effect.told < effect.withheld else "more"
    if effect.needed is None:
        return "absent"
    return "too few" if p is None or sessions < effect.needed else "none"
