from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.observations.note_syntax import MAX_LINKS, WikiLink, parse_links


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
