"""What a home takes in of a share, and a whole round of it: then what has changed here is sent.

Each record becomes an event, whose id follows from it. Every step may be repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, get_args
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from observer.core.errors import ObserverError
from observer.core.events import Event, Scope, Shared
from observer.core.filters import RECORDED_KINDS
from observer.core.model import UNASSIGNED, Item, Project, item_uuid
from observer.core.value import Value, decode_json, newest
from observer.store.reader import StoreReader
from observer.store.shares import GONE, Refusal, ShareState, purged_key, share_fact, tombstone_key
from observer.store.writer import Writer
from observer.sync.carriers import Carrier
from observer.sync.outgoing import (
    BATCH,
    CLIENT,
    LAST,
    LEAVES,
    LOCAL,
    MOST_BYTES,
    TURN,
    TYPES,
    HomeSide,
    bare,
    chain,
    collect,
    key_of,
    push,
    share_called,
)
from observer.sync.record import ProjectKey, Pulled, Record, Refused, chained


class Round(NamedTuple):
    """What one round did, in records: made here, taken in, refused."""

    sent: int = 0
    taken: int = 0
    refused: int = 0


def sync_once(home: HomeSide, name: str, carrier: Carrier) -> Round:
    """Fetch and take in what is there, then send what has changed here.

    In this order a restored home finds out what it once sent. Raises: ShareUnavailable.
    """
    taken, refused = pull(home, name, carrier)
    sent = push(home, name, carrier)
    at_ms = home.now_ms()
    _change(home, name, pulled_ms=at_ms, pushed_ms=at_ms, fault="")
    return Round(sent, taken, refused)


def failed(home: HomeSide, name: str, error: ObserverError) -> None:
    """Note why a round failed; what has changed here waits for the next."""
    collect(home, name)
    _change(home, name, fault=str(error))


def _change(home: HomeSide, name: str, **fields: Any) -> None:  # noqa: ANN401 - of several types
    home.write(lambda writer: writer.put_share(replace(share_called(writer, name), **fields)))


VERSIONS = "versions"
"""The fact which notes were changed on two machines apart, by uuid."""
MOST_APART = 20


def pull(home: HomeSide, name: str, carrier: Carrier) -> tuple[int, int]:
    """Take in all that is there; return how many records, and of how many homes some were refused.

    What was written here becomes records first, since a later version of another home takes its
    place. Of a home whose records cannot be trusted from one on, no more is fetched in this round.
    """
    taken, begun_ms, is_collected = 0, home.now_ms(), False
    stuck: set[str] = set()
    come: set[tuple[str, int]] = set()
    while True:
        with home.store.read() as reader:
            share, last = share_called(reader, name), reader.known_origins(name)
            own = carried(reader, share)
        since = {origin: sequence for origin, (sequence, _) in last.items()}
        pulled = carrier.pull(
            since | {share.origin: own[0]} | dict.fromkeys(stuck, LAST), limit=BATCH
        )
        if pulled.records and not is_collected:
            is_collected = not collect(home, name)
            with home.store.read() as reader:
                share = share_called(reader, name)
        mine = [one for one in pulled.records if one.origin == share.origin]
        is_back = bool(mine) and not _is_known(home, share, mine)
        good, broken = chained(
            (one for one in pulled.records if is_back or one.origin != share.origin),
            last | {share.origin: own},
        )
        if is_back and any(one.origin == share.origin for one in broken):
            _go_on(home, share, None, own)
            continue
        broken = [one._replace(person=pulled.whose(one.origin)) for one in broken]
        fresh = [one for one in (*broken, *pulled.refused) if one.origin not in stuck]
        bad = _take_in(home, share, pulled._replace(records=good))
        if is_back:
            _go_on(home, share, mine[-1], own)
        if good or fresh:
            _note_taken(home, share, good, (*bad, *fresh))
        stuck |= {one.origin for one in fresh}
        come |= {(one.origin, one.sequence) for one in good}
        taken += len(good) - len(bad)
        if not (good or mine or fresh):
            break
    _settle(home, name, come, begun_ms=begun_ms)
    return taken, len(stuck)


def _settle(home: HomeSide, name: str, come: Collection[tuple[str, int]], *, begun_ms: int) -> None:
    """Forget what was refused before this round, unless it is refused still or was passed over."""
    with home.store.read() as reader:
        known, refusals = reader.known_origins(name), reader.refusals(name)
    over = [
        at
        for one in refusals
        if one.at_ms < begun_ms
        and (
            (at := (one.origin, one.sequence)) in come
            or not 1 <= one.sequence <= known.get(one.origin, (0, ""))[0]
        )
    ]
    if over:
        home.write(lambda writer: writer.drop_refusals(name, over))


def carried(reader: StoreReader, share: ShareState) -> tuple[int, str]:
    """Return number and hash of the newest own record that was carried away."""
    for one in reader.waiting(share.name, limit=1):
        return one.sequence - 1, decode_json(one.record, Record).previous
    return share.sequence, share.hash


def _is_known(home: HomeSide, share: ShareState, mine: Sequence[Record]) -> bool:
    """Note that own records are there that were taken for waiting; False if they are not these."""
    with home.store.read() as reader:
        waiting = {one.sequence: one.record for one in reader.waiting(share.name)}
    made = {number: decode_json(text, Record).hash() for number, text in waiting.items()}
    if any(made.get(one.sequence) != one.hash() for one in mine):
        return False
    until = max(one.sequence for one in mine)
    home.write(lambda writer: writer.drop_waiting(share.name, until=until))
    return True


def _go_on(home: HomeSide, share: ShareState, behind: Record | None, own: tuple[int, str]) -> None:
    """Give the records that wait another place in the chain.

    It is `behind` a record that this home, which was restored, does not know. Without one it goes
    on under another uuid: what is there in our name is another home's now.
    """
    if behind:
        anew = replace(share, sequence=behind.sequence, hash=behind.hash())
    else:
        anew = replace(share, origin=str(uuid4()), sequence=0, hash="")

    def work(writer: Writer) -> None:
        waiting = [decode_json(one.record, Record) for one in writer.waiting(share.name)]
        writer.drop_waiting(share.name, until=LAST)
        writer.put_share(chain(writer, anew, waiting))
        if own[0] and not behind:
            writer.put_origins(share.name, {share.origin: own})

    home.write(work)


def _take_in(home: HomeSide, share: ShareState, pulled: Pulled) -> list[Refused]:
    """Store records as events, in their order; return those that cannot be read."""
    records = pulled.records
    with home.store.read() as reader:
        known = reader.by_uuid(one.uuid for one in records)
        # Deleted anywhere, or purged here: of these no version counts.
        uuids = {one.uuid for one in records}
        gone = {one.uuid for one in records if one.kind == "tombstone"} | reader.gone(uuids)
        sent = reader.sent(share.name, uuids).items()
        gone |= {uuid for uuid, digest in sent if digest == GONE}
        gone |= {one for one in uuids if home.tombstones.names("", purged_key(one), ())}
        apart = [one.uuid for one in records if _is_apart(reader, share, one, known.get(one.uuid))]
    places = _Places(home, share, known)
    bad: list[Refused] = []
    wanted: list[tuple[int, Event]] = []
    for record in records:
        person = pulled.whose(record.origin)
        if record.kind == "withheld" or (record.kind == "item" and record.uuid in gone):
            continue  # not even its text is kept
        try:
            event = _event(home, share, record, person, is_new=record.uuid not in known)
        except (msgspec.MsgspecError, ValueError) as error:
            why = f"it is no item: {error}"
            bad.append(Refused(record.origin, record.sequence, why, person))
            continue
        project = places.of(record)
        if project is not None:
            wanted.append((project.id, replace(event, cwd="".join(project.roots[-1:]))))
    for project_id, group in groupby(wanted, key=lambda one: one[0]):
        home.ingest([event for _, event in group], project_id)

    def note_apart(writer: Writer) -> None:
        # Each with when what is shown was changed.
        fact = share_fact(share.name, VERSIONS)
        noted = decode_json(writer.meta(fact) or "{}", dict[str, int])
        noted |= {one.uuid: one.updated_ms for one in writer.by_uuid(apart).values()}
        writer.put_meta(fact, msgspec.json.encode(newest(noted, MOST_APART)).decode())

    if apart:
        home.write(note_apart)
    return bad


def _is_apart(reader: StoreReader, share: ShareState, record: Record, here: Item | None) -> bool:
    """Return True if a note was changed here and elsewhere, neither knowing of the other.

    That shows where this version has not left, is later all the same, or the other says so.
    """
    is_mine = here is not None and here.kind in RECORDED_KINDS and not here.person
    if here is None or not is_mine or here.deleted_ms is not None or record.kind != "item":
        return False
    is_news = record.at_ms >= share.added_ms and record.at_ms != here.updated_ms
    aware_ms = LAST
    with suppress(msgspec.MsgspecError):
        aware_ms = decode_json(record.body, _Aware).aware_ms
    is_unaware = min(record.at_ms, aware_ms) < here.updated_ms
    return is_news and (is_unaware or reader.carries(share.name, record.uuid))


class _Aware(Value):
    """When the newest version was made that the sender of one had from others."""

    aware_ms: int = LAST


def changed_apart(reader: StoreReader, share: str) -> list[Item]:
    """Return the notes that were changed on two machines apart, and not since."""
    known = decode_json(reader.meta(share_fact(share, VERSIONS)) or "{}", dict[str, int])
    there = reader.by_uuid(known).values()
    return [one for one in there if one.deleted_ms is None and one.updated_ms == known[one.uuid]]


class _Places:
    def __init__(self, home: HomeSide, share: ShareState, known: Mapping[str, Item]) -> None:
        self._home = home
        self._share = share
        self._known = known
        self._found: dict[ProjectKey, Project | None] = {}

    def of(self, record: Record) -> Project | None:
        """Return the project of a record, or of a deleted item, made if need be; None if apart."""
        item = self._known.get(record.uuid)
        if record.kind == "tombstone":
            project_id = item.project_id if item else None
            with self._home.store.read() as reader:
                there = {one.id: one for one in reader.projects()}[project_id or UNASSIGNED]
            is_apart = self._share.projects and there.id not in (UNASSIGNED, *self._share.projects)
            return None if is_apart else there
        if record.project not in self._found:
            self._home.write(partial(self._look, key=record.project))
        return self._found[record.project]

    def _look(self, writer: Writer, key: ProjectKey) -> None:
        share, projects = self._share, writer.projects()
        known = [one for one in projects if not share.projects or one.id in share.projects]
        found = match(key, known)
        if found is None and not share.projects:
            found = Project(
                id=max(one.id for one in projects) + 1,
                uuid=item_uuid(f"project:{share.key}:{key.name}", self._home.now_ms()),
                name=key.name or "shared",
                remotes=key.remotes,
                root_commit=key.root_commit,
                created_ms=self._home.now_ms(),
            )
            writer.put_project(found)
        self._found[key] = found


def _event(
    home: HomeSide, share: ShareState, record: Record, person: str, *, is_new: bool
) -> Event:
    """Return the event of a record; ValueError or MsgspecError if it holds nothing to be shared."""
    item = _item(record) if record.kind == "item" else None
    # A commit is known by its hash, whoever reports it; a later version of it is no report.
    is_commit = is_new and item is not None and item.type == "commit" and bool(item.commit)
    dedup = f"commit:{item.commit}" if item and is_commit else ""
    return Event(
        id=f"{share.key}-{record.origin}-{record.sequence}",
        at_ms=home.now_ms(),
        client=CLIENT,
        author=item.author if item else "system",
        dedup=tombstone_key(record.uuid) if item is None else dedup,
        body=Shared(
            share=share.key,
            origin=record.origin,
            sequence=record.sequence,
            uuid=record.uuid,
            person=person,
            item=None if item is None else msgspec.to_builtins(bare(item)),
        ),
    )


def _item(record: Record) -> Item:
    if len(record.body) > MOST_BYTES:
        raise ValueError("it is too long")
    item = replace(decode_json(record.body, Item), **LOCAL, uuid=record.uuid)
    if item.scope not in set(get_args(Scope)) - {"personal"} or item.scope != record.visibility:
        raise ValueError(f"it is {item.scope}")
    if item.kind not in LEAVES and item.type not in TYPES | {TURN}:
        raise ValueError(f"it is a {item.type}")
    return item


def match(key: ProjectKey, projects: Collection[Project]) -> Project | None:
    """Return the project that a key names: by a remote, by the oldest commit, else by its name.

    Two with remotes, and none in common, are forks; a name counts only where nothing else is known.
    """
    for one in projects:
        if set(key.remotes) & set(key_of(one).remotes):
            return one
    for one in projects:
        is_same = bool(key.root_commit) and key.root_commit == one.root_commit
        if is_same and not (key.remotes and key_of(one).remotes):
            return one
    for one in projects:
        is_bare = not (key.remotes or key.root_commit or one.remotes or one.root_commit)
        if is_bare and one.id != UNASSIGNED and one.name == key.name:
            return one
    return None


def _note_taken(
    home: HomeSide, share: ShareState, good: Sequence[Record], refused: Collection[Refused]
) -> None:
    newest_of = {one.origin: one for one in good if one.origin != share.origin}
    origins = {origin: (one.sequence, one.hash()) for origin, one in newest_of.items()}
    refusals = []
    for one in refused:
        what = f"record {one.sequence} of {one.person or one.origin}"
        why = f"{what if one.sequence else one.origin}: {one.why}"
        refusals.append(
            Refusal(origin=one.origin, sequence=one.sequence, why=why, at_ms=home.now_ms())
        )

    def work(writer: Writer) -> None:
        writer.put_origins(share.name, origins)
        writer.put_refusals(share.name, refusals)
        writer.send_again(share.name, (one.uuid for one in good))

    home.write(work)
