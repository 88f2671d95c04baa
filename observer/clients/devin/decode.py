"""Devin CLI: Claude Code's hooks without a folder, which stands in `DEVIN_PROJECT_DIR`.

Source: the client's documentation for 3000.10; no payload was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from observer.clients import claude_events, tools
from observer.clients.claude_events import Dialect
from observer.clients.envelope import Envelope, Object
from observer.core.events import Event

NOISE: Mapping[str, str] = {
    "PreToolUse": "PostToolUse repeats the input and knows the end",
    "PermissionRequest": "the answer is what happens next",
}
"""Events of which nothing is kept, and why."""

TOOLS: Mapping[str, tools.Maker] = {
    "exec": tools.command,
    "read": tools.read,
    "write": tools.write,
    "edit": tools.edit,
    "grep": tools.grep,
    "glob": tools.find,
    "run_subagent": tools.delegate,
}


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the events it reports."""
    return _placed(envelope, claude_events.read(envelope, payload, _DIALECT))


def _placed(envelope: Envelope, events: Iterable[Event]) -> Iterator[Event]:
    project = envelope.env.get("DEVIN_PROJECT_DIR")
    for event in events:
        yield structs.replace(event, cwd=project, roots=(project,)) if project else event


_DIALECT = Dialect(
    client="devin", tools=TOOLS, noise=NOISE, aliases={"PostCompaction": "PostCompact"}
)
