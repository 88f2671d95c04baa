"""Which folders are watched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.model import UNASSIGNED, Project, Session
from observer.projects.fs_probe import mounts
from observer.serve.watch_set import MOST_ROOTS, RECENT_MS, recent_roots, refusal
from observer.store.database import SqliteStore
from tests.support import Git

NOW_MS = 2 * RECENT_MS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "observer.db")
    yield made
    made.close()


def _put(store: SqliteStore, number: int, *roots: str, cwd: str, last_ms: int = NOW_MS) -> None:
    project = Project(id=number, uuid=f"u{number}", name="p", roots=roots)
    session = Session(
        id=number, external="s", client="cursor", project_id=number, cwd=cwd, last_ms=last_ms
    )
    with store.write() as writer:
        writer.put_project(project)
        writer.put_session(session)


def _recent(store: SqliteStore) -> tuple[list[str], frozenset[int | None]]:
    with store.read() as reader:
        return recent_roots(reader, now_ms=NOW_MS)


def test_the_roots_of_recent_sessions_come_latest_first(store: SqliteStore) -> None:
    _put(store, 2, "/a", cwd="/a/src", last_ms=NOW_MS - 9)
    _put(store, 3, "/b", "/b/tree", cwd="/b/tree/src")
    _put(store, 4, "/old", cwd="/old", last_ms=NOW_MS - RECENT_MS - 1)
    _put(store, 5, cwd="/somewhere", last_ms=NOW_MS - 10)  # no root
    _put(store, 6, "/c", "/c2", cwd="/home/ana", last_ms=NOW_MS - 11)  # elsewhere: the first
    assert _recent(store) == (["/b/tree", "/a", "/c"], {None, UNASSIGNED, 2, 3, 5, 6})
    for number in range(7, MOST_ROOTS + 7):
        _put(store, number, f"/{number}", cwd=f"/{number}")
    assert len(_recent(store)[0]) == MOST_ROOTS


@pytest.fixture
def app(tmp_path: Path, git: Git) -> Path:
    git(tmp_path / "app", "init")
    return tmp_path / "app"


@pytest.mark.parametrize(
    ("excluded", "mounted", "why"),
    [
        pytest.param([], mounts(), None, id="a work tree"),
        pytest.param(["{app}"], [], "excluded", id="excluded"),
        *(
            pytest.param(
                [],
                [("/", "ext4"), ("{app}", kind)],
                f"on a file system of another machine ({kind})",
                id=kind,
            )
            for kind in ("nfs4", "cifs", "fuse.sshfs")
        ),
        pytest.param(
            [],
            [("{app}", "nfs"), ("/", "ext4"), ("{app}", "ext4")],
            None,
            id="the last mount counts",
        ),
    ],
)
def test_a_work_tree_is_watched_unless_it_is_excluded_or_of_another_machine(
    app: Path, excluded: list[str], mounted: list[tuple[str, str]], why: str | None
) -> None:
    given = [(where.format(app=app), kind) for where, kind in mounted]
    left_out = [one.format(app=app) for one in excluded]
    assert refusal(str(app), excluded=left_out, mounts=given) == why


@pytest.mark.parametrize("which", ["home", "root", "plain", "gone", "link"])
def test_what_is_no_project_is_passed_over(tmp_path: Path, app: Path, git: Git, which: str) -> None:
    git(tmp_path / "home", "init")
    (tmp_path / "plain").mkdir()
    (tmp_path / "link").symlink_to(app)
    root = "/" if which == "root" else str(tmp_path / which)
    assert refusal(root, excluded=[], mounts=[]) == ""


def test_mounts_are_read_with_spaces_in_their_names(tmp_path: Path) -> None:
    lines = (
        "36 35 98:0 /mnt1 /my\\040disk rw,noatime master:1 - ext3 /dev/root rw\n"
        "37 35 0:9 / /net rw - nfs4 host:/x rw\nnonsense\n"
    )
    (tmp_path / "mountinfo").write_text(lines)
    assert mounts(tmp_path / "mountinfo") == [("/my disk", "ext3"), ("/net", "nfs4")]


MOUNT_OF_MACOS = """#!/bin/sh
cat <<'END'
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
//ana@nas/my disk on /Volumes/my disk (smbfs, nodev, nosuid, mounted by ana)
/dev/sda1 on /linux type ext4 (rw,relatime)
nonsense
END
"""


def test_where_linux_does_not_list_mounts_a_program_prints_them(tmp_path: Path) -> None:
    program = tmp_path / "mount"
    program.write_text(MOUNT_OF_MACOS)
    program.chmod(0o755)
    found = mounts(tmp_path / "missing", str(program))
    assert dict(found) == {
        "/": "apfs",
        "/System/Volumes/Data/home": "autofs",
        "/Volumes/my disk": "smbfs",
        "/linux": "ext4",
    }
    why = refusal("/Volumes/my disk/app", excluded=[], mounts=found)  # it is not even there
    assert why == "on a file system of another machine (smbfs)"
    assert mounts(tmp_path / "missing", str(tmp_path / "no-program")) == []
