"""Faults at the steps of whatever changes a home: nothing lost, nothing doubled, nothing stuck.

Here at a few steps of each way; `scripts/campaign.py` takes all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from faults import points
from faults.campaign import DONE, FAULTS, KILL, POWER, Campaign, Fault, Row, forked, spread
from faults.medium import Medium
from faults.ways import PURGE, WAYS, Way

from observer.core.paths import Home
from observer.store.pages import damaged_pages


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """One for all tests: it prepares the home of a way once."""
    return Campaign(tmp_path_factory.mktemp("campaign"))


def assert_harmless(row: Row) -> None:
    assert row.wrong == []
    assert (row.lost, row.doubled) == (0, 0)
    assert row.stored == row.offered > 0


def test_no_fault_loses_or_doubles_anything(campaign: Campaign) -> None:
    """The way that every event goes; the others are below."""
    drain = next(way for way in WAYS if way.name == "drain")
    for number, fault in enumerate((KILL, POWER, FAULTS[-1]), start=1):
        assert_harmless(campaign.run(drain, fault, lambda count, n=number: {1 + n * count // 4}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [KILL._replace(kinds=points.CHANGES), POWER], ids=lambda fault: fault.name
)
def test_a_purge_can_be_cut_off_as_it_ends(campaign: Campaign, fault: Fault) -> None:
    """Its order is overwritten before it is deleted: nobody may find it in between."""
    assert_harmless(campaign.run(PURGE, fault, lambda count: range(count - 6, count + 1)))


@pytest.mark.slow
def test_a_purge_can_be_killed_between_any_two_names(campaign: Campaign) -> None:
    """A backup is there before and after it was cleaned, and never in between."""
    kinds = frozenset({points.Kind.RENAME, points.Kind.SYNC})
    assert_harmless(campaign.run(PURGE, KILL._replace(kinds=kinds), spread(17)))


@pytest.mark.slow
@pytest.mark.parametrize("is_full", [True, False], ids=["disk full", "EIO once"])
def test_a_failing_disk_costs_no_backup_of_a_purge(campaign: Campaign, *, is_full: bool) -> None:
    name = "disk full" if is_full else "EIO once"
    fault = next(fault for fault in FAULTS if fault.name.startswith(name))

    def steps(count: int) -> range:
        return range(count // 2, count, count // 9) if is_full else range(count - 41, count, 7)

    assert_harmless(campaign.run(PURGE, fault, steps))


@pytest.mark.slow
def test_a_power_cut_takes_no_stored_event_for_a_broken_one(campaign: Campaign) -> None:
    """The name of an event may come back with the power, but then its bytes do, too."""
    way = next(way for way in WAYS if way.name == "drain")
    assert_harmless(campaign.run(way, POWER, lambda count: range(count // 2, count, 7)))


@pytest.mark.parametrize("name", ["backup", "migration"])
def test_a_copy_that_was_made_outlasts_a_power_cut(name: str, tmp_path: Path) -> None:
    """Whoever was answered relies on it, and so does a migration that has gone on."""
    way = next(way for way in WAYS if way.name == name)
    home, left = Home(tmp_path / "home"), Home(tmp_path / "left")
    assert forked(lambda: way.prepare(home)) == DONE

    def work() -> None:
        medium = Medium(home.root)
        points.watch(str(home.root), medium)
        way.work(home)
        medium.survive(left.root, seed=0)

    assert forked(work) == DONE
    (copy,) = left.backups.glob("*.db")
    assert copy.stat().st_size
    assert damaged_pages(copy) == []


OTHERS = [way for way in WAYS if way.name != "size cap"]  # whose steps are those of an expiry


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(FAULTS)), ids=[fault.name for fault in FAULTS])
@pytest.mark.parametrize("way", OTHERS, ids=lambda way: way.name)
def test_no_fault_does_at_other_steps(campaign: Campaign, way: Way, number: int) -> None:
    """On each way the faults strike at different steps, from the first to the last."""
    place = (number + OTHERS.index(way)) % len(FAULTS)
    last = len(FAULTS) - 1
    steps = campaign.run(way, FAULTS[number], lambda count: {1 + place * (count - 1) // last})
    assert_harmless(steps)
