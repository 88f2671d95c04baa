"""The kernel's word, and how it says that it cannot give it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.serve import inotify
from observer.serve.inotify import Call, FolderWatch, WatchLost, most_folders, watch_folders

ROOT = Path(__file__).parents[3]
CALL = Call()

BLINDED = """
import sys
from observer.serve.inotify import watch_folders, WatchRefused
try:
    watch_folders(sys.argv[1:])
except WatchRefused as error:
    print(error)
"""


DENIED = """
import os, sys
from observer.serve.inotify import watch_folders, WatchRefused
if os.getuid() == 0:
    os.setuid(12345)
try:
    watch_folders(sys.argv[1:])
except WatchRefused as error:
    print(error)
"""


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[FolderWatch]:
    found = watch_folders([str(tmp_path)])
    yield found
    found.close()


def test_what_changes_below_is_not_shown(watched: FolderWatch, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert watched.wait(CALL, wait_ms=5000) == {str(tmp_path / "sub")}
    (tmp_path / "sub" / "a").touch()
    (tmp_path / "b").touch()
    assert watched.wait(CALL, wait_ms=5000) == {str(tmp_path / "b")}
    (tmp_path / os.fsdecode(b"\xff")).touch()  # a name that is no text
    with pytest.raises(WatchLost):
        watched.wait(CALL, wait_ms=5000)


def test_who_waits_can_be_called_away_until_the_call_is_taken_back(watched: FolderWatch) -> None:
    call = Call()
    call.set()
    assert watched.wait(call, wait_ms=60_000) == set()
    call.clear()
    assert not call.wait(0)
    assert watched.wait(call, wait_ms=1) == set()


def test_where_only_arrivals_count_neither_growth_nor_deletion_is_shown(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    watched = watch_folders([str(tmp_path)], arrivals=[str(tmp_path)], step_ms=0)
    (tmp_path / "old").write_text("more")
    (tmp_path / "old").unlink()
    assert watched.wait(CALL, wait_ms=1) == set()
    (tmp_path / "fresh").touch()
    (tmp_path / "fresh").rename(tmp_path / "new")
    assert watched.wait(CALL, wait_ms=5000) == {str(tmp_path / name) for name in ("fresh", "new")}
    watched.close()


def test_what_happens_to_the_folder_itself_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    watched = watch_folders([str(tmp_path / "a")])
    (tmp_path / "a").rename(tmp_path / "b")
    assert watched.wait(CALL, wait_ms=5000) == {str(tmp_path / "a")}
    watched.close()
    with pytest.raises(WatchLost):
        watch_folders([str(tmp_path / "a")])


def test_more_changes_than_the_kernel_keeps_are_shown_as_a_loss(tmp_path: Path) -> None:
    watched = watch_folders([str(tmp_path)])
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    names = [tmp_path / "a", tmp_path / "b"]
    names[0].touch()
    for number in range(most):
        names[number % 2].rename(names[(number + 1) % 2])
    with pytest.raises(WatchLost, match="than the kernel remembers"):
        watched.wait(CALL, wait_ms=5000)
    watched.close()


def test_a_folder_of_somebody_elses_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    words = [sys.executable, "-c", DENIED, str(closed)]
    shown = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert "Permission denied" in shown
    assert str(closed) in shown


@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_a_reached_limit_is_shown_with_its_cure(tmp_path: Path, limit: str) -> None:
    """In a user namespace of its own, so that nobody else meets the limit."""
    most = 2 if limit.endswith("watches") else 0
    folders = [tmp_path / str(number) for number in range(9)]
    for folder in folders:
        folder.mkdir()
    setting = f'echo {most} > /proc/sys/user/{limit} || exit 77; exec "$@"'
    script = [sys.executable, "-c", BLINDED, *map(str, folders)]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", setting, "sh", *script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip("user namespaces are not allowed here")
    assert done.returncode == 0, done.stderr
    assert "sysctl fs.inotify.max_user_watches=524288" in done.stdout
    assert "observer config set watch false" in done.stdout


def test_half_of_the_smallest_limit_is_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("one", "1000\n"), ("two", "300\n"), ("three", "no number")):
        (tmp_path / name).write_text(text)
    names = ("one", "two", "three", "missing")
    monkeypatch.setattr(inotify, "LIMITS", [str(tmp_path / name) for name in names])
    assert most_folders() == 150
