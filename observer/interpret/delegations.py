"""How the reports of one delegation become one observation.

Part of interpretation (step 6). A client may tell one delegation up to three times: when the
sub-agent starts (its task), when it stops (its last words), and when the tool returns (both).
"""

from __future__ import annotations

from msgspec.structs import replace

from observer.events import Delegation
from observer.interpret import happenings, state
from observer.interpret.classify import item, origin_of
from observer.interpret.state import Open, State
from observer.interpret.wording import block, one_line
from observer.model import Item, Recorded

_TASK_CHARS = 500
_RESULT_CHARS = 300
"""How much of a result must be equal: a tool may add its own lines to the sub-agent's words."""


def delegation(before: State, recorded: Recorded, body: Delegation) -> tuple[State, Item | None]:
    """Join a report to an earlier one of the same delegation, however long ago, or begin one."""
    agent = one_line(body.agent, 100)
    task, result = block(body.task, _TASK_CHARS), one_line(body.result, _RESULT_CHARS)
    earlier = _earlier(before, agent, task, result)
    known_task, known_result = earlier.told if earlier else ("", "")
    whole = replace(body, task=body.task or known_task, result=body.result or known_result)
    told = happenings.delegation(whole)
    if told is None:
        return before, None
    title, others = told.title, before.delegations
    if earlier:
        half = happenings.delegation(Delegation(task=known_task, result=known_result))
        others = tuple(one for one in others if half is None or one != half.title)
        before = state.without(before, earlier)
    told_of = (task or known_task, result or known_result)
    origin = origin_of(recorded)
    burst = replace(
        earlier or Open(key="", origin=origin, last_ms=origin.at_ms, times=0, operation=agent),
        key=state.key_of("delegation", agent, *told_of),
        told=told_of,
    )
    burst = replace(burst, times=burst.times + 1, chars=max(burst.chars, told.chars))
    after = replace(before, delegations=state.added(others, title))
    made = item(told, recorded, origin=burst.origin, times=burst.times, chars=burst.chars)
    return state.opened(after, burst), made


def _earlier(before: State, agent: str, task: str, result: str) -> Open | None:
    """Return the oldest report of this agent that told the other half, or the same result."""
    return next(
        (
            burst
            for burst in before.opens
            if burst.key.startswith("delegation|")
            and burst.operation == agent
            and (not task or burst.told[0] in ("", task))
            and result
            and burst.told[1] in ("", result)
        ),
        None,
    )
