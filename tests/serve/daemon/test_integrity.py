"""Damage that nobody met is found in quiet, and a daemon mends itself while capture goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from observer.core.clock import now_ms
from observer.core.errors import StoreDamaged
from observer.core.paths import Home
from observer.local import client
from observer.serve import maintenance
from observer.serve.maintenance import IntegrityWorker
from observer.serve.worker import Health, LazyStore
from observer.store.database import SqliteStore
from observer.tools.status import current
from observer.upkeep.losses import Loss, losses, note, request_repair
from tests.serve.services import close, services_over

PAGE = 4096


@contextmanager
def watched(home: Home, looked: list[int]) -> Iterator[tuple[IntegrityWorker, LazyStore, Health]]:
    services = services_over(home)
    with services.store.write():
        pass
    services.store.checkpoint()
    sound = IntegrityWorker(services, on_checked=lambda: looked.append(1))
    try:
        yield sound, services.store, services.health
    finally:
        close(services)


def damage(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE + 99)
        file.write(b"damage")


async def until(sound: IntegrityWorker, condition: Callable[[], object]) -> None:
    task = asyncio.create_task(sound.run())
    while not condition():  # noqa: ASYNC110 - other threads bring it about
        await asyncio.sleep(0.01)
    task.cancel()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "LOOK_EVERY_S", 0.01)


def test_a_damaged_page_is_found_in_quiet_and_written_down(home: Home) -> None:
    with watched(home, []) as (sound, _, _), pytest.raises(StoreDamaged, match="page 9 "):
        damage(home.database, 9)
        asyncio.run(asyncio.wait_for(sound.run(), 20))
    assert "page 9 was changed" in home.damage.read_text()


def test_a_database_is_gone_through_slice_by_slice(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    monkeypatch.setattr(maintenance, "SLICE_PAGES", 10)

    with watched(home, looked) as (sound, store, _):
        asyncio.run(asyncio.wait_for(until(sound, lambda: looked), 20))
        assert store.damage == ""


def test_what_a_command_met_is_mended_and_not_asked_for_twice(home: Home) -> None:
    home.root.mkdir(parents=True)
    request_repair(home, "before")
    looked: list[int] = []
    with watched(home, looked) as (sound, _, _):
        asyncio.run(asyncio.wait_for(until(sound, lambda: looked), 20))
        home.damage.unlink()
        sound._rests_until = 0
        asyncio.run(asyncio.wait_for(until(sound, lambda: len(looked) > 1), 20))
        request_repair(home, "now")
        with pytest.raises(StoreDamaged, match="a command found"):
            asyncio.run(asyncio.wait_for(sound.run(), 20))


def test_what_a_reader_met_is_mended_too(home: Home) -> None:
    with watched(home, []) as (sound, store, _):
        damage(home.database, 1)
        with pytest.raises(StoreDamaged), store.read() as reader:
            reader.totals()
            reader.integrity()  # type: ignore[attr-defined]  # SQLite's
        assert "was changed" in store.damage
        with pytest.raises(StoreDamaged):
            asyncio.run(asyncio.wait_for(sound.run(), 20))


def test_a_disk_that_damages_again_and_again_is_not_filled_with_repaired_databases(
    home: Home,
) -> None:
    with watched(home, []) as (sound, _, health):
        note(home, Loss(at_ms=now_ms(), reason="before"))
        damage(home.database, 9)
        asyncio.run(asyncio.wait_for(until(sound, health.text), 20))
        assert "again; it is repaired once more later" in (health.text() or "")
    assert not home.damage.exists()


def test_where_damage_cannot_be_written_down_the_daemon_lives(home: Home) -> None:
    with watched(home, []) as (sound, _, health):
        home.root.joinpath("elsewhere").mkdir()
        home.damage.symlink_to(home.root / "nowhere" / "at-all")
        damage(home.database, 9)
        asyncio.run(
            asyncio.wait_for(
                until(sound, lambda: "cannot be repaired" in (health.text() or "")), 20
            )
        )


@pytest.mark.slow
def test_a_daemon_with_a_damaged_database_mends_it_and_goes_on(
    home: Home, within: Callable[..., Any], until: Callable[..., None]
) -> None:
    for number in range(3):
        within("post", "command", f"command=make part-{number}")
    assert within("up").returncode == 0
    until(lambda: current(home).events == 3)
    assert within("backup").returncode == 0
    assert within("backup", str(home.database)).returncode == 2  # it is there already
    pid = client.daemon_pid(home)
    until(lambda: home.database.stat().st_size > 20 * PAGE, wait_s=60)  # chores: every 30 s
    for page in range(5, 15):
        damage(home.database, page)
    assert within("post", "command", "command=make meanwhile").returncode == 0
    until(lambda: losses(home), wait_s=60)
    until(lambda: current(home).events == 4, wait_s=60)
    assert client.daemon_pid(home) == pid
    assert [loss.lost for loss in losses(home)] == [0]
    (aside,) = home.backups.glob("*-damaged-*.db")
    found = json.loads(within("doctor", "--json").stdout)["checks"]
    assert aside.name in next(check for check in found if check["name"] == "losses")["found"]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["export", "doctor --rebuild", "backup"])
def test_one_bad_page_ends_no_command_that_reads_everything(
    home: Home, observer: Callable[..., Any], within: Callable[..., Any], command: str
) -> None:
    for number in range(3):
        within("post", "command", f"command=make part-{number}")
    assert within("up").returncode == 0
    assert within("down").returncode == 0
    for page in range(5, 15):
        damage(home.database, page)
    done = observer(*command.split())
    assert done.returncode == 0, done.stderr
    assert "repaired at" in done.stderr
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        assert reader.totals().events == 3
