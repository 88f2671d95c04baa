"""Whether every hook call is in the store, once."""

from __future__ import annotations

from collections import Counter

from observer.core.model import UNASSIGNED
from sessions.kept import Kept, call_key
from sessions.measures import Measure, Scored, count
from sessions.timeline import Step
from sessions.transcript import HookEvent

_TOOL = frozenset({"PostToolUse", "PostToolUseFailure"})
_KINDS = {
    "UserPromptSubmit": "prompt",
    "Stop": "reply",
    "SessionStart": "session-start",
}
_GROUP = "events"


def scored(kept: Kept) -> Scored:
    """Return how many hook calls were sent, stored, lost and stored twice."""
    keys = Counter(each.event.dedup for each in kept.events if each.event.dedup)
    shown = [step for step in kept.steps if isinstance(step.happened, HookEvent)]
    lost = [step for step in shown if (key := _key(step)) and key not in keys]
    stored = Counter(type(each.event.body).__struct_config__.tag for each in kept.events)
    sent = Counter(_KINDS.get(step.happened.event, "") for step in shown)  # type: ignore[union-attr]
    nowhere = {each.event.session for each in kept.events if each.project_id == UNASSIGNED}
    differ = [
        count(_GROUP, f"{kind} events sent but not stored", sent[kind] - stored[kind])
        for kind in _KINDS.values()
        if sent[kind] != stored[kind]
    ]
    counts = kept.log.counts
    measures: list[Measure] = [
        count(_GROUP, "hook calls sent", counts.sent),
        count(_GROUP, "events stored", len(kept.events)),
        count(_GROUP, "tool calls lost", len(lost)),
        count(_GROUP, "refused as undecodable", counts.bad),
        count(_GROUP, "stored twice", sum(number - 1 for number in keys.values())),
        count(_GROUP, "sessions in no project", len(nowhere)),
        *differ,
    ]
    return Scored(measures=tuple(measures), wrong=tuple(map(_shown, lost)))


def _key(step: Step) -> str:
    payload = getattr(step.happened, "payload", {})
    is_tool = payload.get("hook_event_name") in _TOOL
    return call_key(step.session, payload["tool_use_id"]) if is_tool else ""


def _shown(step: Step) -> str:
    payload = getattr(step.happened, "payload", {})
    return f"{step.session} {payload.get('tool_use_id')} {payload.get('tool_name')}"
