"""A sample memory for the documentation: a small repository, two sessions, and real answers.

    python scripts/sample.py            write docs/images/*.svg
    python scripts/sample.py --print    print every command of the tutorial with its output

Everything runs for real in a folder that is deleted afterwards: git, the hook script, the daemon,
the command line. Only the folder's path is replaced in what is shown.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SHOWN_HOME = "/home/ana"
WAIT_S = 30
COLUMNS = 110
_STYLE = re.compile(r"\x1b\[[0-9;]*m")

CART = '''"""What a customer is about to buy."""

from decimal import Decimal


def total(lines):
    """Return the sum of all lines."""
    return round(sum(lines), 2)
'''
FIXED = CART.replace("round(sum(lines), 2)", "sum(lines, Decimal()).quantize(CENT)").replace(
    "from decimal import Decimal\n", 'from decimal import Decimal\n\nCENT = Decimal("0.01")\n'
)
TESTS = """from decimal import Decimal

from cart import total


def test_total():
    assert total([Decimal("4.99"), Decimal("5.01")]) == Decimal("10.00")
"""
PRICES = '''"""Prices with and without tax."""


def gross(net, rate):
    """Return a net price with tax."""
    return net * (1 + rate)
'''
FAILED = """Exit code 1
=================================== FAILURES ===================================
FAILED tests/test_cart.py::test_total - AssertionError: assert 9.99 == 10.0
1 failed, 2 passed in 0.31s"""
REPLY = """The total differs by a cent because `round` on binary floats rounds 9.995 down: \
4.99 + 5.01 is not exactly 10.00. `total` in cart.py now sums Decimals and quantizes once at the \
end, so each line keeps its full precision until then. All three tests pass."""
RED = """Exit code 1
FAILED tests/test_prices.py::test_gross - AssertionError: assert 11.899999999999999 == 11.9
1 failed, 3 passed in 0.28s"""

HOOK = "~/.observer/hooks/context claude-code"
"""What prints the context that a session begins with."""

TUTORIAL = (
    "observer status",
    "observer search cart total differs by a cent",
    "observer search rounding --type commit,file-write -n 3 --explain",
    "observer show 16",
    "observer timeline 16",
    "observer show 49",
    "observer why cart.py::total",
    "observer today",
    HOOK,
    'observer remember "Money is Decimal, never float" --type decision --tag money',
    "observer search --notes money",
    "observer policy secrets/key.pem",
    "observer mcp list core,chatgpt",
    "observer mcp list",
    "observer doctor",
    "observer status --space",
    "observer sessions",
    "observer status --projects",
    "observer mcp list --snippets",
    "observer install bash --dry-run",
    "observer backup",
    "observer purge --text rounds --dry-run",
    "observer config llm",
    "observer config model",
    "observer pause --for 1h --project .",
    "observer pause --end",
    "observer note",
)


class Sample:
    """A throw-away home with a repository `shop` in it, and the means to work there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shop = folder / "shop"
        self.home = folder / ".observer"
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = kept | {
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_NOSYSTEM": "1",
            "TZ": "Europe/Oslo",
            "COLUMNS": str(COLUMNS),
            "TERM": "xterm",
            **{f"GIT_{who}_NAME": "Ana" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "ana@example.com" for who in ("AUTHOR", "COMMITTER")},
        }

    def run(self, *argv: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command in the repository and return what it printed."""
        return subprocess.run(
            argv,
            cwd=self.shop,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def answer(self, line: str) -> str:
        """Return what a command line of `observer`, or the hook, prints."""
        if line == HOOK:
            done = self.run("sh", str(self.home / "hooks" / "context"), "claude-code")
            return done.stdout.replace(str(self.folder), SHOWN_HOME)
        return self.observer(*shlex.split(line)[1:])

    def observer(self, *arguments: str) -> str:
        """Return what `observer ARGUMENTS` prints on a terminal, with a plain home folder."""
        ours, theirs = pty.openpty()  # times in the zone of the machine, as a person sees them
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
        argv = [sys.executable, "-m", "observer", *arguments]
        with subprocess.Popen(
            argv, cwd=self.shop, env=self.environment, stdout=theirs, stderr=theirs
        ):
            os.close(theirs)
            shown = b"".join(_blocks(ours)).decode()
        os.close(ours)
        shown = _STYLE.sub("", shown).replace("\r\n", "\n").replace(str(self.folder), SHOWN_HOME)
        return shown.replace(str(Path(sys.executable).parent), f"{SHOWN_HOME}/.observer/venv/bin")

    def report(self, session: str, event: str, **fields: object) -> None:
        """Report an event of Claude Code through the installed hook."""
        payload = {"session_id": session, "cwd": str(self.shop), "hook_event_name": event}
        hook = self.home / "hooks" / "post"
        given = json.dumps(payload | fields)
        self.run("sh", str(hook), "claude-code", event, given=given)

    def write(self, name: str, text: str) -> str:
        """Write a file of the repository and return its path."""
        path = self.shop / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def commit(self, message: str) -> None:
        """Commit everything in the repository."""
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "-m", message)

    def settle(self) -> None:
        """Wait until the daemon has stored what is spooled and embedded it."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            status = json.loads(self.observer("status", "--json"))
            if status["spool_depth"] == 0 and status["items"] and not status["degraded"]:
                time.sleep(1)
                return
            time.sleep(0.2)
        raise SystemExit("the daemon did not store what was reported")


def _blocks(terminal: int) -> Iterator[bytes]:
    """Yield what is written to a terminal until its other end is closed."""
    with suppress(OSError):  # Linux: EIO where there is nobody left to write
        while block := os.read(terminal, 65536):
            yield block


def begin(sample: Sample) -> None:
    """Make the repository, install hooks and start the daemon."""
    sample.shop.mkdir()
    sample.run("git", "init", "-q", "-b", "main")
    sample.write("cart.py", CART)
    sample.write("tests/test_cart.py", TESTS)
    sample.write(".observer.toml", 'exclude = ["/secrets/"]\n')
    sample.commit("Add a cart with a total")
    sample.write("prices.py", PRICES)
    sample.commit("Compute gross prices\n\nThe shop front shows prices with tax.")
    sample.observer("install", "claude-code", "git")
    sample.observer("install", "git", "--project", ".")
    sample.observer("up")
    sample.observer("import", "git", ".")


def first_session(sample: Sample) -> None:
    """Find and fix a wrong total, and commit it."""
    cart = str(sample.shop / "cart.py")
    check = {"command": "pytest -q tests/test_cart.py"}
    sample.report("one", "SessionStart", source="startup")
    sample.report(
        "one",
        "UserPromptSubmit",
        prompt="why does the cart total differ by a cent?",
        prompt_id="p1",
    )
    read = {"file_path": cart}
    sample.report("one", "PostToolUse", tool_name="Read", tool_use_id="t1", tool_input=read)
    sample.report(
        "one",
        "PostToolUseFailure",
        tool_name="Bash",
        tool_use_id="t2",
        tool_input=check,
        error=FAILED,
    )
    sample.write("cart.py", FIXED)
    edit = {
        "file_path": cart,
        "old_string": "    return round(sum(lines), 2)",
        "new_string": "    return sum(lines, Decimal()).quantize(CENT)",
    }
    sample.report("one", "PostToolUse", tool_name="Edit", tool_use_id="t3", tool_input=edit)
    passed = {"stdout": "3 passed in 0.30s", "stderr": "", "interrupted": False}
    sample.report(
        "one",
        "PostToolUse",
        tool_name="Bash",
        tool_use_id="t4",
        tool_input=check,
        tool_response=passed,
    )
    sample.report("one", "Stop", last_assistant_message=REPLY)
    sample.commit("Sum the cart in Decimal\n\nRounding floats line by line lost a cent.")
    sample.report("one", "SessionEnd", reason="other")


def second_session(sample: Sample) -> None:
    """Begin another change, which stays red and uncommitted."""
    prices = str(sample.shop / "prices.py")
    sample.report("two", "SessionStart", source="startup")
    sample.report(
        "two",
        "UserPromptSubmit",
        prompt="gross prices must be exact to the cent too, use the rate as Decimal",
        prompt_id="p2",
    )
    after = "    return (net * (1 + rate)).quantize(CENT)"
    sample.write("prices.py", PRICES.replace("    return net * (1 + rate)", after))
    edit = {
        "file_path": prices,
        "old_string": "    return net * (1 + rate)",
        "new_string": after,
    }
    sample.report("two", "PostToolUse", tool_name="Edit", tool_use_id="u1", tool_input=edit)
    sample.report(
        "two",
        "PostToolUseFailure",
        tool_name="Bash",
        tool_use_id="u2",
        tool_input={"command": "pytest -q tests/test_prices.py"},
        error=RED,
    )
    sample.report("two", "SessionEnd", reason="other")


def screenshot(command: str, output: str, path: Path) -> None:
    """Write a terminal with a command and its output as an SVG that loads nothing."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
    for line in output.rstrip().splitlines():
        console.print(_coloured(line))
    svg = console.export_svg(title="observer", unique_id=path.stem)
    # The fonts that rich links to are on another machine; any monospaced one will do.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE).replace("Fira Code", "monospace")
    path.write_text(svg.rstrip() + "\n", encoding="utf-8")


def _coloured(line: str) -> Text:
    text = Text(line)
    text.highlight_regex(r"^#\d+", "bold cyan")
    text.highlight_regex(r"\bred when it ran last\b|\bnot committed\b|\bfailed\b", "red")
    text.highlight_regex(r"\d{4}-\d\d-\d\d \d\d:\d\d \+\d\d:\d\d", "dim")
    text.highlight_regex(r" · ", "dim")
    return text


def main() -> None:
    """Make the sample and write or print what it answers."""
    with tempfile.TemporaryDirectory() as folder:
        sample = Sample(Path(folder).resolve())
        try:
            begin(sample)
            first_session(sample)
            second_session(sample)
            sample.settle()
            if "--print" in sys.argv:
                for line in TUTORIAL:
                    print(f"$ {line}\n{sample.answer(line)}")
                return
            IMAGES.mkdir(parents=True, exist_ok=True)
            for name, line in (
                ("search", "observer search why did the cart total differ by a cent"),
                ("start", HOOK),
            ):
                screenshot(line, sample.answer(line), IMAGES / f"{name}.svg")
        finally:
            sample.observer("down")


if __name__ == "__main__":
    main()
