"""A throw-away user with a home of observer's own, what is asked there, and how it is said."""

from __future__ import annotations

import math
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

import observer
from observer.core.disk import envelope
from observer.core.paths import SHIPPED_HOOKS, Home
from observer.git.launch import executable
from observer.local import client
from observer.local.spool import Spool
from observer.store.database import SqliteStore

PACKAGE = Path(observer.__file__).parent
ROOT = PACKAGE.parent
"""The folder in which the package lies: a checkout, or that of installed packages."""
DEADLINE_S = 120.0


class Aim(NamedTuple):
    """What one percentile has to be: `most` at most, `least` at least."""

    percent: int = 50
    most: float = math.inf
    least: float = -math.inf

    def text(self, found: float, unit: str) -> str:
        """Return the aim in words, and whether it is met."""
        is_most = self.most < math.inf
        limit = f"<= {shown(self.most)}" if is_most else f">= {shown(self.least)}"
        state = "met" if self.least <= found <= self.most else "MISSED"
        return f"aim p{self.percent} {limit}{unit}: {state}"


class Figure(NamedTuple):
    """One line of the report: `unit` follows the number as it stands, `remark` ends the line."""

    name: str
    samples: Sequence[float]
    unit: str
    aims: tuple[Aim, ...] = ()
    remark: str = ""

    def line(self) -> str:
        """Return name, p50, p95 and count (of one sample only its value), aims and remark."""
        found = [(percent, shown(percentile(self.samples, percent))) for percent in (50, 95)]
        spread = [f"p{percent} {number:>8}{self.unit}" for percent, number in found]
        spread.append(f"n {len(self.samples):>5}")
        if len(self.samples) == 1:
            spread = [f"{shown(self.samples[0]):>12}{self.unit}"]
        parts = [f"{self.name:46}", *spread, *self._verdicts(self.unit), self.remark]
        return " · ".join(filter(None, parts))

    def values(self) -> dict[str, object]:
        """Return the same for programs; what was not measured is None."""
        return {
            "name": self.name,
            "unit": self.unit.strip(),
            "p50": percentile(self.samples, 50) if self.samples else None,
            "p95": percentile(self.samples, 95) if self.samples else None,
            "count": len(self.samples),
            "aims": self._verdicts(""),
            "remark": self.remark,
        }

    def _verdicts(self, unit: str) -> list[str]:
        return [each.text(percentile(self.samples, each.percent), unit) for each in self.aims]


def percentile(samples: Sequence[float], percent: int) -> float:
    """Return the smallest sample that `percent` of all do not exceed; nan without samples."""
    if not samples:
        return math.nan
    return sorted(samples)[max(0, math.ceil(len(samples) * percent / 100) - 1)]


def shown(number: float) -> str:
    """Return a number with three significant digits, or more in front of the point."""
    digits = 0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2
    return f"{number:,.{digits}f}"


def took_ms(work: Callable[[], object]) -> float:
    """Return the milliseconds by the clock that a piece of work takes."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def machine() -> str:
    """Return what was measured on, and how busy it is right now."""
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    processor = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        processor = next(names, processor)
    parts = (
        f"{processor} · {os.cpu_count()} cores · {memory_bytes / (1 << 30):.0f} GiB",
        f"{platform.system()} {platform.release()}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"load {load} · yardstick {yardstick_ms():.2f} ms",
    )
    return " · ".join(parts)


def yardstick_ms() -> float:
    """Return the processor time of a fixed piece of work: more while others use the machine."""
    took = []
    for _ in range(100):
        begun = time.process_time()
        sum(number * number for number in range(20_000))
        took.append((time.process_time() - begun) * 1000)
    return percentile(took, 50)


_AGENTS = ("CLAUDECODE", "CLAUDE_", "CURSOR_", "KIRO_", "CODEX_", "GEMINI_", "AI_AGENT", "AGENT")


@dataclass(frozen=True, slots=True)
class Options:
    """How much is measured, and where the homes lie."""

    share: float  # of the full number of rounds: 1 for figures to publish
    work: Path

    def rounds(self, full: int) -> int:
        """Return how often to repeat."""
        return max(1, round(full * self.share))


class Lab(NamedTuple):
    """The folders of one throw-away user, and the daemon that runs there."""

    folder: Path
    home: Home

    def up(self) -> int:
        """Start the daemon and return its process id once it answers."""
        client.ensure_daemon(self.home, wait_s=DEADLINE_S)
        return client.daemon_pid(self.home) or 0

    def down(self) -> None:
        """End the daemon, its store written."""
        client.stop(self.home, wait_s=DEADLINE_S)

    def repository(self, name: str) -> Path:
        """Make an empty git repository."""
        made = self.folder / name
        made.mkdir()
        for words in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "Go")):
            subprocess.run([executable(), "-C", str(made), *words], check=True)
        return made

    def store(self) -> AbstractContextManager[SqliteStore]:
        """Open the store for reading, beside the daemon."""
        return closing(SqliteStore(self.home.database, read_only=True))


@contextmanager
def lab(options: Options) -> Iterator[Lab]:
    """Lend a throw-away user, with the hooks installed; ends the daemon and deletes all."""
    with tempfile.TemporaryDirectory(dir=options.work, prefix="lab-") as name:
        made = Lab(folder=Path(name), home=Home(Path(name) / ".observer"))
        _move_in(made)
        try:
            yield made
        finally:
            kill(made.home)


def kill(home: Home) -> None:
    """End the daemon by force, if there is one, and return when it is gone."""
    while client.is_running(home):
        if pid := client.daemon_pid(home):
            os.kill(pid, signal.SIGKILL)
        time.sleep(client.POLL_S)


def until(holds: Callable[[], object], *, step_s: float = 0.01, wait_s: float = DEADLINE_S) -> None:
    """Wait for a condition. Raises TimeoutError: it did not come true."""
    deadline = time.monotonic() + wait_s
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {wait_s:g} s")
        time.sleep(step_s)


def launchers() -> dict[str, list[str]]:
    """Return the ways to start `observer`: the installed command if there is one, the module."""
    found = {"python -m observer": [sys.executable, "-P", "-m", "observer"]}
    installed = Path(sys.executable).with_name("observer")
    return ({"observer": [str(installed)]} if installed.exists() else {}) | found


def launcher() -> list[str]:
    """Return the first way to start `observer`."""
    return next(iter(launchers().values()))


def _move_in(made: Lab) -> None:
    """Make this process, and all it starts, the throw-away user's."""
    for name in list(os.environ):
        if name.startswith(("OBSERVER_", "GIT_", *_AGENTS)):
            del os.environ[name]
    os.environ |= {
        "HOME": str(made.folder),
        "OBSERVER_HOME": str(made.home.root),
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ana",
        "GIT_AUTHOR_EMAIL": "ana@example.com",
        "GIT_COMMITTER_NAME": "Ana",
        "GIT_COMMITTER_EMAIL": "ana@example.com",
    }
    Spool(made.home.spool).prepare()
    shipped = next(folder for folder in SHIPPED_HOOKS if folder.is_dir())
    shutil.copytree(shipped, made.home.hooks)
    for script in made.home.hooks.rglob("*"):
        if script.is_file() and script.read_bytes().startswith(b"#!"):
            script.chmod(0o755)


Era = Literal["2025-11-25", "2026-07-28"]
ERAS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")

_CLIENT = {"name": "bench", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """One MCP connection over lines of JSON, one request at a time; the SDK's client costs more."""

    def __init__(self, pump: subprocess.Popen[bytes], era: Era) -> None:
        self._pump = pump
        self.pid = pump.pid
        self._meta = {"_meta": _META} if era == "2026-07-28" else {}
        self._asked = 0
        if era == "2025-11-25":
            hello = {"protocolVersion": era, "capabilities": {}, "clientInfo": _CLIENT}
            self.ask("initialize", **hello)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: object) -> Any:  # noqa: ANN401 - JSON as it was answered
        """Send a request and return its result. Raises RuntimeError: the answer is an error."""
        self._asked += 1
        request = {"jsonrpc": "2.0", "id": self._asked, "method": method}
        self._send({**request, "params": {**params, **self._meta}})
        assert self._pump.stdout  # noqa: S101 - a pipe, as it was opened
        answer = orjson.loads(self._pump.stdout.readline())
        if "result" not in answer or answer["result"].get("isError"):
            raise RuntimeError(f"{method}: {answer}")
        return answer["result"]

    def call(self, tool: str, **arguments: object) -> Any:  # noqa: ANN401 - as `ask`
        """Call a tool and return its structured answer."""
        return self.ask("tools/call", name=tool, arguments=arguments)["structuredContent"]

    def _send(self, message: object) -> None:
        assert self._pump.stdin  # noqa: S101 - a pipe, as it was opened
        self._pump.stdin.write(orjson.dumps(message) + b"\n")
        self._pump.stdin.flush()


@contextmanager
def wire(
    argv: Sequence[str], cwd: Path, *, era: Era = "2026-07-28", arguments: Sequence[str] = ()
) -> Iterator[Wire]:
    """Start `observer mcp` and lend the connection; the process ends with the block."""
    pump = subprocess.Popen(
        [*argv, "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd
    )
    with pump:
        try:
            yield Wire(pump, era)
        finally:
            pump.kill()


def first_answer_ms(argv: Sequence[str], cwd: Path, era: Era) -> float:
    """Return how long after its start a pump has listed the tools."""
    begun = time.perf_counter()
    with wire(argv, cwd, era=era) as asked:
        asked.ask("tools/list")
        return (time.perf_counter() - begun) * 1000


PROC = Path("/proc")


def rss_mib(pid: int, field: str = "VmRSS", proc: Path = PROC) -> float:
    """Return the memory that a process holds right now (Linux: VmRSS, RssAnon, RssFile)."""
    try:
        lines = (proc / str(pid) / "status").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:  # not Linux
        return int(_listed(pid, "rss")) / 1024
    found = (line for line in lines.splitlines() if line.startswith(f"{field}:"))
    return int(next(found).split()[1]) / 1024


def processor_s(pid: int, proc: Path = PROC) -> float:
    """Return the processor time that a process has used, in steps of 10 ms."""
    try:
        stat = (proc / str(pid) / "stat").read_text(errors="replace")
    except FileNotFoundError:  # not Linux: [days-][hours:]minutes:seconds
        parts = reversed(_listed(pid, "time").replace("-", ":").split(":"))
        units_s = (1, 60, 3600, 86_400)
        return sum(float(part) * unit for part, unit in zip(parts, units_s, strict=False))
    # The name in front, in parentheses, may hold blanks.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _listed(pid: int, column: str) -> str:
    argv = ["ps", "-o", f"{column}=", "-p", str(pid)]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    return ran.stdout.strip() or "0"


def is_quiet(pid: int) -> bool:
    """Return True if a process, watched for a second, uses less than a twentieth of it."""
    before_s = processor_s(pid)
    time.sleep(1)
    return processor_s(pid) - before_s < 0.05


APART_MS = 4_000
"""Time between two reports of a backlog."""


class HookReport(NamedTuple):
    """One report of a hook: the event's name and the payload, from a session in a folder."""

    event: str
    payload: bytes
    cwd: Path


@cache
def sources() -> dict[str, tuple[str, ...]]:
    """Return the lines of this package's files, by their paths."""
    found = (path for path in PACKAGE.rglob("*.py") if path.stat().st_size > 2000)
    return {str(path.relative_to(ROOT)): tuple(path.read_text().splitlines()) for path in found}


def spool(home: Home, work: Iterable[HookReport], count: int) -> int:
    """Put reports into the spool as hooks do, the last one of now; returns their bytes."""
    new, tmp = home.spool / "new", home.spool / "tmp"
    begun_ns = time.time_ns() - count * APART_MS * 1_000_000
    size_bytes = 0
    for number, report in enumerate(islice(work, count)):
        name = str(uuid.uuid4())
        fields = {"client": "claude-code", "event": report.event, "cwd": str(report.cwd)}
        (tmp / name).write_bytes(envelope({**fields, "ppid": "1", "host": "box"}, report.payload))
        (new / name).touch(mode=0o600)
        at_ns = begun_ns + number * APART_MS * 1_000_000
        os.utime(new / name, ns=(at_ns, at_ns))
        size_bytes += len(report.payload)
    os.sync()  # a backlog is older than the moment at which it is drained
    return size_bytes


def edits(project: Path) -> Iterator[HookReport]:
    """Yield edits without end, each of one line among several of this package's own files."""
    chance = random.Random(1)  # noqa: S311 - the same work each time
    files = sorted(sources().items())
    for number in range(sys.maxsize):
        path, lines = chance.choice(files)
        start = chance.randrange(len(lines))
        old = lines[start : start + chance.randint(6, 45)]
        changed = {"file_path": f"{project}/{path}", "old_string": "\n".join(old)}
        changed["new_string"] = "\n".join([*old[:-1], chance.choice(lines)])
        payload = called(project, "PostToolUse", "Edit", changed) | {
            "tool_use_id": f"toolu_{number:09}",
            "tool_response": {"filePath": changed["file_path"]},
        }
        yield HookReport("PostToolUse", orjson.dumps(payload), project)


def called(project: Path, event: str, tool: str, given: object) -> dict[str, object]:
    """Return what Claude Code says of each tool that it calls."""
    session = {"session_id": "a-session", "cwd": str(project), "hook_event_name": event}
    return {**session, "tool_name": tool, "tool_input": given}
