"""`scripts/bench.py peers` asks other memories, where they are installed, the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.peers import installed, kiro_text

ROOT = Path(__file__).parents[2]
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


def command(folder: Path, name: str, text: str) -> None:
    made = folder / "bin" / name
    made.parent.mkdir(exist_ok=True)
    made.write_text(text)
    made.chmod(0o755)


@pytest.mark.slow
def test_recall_is_measured_beside_other_memories_without_one_that_does_not_start(
    tmp_path: Path,
) -> None:
    command(tmp_path, "kiro-memory", "#!/bin/sh\nexit 1\n")
    command(tmp_path, "basic-memory", MEMORY.format(python=sys.executable))
    argv = [sys.executable, ROOT / "scripts/bench.py", "peers", "--quick", "--peer", tmp_path]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    lines = {line[:46].strip(): line for line in done.stdout.splitlines()}
    assert "kiro-memory, not measured" in lines
    for name in ("observer", "basic-memory"):
        assert " 100 %" in lines[f"found in their own words, R@3, {name}"]
    assert " 0.00 %" in lines["found in other words, R@5, basic-memory"]


def test_a_refusal_is_not_taken_for_an_answer() -> None:
    """kiro-memory does not mark as an error that it was asked too often."""
    parts = [{"type": "text", "text": "## Risultati"}, {"type": "text", "text": "| 1 | shop |"}]
    assert kiro_text({"content": parts}) == "## Risultati\n| 1 | shop |"
    refusal = {"type": "text", "text": "Errore: Errore di comunicazione con il Worker"}
    with pytest.raises(RuntimeError, match="kiro-memory: Errore"):
        kiro_text({"content": [refusal]})


@pytest.mark.parametrize("shelf", ["", "bin", "node_modules/.bin"])
def test_other_memories_are_found_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shelf: str
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert installed(None) == installed(tmp_path) == []
    command = tmp_path / shelf / "kiro-memory"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    assert [peer.name for peer in installed(tmp_path)] == ["kiro-memory"]
