"""What an editor pays for the MCP server: its start, its memory, and each call."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.homes import Options, memory_of
from benchmarks.work import EndlessWork
from observer.cli.doctor.lab import (
    ERAS,
    Aim,
    Figure,
    Wire,
    first_answer_ms,
    lab,
    launcher,
    launchers,
    rss_mib,
    spool,
    took_ms,
    until,
    wire,
)
from observer.memory.api import Memory
from observer.tools.registry import tools_of

STARTS = 60
CALLS = 300
EVENTS = 2_000
COLD = 10
START_MS = Aim(most=50.0)
COLD_MS, SEARCHED_MS = Aim(most=150.0), Aim(most=1_000.0)
PUMP_MIB = Aim(most=15.0)
CALL_MS = Aim(most=3.0)


def run(options: Options) -> Iterator[Figure]:
    """Yield starts by launcher and protocol, memory, and round trips beyond the work itself."""
    with lab(options) as place:
        project = place.repository("shop")
        spool(place.home, EndlessWork([project], random.Random(3)), EVENTS)  # noqa: S311 - as in drain
        daemon = place.up()
        with memory_of(place) as memory:
            until(lambda: memory.totals().events >= EVENTS)
            yield from _starts(options, project)
            argv = launcher()
            with wire(argv, project) as asked:
                yield from _calls(options, asked, memory)
                yield Figure("pump, VmRSS", [rss_mib(asked.pid)], " MiB", (PUMP_MIB,))
        yield Figure("daemon after all this, VmRSS", [rss_mib(daemon)], " MiB")


def _starts(options: Options, project: Path) -> Iterator[Figure]:
    """Time all in turn, the bare interpreter among them: it is the floor."""
    took: dict[str, list[float]] = {}
    bare = []
    for _ in range(options.rounds(STARTS)):
        for name, argv in launchers().items():
            for era in ERAS:
                found = took.setdefault(f"{name} mcp, {era}", [])
                found.append(first_answer_ms(argv, project, era))
        bare.append(took_ms(_start_nothing))
    for name, found in took.items():
        yield Figure(f"{name}, to tools/list", found, " ms", (START_MS,))
    yield Figure("python -I -c '', to its end", bare, " ms")


def cold(options: Options) -> Iterator[Figure]:
    """Yield what an editor waits for that was started before the daemon, by what there was before.

    The list of tools is asked for at once, a search after it.
    """
    listed: dict[str, list[float]] = {"in a home never used": [], "in a folder never seen": []}
    searched: list[float] = []
    for _ in range(options.rounds(COLD)):
        with lab(options) as place:
            for where, took in listed.items():
                folder = place.folder / f"folder{len(took)}-{where[-4:]}"
                folder.mkdir()
                begun = time.perf_counter()
                with wire(launcher(), folder) as asked:
                    asked.ask("tools/list")
                    took.append((time.perf_counter() - begun) * 1000)
                    asked.call("search", query="total")
                searched.append((time.perf_counter() - begun) * 1000)
                until(lambda p=place: any((p.home.context / "mcp").glob("*.json")))
                place.down()
    for where, took in listed.items():
        yield Figure(f"daemon down, {where}, to tools/list", took, " ms", (COLD_MS,))
    yield Figure("daemon down, to the first answer of search", searched, " ms", (SEARCHED_MS,))


def _start_nothing() -> None:
    subprocess.run([sys.executable, "-I", "-c", ""], check=True)


def _calls(options: Options, asked: Wire, memory: Memory) -> Iterator[Figure]:
    """Compare a tool call with the same tool called in this process, in turn.

    What is beyond the work is the protocol and the way through pump and socket.
    """
    tools = tools_of(("core",), memory, lambda: "")
    first = memory.search("total").hits[0].item.id
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "search": (
            lambda: asked.call("search", query="total"),
            lambda: tools["search"].call({"query": "total"}),
        ),
        "get_observations": (
            lambda: asked.call("get_observations", ids=[first]),
            lambda: tools["get_observations"].call({"ids": [first]}),
        ),
    }
    for name, (over_mcp, in_process) in pairs.items():
        beyond = []
        for _ in range(options.rounds(CALLS)):
            whole, work = took_ms(over_mcp), took_ms(in_process)
            beyond.append(whole - work)
        yield Figure(f"{name}, round trip beyond the work", beyond, " ms", (CALL_MS,))
