"""A home into which a word came on every way, through real hooks, a real daemon and real git."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from legible import legible

from observer.core.config import Settings
from observer.core.events import AnyBody, Event
from observer.core.paths import Home
from observer.local import client
from observer.projects.policy.policies import DAY_MS
from observer.serve.maintenance import RetentionWorker
from observer.store.database import SqliteStore
from tests.ingest.test_rebuild import _may_come
from tests.serve.services import close, services_over
from tests.support import Git, Observer, Until, pipeline_over

HOOKS = Path(__file__).parents[3] / "hooks"
CANARY = "Zebrafink-Caf\u00e9 77"
PLAIN = "zebrafink77"
"""For names, which hold no blanks."""
DEAD_PID = 4_000_000_000
"""More than a process id can be."""

Tell = Callable[..., None]
NOW_MS = 20_700 * DAY_MS + 3_600_000
START_MS = NOW_MS - 3_600_000


class World:
    """A memory whose events are days old, and a minute apart; they have the numbers from 1 on."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.store = SqliteStore(home.database)
        self.pipeline = pipeline_over(self.store, home, NOW_MS)
        self.count = 0

    def tell(
        self,
        *bodies: AnyBody,
        days: float = 0,
        session: str = "s1",
        client: str = "c",
        project: int | None = None,
        **fields: Any,
    ) -> None:
        for body in bodies:
            self.count += 1
            at_ms = int(START_MS - days * DAY_MS) + self.count * 60_000
            fields |= {"session": session, "client": client, "body": body}
            event = Event(id=f"e{self.count}", at_ms=at_ms, **fields)
            if _may_come(event, self.store):
                self.pipeline.ingest([event], project)


@pytest.fixture
def world(home: Home) -> Iterator[World]:
    made = World(home)
    yield made
    made.store.close()


def holding(home: Home, *texts: str) -> list[str]:
    """Return the files of a home in which one of some texts stands, or which are named so."""
    held = []
    for folder, _, names in os.walk(home.root):  # which passes over what is deleted meanwhile
        for path in (Path(folder, name) for name in names):
            with suppress(FileNotFoundError):
                data = os.fsencode(path.name) + (legible(path) if path.is_file() else b"")
                if any(text.encode() in data for text in texts):
                    held.append(str(path.relative_to(home.root)))
    return sorted(held)


@contextmanager
def retaining(
    home: Home, *bodies: AnyBody, cwd: str = "", **given: Any
) -> Iterator[RetentionWorker]:
    """Store events, and yield what retains them in the daemon that stored them."""
    services = services_over(home, settings=Settings(**given), at_ms=NOW_MS)
    for n, body in enumerate(bodies):
        at_ms = NOW_MS - 9000 + n
        services.pipeline.ingest(
            [Event(id=f"e{n}", at_ms=at_ms, client="c", session="s", cwd=cwd, body=body)]
        )
    try:
        yield RetentionWorker(services)
    finally:
        close(services)


@pytest.fixture
def app(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose commit, branch and file name hold the word."""
    folder = tmp_path / "app"
    git(folder, "init")
    (folder / "a.py").write_text("x = 1\n")
    git(folder, "add", "a.py")
    git(folder, "commit", "-m", "Begin")
    git(folder, "checkout", "-b", f"fix/{PLAIN}")
    (folder / f"{PLAIN}.py").write_text(f"x = '{CANARY}'\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", f"Ask {CANARY} and {PLAIN}")
    git(folder, "checkout", "main")
    git(folder, "merge", "-q", "--ff-only", f"fix/{PLAIN}")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tell(app: Path) -> Tell:
    """Report what happened in a Claude Code session, through its hook."""

    def run(event: str, *, spoil: bool = False, **fields: Any) -> None:
        payload = {"session_id": "s1", "cwd": str(app), "hook_event_name": event, **fields}
        data = json.dumps(payload).encode()
        subprocess.run(
            ["sh", str(HOOKS / "post"), "claude-code", event],
            input=data[:-3] if spoil else data,
            check=True,
            cwd=app,
        )

    return run


def tool(name: str, given: object, shown: object) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": given, "tool_response": shown}


def asked_over_mcp(query: str) -> None:
    """Search as an agent does."""
    client_info = {"name": "test", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": query}},
        },
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "observer", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as pump:
        assert pump.stdin
        assert pump.stdout
        pump.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        pump.stdin.flush()
        assert any('"id":2' in line for line in pump.stdout)
        pump.stdin.close()


def type_in_a_shell(home: Home, command: str) -> None:
    """Leave the log of a shell that ran one command, and is gone."""
    record = f"\0\0exit=0\0end_ms=1790000000000\0text={command}\0.\0\0"
    (home.spool / "shell" / f"bash-{DEAD_PID}-0").write_text(record)


@pytest.fixture
def shown(app: Path, home: Home, tell: Tell, within: Observer, until: Until) -> Home:
    """What happened: events with the word in some form, and one prompt without it."""
    folder, both = str(app), f"{CANARY} {PLAIN}"
    within("up")
    tell("UserPromptSubmit", prompt="make the login page faster")
    tell("UserPromptSubmit", prompt=f"why does {both} fail?")
    bash = tool("Bash", {"command": "make"}, {"stdout": f"error: {both}\n", "stderr": ""})
    tell("PostToolUse", **bash)
    tell("PostToolUse", **tool("Bash", {"command": f"grep '{both}' a"}, {"stdout": ""}))
    edit = {"file_path": f"{folder}/a.py", "old_string": "x = 1", "new_string": f"x = '{both}'"}
    tell("PostToolUse", **tool("Edit", edit, {}))
    tell("PostToolUse", **tool("Write", {"file_path": f"{folder}/{PLAIN}.md", "content": "y"}, {}))
    tell("PostToolUse", **tool("Grep", {"pattern": both, "path": folder}, {"mode": "content"}))
    inner = json.dumps({"body": json.dumps({"config": both})})
    tell("PostToolUse", **tool("mcp__tracker__post", {"payload": inner}, [{"text": both}]))
    tell("PostToolUse", **tool("Bash", {"command": "git diff"}, {"stdout": f"+{both}\n"}))
    move = tool("Bash", {"command": f"git checkout -b fix/{PLAIN}"}, {"stdout": "done"})
    tell("PostToolUse", **move)
    tell("Stop", last_assistant_message=f"I found {both}.")
    tell("UserPromptSubmit", spoil=True, prompt=both, rest=[1, 2, 3])
    within("remember", f"The customer is {both}", "--title", f"About {CANARY}")
    within("import", "git", folder)
    within("search", both)
    asked_over_mcp(both)
    type_in_a_shell(home, f"make {PLAIN}")
    with (home.logs / "daemon.log").open("a") as log:
        log.write(f"what nobody foresaw may quote {both}\n")
    until(lambda: client.call(home, "GET", "/status")["spool_depth"] == 0)
    assert client.is_running(home)
    return home


@pytest.fixture
def found(home: Home) -> Callable[[], list[str]]:
    """Return the files of the home in which the word stands, in any case or form."""
    forms = {CANARY, json.dumps(CANARY)[1:-1], PLAIN, "zebrafink"}
    forms |= {form.lower() for form in forms}
    return lambda: holding(home, *forms)
