"""A team's worth of agents on one daemon: 20 clients that report, 20 that ask, for ten minutes.

Two hundred hooks a second are more processes than two cores can start, so but for one, whose
hooks are real, reports are put into the spool as a hook puts them there, by a few processes.
"""

from __future__ import annotations

import multiprocessing
import random
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import orjson

from benchmarks.daily import PROJECTS
from benchmarks.homes import Options
from benchmarks.work import EndlessWork
from observer.cli.doctor.lab import (
    Aim,
    Figure,
    HookReport,
    Lab,
    Wire,
    lab,
    launcher,
    rss_mib,
    sources,
    took_ms,
    until,
    wire,
)
from observer.cli.doctor.speed import NONE
from observer.core.disk import envelope
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.store.database import SqliteStore

SECONDS = 600
CLIENTS, EACH_S = 20, 10
"""Clients that report, and events a second of each."""
TELLERS = 5
READERS, ASKS_EVERY_S = 20, 1.0
"""An agent asks, reads, and thinks: none asks without a pause."""
REPORTS = 2_000
STORED_WITHIN_S = 3_600.0
SEARCHED = Aim(percent=95, most=50.0)
FLAT = Aim(most=1.1)

_TOOL_USE = re.compile(rb"toolu_[0-9]{9}")
_SESSION = re.compile(rb"[0-9a-f]{8}(?=(-[0-9a-f]{4}){3}-[0-9a-f]{12})")


def run(options: Options) -> Iterator[Figure]:
    """Yield what was lost and doubled, how long a search took, and how the memory grew."""
    length_s = options.rounds(SECONDS)
    with lab(options) as place, ExitStack() as stack:
        projects = [place.repository(name) for name in PROJECTS]
        work = EndlessWork(projects, random.Random(2))  # noqa: S311 - the same work each time
        reports = list(islice((one for one in work if _TOOL_USE.search(one.payload)), REPORTS))
        # Before there are threads: a fork of them would wait for their locks for ever.
        tellers = _tellers(place, reports, length_s)
        daemon = place.up()
        argv = launcher()
        asked = [stack.enter_context(wire(argv, projects[0])) for _ in range(READERS)]
        for teller in tellers:
            teller.start()
            stack.callback(teller.kill)
        took, grown = _asked(asked, daemon, length_s)
        for teller in tellers:
            teller.join()
        waiting, ended = Spool(place.home.spool).depth(), time.monotonic()
        until(lambda: Spool(place.home.spool).depth() == 0, step_s=0.5, wait_s=STORED_WITHIN_S)
        late_s = time.monotonic() - ended
        place.down()
        yield from _kept(place, length_s, f"{waiting:,} waited at the end, for {late_s:.0f} s")
    yield Figure("load: search over MCP", took, " ms", (SEARCHED,))
    for what, aims in (("RssAnon", (FLAT,)), ("RssFile", ())):
        yield _growth(what, [each[what] for each in grown], aims)


def _growth(what: str, grown: Sequence[float], aims: tuple[Aim, ...]) -> Figure:
    """Compare what the daemon held at the end with what it held at the beginning."""
    tenth = max(1, len(grown) // 10)
    first, last = sum(grown[:tenth]) / tenth, sum(grown[-tenth:]) / tenth
    remark = f"{first:.0f} MiB in the first tenth, {last:.0f} in the last, {max(grown):.0f} at most"
    return Figure(f"load: {what}, last tenth to first", [last / first], "x", aims, remark)


def _tellers(
    place: Lab, reports: Sequence[HookReport], length_s: int
) -> list[multiprocessing.context.ForkProcess]:
    forked = multiprocessing.get_context("fork")
    shares = [range(1 + number, CLIENTS, TELLERS) for number in range(TELLERS)]
    ways = [(_hooked, range(1)), *((spooled, share) for share in shares)]
    return [
        forked.Process(target=_tell, args=(way, place.home, reports, share, length_s), daemon=True)
        for way, share in ways
    ]


Way = Callable[[Home, str, HookReport], None]


def _tell(
    way: Way, home: Home, reports: Sequence[HookReport], clients: Sequence[int], length_s: int
) -> None:
    """Report as some clients do, each in a session of its own, in time or as soon as possible."""
    sessions: dict[str, list[HookReport]] = {}
    for report in reports:
        sessions.setdefault(orjson.loads(report.payload)["session_id"], []).append(report)
    work = dict(zip(clients, cycle(sessions.values())))
    begun = time.monotonic()
    for number in range(length_s * EACH_S):
        for client, own in work.items():
            # Each at its own times: clients know nothing of each other.
            due_s = (number + client / CLIENTS) / EACH_S
            time.sleep(max(0.0, begun + due_s - time.monotonic()))
            report = own[number % len(own)]
            way(home, _name(client, number), report._replace(payload=_own(report, client, number)))


def _own(report: HookReport, client: int, number: int) -> bytes:
    """Return the payload as a client's own, with a session and an id of the call that differ."""
    payload = _SESSION.sub(f"{client:08}".encode(), report.payload)
    return _TOOL_USE.sub(f"toolu_{client:02}{number:07}".encode(), payload)


def _name(client: int, number: int) -> str:
    return f"load-{client:02}-{number:07}"


def spooled(home: Home, name: str, report: HookReport, **more: str) -> None:
    """Put a report into the spool as a hook does, under a name and with more fields."""
    fields = {"client": "claude-code", "event": report.event, "cwd": str(report.cwd), **more}
    data = envelope({**fields, "ppid": "1", "host": "box"}, report.payload)
    (home.spool / "tmp" / name).write_bytes(data)
    (home.spool / "new" / name).touch(mode=0o600)


def _hooked(home: Home, _name: str, report: HookReport) -> None:
    post = [str(home.hooks / "post"), "claude-code", report.event]
    subprocess.run(post, input=report.payload, check=True, cwd=report.cwd)


def _asked(
    asked: Sequence[Wire], daemon: int, length_s: int
) -> tuple[list[float], list[dict[str, float]]]:
    """Ask from all readers until the time is up; return what each took, and the memory by time.

    The memory is parted into the daemon's own and the files of the index that it has mapped.
    """
    chance = random.Random(3)  # noqa: S311 - the same questions each time
    words = sorted({word for lines in sources().values() for word in " ".join(lines).split()})
    texts = [" ".join(chance.sample(words, 3)) for _ in range(1_000)]
    over = threading.Event()
    took: list[list[float]] = [[] for _ in asked]

    def read(number: int) -> None:
        wire, own = asked[number], random.Random(number)  # noqa: S311 - as above
        while not over.wait(own.uniform(0.5, 1.5) * ASKS_EVERY_S):
            ask = partial(wire.call, "search", query=own.choice(texts))
            took[number].append(took_ms(ask))

    threads = [threading.Thread(target=read, args=(number,)) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    grown = []
    try:
        for _ in range(length_s):
            time.sleep(1)
            grown.append({what: rss_mib(daemon, what) for what in ("RssAnon", "RssFile")})
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return [each for one in took for each in one], grown


def _kept(place: Lab, length_s: int, remark: str) -> Iterator[Figure]:
    offered = {_name(c, n) for c in range(1, CLIENTS) for n in range(length_s * EACH_S)}
    hooked = length_s * EACH_S
    found = stored(place.home.database)
    lost = len(offered - found.keys()) + max(0, hooked - len(found.keys() - offered))
    doubled = sum(found.values()) - len(found) + max(0, len(found.keys() - offered) - hooked)
    bad = Spool(place.home.spool).bad()
    total = len(offered) + hooked
    shown = f"{total:,} events in {length_s} s, {hooked:,} by real hooks, {bad} bad; {remark}"
    yield Figure("load: events lost", [float(lost)], "", (NONE,), shown)
    yield Figure("load: events doubled", [float(doubled)], "", (NONE,))
    size = place.home.database.stat().st_size / total
    yield Figure("load: database, an event", [size / 1000], " KB")


def stored(database: Path) -> Counter[str]:
    """Count each event that was reported, by its id."""
    found: Counter[str] = Counter()
    store = SqliteStore(database, read_only=True)
    with store.read() as reader:
        seen = 0
        while batch := reader.log(after_seq=seen):
            found.update(one.event.id for one in batch if not one.event.id.startswith("idle-"))
            seen = batch[-1].seq
    store.close()
    return found
