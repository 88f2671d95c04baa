"""Which trees are watched, and how; a real store and a real repository, no daemon."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.model import UNASSIGNED, Project, Session
from observer.local.spool import Spool
from observer.serve import watch_set
from observer.serve.watch_set import POLLED, WatchSet
from observer.serve.watcher import WatchWorker
from observer.serve.worker import Health
from observer.store.database import SqliteStore
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
def grown(store: SqliteStore) -> Iterator[WatchSet]:
    made = WatchSet(store, Settings(), Health())
    made.refresh_if_due()
    yield made
    made.close()


@pytest.mark.parametrize(("watch", "count"), [(True, 1), (False, 0)])
def test_one_setting_turns_it_off(
    store: SqliteStore, tmp_path: Path, *, watch: bool, count: int
) -> None:
    async def story() -> int:
        settings = Settings(watch=watch)
        spool = Spool(tmp_path / "spool")
        spool.prepare()
        watching = WatchWorker(store, spool, lambda *_: (), settings=settings, health=Health())
        task = asyncio.create_task(watching.run())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await watching.finish()
        return len(watching.shown())

    assert asyncio.run(story()) == count


def test_a_new_tree_is_looked_at_once(store: SqliteStore, app: str) -> None:
    grown = WatchSet(store, Settings(), Health())
    assert grown.refresh_if_due() == {app}
    assert grown.refresh_if_due() == frozenset()
    grown.close()


def test_a_path_belongs_to_the_tree_around_it(grown: WatchSet, app: str) -> None:
    tree = grown.tree(app)
    assert grown.tree_of(f"{app}/src/deep/a.py") is tree
    assert grown.tree_of(f"{app}-other/a.py") is None


@pytest.mark.parametrize(
    ("projects", "is_news"), [({None, UNASSIGNED, 2}, False), ({2, 3}, True)], ids=["old", "new"]
)
def test_an_unknown_project_is_news(
    grown: WatchSet, projects: set[int | None], *, is_news: bool
) -> None:
    assert grown.is_news(projects) is is_news
    assert (grown.wait_s() < watch_set.SOON_S + 1) is is_news


def test_beyond_the_limit_trees_are_looked_at_once_a_minute(
    store: SqliteStore, app: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_set, "most_folders", lambda: 1)
    health = Health()
    grown = WatchSet(store, Settings(), health)
    assert grown.refresh_if_due() == {app}
    assert [one.reason for one in grown.shown()] == [POLLED]
    assert "sudo sysctl fs.inotify.max_user_watches=" in (health.text() or "")
    grown.close()


def test_new_folders_are_watched_from_then_on(grown: WatchSet, app: str) -> None:
    tree = grown.tree(app)
    assert tree is not None
    (Path(app) / "new").mkdir()
    assert grown.update(tree, [f"{app}/new"])
    assert f"{app}/new" in tree.folders


def test_a_tree_that_is_gone_is_dropped(grown: WatchSet, app: str) -> None:
    tree = grown.tree(app)
    assert tree is not None
    Path(app).rename(f"{app}-moved")
    assert not grown.update(tree, [f"{app}/src"])
    assert grown.shown() == ()


def test_a_tree_that_grew_too_large_is_dropped_and_shown(store: SqliteStore, app: str) -> None:
    grown = WatchSet(store, Settings(watch_max_files=1), Health())
    grown.refresh_if_due()
    tree = grown.tree(app)
    assert tree is not None
    for name in ("one", "two"):
        (Path(app) / name).touch()
    assert not grown.update(tree, [app])
    assert [one.reason[:17] for one in grown.shown()] == ["more than 1 files"]
    grown.close()


def test_an_excluded_project_is_shown_as_that(store: SqliteStore, app: str) -> None:
    grown = WatchSet(store, Settings(exclude=(app,)), Health())
    assert grown.refresh_if_due() == frozenset()
    assert [(one.root, one.reason) for one in grown.shown()] == [(app, "excluded")]


def test_a_project_whose_policy_cannot_be_used_is_shown_as_that(
    store: SqliteStore, app: str
) -> None:
    (Path(app) / ".observer.toml").write_text("exclude = 1")
    grown = WatchSet(store, Settings(), Health())
    assert grown.refresh_if_due() == frozenset()
    (shown,) = grown.shown()
    assert shown.reason.startswith(f"nothing is recorded: {app}/.observer.toml, line 1: exclude")
