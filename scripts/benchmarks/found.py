"""How well facts are found in other words, by observer and by other memories installed here.

All get the notes of `observer doctor speed found`, each in a home of its own that is thrown away.

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
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from benchmarks.homes import Options
from observer.cli.doctor.lab import Figure, Wire, is_quiet, until
from observer.cli.doctor.speed import RunningMemory, asked_for, bundled, found
from observer.core.clock import now_ms
from observer.core.model import iso

APART_MS = 60_000
"""Time between two notes, the last one being of now: very old ones a memory may delete."""
_SHELVES = ("", "bin", "node_modules/.bin")
_KEEP_ALL = ("retention.autoCleanupEnabled", "backup.enabled")


class Peer(NamedTuple):
    """A memory; `opened` makes it in an empty folder, with notes of one sentence each."""

    name: str
    opened: Callable[[Path, Sequence[str]], AbstractContextManager[RunningMemory]]


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
def _kiro(command: Path, home: Path, notes: Sequence[str]) -> Iterator[RunningMemory]:
    begun_ms = now_ms() - len(notes) * APART_MS
    rows = [kiro_row(n, note, begun_ms + n * APART_MS) for n, note in enumerate(notes, start=1)]
    with kiro_memory(command, home, rows) as (wired, pids):

        def ask(text: str) -> str:
            return kiro_text(wired.ask("tools/call", name="search", arguments={"query": text}))

        yield RunningMemory(ask, pids)


# --- basic-memory, a Python package --------------------------------------------------------------


@contextmanager
def _basic(command: Path, home: Path, notes: Sequence[str]) -> Iterator[RunningMemory]:
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
        yield RunningMemory(ask, (server.pid,))


_KNOWN: dict[str, Callable[[Path, Path, Sequence[str]], AbstractContextManager[RunningMemory]]] = {
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


def run(options: Options) -> Iterator[Figure]:
    """Yield recall, latency and memory of observer and of each other memory that is installed."""
    titles, asked = bundled()
    yield from found(options)
    for memory in installed(options.peer):
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            try:
                with memory.opened(Path(folder) / memory.name, titles) as lent:
                    yield from asked_for(memory.name, lent, titles, asked)
            except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
                yield Figure(f"{memory.name}, not measured", [], "", remark=str(error)[:200])
