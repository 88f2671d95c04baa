"""`hooks/cline`: one program for an event, which reports it and prints what Cline is to see."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.clients.envelope import Envelope
from observer.core.paths import Home

Cline = Callable[..., str]
CONTEXT = '{"cancel":false,"contextModification":"about my app"}'
CALL = {"iteration": 1, "tool_call": {"name": "run_commands"}}


@pytest.fixture
def cline(sh: list[str], hooks: Path, home: Home, tmp_path: Path) -> Cline:
    """Run `hooks/cline` in a project with context; it succeeds and complains of nothing."""
    mirror = home.context / "by-path" / tmp_path.relative_to("/")
    mirror.mkdir(parents=True)
    (mirror / "CONTEXT.md").write_text("about my app")
    (mirror / "CONTEXT.cline.json").write_text(CONTEXT)

    def run(event: str, payload: str, **environment: str) -> str:
        done = subprocess.run(
            [*sh, hooks / "cline", event],
            cwd=tmp_path,
            env={**os.environ, **environment},
            input=payload,
            capture_output=True,
            check=True,
            text=True,
            timeout=20,
        )
        assert done.stderr == ""
        return done.stdout

    return run


def text(payload: object) -> str:
    return json.dumps(payload, separators=(",", ":"))


@pytest.mark.parametrize("event", ["TaskStart", "PostToolUse", "TaskComplete"])
def test_an_event_is_reported_whole(
    cline: Cline, posted: Callable[[], list[Envelope]], event: str
) -> None:
    payload = text({"taskId": "1", "said": "100 % of \\n it's é" * 5000})
    assert cline(event, payload) == ""
    (envelope,) = posted()
    assert (envelope.client, envelope.event) == ("cline", event)
    assert envelope.payload == payload.encode()


def test_the_context_comes_before_the_first_call_and_is_no_event(
    cline: Cline, posted: Callable[[], list[Envelope]]
) -> None:
    assert cline("PreToolUse", text(CALL)) == CONTEXT
    assert cline("PreToolUse", text({**CALL, "iteration": 11})) == ""
    assert posted() == []


def test_a_program_of_the_folder_is_not_run(cline: Cline, tmp_path: Path) -> None:
    for name in ("cat", "post", "context"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (tmp_path / name).chmod(0o755)
    assert cline("PreToolUse", text(CALL), PATH=f".:{os.environ['PATH']}") == CONTEXT
    cline("PostToolUse", text(CALL), PATH=f".:{os.environ['PATH']}")
    assert not (tmp_path / "ran").exists()
