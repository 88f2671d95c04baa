"""Homes that share by the real carriers, while what can happen to a share happens."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import msgspec
import pytest

from observer.core.errors import ShareUnavailable
from observer.core.paths import Home
from observer.serve import sharing
from observer.serve.sharing import ShareWorker
from observer.sync import postgres
from observer.sync.carriers import Carrier
from observer.sync.incoming import failed, sync_once
from observer.sync.postgres import PostgresCarrier
from tests.serve.services import services_over
from tests.support import Until
from tests.sync.home.machines import NAME, Machine

Machines = Callable[..., Machine]
DAY_MS = 86_400_000


class Share(Protocol):
    def open(self, machine: str) -> Carrier: ...


class Joined:
    """Machines of people who share by one carrier each."""

    def __init__(self, machine: Machines, share: Share, stack: ExitStack) -> None:
        self._machine, self._share, self._stack = machine, share, stack
        self._carriers: dict[str, Carrier] = {}

    def make(self, *people: str) -> list[Machine]:
        for person in people:
            opened = self._stack.enter_context(closing(self._share.open(person)))
            self._carriers[person] = opened
        return [self._machine(person) for person in people]

    def sync(self, *machines: Machine) -> None:
        for one in machines:
            sync_once(one.home, NAME, self._carriers[one.person])


@pytest.fixture(params=["folder"])
def joined(machine: Machines, request: pytest.FixtureRequest) -> Iterator[Joined]:
    with ExitStack() as stack:
        yield Joined(machine, request.getfixturevalue(f"{request.param}_share"), stack)


by_each = pytest.mark.parametrize("joined", ["folder", "git", "postgres"], indirect=True)


class Network:
    """A network between machines and a server that can be cut: nothing comes, nothing is said."""

    def __init__(self, share: Any, stack: ExitStack) -> None:
        self._share, self._stack = share, stack
        self._flows = threading.Event()
        self._flows.set()
        self._ends: list[socket.socket] = []
        self._listens = socket.create_server(("127.0.0.1", 0))
        stack.callback(self.mend)
        stack.callback(self._listens.close)
        stack.callback(self._listens.shutdown, socket.SHUT_RDWR)
        threading.Thread(target=self._serve, daemon=True).start()

    def open(self, machine: str) -> Carrier:
        self._share.open(machine).close()
        parts = urlsplit(self._share.logins[machine])
        here = f"{parts.username}@127.0.0.1:{self._listens.getsockname()[1]}"
        return PostgresCarrier(urlunsplit(parts._replace(netloc=here, query="")))

    def cut(self) -> None:
        self._flows.clear()

    def mend(self) -> None:
        """Have new connections; what was on the way in the old ones is lost."""
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._ends.clear()
        self._flows.set()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near = self._listens.accept()[0]
                far = socket.socket(socket.AF_UNIX)
                far.connect(str(self._share.server.folder / ".s.PGSQL.5432"))
                self._ends += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, here: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while data := here.recv(1 << 16):
                self._flows.wait()
                there.sendall(data)
            there.shutdown(socket.SHUT_WR)


def work(home: Machine, joined: Joined) -> None:
    """Keep, change and forget notes, and share in between."""
    for number in range(6):
        item = home.note(f"{home.person} {number}")
        joined.sync(home)
        if number % 3 == 1:
            home.revise(item, f"{home.person} {number}, changed")
        if number % 3 == 2:
            home.forget(item)


@pytest.mark.slow
@by_each
def test_three_that_write_at_once_end_up_with_the_same(joined: Joined) -> None:
    three = joined.make("ana", "bob", "eve")
    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(work, one, joined) for one in three]:
            done.result(60)
    joined.sync(*three, *three)
    assert three[0].texts() == three[1].texts() == three[2].texts()
    assert len(three[0].texts()) == 12


@pytest.mark.slow
@pytest.mark.parametrize("what", ["server", "network"])
def test_an_hour_without_a_server_loses_nothing(
    what: str, machine: Machines, postgres_share: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as stack:
        network = Network(postgres_share, stack)
        server = postgres_share.server
        away, back = {
            "server": (server.stop, server.start),
            "network": (network.cut, network.mend),
        }[what]
        joined = Joined(machine, network, stack)
        ana, bob = joined.make("ana", "bob")
        ana.note("before")
        joined.sync(ana, bob)
        away()
        monkeypatch.setattr(postgres, "MOST_S", 0.2)
        for one in (ana, bob):
            one.now_ms += DAY_MS // 24
            one.note(f"meanwhile {one.person}")
            with pytest.raises(ShareUnavailable) as refused:
                joined.sync(one)
            failed(one.home, NAME, refused.value)
        back()
        monkeypatch.undo()
        joined.sync(ana, bob, ana)
    assert ana.texts() == bob.texts()
    assert len(ana.texts()) == 3


@by_each
def test_clocks_two_days_apart_end_up_with_the_same(joined: Joined) -> None:
    ana, bob = joined.make("ana", "bob")
    ana.now_ms += 2 * DAY_MS
    item = ana.note("one")
    joined.sync(ana, bob)
    for text in ("two", "three"):
        bob.revise(bob.only().id, f"{text}, by bob")
        joined.sync(bob, ana)
        ana.revise(item, f"{text}, by ana")
        joined.sync(ana, bob)
    assert ana.texts() == bob.texts()
    assert bob.only().narrative == "three, by ana"


@pytest.mark.slow
def test_a_round_begins_once_another_pushed_to_a_server(
    machine: Machines, postgres_share: Any, home: Home, until: Until
) -> None:
    ana, bob = machine("ana"), machine("bob")
    with closing(postgres_share.open("bob")) as carrier, closing(postgres_share.open("ana")):
        with ana.store.read() as reader:
            (share,) = reader.shares()
        ana.add(msgspec.structs.replace(share, url=postgres_share.logins["ana"]))

        def shares_again() -> bool:
            bob.note(f"note {len(bob.items())}")
            sync_once(bob.home, NAME, carrier)
            return bool(ana.items())

        async def lives() -> None:
            made = ShareWorker(
                services_over(home, ana.store, pipeline=ana.pipeline, tombstones=ana.tombstones)
            )
            running = asyncio.create_task(made.run())
            try:
                await asyncio.to_thread(until, lambda: made._heard)
                await asyncio.to_thread(until, shares_again, wait_s=sharing.EVERY_S / 2)
            finally:
                running.cancel()

        asyncio.run(lives())
    assert ana.texts()
