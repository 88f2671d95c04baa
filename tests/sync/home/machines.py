"""Homes that share a folder: each with a store, a pipeline and notes of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from observer.core.config import Settings
from observer.core.events import AnyBody, Commit, Event, Forget, Remember, Revise, Undo
from observer.core.model import Item, Receipt
from observer.core.value import decode_json
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.projects.policy import Policies
from observer.store.database import SqliteStore
from observer.store.shares import ShareState
from observer.store.tombstones import Tombstones
from observer.store.writer import Writer
from observer.sync.outgoing import HomeSide
from observer.sync.record import Pulled, Record, withheld

NOW_MS = 1_790_000_000_000
NAME = "team"


class LinesCarrier:
    """Records of a share in one file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.me = ""

    def push(self, records: Sequence[Record]) -> None:
        """Append what is not there yet."""
        known = {(one.origin, one.sequence) for one in self.records()}
        with self._file.open("ab") as lines:
            for record in records:
                if (record.origin, record.sequence) not in known:
                    lines.write(msgspec.json.encode(record) + b"\n")

    def pull(self, since: Mapping[str, int], *, limit: int) -> Pulled:
        """Return what is later, in the order in which it came."""
        records = self.records()
        later = [one for one in records if one.sequence > since.get(one.origin, 0)]
        people = {one.origin: one.origin.removeprefix("o-") for one in records}
        return Pulled(later[:limit], people=people, me=self.me)

    def withhold(self, uuids: Collection[str]) -> None:
        """Put stubs in the place of the records of items."""
        records = [
            withheld(one) if one.uuid in uuids and one.kind == "item" else one
            for one in self.records()
        ]
        self._file.unlink(missing_ok=True)
        self.push(records)

    def wake(self, timeout_s: float) -> bool:
        """Say that nothing is known of others."""
        del timeout_s
        return False

    def close(self) -> None:
        """Let go of nothing."""

    def records(self) -> list[Record]:
        """Return all that was ever pushed."""
        lines = self._file.read_bytes().splitlines() if self._file.exists() else []
        return [decode_json(line, Record) for line in lines]


class Machine:
    """One person's machine with a project `shop`, joined to the share."""

    def __init__(self, folder: Path, person: str, **share: Any) -> None:
        self.person, self.now_ms = person, NOW_MS
        self.shop = folder / "shop"
        self.shop.mkdir(parents=True)
        (self.shop / "pyproject.toml").touch()
        self.store = SqliteStore(folder / "observer.db")
        self.tombstones = Tombstones(folder / "tombstones")
        self.pipeline = Pipeline(
            self.store,
            Spool(folder / "spool"),
            settings=Settings(),
            places=PlaceCache(),
            now_ms=lambda: self.now_ms,
            tombstones=self.tombstones,
        )
        self.home = HomeSide(
            store=self.store,
            write=self._write,
            ingest=self.pipeline.ingest,
            person=person,
            tombstones=self.tombstones,
            policies=Policies(),
            now_ms=lambda: self.now_ms,
        )
        self._events = 0
        self.add(ShareState(name=NAME, url="x", key=f"k-{person}", origin=f"o-{person}", **share))

    def _write(self, work: Callable[[Writer], None]) -> None:
        with self.store.write() as writer:
            work(writer)

    def add(self, share: ShareState) -> None:
        self._write(lambda writer: writer.put_share(share))

    def report(self, *bodies: AnyBody, **fields: Any) -> Receipt:
        """Have things happen in the project, a second apart; return the last receipt."""
        events = []
        for body in bodies:
            self._events, self.now_ms = self._events + 1, self.now_ms + 1000
            given = {"id": f"{self.person}-{self._events}", "client": "x", "cwd": str(self.shop)}
            events.append(Event(**given | fields, at_ms=self.now_ms, body=body))
        return self.pipeline.ingest(events)[-1]

    def note(self, content: str, **fields: Any) -> int:
        receipt = self.report(Remember(content=content, **fields), author="person")
        assert receipt.item
        return receipt.item

    def revise(self, item: int, content: str) -> None:
        self.report(Revise(item=item, content=content), author="person")

    def forget(self, item: int) -> None:
        self.report(Forget(item=item), author="person")

    def undo(self, item: int) -> None:
        self.report(Undo(item=item), author="person")

    def commit(self, digit: str) -> None:
        commit = Commit(hash=digit * 40, subject=f"Do {digit}", author="Ana")
        self.report(commit, dedup=f"commit:{commit.hash}")

    def items(self) -> list[Item]:
        with self.store.read() as reader:
            return list(reader.all_items())

    def texts(self) -> list[str]:
        """Return what there is, as far as it is the same in all homes."""
        return sorted(f"{one.uuid} {one.title} {one.narrative}" for one in self.items())

    def only(self) -> Item:
        (item,) = self.items()
        return item
