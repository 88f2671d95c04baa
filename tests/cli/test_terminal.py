"""Nothing that was captured steers the terminal, whichever command prints it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.cli.output import escaped
from observer.cli.session import open_memory
from observer.core.config import Settings
from observer.core.paths import Home
from observer.tools import hook_output

Run = Callable[..., Any]

HOSTILE = (
    "\x1b]0;title\x07 \x1b]52;c;Y3VybCBldmlsIHwgc2g=\x07 \x1b]8;;http://evil.example/\x07link"
    " \x1b[2J\x1b[1;1H\x1b[31mred \x08\x08\x7f \x9b2J \x9d0;t\x9c \x90q\x9c \x84"
    " \u202egnp.exe\u202c \u2066x\u2069 \u200e\u200f\u061c \u2028\u2029"
)
"""C0 and C1 controls, titles, clipboards and links of terminals, and what turns writing around."""
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def folder(tmp_path: Path, git: Callable[..., str]) -> Path:
    root = tmp_path / f"shop{HOSTILE.replace('/', '_')[:60]}"
    git(root, "init", "-q")
    (root / f"a{HOSTILE[:20].replace('/', '_')}.py").write_text(f"x = 1 # {HOSTILE}\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"Change {HOSTILE}")
    return root


@pytest.fixture
def filled(fill: Callable[..., None], folder: Path) -> Path:
    given = {
        "session": f"s{HOSTILE}",
        "cwd": str(folder),
        "client": f"editor{HOSTILE}",
        "host": f"h{HOSTILE}",
    }
    path = str(next(folder.glob("a*.py")))
    reports = [
        {"kind": "session-start", "source": HOSTILE, "model": HOSTILE},
        {"kind": "prompt", "text": f"harbour {HOSTILE}", "files": [f"{path}{HOSTILE}"]},
        {
            "kind": "file-write",
            "path": path,
            "edits": [{"old": "x", "new": f"def harbour{HOSTILE}(): pass"}],
            "tool": HOSTILE,
        },
        {
            "kind": "command",
            "command": f"make harbour {HOSTILE}",
            "output": f"Error: harbour {HOSTILE}",
            "exit_code": 2,
        },
        {"kind": "tool-use", "tool": f"t{HOSTILE}", "input": HOSTILE, "output": HOSTILE},
        {"kind": "custom", "name": f"harbour{HOSTILE}", "text": f"harbour {HOSTILE}"},
        {
            "kind": "commit",
            "hash": "1" * 40,
            "subject": f"Harbour {HOSTILE}",
            "message": f"Harbour {HOSTILE}\n\n{HOSTILE}",
            "author": HOSTILE,
            "files": [{"path": path}],
        },
        {"kind": "reply", "text": f"We decided to use harbour because {HOSTILE}"},
        {"kind": "remember", "content": f"harbour note {HOSTILE}", "type": "decision"},
        {"kind": "prompt", "text": "shut the pier on all Mondays"},
        {"kind": "reply", "text": "The pier is shut on Mondays now."},
    ]
    fill([given | report for report in reports])
    return folder


COMMANDS = (
    "search harbour --explain --weak",
    "search",
    "timeline 1",
    *(f"show {number}" for number in range(1, 12)),
    "why {path}:1",
    "context",
    "context --explain",
    "search --notes harbour",
    "today --all",
    "show",
    "sessions",
    "status --projects",
    "note",
    "status",
    "doctor",
    "purge --text harbour --dry-run",
    "export",
    "forget 1",
)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["", "--json"])
def test_no_command_prints_controls(
    run: Run, filled: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(filled)
    path = str(next(filled.glob("a*.py")))
    raw, said = {}, ""
    for command in COMMANDS:
        words = [word.format(path=path) for word in command.split()]
        ran = run(*words, *filter(None, [form]), stdin="n\n")
        said += ran.out + ran.err
        if found := RAW.findall(ran.out + ran.err):
            raw[command] = sorted(set(map(ascii, found)))
    assert raw == {}
    assert said.count("harbour") > 50


def test_no_context_file_holds_controls(filled: Path, home: Home) -> None:
    """Hooks print it as it is."""
    with open_memory() as memory:
        for project in memory.projects():
            hook_output.write(memory, project, home, Settings())
    texts = [path.read_text() for path in home.context.rglob("CONTEXT*") if path.is_file()]
    assert texts
    assert [RAW.findall(text) for text in texts] == [[] for _ in texts]


def test_escaped_json_means_the_same() -> None:
    value = {"text": HOSTILE, "plain": 'caf\u00e9 \\ "'}
    shown = escaped(msgspec.json.encode(value))
    assert not RAW.findall(shown.decode())
    assert msgspec.json.decode(shown) == value
