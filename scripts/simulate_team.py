#!/usr/bin/env python3
"""Replay a team's days against one PostgreSQL server, faster and faster, until it gives in.

    scripts/simulate_team.py [URL] [--people N] [--backlog N] [--step SECONDS]
                             [--speeds N,N,...]

URL is an empty database by its owner's login; without one a server of the tests is started here,
with fsync on. Each person has a login, sends what 2,000 events a day come to (`SHARED` of them, as
measured on two corpora of sessions), in a round a minute of eight hours, and asks the server
`SEARCHES` times a day. A round does what the daemon's does: it connects, fetches what others sent,
sends its own, has the server know words and vectors, and leaves.

A speed of 10 makes an hour of six minutes. For each speed is printed how many rounds were wanted
and done, their p50 and p95, how busy the processor was, what of it a round took on the server and
in the clients, and what server processes waited for; the last line says where it saturated, and on
what. Bytes a record follow, as the server counts them.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from typing import LiteralString, NamedTuple, cast

import psutil
import psycopg
from benchmarks.server import own_server

from observer.core.errors import ObserverError
from observer.sync import postgres
from observer.sync.carriers import open_search
from observer.sync.postgres import PostgresCarrier, ServerTeam
from observer.sync.postgres_search import SearchAsked, SearchEntry
from observer.sync.record import ProjectKey, Record

EVENTS_A_DAY, SHARED, DAY_S = 2_000, 0.06, 8 * 3600
BODY_BYTES = 2_600
"""Of a record; 2,150 and 3,560 on the two corpora."""
SEARCHES = 40
WORDS, VOCABULARY, DIMENSIONS = 160, 20_000, 640
WORKERS = 24
"""Rounds at once, at most; a laptop's other 999 peers are between two rounds."""
LATE_MS, BUSY = 1_000.0, 90.0
"""From which p95 of a round, and share of the processor, a server is saturated."""


class Person:
    """One member with a home: a chain of records, and how far others' are known."""

    def __init__(self, number: int, url: str) -> None:
        self.number, self.url = number, url
        self.lock = threading.Lock()
        self._random = random.Random(number)  # noqa: S311 - a simulation
        self._last: Record | None = None
        self._known: dict[str, int] = {}
        self._owed = self._random.random()
        self.asked_s: list[float] = []

    def round(self) -> int:
        """Do what the daemon does every minute; return how many records were sent."""
        made = self.bring(self._due())
        if self._random.random() < SEARCHES * 60 / DAY_S:
            with closing(open_search(self.url)) as server:
                begin = time.monotonic()
                server.ask(self._question(), timeout_ms=300)
                self.asked_s.append(time.monotonic() - begin)
        return len(made)

    def bring(self, count: int) -> list[Record]:
        """Fetch what is there, send so many records, and have the server know them."""
        made = [self._record() for _ in range(count)]
        with closing(PostgresCarrier(self.url)) as carrier:
            for record in carrier.pull(self._known, limit=500).records:
                self._known[record.origin] = record.sequence
            carrier.push(made)
        if made:
            with closing(open_search(self.url)) as server:
                server.put(made[0].origin, [self._entry(record) for record in made])
        return made

    def _due(self) -> int:
        self._owed += EVENTS_A_DAY * SHARED * 60 / DAY_S
        due = int(self._owed)
        self._owed -= due
        return due

    def _record(self) -> Record:
        before, origin = self._last, f"home-{self.number}"
        sequence = before.sequence + 1 if before else 1
        self._last = Record(
            origin=origin,
            sequence=sequence,
            previous=before.hash() if before else "",
            kind="item",
            uuid=f"{origin}-{sequence}",
            project=ProjectKey(name=f"project-{self.number // 8}"),
            author=f"person-{self.number}",
            visibility="project",
            at_ms=int(time.time() * 1000),
            body=self._random.randbytes(BODY_BYTES // 2).hex(),
        )
        return self._last

    def _codes(self, count: int) -> list[int]:
        """Return codes of words, of which a few are common, as in any text."""
        return [int(VOCABULARY ** self._random.random()) for _ in range(count)]

    def _entry(self, record: Record) -> SearchEntry:
        columns = [self._codes(8), [], self._codes(WORDS), [], [], self._codes(6)]
        vector = self._random.randbytes(DIMENSIONS)
        kind = ("note", "fact", record.at_ms, columns, "m", vector)
        return SearchEntry(record.uuid, record.project.name, *kind)

    def _question(self) -> SearchAsked:
        vector = [self._random.gauss(0, 1) for _ in range(DIMENSIONS)]
        return SearchAsked(list(dict.fromkeys(self._codes(4))), "m", vector)


class Step(NamedTuple):
    """What came of one speed: rounds a second that were wanted and done, and on what it waited."""

    speed: int
    wanted: float
    done: float
    p50_ms: float
    p95_ms: float
    records: int
    failed: Counter[str]
    waits: Counter[str]
    processor: float
    server_ms: float
    clients_ms: float

    @property
    def limit(self) -> str:
        """Return what the server is saturated on, or nothing."""
        if any("too many clients" in why or "connection" in why for why in self.failed):
            return "connections"
        if self.p95_ms < LATE_MS and self.done > 0.9 * self.wanted:
            return ""
        if self.processor >= BUSY:
            return f"the processor ({self.processor:.0f} % of all cores)"
        return max(self.waits, key=lambda wait: self.waits[wait], default="clients")

    def __str__(self) -> str:
        waits = ", ".join(f"{name} {count}" for name, count in self.waits.most_common(3))
        failed = "; ".join(f"{count} x {why}" for why, count in self.failed.items())
        return (
            f"{self.speed:6} {self.wanted:9.1f} {self.done:7.1f} {self.records:8}"
            f" {self.p50_ms:7.0f} {self.p95_ms:7.0f} {self.processor:5.0f}"
            f" {self.server_ms:9.1f} {self.clients_ms:9.1f}   {waits}  {failed}"
        )


def simulated(people: list[Person], owner: str, speed: int, step_s: float) -> Step:
    """Run rounds at one speed for so long."""
    wanted = len(people) / 60 * speed
    begin, stop = time.monotonic(), threading.Event()
    times, failed, waits = list[float](), Counter[str](), Counter[str]()
    records, turn, guard = [0], iter(range(sys.maxsize)), threading.Lock()

    def work() -> None:
        while not stop.is_set():
            with guard:
                number = next(turn)
            if stop.wait(max(0.0, begin + number / wanted - time.monotonic())):
                return
            person, start = people[number % len(people)], time.monotonic()
            try:
                with person.lock:
                    sent = person.round()
            except ObserverError as error:
                failed[str(error)[:60]] += 1
                continue
            with guard:
                times.append(time.monotonic() - start)
                records[0] += sent

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    psutil.cpu_percent()
    server_s, clients_s = _server_seconds(owner), time.process_time()
    for thread in threads:
        thread.start()
    with psycopg.connect(owner, autocommit=True) as connection:
        while time.monotonic() < begin + step_s:
            waits.update(row[0] for row in connection.execute(WAITS))
            time.sleep(0.1)
    processor = psutil.cpu_percent()
    spent = _server_seconds(owner) - server_s, time.process_time() - clients_s
    stop.set()
    for thread in threads:
        thread.join()
    ordered = sorted(times) or [step_s]
    p50, p95 = (1000 * ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.95))
    done = len(times) / (time.monotonic() - begin)
    each_ms = [1000 * seconds / max(1, len(times)) for seconds in spent]
    return Step(speed, wanted, done, p50, p95, records[0], failed, waits, processor, *each_ms)


def _server_seconds(owner: str) -> float:
    """Return the processor time of all the server's processes so far; 0 if it runs elsewhere."""
    with psycopg.connect(owner) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    folder, total = str(row[0]) if row else "", 0.0
    for process in psutil.process_iter(["name"]):
        with suppress(psutil.Error):
            if process.info["name"] == "postgres" and process.cwd() == folder:
                times, parent = process.cpu_times(), process.parent()
                total += times.user + times.system
                if parent is None or parent.name() != "postgres":
                    total += times.children_user + times.children_system
    return total


HEAD = " speed  wanted/s  done/s  records  p50 ms  p95 ms CPU % server ms client ms   waits"
WAITS = """SELECT coalesce(wait_event_type || ':' || wait_event, 'running') FROM pg_stat_activity
WHERE state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend'"""
SIZES = """SELECT c.relname, pg_total_relation_size(c.oid), pg_indexes_size(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'observer' AND c.relname IN ('record', 'entry', 'audit') ORDER BY 1"""
HNSW = "SELECT pg_relation_size('observer.entry_embedding_640')"
WAL = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"


def run(owner: str, chosen: argparse.Namespace) -> None:
    """Simulate each speed until the server gives in, and print what came of it."""
    postgres.create(owner)
    team = ServerTeam(owner)
    people = [Person(n, team.invite(f"person-{n}")) for n in range(chosen.people)]
    print(f"{len(people)} people, {EVENTS_A_DAY:,} events a day each, {SHARED:.0%} shared")
    limit, total = "", chosen.backlog
    with psycopg.connect(owner) as connection:
        logged = _log_bytes(connection)
    _bring_backlog(people, chosen.backlog)
    print(HEAD)
    for speed in chosen.speeds:
        step = simulated(people, owner, speed, chosen.step)
        total += step.records
        print(step, flush=True)
        if limit := step.limit:
            print(f"saturated at speed {speed}, {step.done:.0f} rounds a second, on: {limit}")
            break
    if not limit:
        print("not saturated")
    asked_ms = sorted(1000 * seconds for person in people for seconds in person.asked_s) or [0.0]
    p50, p95 = (asked_ms[int(share * (len(asked_ms) - 1))] for share in (0.5, 0.95))
    print(f"{len(asked_ms)} searches that were answered: p50 {p50:.0f} ms, p95 {p95:.0f}")
    with psycopg.connect(owner) as connection:
        for name, size, indexes in connection.execute(cast("LiteralString", SIZES)):
            each, of_indexes = size / max(1, total), indexes / max(1, total)
            print(f"{name}: {each:,.0f} bytes a record, {of_indexes:,.0f} of them indexes")
        for (size,) in connection.execute(cast("LiteralString", HNSW)):
            print(f"index of vectors: {size / max(1, total):,.0f} bytes a record")
        print(f"log: {(_log_bytes(connection) - logged) / max(1, total):,.0f} bytes a record")


def _bring_backlog(people: list[Person], count: int) -> None:
    """Have people bring what they did before there was a share, 500 records at a time."""
    begin = time.monotonic()
    for start in range(0, count, 500):
        people[start // 500 % len(people)].bring(min(500, count - start))
    if count:
        took = time.monotonic() - begin
        print(f"{count:,} records of before in {took:.0f} s, {count / took:,.0f} a second")


def _log_bytes(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    """Return how many bytes the server has ever written ahead."""
    row = connection.execute(WAL).fetchone()
    return int(str(row[0])) if row else 0


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("url", nargs="?", metavar="URL", help="of an empty database, its owner's")
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--backlog", type=int, default=0, help="records of before, brought first")
    parser.add_argument("--step", type=float, default=30.0, metavar="SECONDS", help="each speed")
    parser.add_argument(
        "--speeds",
        default="1,2,4,8,16,32",
        type=lambda text: [int(part) for part in text.split(",")],
    )
    chosen = parser.parse_args()
    if chosen.url:
        run(chosen.url, chosen)
        return 0
    with own_server("-c max_connections=100 -c shared_buffers=512MB") as url:
        run(url, chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
