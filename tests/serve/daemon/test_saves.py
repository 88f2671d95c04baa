"""Saves wait for hooks, and what hooks shown is left out."""

from __future__ import annotations

import pytest

from observer.ingest.duplicates import WINDOW_MS
from observer.ingest.file_changes import Save
from observer.serve.watcher import MOST_SAVES, MOST_WAIT_MS, PendingSaves, unreported


def a_save(at_ms: int = 0, *, path: str = "a", old: str = "1", new: str = "2") -> Save:
    return Save(path=path, from_ms=at_ms, to_ms=at_ms, old=old, new=new)


def test_a_save_is_due_when_hooks_had_their_time() -> None:
    pending = PendingSaves()
    pending.add("/app", [a_save()], now_ms=1000)
    assert pending.due_ms() == 1000 + WINDOW_MS
    assert pending.due(999 + WINDOW_MS) == {}
    assert pending.due(1000 + WINDOW_MS) == {"/app": [[a_save()]]}


def test_a_file_that_is_saved_again_waits_on_but_not_for_ever() -> None:
    pending = PendingSaves()
    for at_ms in range(0, MOST_WAIT_MS, 1000):
        pending.add("/app", [a_save()], now_ms=at_ms)
    assert pending.due_ms() == MOST_WAIT_MS


def test_files_wait_each_by_themselves() -> None:
    pending = PendingSaves()
    pending.add("/app", [a_save()], now_ms=0)
    pending.add("/app", [a_save(path="b")], now_ms=9000)
    assert pending.due(WINDOW_MS) == {"/app": [[a_save()]]}
    pending.drop("/app", ["a"])
    assert pending.due_ms() == 9000 + WINDOW_MS


def test_nothing_is_due_where_nothing_waits() -> None:
    assert PendingSaves().due_ms() is None


def test_of_many_saves_the_first_and_last_text_are_kept() -> None:
    pending = PendingSaves()
    for n in range(3 * MOST_SAVES):
        pending.add("/app", [a_save(n, old=str(n), new=str(n + 1))], now_ms=n)
    ((saves,),) = pending.due(MOST_WAIT_MS).values()
    assert len(saves) == MOST_SAVES
    assert (saves[0].old, saves[-1].new) == ("0", str(3 * MOST_SAVES))


@pytest.mark.parametrize("hook_ms", [20_000 - WINDOW_MS, 20_000, 20_000 + WINDOW_MS])
def test_a_save_that_a_hook_shown_is_left_out(hook_ms: int) -> None:
    assert unreported([a_save(20_000)], [hook_ms]) is None


@pytest.mark.parametrize("hook_ms", [19_999 - WINDOW_MS, 20_001 + WINDOW_MS])
def test_a_hook_tells_of_its_own_moment_only(hook_ms: int) -> None:
    assert unreported([a_save(20_000)], [hook_ms]) == a_save(20_000)


def test_what_a_person_saved_after_an_agent_is_shown_without_the_agents_part() -> None:
    saves = [a_save(0, old="1", new="2"), a_save(20_000, old="2", new="3")]
    assert unreported(saves, [100]) == saves[1]


def test_what_was_undone_in_between_is_nothing() -> None:
    assert unreported([a_save(0), a_save(1, old="2", new="1")], []) is None
