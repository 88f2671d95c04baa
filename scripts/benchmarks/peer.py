"""The same questions to observer and to kiro-memory, in turn, over the same items and over MCP.

Install the peer into a folder of its own, `npm install kiro-memory@3.1.1`, and name that folder by
`--peer`. It is only run: with a home that is thrown away, on a port that is free. It refuses more
than 200 requests a minute, at once and with an answer that is no error to MCP; so both are asked
at most that often, and an answer of that kind ends the measurement.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import compress
from pathlib import Path

from benchmarks import shelf
from benchmarks.homes import Options
from benchmarks.peers import kiro_memory, kiro_row, kiro_text
from benchmarks.recall import ITEMS, QUERIES, queries_of
from observer.cli.doctor.lab import (
    Figure,
    Wire,
    is_quiet,
    lab,
    launcher,
    processor_s,
    until,
    wire,
)
from observer.core.clock import now_ms
from observer.core.model import Item
from observer.store.database import SqliteStore

Asks = Mapping[str, list[Callable[[], bool]]]
"""By name, the calls to make; each returns whether anything was found."""

AT_ONCE = 180
"""Calls of the peer, of the 200 that it takes in a minute."""
MINUTE_S = 61.0
SETTLED_S = 30
"""The index merges its parts and the second model completes vectors once nobody asks."""
NOTHING = 200
"""Characters: the peer says in fewer that it has found nothing."""


def run(options: Options) -> Iterator[Figure]:
    """Yield search and get_context of both; nothing where no peer was named."""
    if options.peer is None:
        return
    items = options.items or options.rounds(ITEMS)
    database = shelf.opened(options.texts, options.work, items)
    texts = queries_of(shelf.read(options.texts), options.rounds(QUERIES))
    asked = [text for of_sort in texts.values() for text in of_sort]
    with lab(options) as place, _peer(options.peer, database) as (peer, peer_pids):
        shutil.copyfile(database, place.home.database)
        daemon = place.up()
        with wire(launcher(), place.folder) as ours:
            until(lambda: "degraded" not in ours.call("search", query="total"), wait_s=900.0)
            until(lambda: all(is_quiet(daemon) for _ in range(SETTLED_S)), wait_s=600.0)
            pids = {"observer": (daemon, ours.pid), "kiro-memory": peer_pids}
            for tool, arguments in _questions(asked).items():
                asks: Asks = {
                    name: [_call(wired, tool, each) for each in arguments]
                    for name, wired in (("observer", ours), ("kiro-memory", peer))
                }
                yield from _in_turn(f"{tool} at {items:,} items", asks, pids)


def _questions(texts: list[str]) -> dict[str, list[dict[str, str]]]:
    names = (*shelf.PROJECTS,)
    named = [{"project": names[number % len(names)]} for number in range(len(texts))]
    return {
        "search": [
            *({"query": text} for text in texts),
            *({"query": text, **project} for text, project in zip(texts, named, strict=True)),
        ],
        "get_context": named,
    }


def _call(asked: Wire, tool: str, arguments: Mapping[str, str]) -> Callable[[], bool]:
    def call() -> bool:
        answer = asked.ask("tools/call", name=tool, arguments=arguments)
        return len(kiro_text(answer)) > NOTHING

    return call


def _in_turn(what: str, asks: Asks, pids: Mapping[str, tuple[int, ...]]) -> Iterator[Figure]:
    """Ask both the same before either is asked the next, each first as often as the other."""
    took: dict[str, list[float]] = {name: [] for name in asks}
    found: dict[str, list[bool]] = {name: [] for name in asks}
    spent_s = dict.fromkeys(pids, 0.0)
    pairs = list(zip(*asks.values(), strict=True))
    for start in range(0, len(pairs), AT_ONCE):
        time.sleep(MINUTE_S)
        before = _processor_s(pids)
        for number, pair in enumerate(pairs[start : start + AT_ONCE]):
            for name, ask in sorted(zip(asks, pair, strict=True), reverse=bool(number % 2)):
                begun = time.perf_counter()
                found[name].append(ask())
                took[name].append((time.perf_counter() - begun) * 1000)
        for name, after in _processor_s(pids).items():
            spent_s[name] += after - before[name]
    for name in pids:
        remark = f"{1000 * spent_s[name] / len(took[name]):.1f} ms of processor time each"
        yield Figure(f"{what}, {name}", took[name], " ms", remark=remark)
        fits = list(compress(took[name], found["kiro-memory"]))
        yield Figure(f"where kiro-memory finds anything, {name}", fits, " ms")


def _processor_s(pids: Mapping[str, tuple[int, ...]]) -> dict[str, float]:
    return {name: sum(map(processor_s, of_one)) for name, of_one in pids.items()}


@contextmanager
def _peer(folder: Path, database: Path) -> Iterator[tuple[Wire, tuple[int, ...]]]:
    """Lend a connection to the peer with the items of a store; its processes end with the block."""
    command = folder / "node_modules" / ".bin" / "kiro-memory"
    with kiro_memory(command, database.parent / "kiro-memory", _rows(database)) as lent:
        yield lent


def _rows(database: Path) -> Iterator[dict[str, object]]:
    """Yield items as the peer's import takes them, moved to now: old ones it would delete."""
    moved_ms = now_ms() - shelf.NOW_MS
    store = SqliteStore(database, read_only=True)
    with store.read() as reader:
        yield from (_row(item, moved_ms) for item in reader.all_items())
    store.close()


def _row(item: Item, moved_ms: int) -> dict[str, object]:
    at_ms = item.created_ms + moved_ms
    return kiro_row(
        item.id,
        item.title,
        at_ms,
        memory_session_id=f"s{item.session_id}",
        project=list(shelf.PROJECTS)[(item.project_id or 2) - 2],
        type="decision" if item.kind == "note" else "file-write",
        subtitle=item.subtitle,
        text=item.narrative,
        narrative=item.narrative,
        facts="\n".join(item.facts),
        concepts=", ".join(item.concepts),
        files_modified=", ".join(item.files_modified),
        content_hash=hashlib.sha256(item.uuid.encode()).hexdigest(),
        discovery_tokens=item.discovery_tokens,
    )
