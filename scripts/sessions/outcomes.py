"""What the product made of each shell command, against the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from observer.commands.result import CommandResult
from observer.core.events import Command
from observer.core.model import Recorded
from observer.observations.analysis import analyze
from observer.observations.drafts import Where
from sessions.kept import Kept, call_key
from sessions.measures import Measure, Scored, count, line, share
from sessions.truth import Ran, commands

_GROUP = "outcomes"
WORDS = {True: "passed", False: "failed", None: "unknown"}


def scored(kept: Kept) -> Scored:
    """Return how well failures and passes are recognised."""
    pairs = [(ran, verdict) for ran in commands(kept) if (verdict := verdict_in(kept, ran))]
    decided = [(ran, WORDS[said.ok]) for ran, said in pairs if ran.verdict != "undecided"]
    shown = Counter(said for _, said in decided)
    true = Counter(ran.verdict for ran, _ in decided)
    right = Counter(said for ran, said in decided if said == ran.verdict)
    hidden = [said for ran, said in decided if ran.is_hidden]
    false_green = [ran for ran, said in decided if said == "passed" and ran.verdict == "failed"]
    measures = (
        count(_GROUP, "commands", len(pairs)),
        count(_GROUP, "undecided by the oracle", len(pairs) - len(decided)),
        share(_GROUP, "failures: precision", right["failed"], shown["failed"]),
        share(_GROUP, "failures: recall", right["failed"], true["failed"]),
        share(_GROUP, "hidden failures: recall", hidden.count("failed"), len(hidden)),
        share(_GROUP, "passes: precision", right["passed"], shown["passed"]),
        share(_GROUP, "passes: recall", right["passed"], true["passed"]),
        count(_GROUP, "failures stored as passed", len(false_green)),
        *_never_ran(decided),
    )
    return Scored(
        measures=measures,
        wrong=tuple(
            f"{ran.step.session[:8]} {ran.call} is {ran.verdict}, stored as {said}:"
            f" {line(ran.command, 90)} | {line(ran.output[-120:], 90)}"
            for ran, said in decided
            if said != ran.verdict
        ),
    )


def verdict_in(kept: Kept, ran: Ran) -> CommandResult | None:
    """Return the verdict that follows from the stored event of a command; None if it is lost."""
    recorded = kept.event_of.get(call_key(ran.step.session, ran.call))
    return verdict_of(recorded) if recorded else None


def verdict_of(recorded: Recorded) -> CommandResult | None:
    """Return the verdict on a stored event; None if it is not a command."""
    body = recorded.event.body
    if not isinstance(body, Command):
        return None
    return analyze(body, Where(root=recorded.root, cwd=recorded.event.cwd)).result


def _never_ran(decided: list[tuple[Ran, str]]) -> Iterator[Measure]:
    never_ran = [said for ran, said in decided if ran.verdict == "unknown"]
    if never_ran:
        yield share(_GROUP, "never ran: unknown", never_ran.count("unknown"), len(never_ran))
