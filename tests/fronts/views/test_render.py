from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.errors import NotFound
from observer.core.model import ASKED, Enrichment, Item, SummaryFields
from observer.search.context import FinishedSession, Pack, PackEntry
from observer.search.rank import Hit, HitSignals, fit
from observer.search.timeline import Timeline, TimelineEntry
from observer.tools import render

ITEM = Item(
    id=142,
    uuid="u",
    kind="observation",
    type="file-write",
    title="Modified auth.ts",
    narrative="45 lines in\nverify()",
    facts=("verify(): +45 -3",),
    files_modified=("src/auth.ts",),
    created_ms=1_742_049_000_000,
)


def name(project_id: int | None) -> str:
    return "" if project_id is None else "my-api"


def test_an_error_is_shown_with_its_remedy() -> None:
    shown = render.error(NotFound("no item 7", hint="search for it first"))
    assert shown == "no item 7\nhint: search for it first"


def test_an_error_without_remedy_is_one_line() -> None:
    assert render.error(NotFound("no item 7")) == "no item 7"


def test_a_hit_starts_with_its_id() -> None:
    shown = render.hits([Hit(item=ITEM, score=1.0, signals=HitSignals())], name)
    assert (
        shown == "#142 file-write · Modified auth.ts · 2025-03-15 14:30Z\n    45 lines in verify()"
    )


def test_a_score_that_is_less_than_its_figures_says_by_what() -> None:
    prompt = HitSignals(fts5=1.0, type_weight=0.5)
    shown = render.explained([Hit(item=ITEM, score=fit(prompt) / 4, signals=prompt)], name)
    assert shown.endswith("recency 0.00 · lasting 0.50 · type 0.50")
    plain = Hit(item=ITEM, score=fit(HitSignals(fts5=1.0)), signals=HitSignals(fts5=1.0))
    assert render.explained([plain], name).endswith("recency 0.00")


def test_nothing_found_is_said_behind_the_remarks() -> None:
    assert render.hits([], name, remarks=("read as words", "")) == "(read as words)\nnothing found"


def test_a_timeline_shows_positions() -> None:
    entries = tuple(TimelineEntry(position=position, item=ITEM) for position in (-1, 0, 2))
    lines = render.timeline(Timeline(anchor=ITEM, entries=entries), name).splitlines()
    assert [line[:7] for line in lines[::2]] == ["-1 #142", "±0 #142", "+2 #142"]


def test_details_hold_everything_and_name_what_is_missing() -> None:
    shown = render.details([ITEM], name, missing=(7, 8))
    for text in ("45 lines in\n    verify()", "fact: verify(): +45 -3", "modified: src/auth.ts"):
        assert text in shown
    assert shown.endswith("no such id: 7, 8")


def test_a_summary_is_shown_by_its_answers() -> None:
    fields = SummaryFields(request="add login", completed="done", notes="slow")
    item = Item(
        id=1, uuid="u", kind="summary", type="summary", title="Login", summary=fields, stale_ms=1
    )
    assert render.excerpt(item) == "completed: done | notes: slow"
    assert "request: add login" in render.detail(item, name)
    assert "stale" in render.heading(item, name)


def test_a_pack_tells_knowledge_then_sessions_then_the_rest() -> None:
    fields = SummaryFields(request="add login")
    summary = Item(id=2, uuid="u", kind="summary", type="summary", title="Login", summary=fields)
    shown = render.pack(
        Pack(
            entries=(entry(replace(ITEM, id=3, type="decision")), entry(ITEM)),
            summaries=(FinishedSession(item=summary, session="s1"),),
            budget_tokens=9,
            used_tokens=9,
            left_out=4,
            leading=1,
        )
    )
    starts = [line.split()[0] for line in shown.splitlines() if line[0] != " "]
    assert starts == ["#3", "#2", "#142", "(4"]


def test_what_the_title_says_is_not_said_again() -> None:
    item = replace(ITEM, title="Round it", narrative="Round it")
    assert "\n" not in render.entry(item, name)
    assert "\n" not in render.pack_entry(entry(item))


def entry(item: Item) -> PackEntry:
    return PackEntry(hit=Hit(item=item, score=1.0, signals=HitSignals()), content=item.narrative)


@given(st.text(max_size=400), st.integers(min_value=1, max_value=100))
def test_one_line_is_one_printable_line_within_its_limit(text: str, limit: int) -> None:
    line = render.one_line(text, limit)
    assert len(line) <= limit
    assert not line or line.isprintable()


@given(st.text())
def test_four_characters_are_a_token(text: str) -> None:
    assert 4 * render.tokens(text) - 4 < len(text) <= 4 * render.tokens(text)


LONG = "Nothing of note. " * 30


@pytest.mark.parametrize(
    ("fields", "words", "shown"),
    [
        pytest.param({"narrative": f"{LONG}The login broke."}, (), "Nothing of", id="no-query"),
        pytest.param({"narrative": f"{LONG}The login broke."}, ("login",), "… The login", id="far"),
        pytest.param(
            {"narrative": LONG, "facts": ("login ok",)}, ("login",), "login ok", id="fact"
        ),
        pytest.param({"narrative": LONG, "facts": ("fact",)}, ("zebra",), "Nothing of", id="title"),
        pytest.param({}, ("login",), "", id="nothing"),
    ],
)
def test_a_hit_shows_the_text_around_the_match(
    fields: dict[str, Any], words: tuple[str, ...], shown: str
) -> None:
    item = replace(ITEM, **({"narrative": "", "subtitle": "", "facts": ()} | fields))
    assert render.excerpt(item, words).startswith(shown)
    assert bool(render.excerpt(item, words)) == bool(shown)


@pytest.mark.parametrize(
    ("message", "words", "shown"),
    [
        pytest.param("Rounding lost a cent.", (), "Rounding lost", id="no-query"),
        pytest.param("Rounding lost a cent.", ("total",), "Rounding lost", id="half-a-name"),
        pytest.param("Rounding lost a cent.", ("cart_total",), "1 file changed", id="name"),
        pytest.param("Rounding lost a cent.", ("cart.py",), "1 file changed", id="file"),
        pytest.param("Rounding lost a cent.", ("decimal",), "M cart.py +2", id="fact"),
        pytest.param("Rounding cart_total.", ("cart_total",), "Rounding", id="both"),
        pytest.param("", (), "1 file changed", id="no-message"),
        pytest.param("", ("cent",), "1 file changed", id="no-message-no-word"),
    ],
)
def test_a_commit_shows_its_message_unless_the_words_are_names_in_it(
    message: str, words: tuple[str, ...], shown: str
) -> None:
    files = "1 file changed, 2 lines added, 0 removed: cart.py (cart_total)."
    item = replace(
        ITEM,
        type="commit",
        subtitle="commit 3f2a by Ana",
        narrative=f"{message}\n{files}" if message else files,
        facts=("M cart.py +2 -0: cart_total; brings decimal",),
    )
    assert render.excerpt(item, words).startswith(shown)


@pytest.mark.parametrize(
    ("reply", "words", "shown"),
    [
        pytest.param("It rounds down.", (), "It rounds down.", id="no-query"),
        pytest.param("It rounds down.", ("total", "cent", "rounds"), "It rounds down.", id="reply"),
        pytest.param("Done.", ("cent",), "Asked: Why is the total a cent", id="prompt"),
        pytest.param("Done.", ("zebra",), "Done.", id="neither"),
        pytest.param("", ("zebra",), "Asked: Why is the total a cent", id="no-reply"),
    ],
)
def test_a_turn_shows_its_reply_unless_only_the_prompt_holds_the_words(
    reply: str, words: tuple[str, ...], shown: str
) -> None:
    narrative = f"{reply}{ASKED}Why is the total a cent too small?".strip()
    item = replace(ITEM, type="turn", narrative=narrative, facts=(), subtitle="")
    assert render.excerpt(item, words).startswith(shown)


def test_the_answer_of_a_session_is_shown_around_the_match() -> None:
    fields = SummaryFields(request="r", learned=LONG, next_steps="Mend the login.")
    summary = replace(ITEM, kind="summary", summary=fields)
    assert "Mend the login." in render.excerpt(summary, ("login",))


def test_what_a_model_wrote_is_shown_where_only_that_holds_the_word() -> None:
    wrote = Enrichment(model="tiny", at_ms=2, as_of_ms=2, narrative="Two orders were booked.")
    item = replace(
        ITEM, narrative="The cart has no lock.", facts=(), enrichment=wrote, updated_ms=2
    )
    assert render.excerpt(item, ("booked",)) == "narrative (by tiny): Two orders were booked."
    assert render.excerpt(item, ("cart",)) == "The cart has no lock."
