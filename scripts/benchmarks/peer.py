"""The same questions to observer and to kiro-memory, in turn, over the same items and over MCP.

Install the peer into a folder of its own, `npm install kiro-memory@3.1.1`, and name that folder by
`--peer`. It is only run: with a home that is thrown away, on a port that is free.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks import shelf
from benchmarks.recall import ITEMS, QUERIES, queries_of
from observer.core.clock import now_ms
from observer.core.model import Item
from observer.evaluation.bench.figure import Figure
from observer.evaluation.bench.found import kiro_memory, kiro_row
from observer.evaluation.bench.lab import Options, lab, launchers, until
from observer.evaluation.bench.wire import Wire, is_quiet, processor_s, wire
from observer.store.sqlite.database import SqliteStore

Asks = Mapping[str, list[Callable[[], object]]]


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
        with wire(next(iter(launchers().values())), place.folder) as ours:
            until(lambda: "degraded" not in ours.call("search", query="total"), wait_s=900.0)
            until(lambda: is_quiet(daemon), wait_s=300.0)
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


def _call(asked: Wire, tool: str, arguments: Mapping[str, str]) -> Callable[[], object]:
    return lambda: asked.ask("tools/call", name=tool, arguments=arguments)


def _in_turn(what: str, asks: Asks, pids: Mapping[str, tuple[int, ...]]) -> Iterator[Figure]:
    """Ask both the same before either is asked the next, each first as often as the other."""
    took: dict[str, list[float]] = {name: [] for name in asks}
    before = {name: sum(map(processor_s, of_one)) for name, of_one in pids.items()}
    for number, pair in enumerate(zip(*asks.values(), strict=True)):
        for name, ask in sorted(zip(asks, pair, strict=True), reverse=bool(number % 2)):
            begun = time.perf_counter()
            ask()
            took[name].append((time.perf_counter() - begun) * 1000)
    for name, of_one in pids.items():
        spent_s = sum(map(processor_s, of_one)) - before[name]
        remark = f"{1000 * spent_s / len(took[name]):.1f} ms of processor time each"
        yield Figure(f"{what}, {name}", took[name], " ms", remark=remark)


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
