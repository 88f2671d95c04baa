"""Note folders beside basic-memory: the same notes, the same calls over MCP, in turn.

Install the peer into an environment of its own, `pip install basic-memory==0.23.2`, and name that
environment by `--peer`. It is only run, with a home that is thrown away and without its optional
search by meaning, which needs a model from the network.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import shelf
from benchmarks.homes import Options
from benchmarks.peers import started
from observer.cli.doctor.lab import (
    Figure,
    Lab,
    Wire,
    is_quiet,
    lab,
    launcher,
    processor_s,
    rss_mib,
    until,
    wire,
)
from observer.notes.folders.folders import NoteFolders

NOTES = 2_000
CALLS = 60
FOLDERS = 20
SHORT = 3
TOOLS = ("--tools", "basic-memory")
COMMAND = Path("bin") / "basic-memory"


class Server(NamedTuple):
    """A memory that has read all notes: how to ask it, its processes, how long that took."""

    wired: Wire
    pids: tuple[int, ...]
    took_s: float

    def call(self, tool: str, **arguments: object) -> object:
        """Call a tool of Basic Memory."""
        return self.wired.ask("tools/call", name=tool, arguments=arguments)


def run(options: Options) -> Iterator[Figure]:
    """Yield first scan, writing, search, context and memory of both, or of observer alone."""
    count = options.items or options.rounds(NOTES)
    words = " ".join(shelf.read(options.texts).narratives).split()
    rng = random.Random(11)  # noqa: S311 - the same notes every time
    notes = {f"area-{n % FOLDERS}/note-{n}.md": _note(rng, words, n, count) for n in range(count)}
    with lab(options) as place, _ours(place, _laid(place.folder / "ours", notes), count) as ours:
        servers = {"observer": ours}
        if options.peer is None:
            yield from _measured(servers, words, count, options.rounds(CALLS))
            return
        theirs = _laid(place.folder / "theirs", notes)
        with _peer(options.peer / COMMAND, place.folder / "peer", theirs, count) as peer:
            servers["basic-memory"] = peer
            yield from _measured(servers, words, count, options.rounds(CALLS))


def _note(rng: random.Random, words: list[str], number: int, count: int) -> str:
    said = [" ".join(rng.choices(words, k=12)).replace("[", "(") for _ in range(6)]
    others = [rng.randrange(count) for _ in range(2)]
    return "\n".join(
        [
            "---",
            f"title: Note {number}",
            "type: note",
            f"permalink: main/area-{number % FOLDERS}/note-{number}",
            f"tags: [bench, area-{number % FOLDERS}]",
            "---",
            "",
            f"# Note {number}",
            "",
            f"unique{number} {said[0]}. {said[1]}.",
            "",
            *(f"- [fact] {each} #bench" for each in said[2:5]),
            *(f"- relates_to [[Note {other}]]" for other in others),
            "",
        ]
    )


def _laid(folder: Path, notes: Mapping[str, str]) -> Path:
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@contextmanager
def _ours(place: Lab, folder: Path, count: int) -> Iterator[Server]:
    """Lend observer, its daemon started with the note folder on its list."""
    place.home.root.mkdir(exist_ok=True)
    NoteFolders(place.home).add(str(folder), name="main")
    begun = time.perf_counter()
    daemon = place.up()
    argv = launcher()
    with wire(argv, place.folder, arguments=TOOLS) as wired:
        yield _ready(Server(wired, (daemon, wired.pid), 0), begun, count)


@contextmanager
def _peer(command: Path, home: Path, folder: Path, count: int) -> Iterator[Server]:
    environment = {
        **os.environ,
        "HOME": str(home),
        "BASIC_MEMORY_HOME": str(folder),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
    }
    home.mkdir()
    begun = time.perf_counter()
    with started([str(command), "mcp"], environment) as server:
        yield _ready(Server(Wire(server, "2025-11-25"), (server.pid,), 0), begun, count)


def _ready(server: Server, begun: float, count: int) -> Server:
    """Return a server once each of a hundred notes can be found by its words."""

    def is_found(number: int) -> bool:
        found = server.call("search_notes", query=f"unique{number}", search_type="text")
        return f"note-{number}" in str(found)

    for number in range(0, count, max(1, count // 100)):
        until(lambda number=number: is_found(number), step_s=0.2, wait_s=1_800)  # type: ignore[misc]  # bound now
    return server._replace(took_s=time.perf_counter() - begun)


def _measured(
    servers: Mapping[str, Server], words: list[str], count: int, calls: int
) -> Iterator[Figure]:
    for name, server in servers.items():
        yield Figure(f"first scan of {count:,} notes, {name}", [server.took_s], " s")
    for server in servers.values():
        until(lambda server=server: all(map(is_quiet, server.pids)), wait_s=900)  # type: ignore[misc]  # bound now
    for tool, arguments in _asked(words, count, calls).items():
        yield from _in_turn(tool, arguments, servers)
    for name, server in servers.items():
        yield Figure(f"memory meanwhile, {name}", [sum(map(rss_mib, server.pids))], " MiB")


def _asked(words: list[str], count: int, calls: int) -> dict[str, list[dict[str, object]]]:
    """Return the arguments of all calls, by tool."""
    rng = random.Random(13)  # noqa: S311 - the same calls every time
    numbers = [rng.randrange(count) for _ in range(calls)]
    plain = [word for word in words if word.isalpha() and len(word) > SHORT]
    written = [f"- [fact] {' '.join(rng.choices(plain, k=12))}\n" for _ in numbers]
    return {
        "write_note": [
            {
                "title": f"Fresh {n}",
                "directory": "fresh",
                "content": f"{written[n]}- about [[Note {number}]]",
            }
            for n, number in enumerate(numbers)
        ],
        "search_notes": [
            {"query": " ".join(rng.choices(plain, k=2)), "search_type": "text"} for _ in numbers
        ],
        "build_context": [
            {"url": f"memory://area-{n % FOLDERS}/note-{n}", "timeframe": "365d"} for n in numbers
        ],
    }


def _in_turn(
    tool: str, asked: list[dict[str, object]], servers: Mapping[str, Server]
) -> Iterator[Figure]:
    """Ask each server the same before the next is asked, each first as often as the others."""
    took: dict[str, list[float]] = {name: [] for name in servers}
    before = {name: sum(map(processor_s, server.pids)) for name, server in servers.items()}
    for number, arguments in enumerate(asked):
        for name in sorted(servers, reverse=bool(number % 2)):
            begun = time.perf_counter()
            servers[name].call(tool, **arguments)
            took[name].append((time.perf_counter() - begun) * 1000)
    for name, server in servers.items():
        spent_s = sum(map(processor_s, server.pids)) - before[name]
        remark = f"{1000 * spent_s / len(asked):.1f} ms of processor time each"
        yield Figure(f"{tool}, {name}", took[name], " ms", remark=remark)
