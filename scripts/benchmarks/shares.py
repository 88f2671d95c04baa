"""Shares: records between two homes, a team on one server, and what a share costs who works."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import chain as concatenated
from pathlib import Path
from threading import Barrier
from typing import NamedTuple

import psycopg

from benchmarks.homes import Options
from observer.cli.doctor.lab import (
    ROOT,
    Aim,
    Figure,
    called,
    lab,
    launcher,
    percentile,
    took_ms,
    wire,
)
from observer.core.events import Remember
from observer.sync import carriers, postgres
from observer.sync.carriers import Carrier
from observer.sync.incoming import sync_once
from observer.sync.record import chained

sys.path.append(str(ROOT))  # the server and the homes are those that the tests have

from tests.sync.conftest import FileShare, Server, a_chain
from tests.sync.home.machines import NAME, Machine

RECORDS = 100_000
SECONDS = 300
WRITERS, READERS, EACH_S = 8, 16, 500
"""Machines that write, that read, and events a second of all writers together."""
AT_ONCE_S = 0.5
LATE_S = 60.0
MOST_S = 900.0
"""As long is waited for all that another home sends."""
ROUNDS = 100
TEXT = (
    "settle_invoice in src/billing_{0}.py takes a currency since the bank sends its rates at noon;"
    " what was rounded line by line before lost a cent on invoice {0}, and the customer saw it."
    " The rates are read once a day, kept for a year, and a day without any takes those before."
)


def between(options: Options) -> Iterator[Figure]:
    """Yield how long records take from one home to another, by a folder and by a server.

    One home sends while the other takes in, as two machines do.
    """
    count = options.items or options.rounds(RECORDS)
    with _server() as server:
        for by in ("folder", "PostgreSQL"):
            with ExitStack() as stack:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.work)))
                ends = _ends(by, folder, server)
                homes = stack.enter_context(ProcessPoolExecutor(2))
                begin = stack.enter_context(multiprocessing.Manager()).Barrier(2)
                ana = homes.submit(_send, folder / "ana", ends[0], count, begin)
                ben = homes.submit(_take_in, folder / "ben", ends[1], count, begin)
                sent, taken = ana.result(), ben.result()
                are_same = "equal" if sent.texts == taken.texts else "NOT EQUAL"
                name = f"share: {count:,} records by {by}"
                took_s = max(sent.ended_s, taken.ended_s) - min(sent.begun_s, taken.begun_s)
                yield Figure(name, [took_s], " s", (Aim(most=60),), are_same)
                remark = f"{sent.processor_s:.1f} s to send, {taken.processor_s:.1f} s to take in"
                processor_s = sent.processor_s + taken.processor_s
                yield Figure(f"{name}: processor", [processor_s], " s", (Aim(most=60),), remark)


def team(options: Options) -> Iterator[Figure]:
    """Yield what pushes and pulls take while 8 write and 16 read, and what was lost or doubled."""
    seconds = options.items or options.rounds(SECONDS)
    with _server() as server, tempfile.TemporaryDirectory() as folder:
        owner = postgres.ServerTeam(_database(server, "team"))
        parts: list[tuple[Callable[..., None], str, int]] = [
            *((_write, f"writer{one}", seconds) for one in range(WRITERS)),
            *((_read, f"reader{one}", seconds) for one in range(READERS)),
        ]
        working = [
            multiprocessing.Process(
                target=work, args=(owner.invite(name), name, Path(folder, name), length)
            )
            for work, name, length in parts
        ]
        for one in working:
            one.start()
        for one in working:
            one.join()
        said = {file.name: json.loads(file.read_text()) for file in Path(folder).iterdir()}
    made = WRITERS * (EACH_S * seconds // WRITERS)
    for what, part in (("push", "writer"), ("pull", "reader")):
        took = [*concatenated(*(one["took"] for name, one in said.items() if part in name))]
        yield Figure(f"share: {what}, {seconds} s", took, " ms", remark=f"{made:,} events")
    read = [said[f"reader{one}"]["read"] for one in range(READERS)]
    for what, wrong in (("lost", made - min(read)), ("doubled", max(read) - made)):
        yield Figure(f"share: {what}", [max(0, wrong)], "", (Aim(most=0),))


def cost(options: Options) -> Iterator[Figure]:
    """Yield what a hook and a search take with a share, to what they take without one."""
    rounds = options.rounds(ROUNDS)
    with lab(options) as place:
        project = place.repository("shop")
        place.up()
        observer = [*launcher()]
        for number in range(50):
            _quietly([*observer, "remember", TEXT.format(number)], project)
        asked = json.dumps(called(project, "PreToolUse", "Bash", {"command": "ls"})).encode()
        hook = [str(place.home.hooks / "post"), "claude-code", "PostToolUse"]
        took: dict[str, list[list[float]]] = {"hook": [], "search": []}
        for words in ((), ("add", str(place.folder / "s"), "--create", "--yes"), ("remove", "s")):
            if words:
                argv = [*observer, "sync", *words, *(("-y",) if words[0] == "remove" else ())]
                _quietly(argv, project)
            with wire(launcher(), project) as agent:
                took["search"].append(
                    [
                        took_ms(lambda: agent.call("search", query="rates of the bank"))
                        for _ in range(rounds)
                    ]
                )
            took["hook"].append(
                [
                    took_ms(lambda: subprocess.run(hook, input=asked, cwd=project, check=True))
                    for _ in range(rounds)
                ]
            )
    for what, (before, shared, after) in took.items():
        ratio = percentile(shared, 50) / percentile([*before, *after], 50)
        remark = f"{percentile(shared, 50):.2f} ms with a share"
        yield Figure(f"share: {what}, with to without", [ratio], "x", (Aim(most=1.1),), remark)


class _Done(NamedTuple):
    """What one home did: from when to when (monotonic), its processor time, and what it has."""

    begun_s: float
    ended_s: float
    processor_s: float
    texts: list[str]


def _send(folder: Path, end: tuple[str, Path], count: int, begin: Barrier) -> _Done:
    ana = Machine(folder, "ana")
    for start in range(0, count, 500):
        notes = (Remember(content=TEXT.format(at)) for at in range(start, min(count, start + 500)))
        ana.report(*notes, author="person")
    with closing(carriers.open_carrier(*end)) as carrier:
        return _done(ana, begin, lambda: sync_once(ana.home, NAME, carrier))


def _take_in(folder: Path, end: tuple[str, Path], count: int, begin: Barrier) -> _Done:
    ben = Machine(folder, "ben")

    def follow(carrier: Carrier) -> None:
        taken, until = 0, time.monotonic() + MOST_S
        while taken < count and time.monotonic() < until:
            taken += sync_once(ben.home, NAME, carrier).taken
            carrier.wake(1)

    with closing(carriers.open_carrier(*end)) as carrier:
        return _done(ben, begin, lambda: follow(carrier))


def _done(one: Machine, begin: Barrier, work: Callable[[], object]) -> _Done:
    begin.wait()
    begun_s, used_s = time.monotonic(), time.process_time()
    work()
    ended_s, used_s = time.monotonic(), time.process_time() - used_s
    return _Done(begun_s, ended_s, used_s, one.texts())


def _quietly(argv: list[str], folder: Path) -> None:
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)


@contextmanager
def _server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="observer-pg-") as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.stop()


def _database(server: Server, name: str) -> str:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]  # a name of ours
    postgres.create(server.url(name))
    return server.url(name)


def _ends(by: str, folder: Path, server: Server) -> list[tuple[str, Path]]:
    """Return the address of a share of ana and ben, and the home of each."""
    if by == "folder":
        share = FileShare(str(folder / "share"), folder / "keys")
        for one in ("ana", "ben"):
            share.open(one).close()
        return [(share.url, share.homes / one) for one in ("ana", "ben")]
    owner = postgres.ServerTeam(_database(server, "two"))
    return [(owner.invite(one), folder) for one in ("ana", "ben")]


def _write(url: str, name: str, out: Path, seconds: int) -> None:
    records = a_chain(name, EACH_S * seconds // WRITERS, body=json.dumps({"text": TEXT}))
    step = int(EACH_S * AT_ONCE_S / WRITERS)
    took, begun = [], time.monotonic()
    with closing(carriers.open_carrier(url, out)) as carrier:
        for turn, at in enumerate(range(0, len(records), step), start=1):
            part = records[at : at + step]
            took.append(took_ms(lambda part=part: carrier.push(part)))
            time.sleep(max(0.0, begun + turn * AT_ONCE_S - time.monotonic()))
    out.write_text(json.dumps({"took": took}))


def _read(url: str, name: str, out: Path, seconds: int) -> None:
    del name
    last: dict[str, tuple[int, str]] = {}
    took, read = [], 0
    until = time.monotonic() + seconds + LATE_S
    with closing(carriers.open_carrier(url, out)) as carrier:
        while read < WRITERS * (EACH_S * seconds // WRITERS) and time.monotonic() < until:
            begun = time.monotonic()
            pulled = carrier.pull({origin: at for origin, (at, _) in last.items()}, limit=500)
            took.append(1000 * (time.monotonic() - begun))
            taken, _ = chained(pulled.records, last)
            read += len(pulled.records)
            last |= {one.origin: (one.sequence, one.hash()) for one in taken}
            if not taken:
                carrier.wake(1)
    out.write_text(json.dumps({"took": took, "read": read}))
