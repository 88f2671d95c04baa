from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.note_file import Claim
from observer.observations.note_syntax import LINE_CHARS, MAX_CLAIMS, parse_claims, tags_in


def a_claim(text: str, category: str = "note", **rest: Any) -> Claim:
    return Claim(category=category, text=text, **rest)


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        (
            "- [decision] Use #JWT (2026)",
            a_claim("Use #JWT", "decision", tags=("JWT",), context="2026"),
        ),
        ("* [note] x", a_claim("x")),
        ("  + [note] x", a_claim("x")),
        ("12. [note] x", a_claim("x")),
        ("3) [open question] x", a_claim("x", "open question")),
        ("- [note] f(x) works", a_claim("f(x) works")),
        ("- [note] a (b) (c)", a_claim("a (b)", context="c")),
        ("- [note] (all)", a_claim("(all)")),
        ("- [note] a ( )", a_claim("a ( )")),
        ("- [note] #12 #a#b", a_claim("#12 #a#b", tags=("a", "b"))),
        ("-\t[note]\tx  y\r", a_claim("x y")),
    ],
)
def test_a_claim_is_read(line: str, claim: Claim) -> None:
    assert parse_claims(f"# Title\n{line}\nprose") == (claim,)


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] task",
        "- [x] done",
        "- [?] question",
        "- [00:12] timecode",
        "- [!info] callout",
        "- [text](https://x.example)",
        "- [[Wiki]] link",
        "- [note]no space",
        "- [note]",
        "[note] no list item",
        "```\n- [note] code\n```",
        "~~~\n- [note] code\n```\n~~~",
        "- [note] " + "x" * LINE_CHARS,
    ],
)
def test_other_lines_are_no_claims(line: str) -> None:
    assert parse_claims(line) == ()


def test_a_fence_ends() -> None:
    assert len(parse_claims("```\n- [note] a\n```\n- [note] b")) == 1


def test_a_note_has_so_many_claims_at_most() -> None:
    assert len(parse_claims("- [note] x\n" * (MAX_CLAIMS + 9))) == MAX_CLAIMS


def test_tags_lose_what_surrounds_them() -> None:
    assert tags_in("#one, #two. (#no) #3 #4th! #one") == ("one", "two", "4th")


lines = st.text(alphabet=st.sampled_from("-*+ 1.)([]#ab:x`~\t\n\u2028\x1c(é"), max_size=80)


@given(st.one_of(st.text(), lines, lines.map(lambda text: f"- [note] {text}")))
def test_what_was_read_and_written_is_read_again(text: str) -> None:
    for claim in parse_claims(text):
        context = f" ({claim.context})" if claim.context else ""
        assert parse_claims(f"- [{claim.category}] {claim.text}{context}") == (claim,)
