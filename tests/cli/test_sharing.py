"""`observer sync`: two machines share a folder, each with its own daemon."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from observer.core.events import AnyBody, Commit, Event, Forget, Shared
from observer.core.model import item_id
from observer.core.paths import Home
from observer.local.spool import Spool
from observer.store.database import SqliteStore
from observer.store.shares import ShareState, tombstone_key
from observer.sync.carriers import create_share, open_files
from observer.sync.outgoing import left_key
from tests.cli.conftest import Run
from tests.support import pipeline_over, put_file
from tests.sync.conftest import Server, server

__all__ = ["server"]

Observer = Callable[..., "subprocess.CompletedProcess[str]"]


class Desk:
    """A machine: its home, and a project of the same name as the other's."""

    def __init__(self, observer: Observer, folder: Path, home: Path, person: str) -> None:
        self._observer = observer
        self._env = {"OBSERVER_HOME": str(home), "OBSERVER_OWNER": person}
        self.shop = folder / "shop"
        put_file(self.shop / "pyproject.toml")

    def __call__(self, *words: str) -> Any:
        ran = self._observer(*words, "--json", PWD=str(self.shop), **self._env)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def finds(self, word: str) -> bool:
        """Search; a count of what a round took would miss what the daemon's own round took."""
        return bool(self("search", word, "--project", str(self.shop))["observations"])


@pytest.fixture
def desks(observer: Observer, tmp_path: Path, home: Home) -> Iterator[tuple[Desk, Desk]]:
    two = (
        Desk(observer, tmp_path / "ana", home.root, "ana"),
        Desk(observer, tmp_path / "ben", tmp_path / "b", "ben"),
    )
    yield two
    two[1]("down")


@pytest.mark.slow(most_s=300)
def test_a_share_on_a_server_is_joined_by_address(desks: tuple[Desk, Desk], server: Server) -> None:
    ana, ben = desks
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE desks")
    owner = server.url("desks")
    ana("sync", "add", owner, "--create", "--yes")
    logins = [ana("sync", "invite", owner, one)["code"] for one in ("ana", "ben")]
    kept = ana("remember", "The cart needs a lock.", "--project", str(ana.shop))
    ben("remember", "Use pnpm.", "--project", str(ben.shop))
    ana("sync", "add", logins[0], "--name", "team", "--all", "--yes")
    ben("sync", "add", logins[1], "--name", "team", "--all", "--yes")
    assert ben.finds("lock")
    assert [one["unsearched"] for one in ana("sync", "now")] == [""]
    assert ana.finds("pnpm")
    assert ana("search", "pnpm", "--scope", "team")["observations"]
    ana("sync", "now")
    with psycopg.connect(owner) as there:
        rows = "SELECT count(*) FROM observer.entry"
        assert there.execute(rows).fetchone() == (2,)
        ana("purge", str(kept["id"]), "--yes")
        ana("sync", "now")
        assert there.execute(rows).fetchone() == (1,)
        held = there.execute("SELECT body FROM observer.record").fetchall()
    assert not any("lock" in body for (body,) in held)
    ben("sync", "now")
    assert not ben.finds("lock")
    (row,) = ben("sync", "status")
    assert logins[1].split("@")[0].rpartition(":")[2] not in row["url"]


@pytest.mark.slow(most_s=300)
def test_what_one_machine_knows_the_other_finds(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    ana, ben = desks
    share = str(tmp_path / "share")
    kept = ana("remember", "The cart needs a lock.", "--project", str(ana.shop))
    ben("remember", "Use pnpm.", "--project", str(ben.shop))
    ana("sync", "add", share, "--create", "--all", "--yes")
    code = ana("sync", "invite", "share", "ben")["code"]
    ben("sync", "add", share, "--code", code, "--all", "--yes")
    ana("sync", "now")
    assert ben.finds("lock")
    assert ana.finds("pnpm")
    ana("forget", str(kept["id"]), "--yes")
    ana("sync", "now")
    ben("sync", "now")
    assert not ben.finds("lock")
    (row,) = ben("sync", "status")
    assert (row["waiting"], row["refused"], row["fault"]) == (0, [], "")
    assert ben("sync", "remove", "share", "--yes")["dropped"] >= 1
    assert [one["person"] for one in ana("sync", "members", "share")] == ["ana"]
    assert ana("sync", "remove", "share", "--yes")["dropped"] == 1
    assert ana("sync", "status") == []


def test_what_is_refused_says_why(run: Run, filled: Home, app: Path, tmp_path: Path) -> None:
    assert "observer sync add" in run("sync", "status").out
    ran = run("sync", "add", str(tmp_path / "nothing"), "--all", "--yes")
    assert (ran.code, "error: " in ran.err) == (7, True)
    assert run("sync", "add", str(tmp_path), "--all", "--project", "app").code == 2
    assert run("sync", "remove", "nothing", "--yes").code == 3

    ran = run("sync", "add", "postgresql://ana:pw@localhost:1/x", "--all", "--yes")
    assert (ran.code, [*app.rglob("postgresql:*")]) == (7, [])


def keep_share(home: Home, url: str) -> None:
    with closing(SqliteStore(home.database)) as store, store.write() as writer:
        writer.put_share(ShareState(name="one", url=url, key="k", origin="o"))


def test_a_share_is_added_once(run: Run, home: Home, tmp_path: Path) -> None:
    keep_share(home, str(tmp_path))
    ran = run("sync", "add", str(tmp_path), "--name", "two", "--all", "--yes")
    assert (ran.code, "already, as 'one'" in ran.err) == (2, True)


def test_a_login_is_not_shown(run: Run, home: Home) -> None:
    keep_share(home, "postgresql://ana:pw@localhost:1/x")
    out = run("sync", "status", "--json").out
    assert ("localhost" in out, "pw" in out) == (True, False)


def test_members_are_listed_and_removed(run: Run, home: Home, tmp_path: Path) -> None:
    url = str(tmp_path / "share")
    create_share(url, home.root, person="ana").close()
    keep_share(home, url)
    run("sync", "invite", "one", "ben")
    assert run("sync", "rotate", "one").code == 0
    people = {one["person"]: one["id"] for one in run("sync", "members", "one", "--json").json}
    assert run("sync", "expel", "one", people["ben"]).code == 0
    assert "ben" not in run("sync", "members", "one").out


COMMIT = Commit(hash="a" * 40, subject="Begin")
THEIRS = {"kind": "note", "type": "fact", "title": "theirs", "narrative": "theirs"}
AS_COMMIT = {"kind": "observation", "type": "commit", "title": "Begin", "commit": "a" * 40}


def event(name: str, body: AnyBody, **fields: Any) -> Event:
    return Event(id=name, at_ms=1, client="observer", body=body, **fields)


def came(key: str, item: dict[str, Any], **fields: Any) -> Event:
    """Return the event that a record of a share becomes."""
    whole = {"id": 0, "uuid": "", "updated_ms": 1} | item
    body = Shared(share=key, origin="o", sequence=1, uuid="u-1", person="eve", item=whole)
    return event(f"{key}-o-1", body, **fields)


def titles_after(home: Home, *events: Event) -> list[str]:
    spool = Spool(home.spool)
    spool.prepare()
    with closing(SqliteStore(home.database)) as store:
        pipeline_over(store, spool, lambda: 1).ingest(events)
        with store.write() as writer:
            for key in ("a", "b"):
                writer.put_share(ShareState(name=key, url=f"/nowhere/{key}", key=key, origin="me"))
            return [one.title for one in writer.all_items()]


def test_what_another_share_holds_stays(run: Run, home: Home) -> None:
    assert titles_after(home, came("a", THEIRS), came("b", THEIRS)) == ["theirs"]
    for key, left in (("a", ["theirs"]), ("b", [])):
        assert run("sync", "remove", key, "--yes").code == 0
        with closing(SqliteStore(home.database)) as store, store.read() as reader:
            assert [one.title for one in reader.all_items()] == left


def test_what_others_deleted_stays_deleted_after_leaving(run: Run, home: Home) -> None:
    mine = event("own", Commit(hash="b" * 40, subject="Mine"))
    assert titles_after(home, mine) == ["Mine"]
    with closing(SqliteStore(home.database)) as store, store.read() as reader:
        uuid = next(iter(reader.all_items())).uuid
    gone = Shared(share="a", origin="o", sequence=2, uuid=uuid, person="eve")
    assert titles_after(home, event("a-o-2", gone, dedup=tombstone_key(uuid))) == []
    run("sync", "remove", "a", "--yes")
    assert titles_after(home) == []


def test_a_commit_that_a_share_brought_comes_again(run: Run, home: Home) -> None:
    dedup = f"commit:{COMMIT.hash}"
    assert titles_after(home, came("a", AS_COMMIT, dedup=dedup)) == ["Begin"]
    run("sync", "remove", "a", "--yes")
    assert titles_after(home) == []
    assert titles_after(home, event("own", COMMIT, dedup=dedup)) == ["Begin"]


def test_what_was_deleted_here_is_offered_back(run: Run, home: Home) -> None:
    assert titles_after(home, event("own", COMMIT), event("f", Forget(item=item_id(1)))) == []
    assert f"observer undo {item_id(1)}" in run("show", str(item_id(1))).err


def test_what_others_deleted_is_not_offered_back(run: Run, home: Home) -> None:
    gone = Shared(share="a", origin="o", sequence=2, uuid="u-1", person="eve")
    last = event("a-o-2", gone, dedup=tombstone_key("u-1"))
    assert titles_after(home, came("a", THEIRS), last) == []
    assert "for good" in run("show", str(item_id(1))).err


def test_a_killed_removal_is_completed_and_forgotten(run: Run, home: Home, tmp_path: Path) -> None:
    url = str(tmp_path / "share")
    create_share(url, home.root, person="ana").close()
    keep_share(home, url)
    open_files(url, home.root).leave()
    ran = run("sync", "remove", "one", "--yes")
    assert (ran.code, "still a member" in ran.err) == (0, False)
    with closing(SqliteStore(home.database)) as store, store.read() as reader:
        assert (reader.shares(), reader.meta(left_key(url))) == ([], "")


def test_a_join_by_code_begins_anew(run: Run, home: Home, filled: Home, tmp_path: Path) -> None:
    del filled
    url = str(tmp_path / "share")
    create_share(url, tmp_path / "ana", person="ana").close()
    code = open_files(url, tmp_path / "ana").invite("ben")
    with closing(SqliteStore(home.database)) as store, store.write() as writer:
        writer.put_meta(left_key(url), "old 7 hash")
    run("sync", "add", url, "--all", "--code", code, "--yes")
    with closing(SqliteStore(home.database)) as store, store.read() as reader:
        assert [one.origin == "old" for one in reader.shares()] == [False]


def test_a_folder_in_a_work_tree_is_refused(
    run: Run, filled: Home, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del filled
    (app / ".git").mkdir(exist_ok=True)
    monkeypatch.setenv("PWD", str(app))
    monkeypatch.chdir(app)
    ran = run("sync", "add", ".", "--create", "--yes")
    assert (ran.code, "lies in the git work tree" in ran.err) == (2, True)


@pytest.mark.slow
def test_a_share_away_is_said(desks: tuple[Desk, Desk], observer: Observer, tmp_path: Path) -> None:
    ana, share = desks[0], tmp_path / "share"
    ana("remember", "The cart needs a lock.", "--project", str(ana.shop))
    ana("sync", "add", str(share), "--create", "--all", "--yes")
    share.rename(tmp_path / "away")
    ran = observer("sync", "now")
    assert (ran.returncode, f"there is no folder {share}" in ran.stderr) == (7, True)
    again = observer("sync", "add", str(share), "--name", "b", "--all", "--yes")
    assert (again.returncode, "it is shared already, as 'share'" in again.stderr) == (2, True)
