"""What observer costs and finds on this machine, in homes that are thrown away."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click
import orjson

from observer.cli import output
from observer.cli.commands import command
from observer.cli.doctor.lab import (
    ERAS,
    Aim,
    Figure,
    Lab,
    Options,
    called,
    edits,
    first_answer_ms,
    is_quiet,
    lab,
    launcher,
    machine,
    percentile,
    processor_s,
    rss_mib,
    spool,
    took_ms,
    until,
    wire,
    yardstick_ms,
)
from observer.core.clock import now_ms
from observer.core.errors import DaemonUnavailable
from observer.core.events import Command
from observer.core.model import UNASSIGNED, Item, item_id, item_uuid
from observer.local import client
from observer.local.spool import Spool
from observer.store.database import SqliteStore

PARTS = ("hooks", "found", "kills", "sizes")
SHARE, QUICK = 0.1, 0.05
"""Shares of the rounds of published figures: two minutes, one minute, on an idle machine."""


@command("speed", "observer doctor speed hooks found --quick")
@click.argument("names", nargs=-1, type=click.Choice(PARTS), metavar="[PART]...")
@click.option("--quick", is_flag=True, help="Half of the rounds.")
def speed_command(*, names: Sequence[str], quick: bool) -> None:
    """Measure hooks, search, survival, storing and memory here."""
    parts = dict(zip(PARTS, (hooks, found, kills, sizes), strict=True))
    # SIGTERM ends the run as orderly as Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="observer-bench-") as folder:
        options = Options(share=QUICK if quick else SHARE, work=Path(folder).resolve())
        figures = (figure for name in names or PARTS for figure in parts[name](options))
        about = machine()
        if output.wants_json():
            output.emit({"machine": about, "figures": [each.values() for each in figures]})
            return
        output.say(about)
        for figure in figures:
            output.say(figure.line())
    output.note(
        f"at the end: yardstick {yardstick_ms():.2f} ms (it grows while others use the machine)"
    )


NOTES = Path(__file__).with_name("notes")
"""560 notes of one sentence, 60 of which are asked for in other words."""

HOOK_ROUNDS, WARM_UP = 300, 5
PAYLOAD_BYTES, NEARLY_BYTES = 4096, 200
"""Of a report of an edit: the size that is common."""
HOOK_AIM = Aim(most=3.5)
BEFORE_AN_ACTION = Aim(percent=95, most=60)
"""Milliseconds that a client may wait for a reminder before each command and edit."""
NOTHING = ["/bin/sh", "-c", ":"]
"""The least that any command hook can cost."""

Times = list[tuple[float, float]]


def hooks(options: Options) -> Iterator[Figure]:
    """Yield the ratios of hook to shell, pair by pair, and what a client waits for `recall`."""
    with lab(options) as place:
        project = place.repository("shop")
        payloads = (report.payload for report in edits(project))
        edit = next(each for each in payloads if abs(len(each) - PAYLOAD_BYTES) < NEARLY_BYTES)
        rounds = options.rounds(HOOK_ROUNDS)
        command = {"command": "cd src && uv run pytest -q tests 2>&1 | tail -20"}
        asked = orjson.dumps(called(project, "PreToolUse", "Bash", command))
        events = {"post": ["PostToolUse"], "context": [], "recall": ["PreToolUse"]}

        def measured(name: str, state: str) -> Figure:
            way = [str(place.home.hooks / name), "claude-code", *events[name]]
            if name == "recall":
                (ours,) = timed([way], asked, rounds, project)
                waited_s, cpu_s = zip(*ours, strict=True)
                remark = f"processor time {1000 * percentile(cpu_s, 50):.1f} ms"
                samples = [1000 * s for s in waited_s]
                return Figure(f"hooks/recall, {state}", samples, " ms", (BEFORE_AN_ACTION,), remark)
            bare, ours = timed([NOTHING, way], edit, rounds, project)
            ratios = [b[0] / a[0] for a, b in zip(bare, ours, strict=True)]
            columns = [column for each in (bare, ours) for column in zip(*each, strict=True)]
            sh_s, sh_cpu_s, hook_s, hook_cpu_s = (percentile(column, 50) for column in columns)
            remark = f"sh {1000 * sh_s:.2f} ms, hook {1000 * hook_s:.2f} ms; of processor time "
            remark += f"{hook_cpu_s / sh_cpu_s:.2f}x"
            return Figure(f"hooks/{name}, {state}", ratios, "x", (HOOK_AIM,), remark)

        yield from (measured(name, "daemon down") for name in ("recall", "post"))
        daemon = place.up()
        yield measured("post", "daemon up")
        until(lambda: any(place.home.context.rglob("CONTEXT.md")))
        yield from (measured(name, "daemon up") for name in ("context", "recall"))
        os.kill(daemon, signal.SIGSTOP)
        yield from (measured(name, "daemon stopped") for name in ("post", "context"))


def timed(programs: Sequence[list[str]], payload: bytes, rounds: int, cwd: Path) -> list[Times]:
    """Return the seconds of clock and processor of each program; A B A B in turn."""
    environ = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    took: list[Times] = [[] for _ in programs]
    with chdir(cwd):
        for number in range(rounds + WARM_UP):
            for times, argv in zip(took, programs, strict=True):
                spent = _ran_s(argv, payload, environ)
                if number >= WARM_UP:
                    times.append(spent)
            time.sleep(0.02)
    return took


def _ran_s(argv: list[str], payload: bytes, environ: dict[str, str]) -> tuple[float, float]:
    """Run a program by `posix_spawn`, which copies no memory of ours; return both its times."""
    reading, writing = os.pipe()
    os.write(writing, payload)
    os.close(writing)
    silent = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    actions = [(os.POSIX_SPAWN_DUP2, reading, 0), silent]
    begun = time.perf_counter()
    started = os.posix_spawn(argv[0], argv, environ, file_actions=actions)
    _, _, used = os.wait4(started, 0)  # what it started itself included
    took_s = time.perf_counter() - begun
    os.close(reading)
    return took_s, used.ru_utime + used.ru_stime


PLACES = (3, 5)
"""Among how many answers the right one is looked for."""


class NoteQuery(NamedTuple):
    """A query, and the places (from 0) of the notes that it is about."""

    text: str
    relevant: frozenset[int]


class RunningMemory(NamedTuple):
    """A memory that holds the notes: a query is answered with text; its processes."""

    ask: Callable[[str], str]
    pids: tuple[int, ...]


def found(options: Options) -> Iterator[Figure]:
    """Yield how well, how fast and in how much memory notes are found in other words."""
    titles, asked = bundled()
    with lab(options) as place, holding(place, titles) as memory:
        yield from asked_for("observer", memory, titles, asked)


def bundled() -> tuple[Sequence[str], Sequence[NoteQuery]]:
    """Return the 560 notes beside this module, and the queries about 60 of them."""

    def rows(name: str) -> Iterator[dict[str, Any]]:
        for path in sorted(NOTES.glob(name)):
            yield from map(orjson.loads, path.read_bytes().splitlines())

    notes = list(rows("*_docs.jsonl"))
    places = {note["id"]: place for place, note in enumerate(notes)}
    queries = [
        NoteQuery(row["q"], frozenset(places[name] for name in row["rel"]))
        for row in rows("*_q.jsonl")
    ]
    return [note["title"] for note in notes], queries


@contextmanager
def holding(place: Lab, titles: Sequence[str]) -> Iterator[RunningMemory]:
    """Lend observer with the notes, once all of them can be found by meaning."""
    with closing(SqliteStore(place.home.database)) as store, store.write() as writer:
        for number, title in enumerate(titles, start=1):
            at_ms = now_ms() - number * 60_000
            noted = Item(
                id=item_id(number), uuid=item_uuid(str(number), at_ms), kind="observation",
                type="commit", title=title, project_id=UNASSIGNED, created_ms=at_ms,
                updated_ms=at_ms,
            )  # fmt: skip
            writer.put_items([noted])
    daemon = place.up()
    until(lambda: client.call(place.home, "GET", "/status")["vectors"] == len(titles))
    with wire(launcher(), place.folder) as asked:
        until(lambda: "degraded" not in asked.call("search", query="total"))
        until(lambda: is_quiet(daemon))  # the slower model completes vectors when work pauses
        yield RunningMemory(lambda text: str(asked.call("search", query=text)), (daemon, asked.pid))


def asked_for(
    name: str, memory: RunningMemory, titles: Sequence[str], asked: Sequence[NoteQuery]
) -> Iterator[Figure]:
    """Yield the figures of one memory that holds the notes."""
    for each in asked[:WARM_UP]:
        memory.ask(each.text)
    own_words = [each._replace(text=titles[min(each.relevant)]) for each in asked]
    took: list[float] = []
    for how, of_kind in (("in their own words", own_words), ("in other words", asked)):
        shares: list[list[float]] = []
        for each in of_kind:
            begun = time.perf_counter()
            answer = order(memory.ask(each.text), titles)
            took.append((time.perf_counter() - begun) * 1000)
            right = [len(each.relevant.intersection(answer[:depth])) for depth in PLACES]
            shares.append([100 * count / len(each.relevant) for count in right])
        for depth, of_all in zip(PLACES, zip(*shares, strict=True), strict=True):
            mean, remark = sum(of_all) / len(of_all), f"{len(of_all)} of {len(titles)} notes"
            yield Figure(f"found {how}, R@{depth}, {name}", [mean], " %", remark=remark)
    yield Figure(f"search among these, {name}", took, " ms")
    yield Figure(f"memory meanwhile, {name}", [sum(map(rss_mib, memory.pids))], " MiB")


def order(answer: str, titles: Sequence[str]) -> Sequence[int]:
    """Return the places of the notes that an answer holds, in the order in which it names them."""
    at = {place: answer.find(title) for place, title in enumerate(titles) if title in answer}
    return sorted(at, key=at.__getitem__)


BETWEEN_S = 0.004
"""Between two reports of one reporter; there are two of hooks and two of the HTTP API."""
NONE = Aim(percent=95, most=0)


def kills(options: Options) -> Iterator[Figure]:
    """Yield what was lost and what was doubled while the daemon was killed; both must be none."""
    with lab(options) as place:
        project, count = place.repository("shop"), options.rounds(200)
        moments = random.Random(20261122)  # noqa: S311 - any moments will do
        with _reporters(place, project) as reported:
            for _ in range(count):
                daemon = place.up()
                time.sleep(moments.uniform(0.0, 0.5))
                os.kill(daemon, signal.SIGKILL)
                until(lambda: not client.is_running(place.home), step_s=0.001)
        place.up()
        until(lambda: Spool(place.home.spool).depth() == 0)
        place.down()
        stored = _stored(place)
        bad = Spool(place.home.spool).bad()
    expected = {word for words in reported for word in words}
    lost = len(expected - set(stored))
    doubled = sum(times > 1 for times in stored.values())
    kept = sum(stored.values())
    remark = f"{count} kills, {len(expected):,} events reported, {kept:,} stored, {bad} bad"
    yield Figure("kills: events lost", [float(lost)], "", (NONE,), remark)
    yield Figure("kills: events doubled", [float(doubled)], "", (NONE,))


@contextmanager
def _reporters(place: Lab, project: Path) -> Iterator[list[list[str]]]:
    """Report from four threads inside the block; lends, for each, what it reported."""
    enough = threading.Event()
    reported: list[list[str]] = [[] for _ in range(4)]

    def report(way: Callable[[Lab, Path, str], None], words: list[str], name: str) -> None:
        while not enough.wait(BETWEEN_S):
            words.append(f"make {name}-{len(words)}")
            way(place, project, words[-1])

    threads = [
        threading.Thread(target=report, args=(way, words, f"r{number}"), daemon=True)
        for number, (way, words) in enumerate(zip([_by_hook, _by_http] * 2, reported, strict=True))
    ]
    for thread in threads:
        thread.start()
    try:
        yield reported
    finally:
        enough.set()
        place.up()  # who still waits for an answer gets one
        for thread in threads:
            thread.join()


def _by_hook(place: Lab, project: Path, word: str) -> None:
    payload = called(project, "PostToolUse", "Bash", {"command": word}) | {
        "tool_use_id": word,
        "tool_response": {"stdout": "done\n" * 100, "stderr": "", "interrupted": False},
    }
    post = [str(place.home.hooks / "post"), "claude-code", "PostToolUse"]
    subprocess.run(post, input=orjson.dumps(payload), check=True, cwd=project)


def _by_http(place: Lab, project: Path, word: str) -> None:
    """Report until it is answered; the id makes a second report harmless."""
    event = {"kind": "command", "command": word, "id": word, "session": "h", "cwd": str(project)}
    while True:
        try:
            client.call(place.home, "POST", "/events", event, wait_s=5)
        except DaemonUnavailable:
            time.sleep(BETWEEN_S)
        else:
            return


def _stored(place: Lab) -> Counter[str]:
    counted: Counter[str] = Counter()
    with place.store() as store, store.read() as reader:
        if (problem := store.check()) != "ok":
            raise RuntimeError(f"the database is damaged: {problem}")
        seen = 0
        while batch := reader.log(after_seq=seen):
            bodies = (recorded.event.body for recorded in batch)
            counted.update(body.command for body in bodies if isinstance(body, Command))
            seen = batch[-1].seq
    return counted


EVENTS, STARTS = 20_000, 50
DRAIN = Aim(least=3000.0)
ANSWER = Aim(percent=95, most=50.0)
STEP_S = 0.05


def sizes(options: Options) -> Iterator[Figure]:
    """Yield starts, events a second, answers, memory and disk of one home of edits."""
    with lab(options) as place:
        project, count = place.repository("shop"), options.rounds(EVENTS)
        starts = []
        for _ in range(options.rounds(STARTS)):
            starts.append(took_ms(place.up))
            place.down()
        yield Figure("daemon, from its start to its first answer", starts, " ms")
        spool(place.home, edits(project), count)
        rate, remark = drained(place, count)
        remark = f"{count:,} events; {remark}"
        yield Figure("events stored and searchable", [rate], " events/s", (DRAIN,), remark)
        with wire(launcher(), project) as asked:
            until(lambda: "degraded" not in asked.call("search", query="total"))
            daemon = place.up()
            until(lambda: is_quiet(daemon))
            rounds = range(options.rounds(HOOK_ROUNDS))
            contexts = [took_ms(lambda: asked.call("get_context")) for _ in rounds]
            yield Figure("get_context over MCP", contexts, " ms", (ANSWER,))
            yield Figure("observer mcp, memory", [rss_mib(asked.pid)], " MiB")
        yield Figure("daemon after all this, memory", [rss_mib(daemon)], " MiB")
        rounds = range(options.rounds(STARTS))
        lists = [first_answer_ms(launcher(), project, ERAS[0]) for _ in rounds]
        yield Figure("observer mcp, to its first list of tools", lists, " ms")
        place.down()
        yield Figure("disk, an event", [disk_bytes(place) / count / 1000], " KB")


def drained(place: Lab, count: int) -> tuple[float, str]:
    """Return events a second from the first commit to the last, and what the start cost beside."""
    new = place.home.spool / "new"
    started = time.perf_counter()
    daemon = place.up()
    with place.store() as store:

        def stored() -> int:
            with store.read() as reader:
                return reader.totals().events

        until(stored, step_s=STEP_S)
        first, begun = stored(), time.perf_counter()
        # The daemon adds the ends of sessions that it takes for idle.
        until(lambda: stored() >= count and not any(new.iterdir()), step_s=STEP_S)
    done = time.perf_counter()
    rate = (count - first) / (done - begun)
    return rate, f"{done - started:.1f} s from `up` on, {cost(processor_s(daemon), count)}"


def cost(cpu_s: float, count: int) -> str:
    """Return the processor time of each of many events."""
    return f"{cpu_s / count * 1e6:.0f} µs of processor time an event"


def disk_bytes(place: Lab) -> int:
    """Return what database and index take once all is stored; models and hooks are left out."""
    files = [place.home.database, *place.home.index.rglob("*")]
    return sum(path.stat().st_size for path in files if path.is_file())
