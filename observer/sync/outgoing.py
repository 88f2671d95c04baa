"""What leaves a home for a share: chosen, redacted, chained, and carried away."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec
import orjson
from msgspec.structs import replace

from observer.core.errors import NotFound
from observer.core.events import Event, Shared
from observer.core.model import UNASSIGNED, Item, Project, Receipt, seq_of
from observer.core.value import decode_json
from observer.observations.note_reducer import note_uuid, own_title
from observer.projects.policy import Policies
from observer.redaction.redact import redact
from observer.store.interface import Store
from observer.store.reader import StoreReader
from observer.store.shares import GONE, ShareState, Waiting, share_fact
from observer.store.tombstones import Tombstones
from observer.store.writer import Writer
from observer.sync.carriers import Carrier
from observer.sync.record import ProjectKey, Record

BATCH = 500
"""Records that are made, fetched or taken in at once."""
PUSHED = 2_000
"""Records that are carried away at once: each time makes a file, or a commit."""
MOST_BYTES = 1 << 19
"""Of a record's item; a note has at most 64 KiB of characters."""
TYPES = frozenset({"commit", "fix"})
"""What of the captured leaves, beside summaries."""
TURN = "turn"
CLIENT = "observer"
LEAVES = frozenset({"note", "summary"})
LOCAL: dict[str, Any] = {  # fields of several types
    "id": 0,
    "project_id": None,
    "session_id": None,
    "owner": "",
    "enrichment": None,
    "approval": "",
    "suspicion": "",
    "file": "",
    "stale_ms": None,
    "deleted_ms": None,
    "person": "",
    "validity": (),
}
"""What only this machine knows of an item, or says of it for itself."""
LAST = 2**63 - 1
APART = "apart"
"""The fact which projects' policies let nothing leave, by their ids."""
PURGED = "purged"
"""The fact which items were purged here that the share may still hold, by uuid."""
_T = TypeVar("_T")

Write = Callable[[Callable[[Writer], None]], None]
"""Carries something out in a transaction of its own."""
Ingest = Callable[[Sequence[Event], int | None], Sequence[Receipt]]


class HomeSide(NamedTuple):
    """What a share needs of a home: `person` is its owner's name, `folder` that person's own."""

    store: Store
    write: Write
    ingest: Ingest
    person: str
    tombstones: Tombstones
    policies: Policies
    now_ms: Callable[[], int]
    folder: str = ""


def share_called(reader: StoreReader, name: str) -> ShareState:
    """Return a share by its name. Raises: NotFound (there is none, or it was removed meanwhile)."""
    for share in reader.shares():
        if share.name == name:
            return share
    raise NotFound(f"no share {name!r}", hint="see: observer sync status")


def left_key(url: str) -> str:
    """Return the name of the fact under which uuid this home was in a share that it has left."""
    return f"left {url}"


class Leaving(NamedTuple):
    """An item that leaves, or `item` deleted: with its first event, and the uuid that it gave."""

    item: Item
    project: Project
    event_id: str
    born_as: str
    body: str


def push(home: HomeSide, name: str, carrier: Carrier) -> int:
    """Send what has changed since the last time; return how many records.

    Others take in the first while later ones are made. At last the share forgets what was purged.
    """
    sent, is_more = 0, True
    while True:
        is_more = is_more and collect(home, name, enough=PUSHED)
        with home.store.read() as reader:
            waiting = reader.waiting(name, limit=PUSHED)
            purged = _noted(reader, name, PURGED, str)
        if waiting:
            carrier.push([decode_json(one.record, Record) for one in waiting])
            home.write(partial(Writer.drop_waiting, share=name, until=waiting[-1].sequence))
            sent += len(waiting)
        elif not is_more:
            if purged:
                carrier.withhold(purged)
                home.write(partial(_note, share=name, fact=PURGED, values=()))
            return sent


def collect(home: HomeSide, name: str, *, enough: int = LAST) -> bool:
    """Make records of what changed here, until enough wait; return whether there may be more."""
    while _collect(home, name):
        with home.store.read() as reader:
            if reader.count_waiting(name) >= enough:
                return True
    return False


def _collect(home: HomeSide, name: str) -> bool:
    """Make records of the next changes; return whether there may be more."""
    with home.store.read() as reader:
        share = share_called(reader, name)
        apart = kept_apart(reader, home.policies, name)
        kept = apart.keys() == _noted(reader, name, APART, int)
        if kept and (share.epoch, share.change) == (reader.epoch(), reader.newest_change()):
            return False
    counts: list[int] = []

    def work(writer: Writer) -> None:
        share = share_called(writer, name)
        if share.epoch != writer.epoch():
            share = _begun_anew(home, writer, share)
        if _noted(writer, name, APART, int) - apart.keys():
            share = replace(share, change=0)  # what was kept back may leave now
        _note(writer, share=name, fact=APART, values=apart)
        after, types = share.change, TYPES | {TURN} if share.turns else TYPES
        changes = writer.leaving(after=after, projects=share.projects, types=types, limit=BATCH)
        items = [item for _, item in changes]
        departing = list(leaving(writer, share, items, apart, home.folder))
        share = _send(home, writer, share, departing)
        last = changes[-1][0] if len(changes) == BATCH else writer.newest_change()
        writer.put_share(replace(share, change=last))
        counts.append(len(changes))

    home.write(work)
    return counts == [BATCH]


def _begun_anew(home: HomeSide, writer: Writer, share: ShareState) -> ShareState:
    """Return a share begun anew, after a purge or a rebuild; what was purged is gone."""
    purged = [
        one for one in writer.departed(share.name) if home.tombstones.names(one.event_id, "", ())
    ]
    gone = [one for one in purged if not one.is_said]
    for start in range(0, len(gone), BATCH):
        part = gone[start:][:BATCH]
        share = chain(writer, share, [_record(home, one.uuid) for one in part])
        writer.put_sent(share.name, ((one.uuid, GONE, one.event_id) for one in part))
    uuids = _noted(writer, share.name, PURGED, str) | {one.uuid for one in purged}
    _note(writer, share=share.name, fact=PURGED, values=uuids)
    return replace(share, epoch=writer.epoch(), change=0)


def kept_apart(reader: StoreReader, policies: Policies, name: str) -> dict[int, str]:
    """Return the names of the projects whose policy lets nothing leave for a share.

    What was kept stays so while its folder is missing, which says nothing.
    """
    projects = reader.projects()
    unknown = {one.id for one in projects if not any(map(os.path.isdir, one.roots))}
    apart = policies.unshared(projects) | unknown & _noted(reader, name, APART, int)
    return {one.id: one.name for one in projects if one.id in apart}


def leaving(
    reader: StoreReader,
    share: ShareState,
    items: Sequence[Item],
    apart: Collection[int],
    folder: str,
) -> Iterator[Leaving]:
    """Yield what leaves of some items, by today's rules; of deleted ones all.

    apart: projects of which nothing leaves; folder: the person's own. A summary leaves once its
    session is over.
    """
    projects = {project.id: project for project in reader.projects()}
    active = {one.id for one in reader.sessions(active=True, limit=LAST)}
    firsts = reader.begun_by({seq_of(item.id) for item in items})
    for item in items:
        first = firsts.get(seq_of(item.id))
        if first is None or item.file:
            continue
        event_id, at_ms, project_id = first
        project = projects[project_id if item.project_id is None else item.project_id]
        if share.projects and project.id not in share.projects:
            continue
        born = event_id, note_uuid(event_id, at_ms)
        is_own = item.scope == "personal" or bool(item.person)
        is_judged = not item.suspicion and item.approval != "provisional"
        if item.deleted_ms is not None:
            yield Leaving(item, project, *born, "")
        elif project.id in apart or project.id == UNASSIGNED or is_own or not is_judged:
            continue
        elif item.session_id not in active or item.kind != "summary":
            yield Leaving(item, project, *born, _body(reader, item, project, folder))


def first_leaving(
    reader: StoreReader, share: ShareState, apart: Collection[int], folder: str, *, limit: int
) -> list[Leaving]:
    """Return the first things that would leave for a share that is not there yet, as `leaving`."""
    found: list[Leaving] = []
    types = TYPES | {TURN} if share.turns else TYPES
    after = 0
    while len(found) < limit:
        changes = reader.leaving(after=after, projects=share.projects, types=types, limit=BATCH)
        items = [item for _, item in changes if item.deleted_ms is None]
        found += islice(leaving(reader, share, items, apart, folder), limit - len(found))
        if len(changes) < BATCH:
            break
        after = changes[-1][0]
    return found


def _send(
    home: HomeSide, writer: Writer, share: ShareState, departing: Sequence[Leaving]
) -> ShareState:
    """Chain what has changed since it left, and note what left; return the share as it is then."""
    uuids = [one.item.uuid for one in departing]
    sent, gone = writer.sent(share.name, uuids), writer.gone(uuids)
    records, noted = [], []
    for one in departing:
        uuid, is_deleted = one.item.uuid, one.item.deleted_ms is not None
        is_foreign = one.event_id.startswith(f"{share.key}-")
        if uuid in gone or sent.get(uuid) == GONE:
            continue
        former = []
        if one.item.kind == "note" and uuid != one.born_as:
            # What else it was called that left, before its deletion was taken back.
            former = writer.under_other_uuids(share.name, uuid, one.event_id)
        if is_deleted and (uuid in sent or is_foreign):
            former.append(uuid)
        records += [_record(home, each, key_of(one.project)) for each in former]
        noted += [(each, GONE, one.event_id) for each in former]
        if not is_deleted:
            record = _record(home, uuid, key_of(one.project), one)
            data = msgspec.json.encode(replace(record, at_ms=0), order="sorted")
            digest = hashlib.blake2b(data, digest_size=16).hexdigest()
            if sent.get(uuid) != digest:
                is_later = is_foreign or uuid in sent
                records.append(_aware(writer, record, one.item.id) if is_later else record)
                noted.append((uuid, digest, one.event_id))
    writer.put_sent(share.name, noted)
    return chain(writer, share, records)


def chain(writer: Writer, share: ShareState, records: Iterable[Record]) -> ShareState:
    """Give records their place behind those that were made before, and have them wait."""
    waiting = []
    for record in records:
        placed = replace(
            record, origin=share.origin, sequence=share.sequence + 1, previous=share.hash
        )
        share = replace(share, sequence=placed.sequence, hash=placed.hash())
        waiting.append(Waiting(placed.sequence, msgspec.json.encode(placed).decode()))
    writer.put_waiting(share.name, waiting)
    return share


def _record(
    home: HomeSide, uuid: str, project: ProjectKey | None = None, one: Leaving | None = None
) -> Record:
    """Return a record of an item that leaves, or of a deletion, without a place in the chain."""
    return Record(
        origin="",
        sequence=0,
        previous="",
        kind="item" if one else "tombstone",
        uuid=uuid,
        project=project or ProjectKey(name=""),
        author=home.person,
        visibility=one.item.scope if one else "project",
        at_ms=one.item.updated_ms if one else home.now_ms(),
        body=one.body if one else "",
    )


def _aware(reader: StoreReader, record: Record, item: int) -> Record:
    """Return the record of a later version with when the newest was made that others had sent."""
    bodies = [one.event.body for one in reader.history(item)]
    theirs = [one.item for one in bodies if isinstance(one, Shared) and one.item]
    aware_ms = max((one.get("updated_ms", 0) for one in theirs), default=0)
    return replace(record, body=f'{record.body[:-1]},"aware_ms":{aware_ms}}}')


def _noted(reader: StoreReader, share: str, fact: str, kind: type[_T]) -> set[_T]:
    return decode_json(reader.meta(share_fact(share, fact)) or "[]", set[kind])  # type: ignore[valid-type]


def _note(writer: Writer, *, share: str, fact: str, values: Iterable[int | str]) -> None:
    writer.put_meta(share_fact(share, fact), orjson.dumps(sorted(values)).decode())


def key_of(project: Project) -> ProjectKey:
    """Return what other machines recognise a project by; remotes on this one's disk are none."""
    remotes = tuple(remote for remote in project.remotes if not remote.startswith(("/", "file:")))
    return ProjectKey(name=project.name, remotes=remotes, root_commit=project.root_commit)


def _body(reader: StoreReader, item: Item, project: Project, folder: str) -> str:
    """Return an item as JSON, redacted, without what only this machine knows."""
    targets = {link.target for link in item.links if link.target}
    known = {one.id: one.uuid for one in reader.items(sorted(targets))}
    plain = replace(
        item,
        **LOCAL,
        files_read=tuple(path for path in item.files_read if path[:1] != "/"),
        files_modified=tuple(path for path in item.files_modified if path[:1] != "/"),
        # They lead by uuid to what they lead to by an id of this home.
        links=tuple(
            replace(link, target=0, title=known.get(link.target, link.title)) for link in item.links
        ),
    )
    roots = sorted(project.roots, key=len, reverse=True)
    begins = [(f"{root}/", b"") for root in roots]
    begins += [(f"{folder}/", b"~/")] if folder else []
    body = msgspec.json.encode(redact(bare(plain)))
    for begin, instead in begins:
        body = body.replace(msgspec.json.encode(begin)[1:-1], instead)
    return body.decode()


def bare(item: Item) -> Item:
    """Return an item without what follows from the rest, which would be searched for secrets."""
    if item.kind != "note":
        return replace(item, uuid="")
    return replace(item, uuid="", content_hash="", title=own_title(item))
