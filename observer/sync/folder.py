"""A share in a folder that a file synchroniser or a mounted bucket carries, or in a git repository.

Files may arrive in any order, twice, late, in parts: what is not whole is named and read later.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from observer.core.errors import BadInput, ShareUnavailable
from observer.git.exchange import Exchange
from observer.sync import keys
from observer.sync.keys import Identity, Member, Unreadable, publish
from observer.sync.record import NotMember, Pulled, Record, Refused, withheld
from observer.sync.segments import (
    KEYS,
    SEGMENTS,
    SegmentName,
    batches,
    key_of,
    keys_for,
    read_keys,
    read_segment,
    segment_named,
    wrapped,
    write_segment,
)

LOOK_S, LOOK_AT_REMOTE_S = 1.0, 30.0
"""Between two looks at the names in the folder, or at the remote, while waiting."""


class FolderCarrier:
    """The segments in a folder, or in the clone that a home has of a git repository.

    Raises: ShareUnavailable (there are none, no key to them, or other branches).
    """

    def __init__(self, url: str, home: Path, *, is_git: bool = False) -> None:
        self.folder, self._exchange = _files(url, home, is_git=is_git)
        self._home = home
        if self._exchange and not (self.folder / keys.SHARE).exists():
            with keys.locked(home, self.folder.name):
                self._exchange.bring()
        self.share = keys.share_in(self.folder).share
        keys.identity_in(home, self.share)
        self._closed = threading.Event()
        self._kept: tuple[str, list[Record]] = ("", [])
        self._heard = self._names()

    def push(self, records: Sequence[Record]) -> None:
        """Append records of one origin, in their order, durably; known ones are passed over."""
        if any(one.visibility == "personal" for one in records):
            raise BadInput(
                "what is personal does not leave in a share of files: all its members can read it",
                hint="promote it first",
            )
        with self._writing() as (mine, members):
            if not records:
                return
            ours = self._claimed(mine, members, records[0].origin)
            last = self._last(ours, mine, records[0].origin)
            fresh = [one for one in records if one.sequence > last]
            if fresh and fresh[0].sequence != last + 1:
                raise BadInput(
                    f"record {fresh[0].sequence} does not follow {last}, the last one of this"
                    f" machine that can be read in {self.folder}",
                    hint="wait for what synchronises it; else leave the share, and join it anew",
                )
            readers = [one for one in ours.values() if not one.end]
            for batch, lines in batches(fresh):
                segment = write_segment(self.folder, mine, batch, lines, readers)
                self._kept = segment.stem, list(batch)

    def pull(self, since: Mapping[str, int], *, limit: int) -> Pulled:
        """Return at most `limit` records of a higher sequence than `since` has of their origin."""
        with self._writing() as (mine, members):
            self._heard = self._names()
            segments, refused = self._segments(members)
        people = keys.people_of(members, mine)
        refused = [one._replace(person=people.get(one.origin, "")) for one in refused]
        whose = {one.origin: people[one.id] for one in members.values() if one.origin}
        records: list[Record] = []
        for origin, theirs in sorted(segments.items()):
            for batch in self._read(theirs, members, mine, known=since.get(origin, 0)):
                if isinstance(batch, Refused):
                    refused.append(batch._replace(origin=origin, person=whose[origin]))
                    continue
                records += batch
                if len(records) >= limit:
                    return Pulled(records[:limit], refused, whose, people[mine.id])
        return Pulled(records, refused, whose, people[mine.id])

    def wake(self, timeout_s: float) -> bool:
        """Wait until a segment has come or gone; return False if none has."""
        look_s, waited_s = LOOK_AT_REMOTE_S if self._exchange else LOOK_S, 0.0
        while True:
            if self._exchange.is_news() if self._exchange else self._names() != self._heard:
                return True
            step_s = min(look_s, timeout_s - waited_s)
            if step_s <= 0 or self._closed.wait(step_s):
                return False
            waited_s += step_s

    def close(self) -> None:
        """End what waits."""
        self._closed.set()

    def invite(self, person: str) -> str:
        """Let in a machine of a person, and return the code that it joins with, once."""
        with self._writing() as (mine, _):
            code = keys.invite(self.folder, mine, person=person)
        with self._writing():
            return code

    def members(self) -> list[tuple[str, str]]:
        """Return the machines that are in, as (id, person)."""
        with self._writing() as (mine, members):
            people = keys.people_of(members, mine)
        return [(one.id, people[one.id]) for one in members.values() if not one.end]

    def rotate(self) -> None:
        """Give this machine fresh keys; the old ones sign and read nothing from now on."""
        with self._writing() as (mine, members):
            last = self._last_of(mine.id)
            name = keys.name_of(members[mine.id], mine)
            keys.succeed(self.folder, self._home, mine, name, last=last)

    def remove(self, machine: str) -> None:
        """End a machine's membership: it gets no key to what is written from now on."""
        with self._writing() as (mine, members):
            keys.remove(self.folder, mine, members, machine, last=self._last_of(machine))
            self._members(mine)  # remembered at once, for who holds the folder may take it away

    def leave(self) -> None:
        """End this machine's own membership, and delete its keys; killed, it can be done again."""
        with suppress(NotMember), self._writing() as (mine, members):
            keys.remove(self.folder, mine, members, mine.id, last=self._last_of(mine.id))
        if self._exchange:  # a plain folder is not this home's
            shutil.rmtree(self.folder)
        keys.forget(self._home, self.share)

    def withhold(self, uuids: Collection[str]) -> None:
        """Destroy what own records hold of items: their segment is written anew without."""
        with self._writing() as (mine, members):
            readers = [one for one in members.values() if not one.end]
            for old in self._segments(members)[0].get(members[mine.id].origin, []):
                with suppress(Unreadable):
                    records = self._opened(old, members, mine)
                    left = [
                        withheld(one) if one.kind == "item" and one.uuid in uuids else one
                        for one in records
                    ]
                    if left != records:
                        for batch, lines in batches(left):
                            write_segment(self.folder, mine, batch, lines, readers)
                        self._destroy(old)

    def _destroy(self, segment: SegmentName) -> None:
        """Delete a segment, its key first: killed in between, nobody can read it."""
        for path in (self.folder / KEYS).glob("*.keys"):
            found = read_keys(path)
            if found.pop(segment.stem, None):
                publish(path, msgspec.json.encode(found))
        for ending in ("keys", "segment"):
            (self.folder / SEGMENTS / f"{segment.stem}.{ending}").unlink(missing_ok=True)
        self._kept = ("", [])

    @contextmanager
    def _writing(self) -> Iterator[tuple[Identity, dict[str, Member]]]:
        """Yield own keys, read anew, and all members, while no other process writes."""
        try:
            with keys.locked(self._home, self.share):
                if self._exchange:
                    self._exchange.bring()
                if keys.share_in(self.folder).share != self.share:
                    raise ShareUnavailable(f"another share lies in {self.folder} now")
                mine = keys.identity_in(self._home, self.share)
                yield mine, self._members(mine)
                if self._exchange:
                    self._exchange.send()
        except OSError as error:
            raise ShareUnavailable(f"{self.folder} cannot be used: {error}") from error

    def _members(self, mine: Identity) -> dict[str, Member]:
        """Return the members, after what is new of them was remembered and they were let in."""
        seen = keys.seen_in(self._home, self.share)
        members = keys.members_of(self.folder, self.share, seen)
        if mine.id not in members:
            raise ShareUnavailable(
                "this machine's card has not arrived in the share, or not all of it",
                hint="wait for what synchronises it; else leave the share, and join it anew",
            )
        if members[mine.id].end:
            raise NotMember(
                "this machine is no member of the share any more",
                hint="ask a member for: observer sync invite",
            )
        origins = _first_claims(members.values(), seen.origins)
        for one in members.values():
            if origins.get(one.origin) != one.root:
                members[one.id] = replace(one, origin="")
        for one in members.values():
            if not one.end and one.id not in seen.let_in:
                self._let_in(mine, one, members)
        keys.remember(self.folder, self._home, self.share, seen, members, origins)
        return members

    def _let_in(self, mine: Identity, one: Member, members: Mapping[str, Member]) -> None:
        """Encrypt the keys of all segments that can be read to a member that is new here."""
        has, later = keys_for(self.folder, one.id), self._later(mine, members)
        path = self.folder / KEYS / f"{one.id}.{mine.id}.keys"
        found = read_keys(path)
        for segment in filter(None, map(segment_named, self._names())):
            at_first = read_keys(self.folder / SEGMENTS / f"{segment.stem}.keys")
            if one.id in at_first or segment.stem in has:
                continue
            if secret := key_of(self.folder, segment, mine, later):
                found[segment.stem] = wrapped(secret, one)
        if found:
            publish(path, msgspec.json.encode(found))
        if one.id == mine.id and one.card.succeeds:
            for old in (self.folder / KEYS).glob(f"{one.card.by}.*.keys"):
                old.unlink(missing_ok=True)

    def _claimed(
        self, mine: Identity, members: dict[str, Member], origin: str
    ) -> dict[str, Member]:
        """Return the members, after this machine has said of which origin its records are."""
        if not members[mine.id].origin:
            keys.claim(self.folder, mine, origin)
            members = self._members(mine)
        if members[mine.id].origin != origin:
            raise BadInput(f"{origin} is not the origin of this machine in the share")
        return members

    def _names(self) -> frozenset[str]:
        try:
            return frozenset(entry.name for entry in (self.folder / SEGMENTS).iterdir())
        except FileNotFoundError:
            keys.share_in(self.folder)
            return frozenset()  # nothing was sent yet, and empty folders do not always travel
        except OSError as error:
            raise ShareUnavailable(f"{self.folder} cannot be read: {error}") from error

    def _segments(
        self, members: Mapping[str, Member]
    ) -> tuple[dict[str, list[SegmentName]], list[Refused]]:
        """Return the segments of each origin, and what is none or of nobody who is in."""
        found: dict[str, list[SegmentName]] = defaultdict(list)
        refused: dict[str, Refused] = {}
        for name in sorted(self._names()):
            stem = name.removesuffix(".keys").removesuffix(".segment")
            segment = segment_named(f"{stem}.segment")
            if name.startswith("."):
                continue
            if segment is None:
                why = "it is no segment, perhaps a conflict copy; if so, delete it"
                refused[name] = Refused(name, 0, why)
            elif name.endswith(".segment"):
                if why := _why_not(segment, members.get(segment.machine)):
                    refused.setdefault(
                        segment.machine, Refused(segment.machine, segment.first, why)
                    )
                else:
                    found[members[segment.machine].origin].append(segment)
        return found, list(refused.values())

    def _read(
        self,
        segments: Sequence[SegmentName],
        members: Mapping[str, Member],
        mine: Identity,
        *,
        known: int,
    ) -> Iterator[list[Record] | Refused]:
        """Yield the records of an origin after the known ones, at last why there are no more."""
        reached = known
        stopped: Refused | None = None
        for segment in sorted(segments, key=lambda one: (one.first, -one.last)):
            if segment.last <= reached:
                continue
            if segment.first > reached + 1:
                gap = f"records {reached + 1} to {segment.first - 1} have not arrived"
                stopped = stopped or Refused("", reached + 1, gap)
                break
            try:
                batch = self._opened(segment, members, mine)
            except Unreadable as error:
                stopped = stopped or Refused("", segment.first, f"{segment.stem}: {error}")
                continue
            yield [one for one in batch if one.sequence > reached]
            reached = segment.last
        if stopped:
            yield stopped

    def _later(self, mine: Identity, members: Mapping[str, Member]) -> Mapping[str, str]:
        """Return the keys that this machine was given later, under its former ids too."""
        found: dict[str, str] = {}
        one: Member | None = members[mine.id]
        while one:
            found |= keys_for(self.folder, one.id)
            one = members.get(one.card.by) if one.card.succeeds else None
        return found

    def _opened(
        self, segment: SegmentName, members: Mapping[str, Member], mine: Identity
    ) -> list[Record]:
        if self._kept[0] != segment.stem:
            later = self._later(mine, members)
            records = read_segment(self.folder, segment, members[segment.machine], mine, later)
            self._kept = (segment.stem, records)
        return self._kept[1]

    def _last(self, members: Mapping[str, Member], mine: Identity, origin: str) -> int:
        """Return the greatest sequence of an origin that can be read, not only named; else 0."""
        segments = self._segments(members)[0].get(origin, [])
        for segment in sorted(segments, key=lambda one: -one.last):
            with suppress(Unreadable):
                self._opened(segment, members, mine)
                return segment.last
        return 0

    def _last_of(self, machine: str) -> int:
        segments = filter(None, map(segment_named, self._names()))
        return max((one.last for one in segments if one.machine == machine), default=0)


def _first_claims(members: Iterable[Member], known: Mapping[str, str]) -> dict[str, str]:
    """Return whose each origin is (a root); without a known claim, what two claim is nobody's."""
    claims: dict[str, set[str]] = defaultdict(set)
    for one in members:
        if one.origin:
            claims[one.origin].add(one.root)
    sole = {origin: min(roots) for origin, roots in claims.items() if len(roots) == 1}
    return sole | dict(known)


def _why_not(segment: SegmentName, by: Member | None) -> str:
    if by is None:
        return "it is signed by a machine that is not in the share"
    if by.end and segment.first > by.end.last:
        return "its machine had left the share"
    if not by.origin:
        return "its machine has not said of which origin its records are, or of another's"
    return ""


def _files(url: str, home: Path, *, is_git: bool) -> tuple[Path, Exchange | None]:
    if not is_git:
        return Path(url).expanduser(), None
    folder = home / "sharing" / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.clone"
    return folder, Exchange(folder, url, final=f"{SEGMENTS}/")


@contextmanager
def _exchanging(folder: Path, exchange: Exchange | None, home: Path) -> Iterator[None]:
    if exchange is None:  # something else brings and takes what lies in a plain folder
        yield
        return
    with keys.locked(home, folder.name):
        exchange.bring()
        yield
        exchange.send()


def create(url: str, home: Path, *, is_git: bool, person: str) -> None:
    """Found a share in an empty folder or repository. Raises: BadInput, ShareUnavailable."""
    folder, exchange = _files(url, home, is_git=is_git)
    if exchange and (refs := exchange.refs()):
        raise BadInput(f"{url} is not empty: it holds {min(refs)}", hint="name a new repository")
    with _exchanging(folder, exchange, home):
        keys.create(folder, home, person=person)


def join(url: str, home: Path, code: str, *, is_git: bool) -> None:
    """Make this machine a member of a share of files; raises as `keys.join`."""
    folder, exchange = _files(url, home, is_git=is_git)
    with _exchanging(folder, exchange, home):
        keys.join(folder, home, code)
