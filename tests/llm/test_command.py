"""`observer config llm`, what other commands say about it, and what a model wrote, as that."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.model import Enrichment, Item, SummaryFields
from observer.core.paths import Home
from observer.local import client
from observer.tools import render, rows
from tests.support import Until

from .conftest import Answered, completion

Observer = Callable[..., Any]


@pytest.fixture
def configured(home: Home, model: Any, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Settings that name the stand-in."""
    monkeypatch.setenv("OBSERVER_LLM_URL", model.url)
    monkeypatch.setenv("OBSERVER_LLM_MODEL", "tiny")
    return home


def test_it_is_off_by_default(within: Observer) -> None:
    assert within("config", "llm").stdout.startswith("llm  off: ")
    ran = within("config", "llm", "--try")
    assert ran.returncode == 2
    assert "observer config set llm_url URL" in ran.stderr
    shown = json.loads(within("config", "llm", "--json").stdout)
    assert shown == {"is_on": False, "status": None}
    for command in ("doctor", "status"):
        assert "llm" not in within(command).stdout


@pytest.mark.slow
def test_on_without_a_daemon_it_tells_what_the_store_knows(
    within: Observer, configured: Home, model: Any
) -> None:
    assert "0 of 200,000 tokens, 0 requests" in within("config", "llm").stdout
    within("post", "prompt", "text=x", "--wait")
    within("down")
    shown = json.loads(within("config", "llm", "--json").stdout)
    assert shown["is_on"]
    assert (shown["status"]["url"], shown["status"]["model"]) == (model.url, "tiny")


def test_try_says_what_is_wrong_and_what_a_model_cannot_do(
    within: Observer, configured: Home, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(Answered(b'{"error": {"message": "model \\"tiny\\" not found"}}', status=404))
    ran = within("config", "llm", "--try")
    assert ran.returncode == 1
    assert 'answered 404: model "tiny" not found' in ran.stderr
    assert "check llm_model (tiny)" in ran.stderr
    model.script(completion("Hello! How can I help?"))
    ran = within("config", "llm", "--try")
    assert ran.returncode == 2
    assert "not what was asked for" in ran.stderr
    monkeypatch.setenv("OBSERVER_LLM_MODEL", "")
    assert "problem  llm_url is set and llm_model is not" in within("config", "llm").stdout


def test_try_shows_the_answer(within: Observer, configured: Home, model: Any) -> None:
    ran = within("config", "llm", "--try")
    assert ran.returncode == 0
    assert ran.stdout.startswith(f"tiny at {model.url} answered in ")
    assert "learned    Hold the lock until the booking is stored." in ran.stdout
    shown = json.loads(within("config", "llm", "--try", "--json").stdout)
    assert (shown["tokens"], shown["model"]) == (1000, "tiny")
    assert shown["answer"]["concepts"] == ["locking", "double booking"]


@pytest.mark.slow
@pytest.mark.usefixtures("configured")
def test_what_the_model_wrote_is_found_shown_paid_for_and_survives_a_rebuild(
    home: Home, within: Observer, until: Until, model: Any, tmp_path: Path
) -> None:
    """A real daemon, the real command, a real HTTP server, and a session that is over."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    for words in (("prompt", "text=fix the cart of the shop"), ("session-end",)):
        assert within("post", *words, "session=s1", f"cwd={folder}", "--wait").returncode == 0
    until(lambda: _llm(home)["tokens_today"] == 1000)
    assert "tiny: 1,000 of 200,000 tokens, 1 request" in within("status").stdout
    for _ in range(2):
        found = within("search", "booked")
        assert "fix the cart of the shop" in found.stdout
        number = found.stdout.partition("#")[2].partition(" ")[0]
        assert "narrative (by tiny): The cart lost" in within("show", number).stdout
        assert within("doctor", "--rebuild").returncode == 0
    assert len(model.asked) == 1


@pytest.fixture
def held(model: Any) -> threading.Event:
    """A model that thinks until it is let go, and then answers."""
    gate = threading.Event()
    model.script(Answered(completion(), gate=gate))
    return gate


@pytest.mark.slow
@pytest.mark.usefixtures("configured")
def test_a_daemon_killed_amid_a_request_pays_for_one_more_at_most(
    home: Home, within: Observer, until: Until, model: Any, held: threading.Event
) -> None:
    within("post", "prompt", "text=fix the cart of the shop", "session=s1", "--wait")
    within("post", "session-end", "session=s1", "--wait")
    until(lambda: len(model.asked) == 1)
    os.kill(client.daemon_pid(home) or 0, signal.SIGKILL)
    until(lambda: client.daemon_pid(home) is None)
    held.set()
    assert within("up").returncode == 0
    until(
        lambda: (
            _llm(home)["tokens_today"] > 1000
            and "two orders were booked" in within("search", "booked").stdout
        )
    )
    taken = _llm(home)["tokens_today"] - 1000
    assert 700 < taken < 2500  # the one whose answer nobody heard
    assert len(model.asked) == 2
    assert _llm(home)["requests_today"] == 2


@pytest.mark.slow
@pytest.mark.usefixtures("configured", "held")
def test_a_daemon_amid_a_request_is_not_held_up(within: Observer, until: Until, model: Any) -> None:
    within("post", "prompt", "text=fix the cart of the shop", "session=s1", "--wait")
    within("post", "session-end", "session=s1", "--wait")
    until(lambda: len(model.asked) == 1)
    within("post", "custom", "name=deploy", "--wait")
    assert "deploy" in within("search", "deploy").stdout
    assert within("down").returncode == 0
    assert len(model.asked) == 1


def _llm(home: Home) -> Any:
    return client.call(home, "GET", "/status")["llm"]


@pytest.mark.slow
@pytest.mark.parametrize("module", ["observer.llm", "observer.serve.enrich"])
def test_a_daemon_without_it_imports_nothing_of_it(
    home: Home, within: Observer, module: str
) -> None:
    code = f"import observer.serve.daemon, sys; print({module!r} in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "False\n"


WROTE = Enrichment(
    model="tiny",
    at_ms=9_000,
    as_of_ms=60_000,
    narrative="The cart lost its lock.",
    learned="Hold the lock.",
    concepts=("locking", "cart"),
)
PLAIN = Item(
    id=6,
    uuid="u",
    kind="summary",
    type="summary",
    title="Fix the cart",
    narrative="Completed: Changed cart.py.",
    summary=SummaryFields(completed="Changed cart.py."),
    updated_ms=60_000,
)
ITEM = msgspec.structs.replace(PLAIN, enrichment=WROTE)
CHANGED = msgspec.structs.replace(ITEM, updated_ms=60_001)


def nameless(_: int | None) -> str:
    return ""


def test_the_whole_item_has_both_and_marks_what_a_model_wrote() -> None:
    lines = render.detail(ITEM, nameless).splitlines()
    assert "completed: Changed cart.py." in lines
    assert "narrative (by tiny): The cart lost its lock." in lines
    assert "learned (by tiny): Hold the lock." in lines
    assert "concepts (by tiny): locking, cart" in lines
    assert "narrative (by tiny, as of 1970-01-01 00:01Z): " in render.detail(CHANGED, nameless)
    assert render.pack_summary(ITEM).splitlines()[1:] == [
        "    completed: Changed cart.py.",
        "    narrative (by tiny): The cart lost its lock.",
    ]


def test_a_tool_has_it_in_a_field_of_its_own_and_without_a_model_nothing_is_different() -> None:
    for item, is_outdated in ((ITEM, False), (CHANGED, True)):
        shown = msgspec.json.decode(msgspec.json.encode(rows.observation(item, nameless)))
        written = [shown["written"][name] for name in ("by", "is_outdated", "next_steps")]
        assert written == ["tiny", is_outdated, None]
    assert b"written" not in msgspec.json.encode(rows.observation(PLAIN, nameless))
    assert "(by" not in render.detail(PLAIN, nameless) + render.pack_summary(PLAIN)
