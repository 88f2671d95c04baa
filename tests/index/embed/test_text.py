"""What a model reads of an item."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import ASKED, Enrichment, Item
from observer.index.embed.lazy_model import TEXT_CHARS, text_of

words = st.lists(st.text(max_size=400), max_size=30).map(tuple)


def item(title: str = "", **fields: object) -> Item:
    made = {"id": 4, "uuid": "u", "kind": "observation", "type": "change", "title": title}
    return Item(**made | fields)  # type: ignore[arg-type]  # checked by the model


def test_every_part_that_matters_is_read_title_first() -> None:
    made = item(
        "Fix login",
        subtitle="two files",
        narrative="The cookie expired.",
        facts=("Changed def sign_in",),
        concepts=("auth",),
        files_modified=("src/auth/login.py",),
        files_read=("docs/login.md",),
    )
    expected = "Fix login two files The cookie expired. Changed def sign_in auth login.py login.md"
    assert text_of(made) == expected


def test_a_long_narrative_does_not_push_out_the_changed_names() -> None:
    made = item("Title", narrative="word " * 2000, facts=("Added def resume",))
    assert text_of(made).endswith("Added def resume")


def test_of_a_turn_is_read_what_was_asked_and_answered_and_not_what_was_counted() -> None:
    asked, answered = "Round totals. " * 99, "They round up. " * 99
    made = item("Totals", type="turn", narrative=f"{answered}{ASKED}{asked}", facts=("lint: 1",))
    text = text_of(made)
    assert text.startswith("Totals Round totals.")
    assert abs(text.count("Round totals.") - text.count("They round up.")) < 4
    assert len(text) <= TEXT_CHARS
    assert "lint" not in text


def test_a_long_list_does_not_push_out_the_narrative() -> None:
    made = item("Title", narrative="the reason", facts=tuple(f"Added def f{n}" for n in range(999)))
    assert "the reason" in text_of(made)


def test_lists_are_cut_between_their_entries() -> None:
    made = item(concepts=tuple(f"concept{n}" for n in range(99)))
    assert set(text_of(made).split()) < set(made.concepts)


def test_a_single_entry_that_is_too_long_is_cut() -> None:
    assert 0 < len(text_of(item(facts=("x" * 9999,)))) < TEXT_CHARS


def test_a_file_that_was_read_and_changed_is_named_once() -> None:
    made = item(files_modified=("a/b.py",), files_read=("c/b.py", "a/b.py"))
    assert text_of(made) == "b.py"


def test_what_a_language_model_wrote_is_read_and_pushes_out_nothing_else() -> None:
    wrote = Enrichment(model="m", at_ms=1, as_of_ms=1, narrative="Because of a race. " * 99)
    made = item("Title", narrative="the reason", facts=("Added def resume",), enrichment=wrote)
    text = text_of(made)
    assert text.startswith("Title Because of a race.")
    assert "the reason" in text
    assert text.endswith("Added def resume")


@pytest.mark.parametrize(
    ("title", "narrative"),
    [
        pytest.param("The key is blue", "The key is blue", id="the whole text"),
        pytest.param("The key is…", "The key is blue", id="cut"),
        pytest.param("Keys", "# Keys\nThe key is blue", id="a heading"),
    ],
)
def test_a_title_that_begins_the_text_is_read_once(title: str, narrative: str) -> None:
    assert text_of(item(title, narrative=narrative)) == narrative


def test_an_item_of_nothing_gives_nothing() -> None:
    assert text_of(item()) == ""


@given(st.text(max_size=9000), st.text(max_size=9000), st.text(max_size=9000), words, words, words)
def test_it_is_bounded(
    title: str,
    subtitle: str,
    narrative: str,
    facts: tuple[str],
    names: tuple[str],
    files: tuple[str],
) -> None:
    made = item(
        title, subtitle=subtitle, narrative=narrative, facts=facts, concepts=names, files_read=files
    )
    assert len(text_of(made)) <= TEXT_CHARS
