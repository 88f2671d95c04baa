"""The same questions to observer and to kiro-memory, in turn, over the same items and over MCP.

Install the peer into a folder of its own, `npm install kiro-memory@3.1.1`, and name that folder by
`--peer`. It is only run: with a home that is thrown away, on a port that is free.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from benchmarks import shelf
from benchmarks.figure import Figure
from benchmarks.lab import Options, lab, launchers, until
from benchmarks.recall import ITEMS, QUERIES, queries_of
from benchmarks.wire import Wire, processor_s, wire
from observer.clock import now_ms
from observer.model import Item, iso
from observer.store.sqlite import SqliteStore

_PACKAGE = "node_modules/kiro-memory/plugin/dist"
_QUIET_S = 0.05
_KEEP_ALL = ("retention.autoCleanupEnabled", "backup.enabled")

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
            until(lambda: _is_quiet(daemon), wait_s=300.0)
            pids = {"observer": (daemon, ours.pid), "kiro-memory": peer_pids}
            for tool, arguments in _questions(asked).items():
                asks: Asks = {
                    name: [_call(wired, tool, each) for each in arguments]
                    for name, wired in (("observer", ours), ("kiro-memory", peer))
                }
                yield from _in_turn(f"{tool} at {items:,} items", asks, pids)


def _is_quiet(pid: int) -> bool:
    """Watch a process for a second: what it still sets in order is no part of an answer."""
    before_s = processor_s(pid)
    time.sleep(1)
    return processor_s(pid) - before_s < _QUIET_S


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
    home = database.parent / "kiro-memory"
    environment = {**os.environ, "HOME": str(home)}
    command = folder / "node_modules" / ".bin" / "kiro-memory"
    if not home.exists():
        home.mkdir()
        rows = home / "items.jsonl"
        rows.write_bytes(b"\n".join(map(msgspec.json.encode, _rows(database))))
        for setting in _KEEP_ALL:
            _run([str(command), "config", "set", setting, "false"], environment)
        _run([str(command), "import", str(rows)], environment)
    _run([str(command), "config", "set", "worker.port", str(_free_port())], environment)
    worker = _started(folder / _PACKAGE / "worker-service.js", environment, subprocess.DEVNULL)
    server = _started(folder / _PACKAGE / "servers" / "mcp-server.js", environment, subprocess.PIPE)
    try:
        wired = Wire(server, "2025-11-25")
        until(lambda: "worker" not in str(wired.ask("tools/call", name="search",
                                                    arguments={"query": "total"})))  # fmt: skip
        yield wired, (worker.pid, server.pid)
    finally:
        for process in (server, worker):
            process.send_signal(signal.SIGKILL)
            process.communicate()


def _run(words: list[str], environment: Mapping[str, str]) -> None:
    subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)


def _started(script: Path, environment: Mapping[str, str], answers: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["node", str(script)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=answers,
        stderr=subprocess.DEVNULL,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _rows(database: Path) -> Iterator[dict[str, object]]:
    """Yield items as the peer's import takes them, moved to now: old ones it would delete."""
    yield {"_meta": {"version": "2.5.0"}}
    moved_ms = now_ms() - shelf.NOW_MS
    store = SqliteStore(database, read_only=True)
    with store.read() as reader:
        yield from (_row(item, moved_ms) for item in reader.all_items())
    store.close()


def _row(item: Item, moved_ms: int) -> dict[str, object]:
    at_ms = item.created_ms + moved_ms
    return {
        "_type": "observation",
        "id": item.id,
        "memory_session_id": f"s{item.session_id}",
        "project": list(shelf.PROJECTS)[(item.project_id or 2) - 2],
        "type": "decision" if item.kind == "note" else "file-write",
        "title": item.title,
        "subtitle": item.subtitle,
        "text": item.narrative,
        "narrative": item.narrative,
        "facts": "\n".join(item.facts),
        "concepts": ", ".join(item.concepts),
        "files_read": None,
        "files_modified": ", ".join(item.files_modified),
        "prompt_number": 0,
        "content_hash": hashlib.sha256(item.uuid.encode()).hexdigest(),
        "discovery_tokens": item.discovery_tokens,
        "created_at": iso(at_ms),
        "created_at_epoch": at_ms,
    }
