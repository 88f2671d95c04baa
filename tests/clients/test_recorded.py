"""What real clients reported in the session of `scripts/record`, from the hooks to the memory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from recording.programs import PROGRAMS
from recording.scenario import CLOSING, PROMPT, TEST
from recording.session import PROJECT

from observer.clients.registry import clients
from observer.core.events import Command, Event, FileWrite, Prompt, Reply, Search, SessionStart
from observer.core.model import Item
from observer.core.paths import Home
from observer.core.value import TokenUsage
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from tests.support import pipeline_over

DATA = Path(__file__).parents[1] / "data"
RECORDED = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((DATA / "recorded").glob("*.json"))
}
WORDLESS = {"copilot", "droid"}
"""Clients whose last event does not hold what the agent said."""
PROMPTLESS = {"cline", "droid"}
"""Clients that report no prompt where they run without a terminal."""
FAILURELESS = {"droid"}
"""Clients that report no command that failed."""
WITHOUT_MCP = {"pi"}
"""Clients that cannot be offered a tool of ours."""
USED = {
    "kilo": TokenUsage(input=900, output=180),
    "opencode": TokenUsage(input=900, output=180),
    "pi": TokenUsage(input=800, output=160),
}
"""Of the clients whose hooks say it, the tokens of the one turn."""
NOW_MS = 1_790_000_000_000

Recording = Mapping[str, Any]
every_client = pytest.mark.parametrize("client", RECORDED)


@pytest.fixture
def stored(client: str, home: Home) -> tuple[list[Event], list[Item]]:
    """Store a recording and return its events and what was derived from them."""
    spool = Spool(home.spool)
    spool.prepare()
    for second, report in enumerate(RECORDED[client]["reports"]):
        fields = {"client": client, "event": report["event"], "cwd": report["cwd"]}
        fields["at"] = str(NOW_MS + 1000 * second)
        fields |= {f"env.{name}": value for name, value in report["env"].items()}
        spool.append(fields, json.dumps(report["payload"]).encode())
    with closing(SqliteStore(home.database)) as store:
        pipeline = pipeline_over(store, spool, NOW_MS)
        while pipeline.drain().entries:
            pass
        assert spool.bad() == 0
        with store.read() as reader:
            return [recorded.event for recorded in reader.log()], list(reader.all_items())


def bodies(events: list[Event], kind: type) -> list[Any]:
    return [event.body for event in events if isinstance(event.body, kind)]


@every_client
def test_the_session_is_stored_as_it_was(client: str, stored: Any) -> None:
    events, _ = stored
    assert {event.client for event in events} == {client}
    assert len({event.session for event in events}) == 1
    assert len(bodies(events, SessionStart)) == 1
    asked = [body.text for body in bodies(events, Prompt)]
    assert asked == ([] if client in PROMPTLESS else [PROMPT])
    *tests, commit = [body.command for body in bodies(events, Command)]
    assert tests == [TEST] * (1 if client in FAILURELESS else 3)
    assert commit.startswith("git commit")
    assert [body.path for body in bodies(events, FileWrite)] == [f"{PROJECT}/till.py"] * 2
    said = [body.text for body in bodies(events, Reply)]
    assert said == ([""] if client in WORDLESS else [CLOSING])
    # The stand-in for the model says 100 and 20 of each answer, of which there is one a step.
    (usage,) = [body.usage for body in bodies(events, Reply)]
    assert usage == USED.get(client)


@pytest.mark.parametrize("client", sorted(RECORDED.keys() - FAILURELESS))
def test_the_memory_knows_what_failed_and_what_fixed_it(client: str, stored: Any) -> None:
    _, items = stored
    failed = [
        item for item in items if item.type == "command" and "test_total failed" in item.title
    ]
    assert len(failed) == 2
    (fix,) = (item for item in items if item.type == "fix")
    assert "test_total" in fix.title


@every_client
def test_a_search_of_the_memory_is_kept_without_its_answer(client: str, stored: Any) -> None:
    events, _ = stored
    asked = [(body.where, body.query, body.output) for body in bodies(events, Search)]
    assert asked == ([] if client in WITHOUT_MCP else [("memory", "till total", "")])


@every_client
def test_context_tools_and_a_reminder_have_reached_the_model(client: str) -> None:
    """Of the version that the table of clients names; nothing of a machine is in a recording."""
    assert RECORDED[client]["context"]
    assert RECORDED[client]["reminder"] is (client not in FAILURELESS)
    assert RECORDED[client]["search"] is (client not in WITHOUT_MCP)
    assert RECORDED[client]["version"] == clients()[client].tried
    files = (path for path in (DATA / "sessions" / client).rglob("*") if path.is_file())
    text = json.dumps(RECORDED[client]) + "".join(path.read_text() for path in files)
    assert not re.search(r"(?<![\w<])/(?:root|tmp|var|opt|work|Users|home/(?!ana/))", text)


def test_every_client_that_can_be_recorded_is() -> None:
    assert set(RECORDED) == set(PROGRAMS)
