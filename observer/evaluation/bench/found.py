"""How well facts are found in other words, by observer and by other memories installed here.

The set is part of the package: 560 notes of one sentence, 60 of which are asked for. All memories
get the same notes, and are asked the same over MCP; what counts is the order of the notes' texts
in the answer, so that no memory's format is in its way.

Other memories that are installed here, each in a home of its own that is thrown away.

A memory is found by its command, in PATH or in a folder that is named. It is only run, as its
documentation says, and asked over MCP like observer.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from observer import client
from observer.core.clock import now_ms
from observer.core.model import iso
from observer.evaluation import sets
from observer.evaluation.bench.figure import Figure
from observer.evaluation.bench.lab import Lab, Options, lab, launchers, until
from observer.evaluation.bench.wire import Wire, is_quiet, rss_mib, wire
from observer.evaluation.measures import DEPTH, FIGURES, measure
from observer.store.database import SqliteStore

APART_MS = 60_000
"""Time between two notes, the last one being of now: very old ones a memory may delete."""
_SHELVES = ("", "bin", "node_modules/.bin")
_KEEP_ALL = ("retention.autoCleanupEnabled", "backup.enabled")


class RunningPeer(NamedTuple):
    """A memory that runs: a query is answered with text; its processes."""

    ask: Callable[[str], str]
    pids: tuple[int, ...]


class Peer(NamedTuple):
    """A memory; `opened` makes it in an empty folder, with notes of one sentence each."""

    name: str
    opened: Callable[[Path, Sequence[str]], AbstractContextManager[RunningPeer]]


def installed(folder: Path | None) -> list[Peer]:
    """Return the memories found in a folder (an environment, or where npm installed) or in PATH."""
    near = [str(folder / shelf) for shelf in _SHELVES] if folder else []
    path = os.pathsep.join([*near, os.environ.get("PATH", os.defpath)])
    found = {name: shutil.which(name, path=path) for name in _KNOWN}
    return [
        Peer(name, partial(_KNOWN[name], Path(command)))
        for name, command in found.items()
        if command
    ]


# --- kiro-memory, an npm package -----------------------------------------------------------------


@contextmanager
def kiro_memory(
    command: Path, home: Path, rows: Iterable[Mapping[str, object]]
) -> Iterator[tuple[Wire, tuple[int, ...]]]:
    """Lend a connection to kiro-memory with the rows of its own export format.

    A home that exists already is taken as it is.
    """
    dist = command.resolve().parents[1]
    environment = {**os.environ, "HOME": str(home)}
    if not home.exists():
        home.mkdir()
        lines = [{"_meta": {"version": "2.5.0"}}, *rows]
        (home / "items.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
        for setting in _KEEP_ALL:
            _run([command, "config", "set", setting, "false"], environment)
        _run([command, "import", home / "items.jsonl"], environment)
    _run([command, "config", "set", "worker.port", str(_free_port())], environment)
    worker = ["node", str(dist / "worker-service.js")]
    server = ["node", str(dist / "servers" / "mcp-server.js")]
    with started(worker, environment) as one, started(server, environment) as other:
        wired = Wire(other, "2025-11-25")
        until(lambda: "worker" not in _text(wired, "search", query="total"))
        yield wired, (one.pid, other.pid)


def kiro_text(answer: Mapping[str, Any]) -> str:
    """Return the text of an answer of kiro-memory.

    Raises:
        RuntimeError: it is a refusal, which kiro-memory does not mark as an error; it takes 200
            requests a minute.
    """
    text = _joined(answer)
    if text.startswith("Errore"):
        message = f"kiro-memory: {text}"
        raise RuntimeError(message)
    return text


def kiro_row(number: int, title: str, at_ms: int, **more: object) -> dict[str, object]:
    """Return an observation as kiro-memory's import takes it."""
    return {
        "_type": "observation",
        "id": number,
        "memory_session_id": "s1",
        "project": "bench",
        "type": "decision",
        "title": title,
        "subtitle": "",
        "text": title,
        "narrative": title,
        "facts": "",
        "concepts": "",
        "files_read": None,
        "files_modified": "",
        "prompt_number": 0,
        "content_hash": hashlib.sha256(f"{number} {title}".encode()).hexdigest(),
        "discovery_tokens": 0,
        "created_at": iso(at_ms),
        "created_at_epoch": at_ms,
    } | more


@contextmanager
def _kiro(command: Path, home: Path, notes: Sequence[str]) -> Iterator[RunningPeer]:
    begun_ms = now_ms() - len(notes) * APART_MS
    rows = [kiro_row(n, note, begun_ms + n * APART_MS) for n, note in enumerate(notes, start=1)]
    with kiro_memory(command, home, rows) as (wired, pids):

        def ask(text: str) -> str:
            return kiro_text(wired.ask("tools/call", name="search", arguments={"query": text}))

        yield RunningPeer(ask, pids)


# --- basic-memory, a Python package --------------------------------------------------------------


@contextmanager
def _basic(command: Path, home: Path, notes: Sequence[str]) -> Iterator[RunningPeer]:
    kept = home / "basic-memory"
    kept.mkdir(parents=True)
    for number, note in enumerate(notes):
        title = orjson.dumps(note).decode()
        text = f"---\ntitle: {title}\ntype: note\n---\n\n{note}\n"
        (kept / f"note-{number}.md").write_text(text, encoding="utf-8")
    environment = {**os.environ, "HOME": str(home), "BASIC_MEMORY_HOME": str(kept)}
    with started([str(command), "mcp"], environment) as server:
        wired = Wire(server, "2025-11-25")

        def ask(text: str) -> str:
            return _text(wired, "search_notes", query=text, project="main")

        until(lambda: notes[-1] in ask(notes[-1]), step_s=0.2)
        until(lambda: is_quiet(server.pid))  # it reads its files in an order of its own
        yield RunningPeer(ask, (server.pid,))


_KNOWN: dict[str, Callable[[Path, Path, Sequence[str]], AbstractContextManager[RunningPeer]]] = {
    "kiro-memory": _kiro,
    "basic-memory": _basic,
}


def _text(wired: Wire, tool: str, **arguments: object) -> str:
    """Return the text of a tool's answer; what it answers as a mistake is an answer, too."""
    return _joined(wired.ask("tools/call", name=tool, arguments=arguments))


def _joined(answer: Mapping[str, Any]) -> str:
    return "\n".join(part.get("text", "") for part in answer["content"])


def _run(words: Sequence[str | Path], environment: Mapping[str, str]) -> None:
    subprocess.run(words, env=environment, check=True, capture_output=True)


@contextmanager
def started(
    words: Sequence[str], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Lend a process that speaks on its standard streams; it ends with the block."""
    process = subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


SET = Path(__file__).with_name("notes")
SHOWN = ("R@3", "R@5")
WARM_UP = 3


class BenchQuery(NamedTuple):
    """A query, and the places (from 0) of the notes that it is about."""

    text: str
    relevant: frozenset[int]


def run(options: Options) -> Iterator[Figure]:
    """Yield recall, latency and memory of each memory over the bundled set."""
    titles, asked = bundled()
    with lab(options) as place:
        ours = Peer("observer", partial(_ours, place))
        for memory in (ours, *installed(options.peer)):
            try:
                with memory.opened(place.folder / memory.name, titles) as lent:
                    yield from _measured(memory.name, lent, titles, asked)
            except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
                if memory is ours:
                    raise
                yield Figure(f"{memory.name}, not measured", [], "", remark=str(error)[:200])


def bundled() -> tuple[Sequence[str], Sequence[BenchQuery]]:
    """Return the notes and the queries of the set in the package."""
    read = [sets.read(path) for path in sets.find(SET)]
    places = {document.id: place for place, document in enumerate(read[0].documents)}
    asked = [
        BenchQuery(question.q, frozenset(places[name] for name in question.rel))
        for each in read
        for question in each.questions
    ]
    return [document.title for document in read[0].documents], asked


@contextmanager
def _ours(place: Lab, folder: Path, titles: Sequence[str]) -> Iterator[RunningPeer]:
    del folder  # the home of the lab
    store = SqliteStore(place.home.database)
    documents = [sets.SetDocument(id=str(n), title=title) for n, title in enumerate(titles)]
    with store.write() as writer:
        writer.put_items(sets.item(each, n) for n, each in enumerate(documents, start=1))
    store.close()
    daemon = place.up()
    until(lambda: client.call(place.home, "GET", "/status")["vectors"] == len(titles))
    with wire(next(iter(launchers().values())), place.folder) as asked:
        until(lambda: "degraded" not in asked.call("search", query="total"))
        until(lambda: is_quiet(daemon))  # the slower model completes vectors when work pauses
        yield RunningPeer(lambda text: str(asked.call("search", query=text)), (daemon, asked.pid))


def _measured(
    name: str, lent: RunningPeer, titles: Sequence[str], asked: Sequence[BenchQuery]
) -> Iterator[Figure]:
    for each in asked[:WARM_UP]:
        lent.ask(each.text)
    own_words = [each._replace(text=titles[min(each.relevant)]) for each in asked]
    took: list[float] = []
    for how, of_kind in (("in their own words", own_words), ("in other words", asked)):
        figures = []
        for each in of_kind:
            begun = time.perf_counter()
            answer = lent.ask(each.text)
            took.append((time.perf_counter() - begun) * 1000)
            figures.append(measure(order(answer, titles), each.relevant))
        for place, label in enumerate(FIGURES):
            if label in SHOWN:
                mean = 100 * sum(figure[place] for figure in figures) / len(figures)
                remark = f"{len(of_kind)} of {len(titles)} notes"
                yield Figure(f"found {how}, {label}, {name}", [mean], " %", remark=remark)
    yield Figure(f"search among these, {name}", took, " ms")
    yield Figure(f"memory meanwhile, {name}", [sum(map(rss_mib, lent.pids))], " MiB")


def order(answer: str, titles: Sequence[str]) -> Sequence[int]:
    """Return the places of the notes that an answer holds, in the order in which it names them."""
    found = {place: at for place, title in enumerate(titles) if (at := answer.find(title)) >= 0}
    return sorted(found, key=found.__getitem__)[:DEPTH]
