"""What every carrier of a share does, tried on each with the real thing."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from observer.core.errors import BadInput, ShareUnavailable
from observer.sync import carriers
from observer.sync.carriers import Carrier
from observer.sync.folder import FolderCarrier
from observer.sync.record import Record, chained, withheld
from tests.sync.conftest import a_chain

Machine = Callable[[str], Carrier]


def all_of(carrier: Carrier, *, limit: int = 1000) -> dict[str, list[Record]]:
    """Pull until nothing comes, as a home does; fail if anything is refused or unlinked."""
    last: dict[str, tuple[int, str]] = {}
    found: dict[str, list[Record]] = {}
    while True:
        pulled = carrier.pull({origin: at for origin, (at, _) in last.items()}, limit=limit)
        taken, unlinked = chained(pulled.records, last)
        assert (list(pulled.refused), unlinked) == ([], [])
        assert len(pulled.records) <= limit
        if not taken:
            return found
        for record in taken:
            last[record.origin] = (record.sequence, record.hash())
            found.setdefault(record.origin, []).append(record)


def test_a_chain_is_taken_and_pulled_once_without_a_gap(machine: Machine) -> None:
    one, two, three, _ = records = a_chain("a", 4)
    laptop = machine("laptop")
    laptop.push([])
    assert all_of(machine("desktop")) == {}
    laptop.push([one])
    with pytest.raises(BadInput, match="3 does not follow 1"):
        laptop.push([three])
    assert all_of(laptop) == {"a": [one]}
    laptop.push([one])
    laptop.push([one, two])
    laptop.push([two, three])
    machine("laptop").push(records)  # which starts again
    assert all_of(machine("desktop")) == {"a": records}
    assert machine("desktop").pull({"a": 2}, limit=10).records == records[2:]
    assert machine("desktop").pull({"a": 4}, limit=10).records == []


@pytest.mark.parametrize("limit", [1, 2, 5, 7])
def test_a_pull_is_bounded(machine: Machine, limit: int) -> None:
    machine("laptop").push(a_chain("a", 5))
    machine("desktop").push(a_chain("b", 6))
    found = all_of(machine("third"), limit=limit)
    assert found == {"a": a_chain("a", 5), "b": a_chain("b", 6)}


def test_machines_see_each_others_texts_unchanged(machine: Machine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    records = a_chain("a", 4, body='{"text": "größer 🦉 \\u0001 \\n' + "x" * 300_000 + '"}')
    laptop.push(records[:2])
    desktop.push(a_chain("b", 3))
    laptop.push(records)
    assert all_of(laptop) == all_of(desktop) == {"a": records, "b": a_chain("b", 3)}


def test_who_writes_as_another_is_named_as_who_he_is(machine: Machine) -> None:
    ana, ben = machine("Ana"), machine("Ben")
    ana.push(a_chain("a", 2))
    with pytest.raises(BadInput, match="not the origin of this machine"):
        ben.push(a_chain("a", 3))
    ben.push(a_chain("b", 1))
    assert {one.author for one in a_chain("b", 1)} == {"Ana"}
    pulled = ana.pull({}, limit=9)
    assert (pulled.me, pulled.people) == ("Ana", {"a": "Ana", "b": "Ben"})
    assert all_of(ana) == {"a": a_chain("a", 2), "b": a_chain("b", 1)}


@pytest.mark.slow
def test_three_machines_write_at_once(machine: Machine) -> None:
    writers = {name: machine(name) for name in "abc"}
    at_once(
        [lambda n=name, c=one: push_in_parts(c, a_chain(n, 9)) for name, one in writers.items()]
    )
    assert all_of(machine("reader")) == {name: a_chain(name, 9) for name in "abc"}


@pytest.mark.slow
def test_two_programs_of_one_machine_push_the_same_at_once(machine: Machine) -> None:
    machine("laptop").push([])
    programs = [machine("laptop"), machine("laptop")]
    at_once([lambda one=one: push_in_parts(one, a_chain("a", 9)) for one in programs])
    assert all_of(machine("reader")) == {"a": a_chain("a", 9)}


def at_once(works: Sequence[Callable[[], None]]) -> None:
    """Do several works in threads, and raise what one of them raises."""
    with ThreadPoolExecutor(len(works)) as threads:
        for done in [threads.submit(work) for work in works]:
            done.result(60)


@pytest.mark.slow
@pytest.mark.parametrize("after_ms", [5, 15, 40, 80, 160])
def test_a_writer_that_is_killed_leaves_a_whole_chain(machine: Machine, after_ms: int) -> None:
    machine("laptop").close()
    records = a_chain("a", 60)
    killed_while(lambda: push_in_parts(machine("laptop"), records), after_ms)
    arrived = all_of(machine("desktop")).get("a", [])
    assert arrived == records[: len(arrived)]
    machine("laptop").push(records)
    assert all_of(machine("desktop")) == {"a": records}


def push_in_parts(carrier: Carrier, records: Sequence[Record]) -> None:
    for at in range(0, len(records), 3):
        carrier.push(records[: at + 3])


def killed_while(work: Callable[[], None], after_ms: int) -> None:
    """Do work in a process of its own that the kernel's timer kills."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, after_ms / 1000)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.slow
def test_a_full_disk_loses_and_doubles_nothing(machine: Machine, share: Any) -> None:
    records = a_chain("a", 40, body=f'"{secrets.token_hex(50_000)}"')
    laptop, desktop = machine("laptop"), machine("desktop")
    laptop.push(records[:1])
    assert all_of(desktop) == {"a": records[:1]}
    with share.full():
        with pytest.raises(ShareUnavailable):
            laptop.push(records)
        assert all_of(desktop) == {"a": records[:1]}
    laptop.push(records)
    assert all_of(desktop) == {"a": records}


@pytest.mark.parametrize("share", ["folder", "git"], indirect=True)
@pytest.mark.parametrize("keep", [0, 10, 100, -1])
def test_a_torn_segment_stops_nobody_else(machine: Machine, share: Any, keep: int) -> None:
    laptop = machine("laptop")
    laptop.push(a_chain("a", 2))
    desktop = cast("FolderCarrier", machine("desktop"))
    (torn,) = desktop.folder.glob("segments/*.segment")
    whole = torn.read_bytes()
    torn.write_bytes(whole[:keep])
    desktop.push(a_chain("b", 2))
    if not carriers.is_git(share.url):  # which has it whole itself
        pulled = desktop.pull({}, limit=10)
        assert pulled.records == a_chain("b", 2)
        assert ("torn" in pulled.refused[0].why, pulled.refused[0].person) == (True, "laptop")
        torn.write_bytes(whole)
    assert all_of(desktop) == {"a": a_chain("a", 2), "b": a_chain("b", 2)}
    assert all_of(machine("third")) == all_of(laptop) == all_of(desktop)


def test_who_sent_it_withholds_it_and_the_chain_goes_on(machine: Machine) -> None:
    records = a_chain("a", 3)
    laptop = machine("laptop")
    laptop.push(records)
    machine("desktop").withhold([one.uuid for one in records])
    assert all_of(machine("late")) == {"a": records}
    laptop.withhold([records[1].uuid])
    assert all_of(machine("later")) == {"a": [records[0], withheld(records[1]), records[2]]}
    laptop.push(a_chain("a", 4))
    assert all_of(machine("desktop"))["a"][3:] == a_chain("a", 4)[3:]


def test_who_waits_hears_of_a_push_and_of_nothing_else(machine: Machine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    all_of(desktop)
    assert not desktop.wake(0.01)
    laptop.push(a_chain("a", 1))
    assert desktop.wake(20)


def test_a_share_out_of_reach_is_said_to_be(machine: Machine, share: Any) -> None:
    carrier = machine("laptop")
    share.vanish()
    for call in (lambda: carrier.push([]), lambda: carrier.pull({}, limit=1)):
        with pytest.raises(ShareUnavailable):
            call()
