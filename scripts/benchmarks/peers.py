"""Observer beside other memories installed here: recall, search, writing, memory, disk and start.

All get the notes of `observer doctor speed found`, each in a home of its own that is thrown away,
and are asked the same over MCP, one after the other in one run.

A memory is found by its command, in PATH or in a folder that is named. It is only run, as its
documentation says. mem0 is not among them: what it stores goes through a language model and an
embedder of a server, and none is here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from benchmarks.homes import Options
from observer.cli.doctor.lab import (
    ERAS,
    Figure,
    Wire,
    first_answer_ms,
    is_quiet,
    lab,
    launcher,
    took_ms,
    until,
    wire,
)
from observer.cli.doctor.speed import RunningMemory, asked_for, bundled, holding
from observer.core.clock import now_ms
from observer.core.model import iso
from observer.upkeep.size_cap import size_bytes

APART_MS = 60_000
"""Time between two notes, the last one being of now: very old ones a memory may delete."""
WRITES, STARTS = 40, 10
_SHELVES = ("", "bin", "node_modules/.bin")
_KEEP_ALL = ("retention.autoCleanupEnabled", "backup.enabled")


class Running(NamedTuple):
    """A memory that holds the notes; what it keeps lies in `home`, of which it wrote all.

    `write` returns when a note is stored, `start_ms` how long after the start of one more server
    its tools are listed, in milliseconds, whatever runs beside it being up.
    """

    memory: RunningMemory
    write: Callable[[str], object]
    start_ms: Callable[[], float]
    home: Path


class Peer(NamedTuple):
    """A memory; `opened` makes it in an empty folder, with notes of one sentence each."""

    name: str
    opened: Callable[[Path, Sequence[str]], AbstractContextManager[Running]]


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
        rows_file = home / "items.jsonl"
        rows_file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
        for setting in _KEEP_ALL:
            _run([command, "config", "set", setting, "false"], environment)
        _run([command, "import", rows_file], environment)
        rows_file.unlink()
    _run([command, "config", "set", "worker.port", str(_free_port())], environment)
    worker = ["node", str(dist / "worker-service.js")]
    with started(worker, environment) as one, started(_kiro_server(command), environment) as other:
        wired = Wire(other, "2025-11-25")
        until(lambda: "worker" not in _text(wired, "search", query="total"))
        yield wired, (one.pid, other.pid)


def _kiro_server(command: Path) -> list[str]:
    return ["node", str(command.resolve().parents[1] / "servers" / "mcp-server.js")]


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
def _kiro(command: Path, home: Path, notes: Sequence[str]) -> Iterator[Running]:
    begun_ms = now_ms() - len(notes) * APART_MS
    rows = [kiro_row(n, note, begun_ms + n * APART_MS) for n, note in enumerate(notes, start=1)]
    with kiro_memory(command, home, rows) as (wired, pids):

        def ask(text: str) -> str:
            return kiro_text(wired.ask("tools/call", name="search", arguments={"query": text}))

        def write(text: str) -> str:
            note = {"project": "bench", "title": text, "content": text}
            return kiro_text(wired.ask("tools/call", name="save_memory", arguments=note))

        start_ms = partial(_start_ms, _kiro_server(command), {**os.environ, "HOME": str(home)})
        yield Running(RunningMemory(ask, pids), write, start_ms, home)


# --- basic-memory, a Python package --------------------------------------------------------------


@contextmanager
def _basic(command: Path, home: Path, notes: Sequence[str]) -> Iterator[Running]:
    kept = home / "basic-memory"
    kept.mkdir(parents=True)
    for number, note in enumerate(notes):
        title = orjson.dumps(note).decode()
        text = f"---\ntitle: {title}\ntype: note\n---\n\n{note}\n"
        (kept / f"note-{number}.md").write_text(text, encoding="utf-8")
    environment = {**os.environ, "HOME": str(home), "BASIC_MEMORY_HOME": str(kept)}
    words = [str(command), "mcp"]
    with started(words, environment) as server:
        wired = Wire(server, "2025-11-25")

        def ask(text: str) -> str:
            return _text(wired, "search_notes", query=text, project="main")

        def write(text: str) -> str:
            note = {"title": text, "content": text, "directory": "new", "project": "main"}
            return _text(wired, "write_note", **note)

        until(lambda: notes[-1] in ask(notes[-1]), step_s=0.2)
        until(lambda: is_quiet(server.pid))  # it reads its files in an order of its own
        start_ms = partial(_start_ms, words, environment)
        yield Running(RunningMemory(ask, (server.pid,)), write, start_ms, home)


_KNOWN: dict[str, Callable[[Path, Path, Sequence[str]], AbstractContextManager[Running]]] = {
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


def _start_ms(words: Sequence[str], environment: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    with started(words, environment) as server:
        Wire(server, "2025-11-25").ask("tools/list")
        return (time.perf_counter() - begun) * 1000


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# --- all of them ---------------------------------------------------------------------------------


def run(options: Options) -> Iterator[Figure]:
    """Yield each measure of observer and of each other memory that is installed, side by side."""
    titles, asked = bundled()
    measured = []
    for peer in [Peer("observer", partial(_ours, options)), *installed(options.peer)]:
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            try:
                with peer.opened(Path(folder) / peer.name, titles) as lent:
                    found = asked_for(peer.name, lent.memory, titles, asked)
                    measured.append([*found, *_kept(peer.name, lent, titles, options)])
            except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
                yield Figure(f"{peer.name}, not measured", [], "", remark=str(error)[:200])
    for of_all in zip(*measured, strict=True):
        yield from of_all


@contextmanager
def _ours(options: Options, home: Path, notes: Sequence[str]) -> Iterator[Running]:
    del home  # a lab makes its own
    with (
        lab(options) as place,
        holding(place, notes) as memory,
        wire(launcher(), place.folder) as asked,
    ):

        def write(text: str) -> object:
            return asked.call("memory", action="remember", content=text)

        start_ms = partial(first_answer_ms, launcher(), place.folder, ERAS[0])
        yield Running(memory, write, start_ms, place.home.root)


def _kept(name: str, lent: Running, titles: Sequence[str], options: Options) -> Iterator[Figure]:
    """Yield what notes cost on disk, one by one in writing, and a server at its start."""
    kilobytes = size_bytes(lent.home) / len(titles) / 1000
    yield Figure(f"disk, a note, {name}", [kilobytes], " KB")
    new = [" ".join(pair) for pair in pairwise(titles)][: options.rounds(WRITES)]
    yield Figure(f"write, {name}", [took_ms(partial(lent.write, text)) for text in new], " ms")
    starts = [lent.start_ms() for _ in range(options.rounds(STARTS))]
    yield Figure(f"start to first list of tools, {name}", starts, " ms")
