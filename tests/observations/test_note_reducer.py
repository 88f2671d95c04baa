"""Notes become items: their links and what they claim."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.events import Approve, Prompt, Reference, Remember, Revise, Undo
from observer.core.model import Recorded, item_id
from observer.observations import note_reducer
from observer.observations.note_reducer import MAX_LINKS, WikiLink, parse_links

Place = Callable[..., Recorded]


@pytest.mark.parametrize(
    ("name", "kind", "layer"),
    [
        ("general", "fact", "state"),
        ("", "fact", "state"),
        ("decision", "decision", "past"),
        ("rejected", "rejected", "past"),
        ("constraint", "constraint", "state"),
        ("heuristic", "heuristic", "state"),
        ("preference", "preference", "state"),
        ("rule", "rule", "rule"),
        ("House Rule!", "house-rule", "state"),
        ("\u6c7a\u5b9a", "\u6c7a\u5b9a", "state"),
        ("\u0928\u093f\u0930\u094d\u0923\u092f", "\u0928\u093f\u0930\u094d\u0923\u092f", "state"),
        ("Gro\u0308\u00dfe_2", "gr\u00f6\u00dfe-2", "state"),
    ],
)
def test_a_type_decides_the_layer(place: Place, name: str, kind: str, layer: str) -> None:
    made = note_reducer.note(place(Remember(content="x", type=name)), None, owner="ana")
    assert (made.type, made.layer) == (kind, layer)


def test_the_first_line_is_the_title(place: Place) -> None:
    made = note_reducer.note(place(Remember(content="# Use Decimal\nAlways.")), None, owner="ana")
    assert (made.title, made.narrative) == ("Use Decimal", "# Use Decimal\nAlways.")


def test_an_empty_note_has_a_title(place: Place) -> None:
    assert note_reducer.note(place(Remember(content="")), None, owner="").title == "Empty fact"


def test_what_was_said_is_kept(place: Place) -> None:
    body = Remember(
        content="Use Decimal for money",
        title="Money",
        key="money",
        category="api",
        confidence=0.9,
        tags=("api",),
    )
    made = note_reducer.note(place(body), None, owner="ana")
    assert (made.title, made.key, made.category, made.confidence) == ("Money", "money", "api", 0.9)
    assert made.concepts == ("api",)
    assert made.kind == "note"


@pytest.mark.parametrize(
    ("scope", "project_id", "owner"),
    [("project", 7, ""), ("personal", None, "ana"), ("team", None, "")],
)
def test_the_scope_decides_project_and_owner(
    place: Place, scope: str, project_id: int | None, owner: str
) -> None:
    made = note_reducer.note(place(Remember(content="x", scope=scope)), None, owner="ana")  # type: ignore[arg-type] # a table's string
    assert (made.project_id, made.owner) == (project_id, owner)


def test_a_note_under_the_same_key_takes_its_place(place: Place) -> None:
    first = note_reducer.note(place(Remember(content="old", key="k"), 1), None, owner="ana")
    second = note_reducer.note(place(Remember(content="new", key="k"), 2), first, owner="ana")
    assert (second.id, second.uuid, second.created_ms) == (item_id(1), first.uuid, first.created_ms)
    assert (second.narrative, second.updated_ms > first.updated_ms) == ("new", True)


def test_a_deleted_note_remembered_again_lives(place: Place) -> None:
    first = note_reducer.note(place(Remember(content="x", key="k"), 1), None, owner="ana")
    again = note_reducer.note(
        place(Remember(content="x", key="k"), 2), note_reducer.forgotten(first, 9), owner="ana"
    )
    assert again.deleted_ms is None


@pytest.mark.parametrize("broken", ["{", "[1]"])
def test_metadata_that_is_no_object_gives_way(place: Place, broken: str) -> None:
    first = note_reducer.note(place(Remember(content="x", metadata=broken), 1), None, owner="ana")
    again = note_reducer.note(
        place(Remember(content="x", metadata='{"a":1}'), 2), first, owner="ana"
    )
    assert again.metadata == '{"a":1}'


def test_spacing_does_not_change_the_hash(place: Place) -> None:
    one, other = (
        note_reducer.note(place(Remember(content=text)), None, owner="")
        for text in ("a  b", "a\nb")
    )
    assert one.content_hash == other.content_hash


def test_forgetting_twice_keeps_the_first_time(place: Place) -> None:
    made = note_reducer.note(place(Remember(content="x")), None, owner="")
    assert note_reducer.forgotten(note_reducer.forgotten(made, 5), 9).deleted_ms == 5


def test_another_kind_of_event_is_refused(place: Place) -> None:
    with pytest.raises(TypeError, match="not a remember event: e1"):
        note_reducer.note(place(Prompt(text="x")), None, owner="")


def test_a_history_without_a_beginning_gives_no_note(place: Place) -> None:
    assert note_reducer.folded([place(Revise(item=4, title="x")), place(Undo(item=4))]) is None


def test_the_beginning_cannot_be_undone(place: Place) -> None:
    begun = place(Remember(content="x"), 1)
    assert note_reducer.folded([begun, place(Undo(item=4), 2)]) == note_reducer.note(
        begun, None, owner=""
    )


def test_only_a_person_approves(place: Place) -> None:
    rule = note_reducer.note(place(Remember(content="x", type="rule"), 1), None, owner="")
    by_agent = note_reducer.changed(rule, place(Approve(item=rule.id), 2))
    assert (by_agent, rule.approval) == (rule, "provisional")


def test_a_link_to_nothing_is_none(place: Place) -> None:
    body = Remember(content="x", links=(Reference(item=0), Reference(item=8), Reference(item=8)))
    made = note_reducer.note(place(body), None, owner="")
    assert [link.target for link in made.links] == [8]


def test_another_event_changes_no_note(place: Place) -> None:
    made = note_reducer.note(place(Remember(content="x")), None, owner="")
    assert note_reducer.changed(made, place(Prompt(text="y"), 2)) == made


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see [[Auth Spec]] and [[JWT]]", (WikiLink(title="Auth Spec"), WikiLink(title="JWT"))),
        ("[[A|alias]] [[B#part]]", (WikiLink(title="A"), WikiLink(title="B"))),
        ("[[A]] [[a]] [[A|x]]", (WikiLink(title="A"),)),
        ("- implements [[Spec]]", (WikiLink(title="Spec", relation="implements"),)),
        (
            '- "based on" [[Spec]] (v2)',
            (WikiLink(title="Spec", relation="based on", context="v2"),),
        ),
        ("- some other thing [[Spec]]", (WikiLink(title="Spec"),)),
        ("- implements [[A]] and [[B]]", (WikiLink(title="A"), WikiLink(title="B"))),
        ("- [note] has [[L]] #t", (WikiLink(title="L"),)),
        ("- [[A]]\n1. uses [[A]]", (WikiLink(title="A"), WikiLink(title="A", relation="uses"))),
        ("`[[code]]` and\n```\n[[code]]\n```", ()),
        ("[[]] [[ ]] [[a\nb]] [x] [[[deep]]] [[|x]]", (WikiLink(title="deep"),)),
        ("[[" + "x" * 300 + "]]", ()),
    ],
)
def test_links_are_read(text: str, links: tuple[WikiLink, ...]) -> None:
    assert parse_links(text) == links


def test_a_note_has_so_many_links_at_most() -> None:
    assert (
        len(parse_links(" ".join(f"[[{number}]]" for number in range(MAX_LINKS + 9)))) == MAX_LINKS
    )


def written(link: WikiLink) -> str:
    """Return a link as the line of a note."""
    plain = re.fullmatch(r"[\w-]{1,60}", link.relation)
    relation = link.relation if plain or not link.relation else f'"{link.relation}"'
    context = f" ({link.context})" if link.context else ""
    return f"- {relation} [[{link.title}]]{context}" if relation else f"- [[{link.title}]]"


texts = st.text(alphabet=st.sampled_from('-* 1.)([]|#ab"`\t\n\u2028\x1cé'), max_size=60)


@given(st.one_of(st.text(), texts, texts.map(lambda text: f"- uses [[{text}]] (x)")))
def test_what_was_read_and_written_is_read_again(text: str) -> None:
    for link in parse_links(text):
        assert parse_links(written(link)) == (link,)
