"""How often memory speaks up unasked, and what it says then: to be read."""

from __future__ import annotations

from sessions.kept import Kept
from sessions.measures import Scored, count, line, share
from sessions.transcript import HookEvent

_GROUP = "reminders"
_ACTIONS = frozenset({"PostToolUse", "PostToolUseFailure"})


def scored(kept: Kept) -> Scored:
    """Return how often hooks/recall printed something at prompts and at failures."""
    fired = [each for each in kept.log.recalls if each.printed]
    actions = sum(
        isinstance(step.happened, HookEvent) and step.happened.event in _ACTIONS
        for step in kept.steps
    )
    events = sorted({each.event for each in kept.log.recalls})
    of_event = {name: [each for each in kept.log.recalls if each.event == name] for name in events}
    return Scored(
        measures=(
            *(
                share(_GROUP, f"fired at {name}", sum(bool(e.printed) for e in asked), len(asked))
                for name, asked in of_event.items()
            ),
            count(_GROUP, "fired", len(fired)),
            share(_GROUP, "fired per action", len(fired), actions),
        ),
        wrong=tuple(
            f"{each.session[:8]} {each.place} {each.event}: {line(each.printed, 400)}"
            for each in fired
        ),
    )
