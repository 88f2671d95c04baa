"""An MCP client as thin as can be: lines of JSON to `observer mcp` and back.

The SDK's own client would cost more than what is measured.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import orjson

QUIET_S = 0.05
"""Of processor time in a second: a process that waits uses less."""
Era = Literal["2025-11-25", "2026-07-28"]
ERAS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")

_CLIENT = {"name": "bench", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """One connection over a pump; one request at a time."""

    def __init__(self, pump: subprocess.Popen[bytes], era: Era) -> None:
        self._pump = pump
        self._meta = {"_meta": _META} if era == "2026-07-28" else {}
        self._asked = 0
        if era == "2025-11-25":
            hello = {"protocolVersion": era, "capabilities": {}, "clientInfo": _CLIENT}
            self.ask("initialize", **hello)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def pid(self) -> int:
        """The pump's process id."""
        return self._pump.pid

    def ask(self, method: str, **params: object) -> Any:  # noqa: ANN401 - JSON as it was answered
        """Send a request and return its result.

        Raises:
            RuntimeError: the answer is an error.
        """
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
    launcher: Sequence[str],
    cwd: Path,
    *,
    era: Era = "2026-07-28",
    arguments: Sequence[str] = (),
) -> Iterator[Wire]:
    """Start `observer mcp` and lend the connection; the process ends with the block."""
    pump = subprocess.Popen(
        [*launcher, "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd
    )
    with pump:
        try:
            yield Wire(pump, era)
        finally:
            pump.kill()


def first_answer_ms(launcher: Sequence[str], cwd: Path, era: Era) -> float:
    """Return how long after its start a pump has listed the tools."""
    begun = time.perf_counter()
    with wire(launcher, cwd, era=era) as asked:
        asked.ask("tools/list")
        return (time.perf_counter() - begun) * 1000


PROC = Path("/proc")


def rss_mib(pid: int, field: str = "VmRSS", proc: Path = PROC) -> float:
    """Return the memory that a process holds right now (Linux: VmRSS, RssAnon, RssFile)."""
    try:
        lines = (proc / str(pid) / "status").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:  # not Linux
        return int(_shown(pid, "rss")) / 1024
    found = (line for line in lines.splitlines() if line.startswith(f"{field}:"))
    return int(next(found).split()[1]) / 1024


def processor_s(pid: int, proc: Path = PROC) -> float:
    """Return the processor time that a process has used (in steps of 10 ms).

    Unlike the clock, it hardly depends on what else the machine does.
    """
    try:
        stat = (proc / str(pid) / "stat").read_text(errors="replace")
    except FileNotFoundError:  # not Linux: [days-][hours:]minutes:seconds
        parts = reversed(_shown(pid, "time").replace("-", ":").split(":"))
        return sum(float(part) * unit for part, unit in zip(parts, _UNITS_S, strict=False))
    # The name in front, in parentheses, may hold blanks.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


_UNITS_S = (1, 60, 3600, 86_400)


def _shown(pid: int, column: str) -> str:
    """Return what `ps` shows of a process; "0" of one that has ended."""
    argv = ["ps", "-o", f"{column}=", "-p", str(pid)]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    return ran.stdout.strip() or "0"


def is_quiet(pid: int) -> bool:
    """Watch a process for a second: what it still sets in order is no part of an answer."""
    before_s = processor_s(pid)
    time.sleep(1)
    return processor_s(pid) - before_s < QUIET_S
