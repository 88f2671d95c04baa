from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.disk import AT_ONCE, Deleter


def files(folder: Path, count: int) -> list[str]:
    folder.mkdir()
    for number in range(count):
        (folder / str(number)).write_bytes(b"x")
    return [str(path) for path in folder.iterdir()]


def test_a_few_files_are_gone_when_it_returns(tmp_path: Path) -> None:
    Deleter().delete(files(tmp_path / "few", AT_ONCE))
    assert not list((tmp_path / "few").iterdir())


def test_many_are_gone_soon(tmp_path: Path, until: Callable[..., None]) -> None:
    disposal = Deleter()
    for name in ("one", "two", "three"):
        disposal.delete(files(tmp_path / name, 10 * AT_ONCE))
    until(lambda: not list(tmp_path.glob("*/*")))


def test_no_thread_is_left_when_all_are_gone(tmp_path: Path, until: Callable[..., None]) -> None:
    Deleter().delete(files(tmp_path / "many", 10 * AT_ONCE))
    until(lambda: "spool-disposal" not in {thread.name for thread in threading.enumerate()})
    assert not list((tmp_path / "many").iterdir())


@pytest.mark.parametrize("count", [1, 2 * AT_ONCE])
def test_files_already_gone_are_no_error(
    tmp_path: Path, until: Callable[..., None], count: int
) -> None:
    there = files(tmp_path / "there", count)
    Deleter().delete([*(f"{tmp_path}/gone{number}" for number in range(count)), *there])
    until(lambda: not list((tmp_path / "there").iterdir()))


def test_what_cannot_be_deleted_holds_up_nothing(
    tmp_path: Path, until: Callable[..., None]
) -> None:
    there = files(tmp_path / "there", AT_ONCE)
    folder = tmp_path / "folder"
    folder.mkdir()
    Deleter().delete([str(folder), *there])
    until(lambda: not list((tmp_path / "there").iterdir()))
    assert folder.exists()
