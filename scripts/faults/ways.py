"""What a home goes through: each way is some work, how its home is prepared, and how it goes on.

What a way does is what the daemon or a command does with that home, by the same functions.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from observer.core.config import Settings
from observer.core.paths import Home
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import chosen
from observer.ingest.pipeline import Pipeline
from observer.ingest.projection import out_of_order, rebuild
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.memory.opening import index_for
from observer.projects import PlaceCache
from observer.projects.policy.policies import DAY_MS, Retention
from observer.store.database import SqliteStore
from observer.store.migrations import Migration, migrations
from observer.store.tombstones import Tombstones
from observer.tools import hook_output
from observer.upkeep import carry_out as order
from observer.upkeep import size_cap, take_out
from observer.upkeep.carry_out import PurgeOrder, carry_out, complete
from observer.upkeep.shred import discard

NOW_MS = 1_790_000_000_000
STORED, SPOOLED, PURGED = 12, 6, "cormorant"
SECRET = f"ghp_{PURGED}Zk93Qw7Rt2Yu8Pa5Lm1XcVb4n6D"
COPY = "copy.db"
DEAD_PID = 4_000_000_000
"""More than a process id can be; a log of a shell that is gone is read to its last record."""

Work = Callable[[Home], None]


class Way(NamedTuple):
    """Some work on a home; `prepare` returns the ids of the events that may never be lost."""

    name: str
    prepare: Callable[[Home], set[str]]
    work: Work
    finish: Work
    steps: Sequence[Migration] = ()


def _newer() -> list[Migration]:
    steps = migrations()
    sql = (
        "ALTER TABLE event ADD COLUMN extra; CREATE TABLE extra (text); UPDATE event SET extra = 1"
    )
    return [*steps, Migration(steps[-1].number + 1, "campaign", sql)]


_NEWER = _newer()


def pipeline(home: Home, store: SqliteStore) -> Pipeline:
    """Return a pipeline without vectors: the models would only take time."""
    return Pipeline(
        store,
        Spool(home.spool),
        settings=Settings(),
        places=PlaceCache(),
        now_ms=lambda: NOW_MS,
        tombstones=Tombstones(home.tombstones),
    )


def drain(home: Home) -> None:
    """Open the home as the daemon does, and store what is spooled."""
    complete(home, SqliteStore)
    with _store(home) as store:
        _drain(home, store)


def spool(home: Home, *numbers: int, word: str = "harbour", now_ms: int = NOW_MS) -> set[str]:
    """Report events, through files, a shell's log, and one payload that nobody can read."""
    queue = Spool(home.spool)
    queue.prepare()
    fields = {"client": "claude-code", "cwd": "/"}
    ids = set()
    for number in numbers:
        at = {"at": str(now_ms - 1_000_000 + number)}
        said = json.dumps({"session_id": f"s{number % 3}", "prompt": f"{word} {number}?"})
        ids.add(queue.append({**fields, **at, "event": "UserPromptSubmit"}, said.encode()))
    queue.append({**fields, "event": "PostToolUse"}, b"\xff{not JSON")
    log = home.spool / "shell" / f"bash-{DEAD_PID}-{min(numbers)}"
    records = [
        f"\0\0exit=0\0end_ms={now_ms + number}\0text=make {word}{number} {'x' * 700}\0.\0\0"
        for number in numbers
    ]
    log.write_bytes("".join(records).encode())
    starts = [len("".join(records[:number])) + 2 for number in range(len(records))]
    return ids | {f"{log.name}@{start}" for start in starts}


def _nothing(home: Home) -> set[str]:
    return spool(home, *range(SPOOLED))


def _filled(home: Home) -> set[str]:
    ids = spool(home, *range(100, 100 + STORED))
    drain(home)
    return ids | spool(home, *range(SPOOLED))


def _with_the_word(home: Home) -> set[str]:
    spool(home, 500, 501, word=PURGED)
    drain(home)
    ids = _filled(home)
    with _store(home) as store:
        store.backup(home.backups / COPY)
    return ids


def _with_old_events(home: Home) -> set[str]:
    spool(home, 500, 501, word=PURGED, now_ms=NOW_MS - 40 * DAY_MS)
    drain(home)
    (home.spool / "bad").rename(home.spool / "old")
    shutil.rmtree(home.spool / "old")
    ids = _filled(home)
    with _store(home) as store:
        store.backup(home.backups / COPY)
    return ids


def _upgrade(home: Home) -> None:
    with closing(SqliteStore(home.database, backups=home.backups, steps=_NEWER)) as store:
        _drain(home, store)


def _rebuild(home: Home) -> None:
    with _store(home) as store:
        pipeline(home, store).rebuild()


def _checkpoint(home: Home) -> None:
    with _store(home) as store:
        pipeline(home, store).drain()
        store.checkpoint()
        _drain(home, store)


def _backup(home: Home) -> None:
    with _store(home) as store:
        store.backup(home.backups / "another.db")


def _with_a_secret(home: Home) -> set[str]:
    """Plant a secret that an earlier set of rules let through."""
    ids = _filled(home)
    with _store(home) as store:
        with store.write() as writer:
            for stored in writer.stored_texts(after_seq=0, limit=2):
                leaky = stored.data.replace(b"harbour", SECRET.encode())
                writer.put_texts(stored._replace(data=leaky))
            rebuild(writer, advance=lambda _: None)
        store.backup(home.backups / COPY)
    return ids


def _redact(home: Home) -> None:
    asked = PurgeOrder(seqs=(), redacts=True)
    order.begin(home, asked)
    carry_out(home, asked, SqliteStore)


def _redact_again(home: Home) -> None:
    drain(home)
    _redact(home)


def _purge(home: Home) -> None:
    with _store(home) as store, store.read() as reader:
        seqs = tuple(one.seq for one in reader.stored_events() if PURGED.encode() in one.held)
    if seqs:
        asked = PurgeOrder(seqs=seqs, texts=(PURGED,))
        order.begin(home, asked)
        carry_out(home, asked, SqliteStore)


def _purge_again(home: Home) -> None:
    """Start as after a crash, which finishes what was begun; what never began is asked for anew."""
    drain(home)
    _purge(home)


def _expire(home: Home) -> None:
    _take_out(home, Retention(Settings(retention_days=30)))


def _make_room(home: Home) -> None:
    """Drop what is old as above a limit of the home's size."""
    before = dict.fromkeys(size_cap.LEAST_WORTH, NOW_MS - 30 * DAY_MS)
    cap = size_cap.Cap(limit_bytes=1 << 40, used_bytes=1, dropped=before)
    size_cap.note(home, cap)
    _take_out(home, Retention(Settings(), cap.dropped))


def _take_out(home: Home, retention: Retention) -> None:
    """Remove what is expired, in the steps of the daemon's worker."""
    discard(home.expiring)
    with _store(home) as store:
        with store.read() as reader:
            gone = take_out.expired(reader, retention, now_ms=NOW_MS)
        if gone:
            _derive_anew(home, store, gone)
        with store.read() as reader:
            is_unfinished = bool(reader.meta(take_out.UNFINISHED))
        if is_unfinished:
            marks = Tombstones(home.tombstones)
            what = take_out.Removal(marks, retention=retention, now_ms=NOW_MS)
            take_out.clean_copies(home, SqliteStore, what)
            discard(home.context)
            take_out.wipe(store)


def _contexts(home: Home) -> None:
    with _memory(home) as memory:
        for project in memory.projects():
            hook_output.write(memory, project, home, Settings())


def _index(home: Home) -> None:
    drain(home)
    with _memory(home) as memory:
        memory.search("harbour")


def _again(work: Work) -> Work:
    def finish(home: Home) -> None:
        work(home)
        drain(home)

    return finish


@contextmanager
def _store(home: Home) -> Iterator[SqliteStore]:
    with closing(SqliteStore(home.database, backups=home.backups)) as store:
        yield store


@contextmanager
def _memory(home: Home) -> Iterator[Memory]:
    model = LazyModel(chosen("instant", home.models))
    index = index_for(home.index, model, is_owner=True)
    with _store(home) as store, closing(index):
        yield Memory(store, owner="ana", now_ms=lambda: NOW_MS, index=index, encode=lambda *_: None)


def _drain(home: Home, store: SqliteStore) -> None:
    carried = pipeline(home, store)
    while carried.drain().entries:
        pass
    with store.read() as reader:
        projects = out_of_order(reader)
    if projects:
        _derive_anew(home, store, frozenset(), projects)


def _derive_anew(
    home: Home, store: SqliteStore, gone: frozenset[int], projects: Sequence[int] = ()
) -> None:
    anew = take_out.Rederivation(home, SqliteStore, store, gone, projects)
    anew.derive()
    anew.adopt()


PURGE = Way("purge", _with_the_word, _purge, _purge_again)
WAYS = (
    Way("first drain", _nothing, drain, drain),
    Way("drain", _filled, drain, drain),
    Way("migration", _filled, _upgrade, _upgrade, _NEWER),
    Way("rebuild", _filled, _rebuild, _again(_rebuild)),
    Way("checkpoint", _filled, _checkpoint, drain),
    Way("backup", _filled, _backup, _again(_backup)),
    PURGE,
    Way("redact", _with_a_secret, _redact, _redact_again),
    Way("expiry", _with_old_events, _expire, _again(_expire)),
    Way("size cap", _with_old_events, _make_room, _again(_make_room)),
    Way("context files", _filled, _contexts, _again(_contexts)),
    Way("index", _filled, _index, _index),
)
