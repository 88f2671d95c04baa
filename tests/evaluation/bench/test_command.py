"""`observer doctor speed`, with few rounds, beside a stand-in for another memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home

ROOT = Path(__file__).parents[3]
MEMORY = """#!{python}
# Answers MCP as basic-memory does, by the notes in its folder that hold all words of a query.
import json, os, pathlib, sys
assert sys.argv[1:] == ["mcp"]
notes = [path.read_text().rpartition("---")[2].strip()
         for path in pathlib.Path(os.environ["BASIC_MEMORY_HOME"]).glob("*.md")]
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        query = request["params"].get("arguments", {{}}).get("query", "").split()
        held = [note for note in notes if set(query) <= set(note.split())]
        result = {{"content": [{{"type": "text", "text": "\\n".join(held)}}]}}
        print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": result}}), flush=True)
"""


FEWER = "from observer.cli import measure, main; measure.QUICK = 0.01; main()"


def command(folder: Path, name: str, text: str) -> None:
    made = folder / "bin" / name
    made.parent.mkdir(exist_ok=True)
    made.write_text(text)
    made.chmod(0o755)


Bench = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bench() -> Bench:
    """Run the real command, with the time that it needs."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", FEWER, "bench", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )

    return run


def measured(bench: Bench, *words: str) -> dict[str, Any]:
    done = bench(*words, "--quick", "--json")
    assert done.returncode == 0, done.stderr
    return {each["name"]: each for each in json.loads(done.stdout)["figures"]}


@pytest.mark.slow
def test_recall_is_measured_beside_other_memories_without_one_that_does_not_start(
    bench: Bench, tmp_path: Path
) -> None:
    command(tmp_path, "kiro-memory", "#!/bin/sh\nexit 1\n")
    command(tmp_path, "basic-memory", MEMORY.format(python=sys.executable))
    found = measured(bench, "found", "--peers", str(tmp_path))
    assert found["kiro-memory, not measured"]["p50"] is None
    ours = found["found in other words, R@5, observer"]["p50"]
    assert ours > found["found in other words, R@5, basic-memory"]["p50"]
    for name in ("observer", "basic-memory"):
        assert found[f"found in their own words, R@3, {name}"]["p50"] == 100
        assert found[f"memory meanwhile, {name}"]["p50"] > 1


@pytest.mark.slow
def test_kills_lose_nothing_and_the_users_home_stays_untouched(bench: Bench, home: Home) -> None:
    found = measured(bench, "kills")
    assert found["kills: events lost"]["p50"] == found["kills: events doubled"]["p50"] == 0
    assert not home.root.exists()


@pytest.mark.slow
def test_a_day_and_hooks_are_measured_as_text(bench: Bench) -> None:
    done = bench("hooks", "daily", "--quick")
    assert done.returncode == 0, done.stderr
    for name in ("hooks/post, daemon down", "events stored and searchable", "disk, an event"):
        assert f"\n{name} " in done.stdout


def test_what_cannot_be_measured_is_refused(bench: Bench) -> None:
    done = bench("weather")
    assert done.returncode == 2
    assert "hooks, daily, found, kills" in done.stderr
