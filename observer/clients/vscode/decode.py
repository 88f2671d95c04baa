"""VS Code: what its agent reports by the hooks of Copilot CLI and Claude Code, which it runs.

The fields are Claude Code's, but for those that name session and event; the arguments of tools are
in camelCase. Source: the client's documentation, of 2026-10-14; no payload was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.clients import claude_events, tools
from observer.clients.claude_events import Dialect
from observer.clients.envelope import Envelope, Object
from observer.core.events import Event

NOISE: Mapping[str, str] = {"PreToolUse": "PostToolUse repeats the input and knows the end"}
"""Events of which nothing is kept, and why."""

TOOLS: Mapping[str, tools.Maker] = {
    "run_in_terminal": tools.command,
    "read_file": tools.read,
    "create_file": tools.write,
    "replace_string_in_file": tools.edit,
    "grep_search": tools.grep,
    "semantic_search": tools.grep,
    "file_search": tools.find,
    "list_dir": tools.find,
    "runSubagent": tools.delegate,
}


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the event it reports, or into none."""
    return claude_events.read(envelope, payload, _DIALECT)


_DIALECT = Dialect(client="vscode", tools=TOOLS, noise=NOISE)
