"""What people read fits their terminal and steers it never, and is the same in a pipe."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

import click
import msgspec
import pytest

from observer.cli import output
from observer.cli.output import escaped
from observer.cli.session import open_memory
from observer.core.config import Settings
from observer.core.paths import Home
from observer.core.text import size_text
from observer.tools import hook_output
from tests.cli.conftest import Run

WIDE = ("id", "client", "what for")
ROWS = [
    ("s1", "claude-code", "make the login page faster than it was"),
    ("s22", "codex", "\N{CJK UNIFIED IDEOGRAPH-4E16}" * 9),
]
Shown = Callable[..., list[str]]


class Terminal(io.StringIO):
    """What a person sees."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Print on a terminal of so many columns, 0 for a pipe, and return the lines."""

    def call(columns: int, show: Callable[[], None]) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        stream = Terminal() if columns else io.StringIO()
        monkeypatch.setattr(sys, "stdout", stream)
        show()
        return click.unstyle(stream.getvalue()).splitlines()

    return call


def test_a_line_is_folded_at_words_or_letters_and_goes_on_below_its_value(shown: Shown) -> None:
    text = "  said      a commit that says in a whole sentence why it was made"
    assert shown(40, lambda: output.say(text)) == [
        "  said      a commit that says in a",
        "            whole sentence why it was",
        "            made",
    ]

    text = "#12 turn · why does the cart total differ by a cent?"
    first, rest = shown(40, lambda: output.say(text))
    assert (first, rest) == ("#12 turn · why does the cart total", "    differ by a cent?")
    text = "#1 " + "\N{CJK UNIFIED IDEOGRAPH-4E16}" * 20 + "\N{IDEOGRAPHIC FULL STOP}"
    lines = shown(31, lambda: output.say(text))
    assert [output._cells(line) for line in lines] == [27, 22]
    text = "why " * 40
    assert shown(40, lambda: output.say(text, is_exact=True)) == [text]
    for columns in (0, 200):
        assert shown(columns, lambda: output.say(text)) == [text]


def test_a_table_is_aligned_leaves_columns_out_and_then_folds(shown: Shown) -> None:
    lines = shown(0, lambda: output.table(WIDE, ROWS))
    assert lines[1] == "s1   claude-code  make the login page faster than it was"
    assert {line.rstrip() == line for line in lines} == {True}

    lines = shown(44, lambda: output.table(WIDE, ROWS, spare=("client",)))
    assert lines[:2] == ["id   what for", "s1   make the login page faster than it was"]
    folded = shown(30, lambda: output.table(WIDE, ROWS, spare=("client",)))
    assert folded[1:3] == ["s1   make the login page", "     faster than it was"]
    assert max(map(output._cells, folded)) <= 30

    row = ("s1", "claude-code", "make the login page faster than it was before, " * 2)
    head, *_ = shown(72, lambda: output.table(WIDE, [row], spare=("client",)))
    assert head.split() == ["id", "client", "what", "for"]

    rows = [("a", "9", size_text(900)), ("b", "1,024", size_text(25_690_112))]
    assert shown(0, lambda: output.table(("part", "events", "size"), rows)) == [
        "part  events      size",
        "a          9     900 B",
        "b      1,024  24.5 MiB",
    ]


def test_a_path_in_a_table_is_folded_between_its_names(shown: Shown) -> None:
    wide = "/home/" + 4 * "\u4e16"
    for path, folded in (
        ("/home/ana/shop/src/cart.py", ["/home/ana/shop/", "src/cart.py"]),
        (f"{wide}/shop/src/x.py", [wide, "/shop/src/x.py"]),
        ("a" * 20, ["a" * 16, "a" * 4]),
    ):
        lines = shown(19, lambda path=path: output.table(("a", "path"), [("x", path)]))
        assert [line[3:] for line in lines[1:]] == folded


HOSTILE = (
    "\x1b]0;title\x07 \x1b]52;c;Y3VybA==\x07 \x1b]8;;http://evil.example/\x07link"
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
    ]
    later = [
        {"kind": "prompt", "text": "shut the pier on all Mondays"},
        {"kind": "file-write", "path": path, "edits": [{"old": "x", "new": "pier"}]},
        {"kind": "reply", "text": "The pier is shut on Mondays now."},
    ]
    reports += [report | {"session": f"later{HOSTILE}"} for report in later]
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
