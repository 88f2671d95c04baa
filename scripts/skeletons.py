"""Writes the skeletons of a client or an importer: `scripts/new client|importer NAME`.

What it writes works and passes the tests of its shelf: a client that reports prompts and sessions,
an importer of one record a line. What is to be replaced is what the made-up program says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent

CLIENT = '''\
"""{title}: hooks of `hooks.json`, one JSON object on standard input.

Source: payloads of VERSION.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from observer.clients import tools
from observer.clients.client import Client, Reader, bodies, prompt_sample
from observer.clients.envelope import Envelope, Object
from observer.clients.parts import Hooks, Servers, config_file, installer_of, placed
from observer.clients.payload import event_of, inner, text
from observer.core.events import AnyBody, Event, Prompt, SessionEnd, SessionStart

NAME = "{name}"

TOOLS: Mapping[str, tools.Maker] = {{"shell": tools.command, "edit": tools.edit}}
"""What its tools do; one that is not listed becomes a `ToolUse`."""

_BASE = frozenset({{"hook_event_name", "session_id", "cwd"}})


def read(envelope: Envelope, payload: Object) -> Iterable[Event]:
    """Turn one hook call into the event it reports."""
    name = text(payload, "hook_event_name") or envelope.event
    session, cwd = text(payload, "session_id"), text(payload, "cwd")
    for body in bodies(_READERS.get(name), payload, kind=f"{{NAME}}:{{name}}", beside=_BASE):
        yield event_of(envelope, body, client=NAME, session=session, cwd=cwd, name=name)


def _tool(payload: Object) -> AnyBody:
    call = tools.ToolCall(
        tool=text(payload, "tool_name"),
        given=inner(payload, "tool_input"),
        response=payload.get("tool_response"),
    )
    return tools.make(call, TOOLS)


_READERS: Mapping[str, Reader] = {{
    "SessionStart": lambda _: SessionStart(),
    "UserPromptSubmit": lambda payload: Prompt(text=text(payload, "prompt")),
    "PostToolUse": _tool,
    "SessionEnd": lambda _: SessionEnd(),
}}


# --- how it is installed -------------------------------------------------------------------------


HOOKS = Hooks(client=NAME, reporting={{event: {{}} for event in _READERS}}, is_grouped=False)

CLIENTS = (
    Client(
        name=NAME,
        read=read,
        installer=installer_of(
            config_file(placed("", ".{name}", "hooks.json"), HOOKS.edited),
            config_file(placed("", ".{name}", "mcp.json"), Servers().edited),
            notes=["Restart {title}."],
        ),
        programs=("{name}",),
        folders=(".{name}",),
        sample=prompt_sample("UserPromptSubmit"),
        context_file="CONTEXT.{name}.md",
    ),
)
'''
FACTS = """\
# A configuration of somebody else's: what the tests of all installers need to know of this one.
stays = ['// theirs', 'say done']

[files]
".{name}/hooks.json" = '''
{{
  "hooks": {{
    "SessionEnd": [{{"command": "say done"}}] // theirs
  }}
}}
'''

[broken]
".{name}/hooks.json" = 'not json'
"""
IMPORTER = '''\
"""{title}: `~/.{name}/sessions`, one file a session, with a record a line.

Seen in version VERSION.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from observer.clients.envelope import Object
from observer.clients.payload import text
from observer.importers.records import (
    HookCall,
    Opening,
    RecordCalls,
    first_ms,
    first_said,
    source_of,
)


def _opening(_: Path, found: Iterable[Object]) -> Opening | None:
    known = list(found)
    session, at_ms = first_said(known, "session_id"), first_ms(known)
    if not session or at_ms is None:
        return None
    return Opening(session, first_said(known, "cwd"), at_ms)


class _Calls(RecordCalls):
    """The hook calls that the client `{name}` made, or would have made."""

    def read(self, at_ms: int, record: Object) -> Iterator[HookCall]:
        key, said = text(record, "id"), text(record, "text")
        if text(record, "role") == "user":
            yield from self.prompt(at_ms, said, key)
        else:
            self.say(at_ms, said, key)


SOURCES = (source_of("{name}", (".{name}", "", "sessions"), _opening, _Calls),)
'''
IMPORTED = '''\
"""What {title} keeps of a session becomes the events that its hooks would report."""

from __future__ import annotations

import json
from pathlib import Path

from observer.core.config import Settings
from observer.core.events import Prompt
from observer.importers.source import Problems, source_called

RECORD = {{
    "session_id": "s1",
    "cwd": "/home/ana/shop",
    "timestamp": "2026-11-21T10:00:00Z",
    "id": "r1",
    "role": "user",
    "text": "why does the total differ?",
}}


def test_a_prompt_is_imported(tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl").write_text(json.dumps(RECORD))
    source, problems = source_called("{name}"), Problems()
    assert source
    (found,) = source.find([tmp_path], problems)
    events = list(source.read(found, Settings(), problems))
    assert Prompt(text="why does the total differ?") in [event.body for event in events]
'''


def sample(name: str) -> str:
    """Return a recorded payload with the event that it becomes."""
    entry = "6f1c0f4e-0000-4000-8000-000000000001"
    common = {"cwd": "/home/ana/shop", "host": "box"}
    said = {"session_id": "s1", "cwd": "/home/ana/shop", "prompt": "why does the total differ?"}
    event = {
        "id": entry,
        "at_ms": 1_763_715_600_000,
        "client": name,
        "body": {"kind": "prompt", "text": "why does the total differ?"},
        "session": "s1",
        **common,
        "route": f"{name}/UserPromptSubmit",
        "author": "person",
    }
    fields = {"client": name, "event": "UserPromptSubmit", **common}
    whole = {"entry": entry, "fields": fields, "payload": said, "becomes": [event]}
    return json.dumps(whole, indent=2) + "\n"


def client(name: str, module: str) -> Mapping[str, str]:
    """Return the files of a client, by their paths."""
    names = {"name": name, "title": name.replace("-", " ").title()}
    return {
        f"observer/clients/shelf/{module}.py": CLIENT.format(**names),
        f"tests/data/{name}/facts.toml": FACTS.format(**names),
        f"tests/data/{name}/prompt.json": sample(name),
    }


def importer(name: str, module: str) -> Mapping[str, str]:
    """Return the files of an importer, by their paths."""
    names = {"name": name, "title": name.replace("-", " ").title()}
    return {
        f"observer/importers/shelf/{module}.py": IMPORTER.format(**names),
        f"tests/importers/test_{module}.py": IMPORTED.format(**names),
    }


KINDS: Mapping[str, Callable[[str, str], Mapping[str, str]]] = {
    "client": client,
    "importer": importer,
}


def write(kind: str, name: str, root: Path = ROOT) -> list[Path]:
    """Write a skeleton below a checkout; return its files.

    Raises:
        SystemExit: there is no such kind, the name is not one, or a file of it is there.
    """
    module = name.replace("-", "_")
    if kind not in KINDS or not module.isidentifier() or module != module.lower():
        raise SystemExit(f"usage: scripts/new {'|'.join(KINDS)} NAME, of lower-case letters, a-b")
    files = {root / path: text for path, text in KINDS[kind](name, module).items()}
    if there := [path for path in files if path.exists()]:
        raise SystemExit(f"{there[0]} is there already: choose another name, or go on with it")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: scripts/new client|importer NAME")
    for written in write(*sys.argv[1:]):
        print(written.relative_to(ROOT))
