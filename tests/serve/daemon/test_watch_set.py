"""Which trees are watched, and how; saves that wait for hooks. No daemon is there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.model import UNASSIGNED, Project, Session
from observer.core.paths import Home
from observer.ingest.duplicates import WINDOW_MS
from observer.ingest.file_changes import Save
from observer.serve import watch_set
from observer.serve.watch_set import BEYOND, WatchSet
from observer.serve.watcher import MOST_SAVES, MOST_WAIT_MS, PendingSaves, WatchWorker, unreported
from observer.store.database import SqliteStore
from tests.serve.services import services_over
from tests.support import Git


@pytest.fixture
def app(tmp_path: Path, git: Git) -> str:
    git(tmp_path / "app", "init")
    (tmp_path / "app" / "src").mkdir()
    return str(tmp_path / "app")


@pytest.fixture
def store(tmp_path: Path, app: str) -> Iterator[SqliteStore]:
    """A store with a session in the repository."""
    made = SqliteStore(tmp_path / "observer.db")
    with made.write() as writer:
        writer.put_project(Project(id=2, uuid="u", name="app", roots=(app,)))
        at_ms = now_ms()
        writer.put_session(
            Session(id=1, external="s", client="x", project_id=2, cwd=app, last_ms=at_ms)
        )
    yield made
    made.close()


@pytest.fixture
def grown(home: Home, store: SqliteStore) -> Iterator[WatchSet]:
    made = WatchSet(services_over(home, store))
    made.refresh_if_due()
    yield made
    made.close()


@pytest.mark.parametrize(("watch", "count"), [(True, 1), (False, 0)])
def test_one_setting_turns_it_off(
    home: Home, store: SqliteStore, *, watch: bool, count: int
) -> None:
    async def story() -> int:
        settings = Settings(watch=watch)
        watching = WatchWorker(services_over(home, store, settings=settings))
        task = asyncio.create_task(watching.run())
        await asyncio.sleep(0)
        while watch and not watching.shown():  # noqa: ASYNC110 - a thread of its own looks
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await watching.finish()
        return len(watching.shown())

    assert asyncio.run(story()) == count


def test_a_new_tree_is_looked_at_once(home: Home, store: SqliteStore, app: str) -> None:
    grown = WatchSet(services_over(home, store))
    assert grown.refresh_if_due() == {app}
    assert grown.refresh_if_due() == frozenset()
    grown.close()


@pytest.mark.parametrize(
    ("projects", "is_news"), [({None, UNASSIGNED, 2}, False), ({2, 3}, True)], ids=["old", "new"]
)
def test_an_unknown_project_is_news(
    grown: WatchSet, projects: set[int | None], *, is_news: bool
) -> None:
    assert grown.is_news(projects) is is_news
    assert (grown.wait_s() < watch_set.SOON_S + 1) is is_news


def test_beyond_the_limit_trees_are_not_watched_and_shown_as_that(
    home: Home, store: SqliteStore, app: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("observer.serve.inotify.most_folders", lambda: 1)
    services = services_over(home, store)
    grown = WatchSet(services)
    grown.refresh_if_due()
    assert [one.reason for one in grown.shown()] == [BEYOND]
    assert "sudo sysctl fs.inotify.max_user_watches=" in (services.health.text() or "")
    grown.close()


def test_a_tree_has_the_paths_in_it_and_new_folders_until_it_is_gone(
    grown: WatchSet, app: str
) -> None:
    tree = grown.trees[app]
    assert grown.tree_of(f"{app}/src/deep/a.py") is tree
    assert grown.tree_of(f"{app}-other/a.py") is None
    (Path(app) / "new").mkdir()
    assert grown.update(tree, [f"{app}/new"])
    assert f"{app}/new" in tree.folders
    Path(app).rename(f"{app}-moved")
    assert not grown.update(tree, [f"{app}/src"])
    assert grown.shown() == ()


def test_a_tree_that_grew_too_large_is_dropped_and_shown(
    home: Home, store: SqliteStore, app: str
) -> None:
    services = services_over(home, store, settings=Settings(watch_max_files=1))
    grown = WatchSet(services)
    grown.refresh_if_due()
    tree = grown.trees[app]
    for name in ("one", "two"):
        (Path(app) / name).touch()
    assert not grown.update(tree, [app])
    anew = WatchSet(services)
    anew.refresh_if_due()
    for each in (grown, anew):
        (shown,) = each.shown()
        assert shown.reason == "more than 1 files (setting watch_max_files)"
        each.close()


@pytest.mark.parametrize(
    ("settings", "policy", "reason"),
    [
        pytest.param({"exclude": ("{app}",)}, "", "excluded", id="excluded"),
        pytest.param(
            {},
            "exclude = 1",
            "nothing is recorded: {app}/.observer.toml, line 1: exclude",
            id="policy",
        ),
    ],
)
def test_a_project_that_is_not_watched_is_shown_with_the_reason(
    home: Home, store: SqliteStore, app: str, settings: dict[str, Any], policy: str, reason: str
) -> None:
    if policy:
        (Path(app) / ".observer.toml").write_text(policy)
    given = {name: tuple(one.format(app=app) for one in value) for name, value in settings.items()}
    grown = WatchSet(services_over(home, store, settings=Settings(**given)))
    assert grown.refresh_if_due() == frozenset()
    (shown,) = grown.shown()
    assert shown.root == app
    assert shown.reason.startswith(reason.format(app=app))


def a_save(at_ms: int = 0, *, path: str = "a", old: str = "1", new: str = "2") -> Save:
    return Save(path=path, from_ms=at_ms, to_ms=at_ms, old=old, new=new)


def test_a_save_is_due_when_hooks_had_their_time_each_file_by_itself() -> None:
    pending = PendingSaves()
    assert pending.due_ms() is None
    pending.add("/app", [a_save()], now_ms=1000)
    pending.add("/app", [a_save(path="b")], now_ms=9000)
    assert pending.due_ms() == 1000 + WINDOW_MS
    assert pending.due(999 + WINDOW_MS) == {}
    assert pending.due(1000 + WINDOW_MS) == {"/app": [[a_save()]]}
    pending.drop("/app", [[a_save()]])
    assert pending.due_ms() == 9000 + WINDOW_MS


def test_a_file_that_is_saved_again_waits_on_but_not_for_ever() -> None:
    pending = PendingSaves()
    for at_ms in range(0, MOST_WAIT_MS, 1000):
        pending.add("/app", [a_save()], now_ms=at_ms)
    assert pending.due_ms() == MOST_WAIT_MS


def test_of_many_saves_the_first_and_last_text_are_kept() -> None:
    pending = PendingSaves()
    for n in range(3 * MOST_SAVES):
        pending.add("/app", [a_save(n, old=str(n), new=str(n + 1))], now_ms=n)
    ((saves,),) = pending.due(MOST_WAIT_MS).values()
    assert len(saves) == MOST_SAVES
    assert (saves[0].old, saves[-1].new) == ("0", str(3 * MOST_SAVES))


EARLY, LATE = 20_000 - WINDOW_MS, 20_000 + WINDOW_MS


@pytest.mark.parametrize(
    ("saves", "hook_ms", "left"),
    [
        *(pytest.param([a_save(20_000)], [ms], None, id=f"{ms}") for ms in (EARLY, 20_000, LATE)),
        *(
            pytest.param([a_save(20_000)], [ms], a_save(20_000), id=f"not of {ms}")
            for ms in (EARLY - 1, LATE + 1)
        ),
        pytest.param(
            [a_save(0), a_save(20_000, old="2", new="3")],
            [100],
            a_save(20_000, old="2", new="3"),
            id="a person after an agent",
        ),
        pytest.param([a_save(0), a_save(1, old="2", new="1")], [], None, id="undone in between"),
    ],
)
def test_a_save_that_a_hook_showed_at_its_moment_is_left_out(
    saves: list[Save], hook_ms: list[int], left: Save | None
) -> None:
    assert unreported(saves, hook_ms) == left
