"""`observer trial`: an experiment whether reminders help agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
import msgspec

from observer.cli.commands import Group
from observer.cli.output import emit, json_option, say, table
from observer.cli.terminal import progress
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.core.paths import home
from observer.core.text import counted
from observer.evaluation.trial.effect import LEAST
from observer.evaluation.trial.report import Arms, Measure, TrialReport, UncomparedSessions, report
from observer.search.trial import TrialPlan, Trials
from observer.store.sqlite.database import SqliteStore
from observer.views.moment import minute, span

MOST_DAYS = 3650
_SHOW = "show a change by half four times in five"


@click.group("trial", cls=Group, invoke_without_command=True, epilog="Example: observer trial")
@json_option
@click.pass_context
def trial_command(context: click.Context, *, as_json: bool) -> None:
    """Show the effect of reminders on failures, rereads and corrections, by a trial."""
    if context.invoked_subcommand is not None:
        return
    here = home()
    trials = Trials(here.trials)
    plan = trials.newest()
    if plan is None:
        raise NotFound("there was no trial", hint="begin one: observer trial start")
    store = SqliteStore(here.database, read_only=True)
    try:
        met = trials.met(plan)
        found = report(store, plan, met, now_ms=now_ms(), progress=progress)
    finally:
        store.close()
    if as_json:
        emit(found)
    else:
        _show(found)


@trial_command.command("start", epilog="Example: observer trial start --days 14")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Share of the sessions that get reminders.",
)
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=28,
    show_default=True,
    help="How long it goes on.",
)
@click.option("--a-a", "is_same", is_flag=True, help="Remind both arms: they must not differ.")
@json_option
def start_command(*, share: float, days: int, is_same: bool, as_json: bool) -> None:
    """Begin to withhold reminders from random sessions; searches and tools still answer in all."""
    here = home()
    if not config.load(here).recall_hooks:
        raise BadInput(
            "agents get no reminders: recall_hooks is false",
            hint="turn it on: observer config set recall_hooks true",
        )
    plan = Trials(here.trials).begin(at_ms=now_ms(), days=days, share=share, is_same=is_same)
    if as_json:
        emit(_shown(plan))
    else:
        text = f"a trial runs until {minute(plan.end_ms)}: {_arms_of(share, is_same=is_same)}"
        say(f"{text}\nsee its results with: observer trial")


@trial_command.command("stop", epilog="Example: observer trial stop")
@json_option
def stop_command(*, as_json: bool) -> None:
    """End the trial that runs; what it found stays."""
    plan = Trials(home().trials).stop(now_ms())
    if as_json:
        emit(_shown(plan))
    else:
        say("the trial is over; see its results with: observer trial")


def _shown(plan: TrialPlan) -> dict[str, object]:
    """Return a plan without its key, which stays in the home."""
    shown = msgspec.structs.asdict(plan)
    del shown["key"]
    return shown


def _arms_of(share: float, *, is_same: bool) -> str:
    if is_same:
        return "both arms get reminders, so that any difference is chance"
    return f"{share:.0%} of the sessions, drawn at random, get reminders; the others do not"


def _show(found: TrialReport) -> None:
    state = "stopped" if found.is_stopped else "over" if found.is_over else "running"
    say(
        f"a trial, {span(found.start_ms, found.until_ms)}, {state}\n"
        f"{_arms_of(found.share, is_same=found.is_same)}\n{_left_out(found.left_out)}\n"
    )
    names = ("arm A", "arm B") if found.is_same else ("shown", "withheld")
    _table("sessions with a reminder to give", found.concerned, names)
    _table("all sessions", found.all, names)
    say("\n".join(_results(found)))


def _left_out(left: UncomparedSessions) -> str:
    reasons = (
        (left.begun_before, "begun before it"),
        (left.of_other_clients, "of clients without reminders"),
        (left.without_work, "without a command or edit"),
    )
    parts = [f"{number} {why}" for number, why in reasons if number]
    return f"sessions left out: {', '.join(parts) or 'none'}"


def _table(title: str, arms: Arms, names: Sequence[str]) -> None:
    say(f"{title}: {arms.shown} {names[0]}, {arms.withheld} {names[1]}; in 100 actions")
    table(("measure", *names, "difference, 95 %", "p"), map(_row, arms.measures))
    say("")


def _row(measure: Measure) -> Sequence[str]:
    effect = measure.effect
    gap = effect.difference
    return (
        measure.name,
        f"{effect.shown:.2f}",
        f"{effect.withheld:.2f}",
        f"{gap.mean:+.2f} ({gap.low:+.2f} to {gap.high:+.2f})" if gap else "",
        "" if measure.p is None else f"{measure.p:.2g}",
    )


def _results(found: TrialReport) -> Iterator[str]:
    """Yield the result of each measure in the sessions with a reminder to give."""
    for measure in found.concerned.measures:
        yield f"{measure.name}: {_result(measure, found)}"
    if not found.is_over:
        yield "no result before its end: repeated looks find chance"
    elif found.is_stopped:
        yield "it was stopped early: if that was for what it showed, chance had a larger part in it"


def _result(measure: Measure, found: TrialReport) -> str:
    effect, arms = measure.effect, found.concerned
    sessions = arms.shown + arms.withheld
    if effect.needed is None:
        return "none happened"
    needed = f"(about {effect.needed} {_SHOW})"
    if measure.result in {"fewer", "more"} and effect.difference:
        low, high = sorted(map(abs, (effect.difference.low, effect.difference.high)))
        size = f"{abs(effect.difference.mean):.2f} in 100 actions"
        where = f"{measure.result} {'with reminders' if not found.is_same else 'in arm A'}"
        return f"{where}, by {size} (95 % interval {low:.2f} to {high:.2f})"
    if measure.result == "none":
        return f"no difference beyond chance in {counted(sessions, 'session')} {needed}"
    if measure.result == "too few" and effect.p is None and sessions >= effect.needed:
        return f"too few sessions: an arm has fewer than {LEAST}"
    few = "sessions so far" if measure.result == "open" else "too few sessions"
    return f"{few}: {sessions} {needed}"
