"""Two machines that share by a file of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from observer.sync.incoming import Round, sync_once
from tests.sync.home.machines import NAME, LinesCarrier, Machine

Machines = Callable[..., Machine]
Sync = Callable[..., list[Round]]


@pytest.fixture
def carrier(tmp_path: Path) -> LinesCarrier:
    return LinesCarrier(tmp_path / "records.jsonl")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machines]:
    with ExitStack() as open_ones:

        def make(person: str, **share: object) -> Machine:
            made = Machine(tmp_path / person, person, **share)
            open_ones.enter_context(closing(made.store))
            return made

        yield make


@pytest.fixture
def ana(machine: Machines) -> Machine:
    return machine("ana")


@pytest.fixture
def bob(machine: Machines) -> Machine:
    return machine("bob")


@pytest.fixture
def sync(carrier: LinesCarrier) -> Sync:
    def run(*machines: Machine) -> list[Round]:
        return [sync_once(one.home, NAME, carrier) for one in machines]

    return run
