"""Pauses begin, end and are remembered; what is in their files is believed only if it is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from observer.local.pauses import EVERYWHERE, MOST, UNENDING_MS, Pause, Pauses


@pytest.fixture
def pauses(tmp_path: Path) -> Pauses:
    return Pauses(tmp_path / "spool")


def active(tmp_path: Path) -> str:
    file = tmp_path / "spool" / "paused"
    return file.read_text() if file.exists() else ""


def test_without_a_pause_there_is_nothing(pauses: Pauses, tmp_path: Path) -> None:
    assert not pauses
    assert not pauses.covers(1, ["/shop"])
    assert pauses.end(None, now_ms=1) == []
    assert active(tmp_path) == ""


def test_a_pause_covers_its_time_and_is_remembered_once_it_is_over(
    pauses: Pauses, tmp_path: Path
) -> None:
    pauses.begin([EVERYWHERE], from_ms=1_000, until_ms=UNENDING_MS)
    assert active(tmp_path) == "9999999999 *\n"
    (ended,) = pauses.end(None, now_ms=5_500)
    assert ended.is_unending
    assert active(tmp_path) == ""
    shown = [at_ms for at_ms in (999, 1_000, 5_499, 5_500) if pauses.covers(at_ms, [])]
    assert shown == [1_000, 5_499]


def test_another_process_sees_it_at_once(pauses: Pauses, tmp_path: Path) -> None:
    other = Pauses(tmp_path / "spool")
    assert not other
    pauses.begin(["/shop"], from_ms=1_000, until_ms=9_001)
    assert other.now(9_000) == [Pause(1_000, 9_001, "/shop")]
    assert other.now(9_001) == []
    assert active(tmp_path) == "10 /shop\n"


@pytest.mark.parametrize(
    ("scope", "folder", "session", "is_covered"),
    [
        (EVERYWHERE, "/x", "", True),
        ("/shop", "/shop", "", True),
        ("/shop", "/shop/src", "s", True),
        ("/shop", "/shop2", "", False),
        ("session=s", "/x", "s", True),
        ("session=s", "/x", "t", False),
        ("session=", "/x", "", False),
    ],
)
def test_a_scope_covers_what_it_names(
    scope: str, folder: str, session: str, is_covered: bool
) -> None:
    assert Pause(0, 9, scope).covers(5, [folder], session) == is_covered


def test_pausing_again_replaces_what_was_paused_there(pauses: Pauses, tmp_path: Path) -> None:
    pauses.begin(["/a", "/b"], from_ms=1_000, until_ms=UNENDING_MS)
    pauses.begin(["/a"], from_ms=2_000, until_ms=60_000)
    assert active(tmp_path) == "9999999999 /b\n60 /a\n"
    assert pauses.covers(1_500, ["/a"])
    assert not pauses.covers(60_000, ["/a"])


def test_one_scope_is_resumed_and_the_others_stay(pauses: Pauses, tmp_path: Path) -> None:
    pauses.begin(["/a", "/b"], from_ms=1_000, until_ms=UNENDING_MS)
    assert [one.scope for one in pauses.end(["/a", "/c"], now_ms=2_000)] == ["/a"]
    assert active(tmp_path) == "9999999999 /b\n"


def test_hooks_are_spared_a_pause_that_is_over(pauses: Pauses, tmp_path: Path) -> None:
    pauses.begin(["/a"], from_ms=1_000, until_ms=2_000)
    pauses.tidy(1_999)
    assert active(tmp_path) == "2 /a\n"
    pauses.tidy(2_000)
    assert active(tmp_path) == ""
    assert pauses.covers(1_500, ["/a"])


def test_the_oldest_go_first(pauses: Pauses) -> None:
    pauses.begin([f"/{number}" for number in range(MOST + 1)], from_ms=1, until_ms=2)
    assert [one.scope for one in pauses.all()] == [f"/{number}" for number in range(1, MOST + 1)]


@pytest.mark.parametrize("text", ["", "x", "1 2", "1 x *", "-1 2 *", "1 2 ", "\0\n\n"])
def test_a_line_that_is_none_is_passed_over(pauses: Pauses, tmp_path: Path, text: str) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "pauses").write_text(f"{text}\n1 9 /shop\n")
    assert pauses.all() == (Pause(1, 9, "/shop"),)


def test_a_pipe_is_no_pause(pauses: Pauses, tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    os.mkfifo(tmp_path / "spool" / "pauses")
    assert not pauses


def test_writes_that_were_left_out_are_remembered_by_their_time(pauses: Pauses) -> None:
    pauses.withhold("/shop/a", 5)
    pauses.withhold("/shop/b", 9)
    assert pauses.withheld(from_ms=4, to_ms=8) == [("/shop/a", 5)]
