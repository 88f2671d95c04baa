"""The report of a trial: its sessions by the arm that each was drawn into, and the differences.

The comparison uses the sessions with a reminder to give: until then both arms are alike, so to
compare those alone is fair, and takes far fewer sessions. The figures of all sessions are reported
too.
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
MeasureResult = Literal["fewer", "more", "none", "too few", "absent", "open"]
"""Whether a thing happens less or more often with reminders; `none` means no difference beyond
chance, though a change by half should have shown, `absent` that it never happened, `open` that the
trial runs."""

MEASURES = {"repeated failures": "repeats", "rereads": "rereads", "corrections": "corrections"}
"""The measures, and the field of a `SessionCourse` that counts each."""
REMINDED_CLIENTS = frozenset({"claude-code", "cursor", "kiro", "kiro-cli"})
"""Clients whose hooks ask for reminders."""
WINDOW = 500
"""Events read at a time; their texts may be long."""


class Measure(Value):
    """One measure. `p` is `effect.p`, adjusted for the number of measures."""

    name: str
    effect: Effect
    p: float | None = None
    result: MeasureResult = "open"


class Arms(Value):
    """The number of sessions by arm, and the measures of those sessions."""

    shown: int
    withheld: int
    measures: tuple[Measure, ...]


class UncomparedSessions(Value):
    """How many sessions of the time were not compared, by reason."""

    begun_before: int = 0
    of_other_clients: int = 0
    without_work: int = 0


class TrialReport(Value):
    """The report of a trial; `concerned` are the sessions with a reminder to give."""

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
        met: the names of the sessions with a reminder to give.
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
        elif each.client not in REMINDED_CLIENTS:
            elsewhere += 1
        elif not each.works:
            idle += 1
        else:
            chosen.append(each)
    return chosen, UncomparedSessions(
        begun_before=before, of_other_clients=elsewhere, without_work=idle
    )


def arms(courses: Sequence[SessionCourse], plan: TrialPlan, redraws: int, *, is_over: bool) -> Arms:
    """Compare sessions by the arm of each; with results only if the trial `is_over`."""
    shown = [plan.arm(each.client, each.session) == "shown" for each in courses]
    actions = [each.actions for each in courses]
    effects = [
        compare(
            [getattr(each, field) for each in courses],
            actions,
            shown,
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
            result=_result(effect, p, len(courses)) if is_over else "open",
        )
        for name, effect, p in zip(MEASURES, effects, raised, strict=True)
    )
    return Arms(shown=sum(shown), withheld=len(shown) - sum(shown), measures=tuple(measures))


def _result(effect: Effect, p: float | None, sessions: int) -> MeasureResult:
    if p is not None and p < ALPHA:
        return "fewer" if effect.shown < effect.withheld else "more"
    if effect.needed is None:
        return "absent"
    return "too few" if p is None or sessions < effect.needed else "none"
