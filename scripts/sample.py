"""A sample memory for the documentation: a small repository, two sessions, and real answers.

    python scripts/sample.py            write the outputs of all examples, and docs/images/*.svg

Everything runs for real in a folder that is deleted afterwards: git, the hook script, the daemon,
the command line. Only the folder's path is replaced in what is shown. The suite plays the same
examples, and compares what is printed with the pages.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SHOWN_HOME = "/home/ana"
WAIT_S = 300
STILL_S = 2.0
"""After this long without another item, none is missing."""
COLUMNS = 100
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BAR = re.compile(r"^.*\u2501.*\n", re.MULTILINE)
"""How far something is; gone when it is done."""

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
POLICY = """exclude = ["/fixtures/customers/", "*.pem"]
never = ["prompt", "output"]
retention_days = 90
name = "acme-shop"
sharing = "none"
"""
RED = """Exit code 1
FAILED tests/test_prices.py::test_gross - AssertionError: assert 11.899999999999999 == 11.9
1 failed, 3 passed in 0.28s"""

PYTHON = """#!/bin/sh
case "$*" in
    "-m venv "*)
        mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
        printf '#!/bin/sh\\nexec %s -m observer "$@"\\n' {python} >"$3/bin/observer"
        chmod +x "$3/bin/observer" ;;
esac
"""
"""An interpreter that makes environments with the observer of this checkout, in no time."""
START = "scripts/start ~/shop"
HOOK = "observer context --client claude-code"
"""The context that a session begins with."""
GUIDES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/how-to").glob("*.md"))
PAGES = (
    "docs/tutorial.md",
    "README.md",
    "docs/explanation/turns.md",
    "docs/reference/query.md",
    *GUIDES,
)
"""The pages whose examples are played, one after the other in one home."""
EXAMPLE = re.compile(r"^(`{3,4})console\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
PLAYED = re.compile(r"^\$ (observer .*|scripts/start .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A command of an example, and what it printed. What else stands there is not ours to run."""
NAMED = re.compile(r"(?<=#)\d+|\bs\d+\b")
_VARIES = re.compile(r"\b[0-9a-f]{10,40}\b|\d[\d.,:TZ-]*(?: (?:ms|s|min|h|B|KiB|MiB)\b)?")


def same(text: str) -> str:
    """Return what two runs print alike: neither ids, times, sizes nor where lines are folded."""
    return _VARIES.sub("N", " ".join(text.split()))


class Sample:
    """A throw-away home with a repository `shop` in it, and the means to work there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shop = folder / "shop"
        self.home = folder / ".observer"
        self.started = ""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = kept | {
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_NOSYSTEM": "1",
            "TZ": "Europe/Oslo",
            "COLUMNS": str(COLUMNS),
            "TERM": "xterm",
            "OBSERVER_BACKUP_HOURS": "0",  # none but those that an example makes
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
        """Return what a command line of `observer` prints, or printed when all began."""
        if line == START:
            return self.started
        words = shlex.split(line)[1:]
        return self.observer(*(re.sub(r"^~", str(self.folder), word) for word in words))

    def observer(self, *arguments: str) -> str:
        """Return what `observer ARGUMENTS` prints on a terminal, with a plain home folder."""
        return self._shown([sys.executable, "-m", "observer", *arguments])

    def start(self) -> str:
        """Return what `scripts/start` prints, with this observer for the one that it installs."""
        python = self.folder / "python3"
        python.write_text(PYTHON.format(python=shlex.quote(sys.executable)))
        python.chmod(0o755)
        self.environment["PYTHON"] = str(python)
        shown = self._shown(["sh", str(ROOT / "scripts" / "start"), str(self.shop)])
        shutil.rmtree(self.home / "venv")
        return shown

    def _shown(self, argv: Sequence[str]) -> str:
        """Return what a program prints on a terminal, with nobody at its keyboard."""
        ours, theirs = pty.openpty()  # times in the zone of the machine, as a person sees them
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
        with subprocess.Popen(
            argv,
            cwd=self.shop,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        ):
            os.close(theirs)
            shown = b"".join(_blocks(ours)).decode()
        os.close(ours)
        shown = _BAR.sub("", _STYLE.sub("", shown).replace("\r\n", "\n"))
        for folder in (self.home / "venv" / "bin", Path(sys.executable).parent):
            shown = shown.replace(str(folder), f"{SHOWN_HOME}/.observer/venv/bin")
        return shown.replace(str(self.folder), SHOWN_HOME)

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
        """Wait until the daemon has stored what is spooled and embedded it by both models."""
        deadline = time.monotonic() + WAIT_S
        known, since_s = None, 0.0
        while time.monotonic() < deadline:
            status = json.loads(self.observer("status", "--json"))
            now = status["items"], status["vectors"], status["to_embed"]
            if now != known:
                known, since_s = now, time.monotonic()
            is_stored = status["spool_depth"] == 0 and status["items"] and not status["degraded"]
            is_embedded = 0 < status["to_embed"] <= status["vectors"]
            # What a stored event lets the daemon conclude follows it.
            if is_stored and is_embedded and time.monotonic() - since_s > STILL_S:
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
    sample.started = sample.start()
    sample.observer("install", "claude-code", "git")
    sample.observer("install", "git", "--project", ".")


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


def earlier_work(sample: Sample) -> None:
    """Keep what guides begin with: notes, a session to import, decisions, another policy."""
    sample.observer("remember", "Sessions use cookies", "--type", "decision")
    sample.observer("remember", "The staging database listens on port 5433")
    sample.observer("post", "command", "command=make test", "at:=1577836800000")
    said = [
        {"type": "user", "message": {"role": "user", "content": "round all prices to cents"}},
        {"type": "assistant", "message": {"role": "assistant", "content": "They are rounded."}},
    ]
    common = {"sessionId": "old", "cwd": str(sample.shop), "version": "2.0.0"}
    lines = (
        json.dumps({**common, **each, "uuid": str(at), "timestamp": f"2026-01-23T10:0{at}:00.000Z"})
        for at, each in enumerate(said)
    )
    sample.write("../.claude/projects/-home-ana-shop/old.jsonl", "\n".join(lines) + "\n")
    acme = sample.folder / "acme"
    sample.write("../acme/docs/decisions/0001-money.md", "# Money\n\nMoney is a Decimal.\n")
    sample.write("../acme/docs/decisions/0002-rates.md", "# Rates\n\nRates are a Decimal too.\n")
    sample.write("../acme/.observer.toml", POLICY)
    sample.run("git", "init", "-q", str(acme))


def pages(sample: Sample) -> Iterator[str]:
    """Yield the pages in their order, with what the guides begin with done before those."""
    for page in PAGES:
        if page == GUIDES[0]:
            earlier_work(sample)
            sample.settle()
        yield page


def in_this_run(line: str, ids: dict[str, str]) -> str:
    """Return a command line with the ids of this run."""
    return re.sub(r"(?<=\w\w )\d+\b", lambda found: ids.get(found[0], found[0]), line)


def answers(sample: Sample, example: str, ids: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each command of an example, what it printed, and what it prints now.

    Args:
        sample: where it is played.
        example: the text between the fences.
        ids: those of this run by those of the page; an answer adds those that it shows.
    """
    for line, printed in PLAYED.findall(example):
        now = sample.answer(in_this_run(line, ids))
        named = zip(NAMED.findall(printed), NAMED.findall(now), strict=False)
        ids.update((old.lstrip("s"), new.lstrip("s")) for old, new in named)
        yield line, printed, now


def written(sample: Sample, page: str, ids: dict[str, str]) -> str:
    """Return a page with what its examples print now, by the ids of this run."""

    def again(example: re.Match[str]) -> str:
        text = example[0]
        for line, printed, now in answers(sample, example[2], ids):
            text = text.replace(f"$ {line}\n{printed}", f"$ {in_this_run(line, ids)}\n{now}")
        return text

    return EXAMPLE.sub(again, (ROOT / page).read_text(encoding="utf-8"))


@contextmanager
def playing() -> Iterator[Sample]:
    """Make the sample, and take it away afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        sample = Sample(Path(folder).resolve())
        try:
            begin(sample)
            first_session(sample)
            second_session(sample)
            sample.settle()
            yield sample
        finally:
            sample.observer("down")


def main() -> None:
    """Make the sample, and write what it answers into pages and pictures."""
    with playing() as sample:
        IMAGES.mkdir(parents=True, exist_ok=True)
        for name, line in (
            ("search", "observer search why did the cart total differ by a cent"),
            ("start", HOOK),
        ):
            screenshot(line, sample.answer(line), IMAGES / f"{name}.svg")
        ids: dict[str, str] = {}
        for page in pages(sample):
            (ROOT / page).write_text(written(sample, page, ids), encoding="utf-8")


if __name__ == "__main__":
    main()
