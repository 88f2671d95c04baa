"""What was stored before it was recognised goes while the daemon is idle, from every byte."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from observer.core.events import Command, Prompt
from observer.core.paths import Home
from observer.redaction.seen import SEEN
from observer.serve.maintenance import RetentionWorker
from observer.serve.worker import end
from observer.store.database import SqliteStore
from observer.upkeep import redact
from tests.upkeep.purge.conftest import NOW_MS, holding, retaining

VALUE = "Xkdlqzptbwmrvc39"
BARE = Command(command="make", output=f"try {VALUE} again")
LATER = "Qw7Rt2Yu9Pl4Ks8Jd3"
NAMED = Prompt(text=f"API_KEY={VALUE}")
OTHER = Prompt(text="mend the cart")


@pytest.fixture
def copied(home: Home) -> Home:
    """A home, with a copy, in which a value stands that was not known then."""
    with retaining(home, OTHER, BARE):
        pass
    home.backups.mkdir(exist_ok=True)
    with closing(SqliteStore(home.database)) as store:
        store.backup(home.backups / "observer-auto-1.db")
    assert holding(home, VALUE)
    return home


def test_it_goes_from_log_items_and_copies(copied: Home) -> None:
    with retaining(copied, OTHER, BARE, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
        assert worker.redacting == 0
    assert holding(copied, VALUE) == []
    with closing(SqliteStore(copied.database)) as store, store.read() as reader:
        assert reader.totals().events == 3
        assert reader.meta(redact.SEARCHED) == SEEN.state


def test_the_next_daemon_derives_what_a_killed_one_redacted(
    copied: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with retaining(copied, OTHER, BARE, NAMED), closing(SqliteStore(copied.database)) as store:
        with store.read() as reader:
            seqs = redact.found_in(reader)
        redact.redact_found(store, seqs, SEEN.state, 0)
    assert holding(copied, VALUE)
    with retaining(copied) as worker:
        asyncio.run(worker.look(NOW_MS))
    assert holding(copied, VALUE) == []
    assert "events held values" not in caplog.text  # it is not counted as none


@pytest.mark.slow(waits=True)
def test_it_goes_soon_after_it_is_recognised(home: Home) -> None:
    async def gone(worker: RetentionWorker, value: str) -> None:
        SEEN.learn([value])
        worker.touch([1])
        while holding(home, value):  # noqa: ASYNC110 - files are no events
            await asyncio.sleep(0.1)

    async def go(worker: RetentionWorker) -> None:
        looks = asyncio.create_task(worker.run())
        async with asyncio.timeout(50):  # the next look of its own accord is ten minutes away
            await gone(worker, VALUE)
            await gone(worker, LATER)
        await end([looks])

    with retaining(home, OTHER, BARE, Prompt(text=f"is it {LATER} ?")) as worker:
        asyncio.run(go(worker))
    assert not holding(home, VALUE)
    assert not holding(home, LATER)


def test_a_search_goes_on_where_a_killed_daemon_was_and_ends_without_news(home: Home) -> None:
    looked: list[int] = []

    def catch_up() -> tuple[int, int]:
        looked.clear()
        count = redact.catch_up(store, lambda work, *given: work(*given), looked.append)
        return count, sum(looked)

    with retaining(home, OTHER, BARE), closing(SqliteStore(home.database)) as store:
        SEEN.learn([VALUE])
        redact.redact_found(store, [], SEEN.state, 1)
        assert catch_up() == (1, 1)
        assert catch_up() == (0, 0)
        SEEN.learn([LATER])
        redact.redact_found(store, [], "what was known before", 1)
        assert catch_up() == (0, 2)


def test_the_name_of_a_project_goes_as_well(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "w" / VALUE
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    with retaining(home, OTHER, cwd=str(folder)):
        pass
    with retaining(home, NAMED) as worker:
        asyncio.run(worker.look(NOW_MS))
    assert holding(home, VALUE) == []
