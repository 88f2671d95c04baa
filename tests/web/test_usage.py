"""What models used: each turn once, for the session that it counts for."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.events import Event, Prompt, Reply, SessionStart
from observer.core.paths import Home, make_private
from observer.core.value import TokenUsage
from observer.store.database import SqliteStore
from observer.web.given import prices_of
from tests.support import pipeline_over, record_by
from tests.web.conftest import Browser

USED = TokenUsage(input=100, output=20, cache_read=3_000, cache_write=400)


class Work:
    """Sessions that report what their turns used."""

    def __init__(self, folder: Path, store: SqliteStore, home: Home) -> None:
        self._folder = str(folder)
        self._record = record_by(pipeline_over(store, home, now_ms))
        self._store = store
        self._began_ms = now_ms() - 60_000

    def turn(self, session: str, at: int, usage: TokenUsage | None, **start: str) -> None:
        began = SessionStart(**start)  # type: ignore[arg-type] - its texts
        bodies = (began, Prompt(f"do {session} {at}"), Reply(f"done {at}", usage=usage))
        for place, body in enumerate(bodies):
            event = Event(
                id=f"{session}-{at}-{place}",
                at_ms=self._began_ms + 10 * at + place,
                client="claude-code",
                body=body,
                session=session,
                cwd=self._folder,
            )
            self._record([event], None)

    def spent(self) -> list[tuple[str, str, int]]:
        with self._store.read() as reader:
            found = reader.spent(0, project_id=None, sessions=9)
            ran = {one.id: one.external for one in reader.sessions()}
        sums = [
            (ran[one.place or 0], one.name, one.usage.input) for one in found if one.by == "session"
        ]
        for by in ("day", "model"):  # the same turns, otherwise summed
            assert sum(one.usage.input for one in found if one.by == by) == sum(n for *_, n in sums)
        return sums


@pytest.fixture
def work(tmp_path: Path, store: SqliteStore, home: Home) -> Work:
    return Work(tmp_path, store, home)


def test_a_turn_counts_once_in_a_session_that_was_forked_and_never_without_tokens(
    work: Work,
) -> None:
    work.turn("silent", 0, None)
    assert work.spent() == []
    for session in ("one", "fork"):
        work.turn(session, 1, USED)
    work.turn("fork", 2, TokenUsage(input=7))
    assert work.spent() == [("fork", "", 107)]


def test_a_sub_agent_counts_for_who_handed_the_work_over(work: Work) -> None:
    work.turn("one", 1, USED, model="opus-4")
    work.turn("below", 2, TokenUsage(input=7), parent_session="one")
    work.turn("deeper", 3, TokenUsage(input=5), parent_session="below")
    assert sorted(work.spent()) == [("one", "", 12), ("one", "opus-4", 100)]


def test_sessions_that_name_each_other_as_their_parent_end(work: Work) -> None:
    work.turn("one", 1, USED, parent_session="two")
    work.turn("two", 2, TokenUsage(input=7), parent_session="one")
    assert sum(count for *_, count in work.spent()) == 107


def test_what_was_used_goes_with_its_event_and_is_read_from_a_rewritten_one(
    work: Work, store: SqliteStore
) -> None:
    work.turn("one", 1, USED, model="opus-4")
    with store.write() as writer:
        texts = writer.stored_texts(after_seq=0, limit=99)
        for text in texts:
            writer.put_texts(text._replace(data=text.data.replace(b"opus-4", b"[gone]")))
    assert work.spent() == [("one", "[gone]", 100)]
    with store.write() as writer:
        writer.delete_events([text.seq for text in texts])
        assert writer._rows("SELECT * FROM spent") == []


def test_the_longest_name_that_fits_is_the_price() -> None:
    prices = prices_of(["opus=1/2/3/4", "opus-4=5/6/7/8"])
    assert list(prices) == ["opus-4", "opus"]
    assert prices["opus-4"] == (5.0, 6.0, 7.0, 8.0)


def test_cost_is_shown_where_prices_are_set(browser: Browser, work: Work, home: Home) -> None:
    assert "No client reported tokens" in browser.get("/usage?days=7").text
    work.turn("one", 1, USED, model="opus-4")
    page = "/usage?days=90"
    assert "observer config set prices" in browser.get(page).text
    make_private(home.root)
    home.config.write_text('prices = ["opus=10000/100000/1000/0"]\n')
    text = browser.get(page).text
    assert "<strong>6.00</strong> cost" in text
    assert "opus-4" in text
