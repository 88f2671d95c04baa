"""The campaign over planted secrets: what it plants, what it finds, and that it is repeatable."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from leaks.drawing import ALPHABETS
from leaks.false_marks import count
from leaks.kinds import KINDS, Kind, read
from leaks.ordinary import Ordinary, drawn, transcripts
from leaks.planting import Planted, corpus, fits, leaked, plant
from leaks.rendering import render
from leaks.routes import ROUTES, UNKEPT

from observer.redaction.redact import redact_text

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"


def a_kind(text: str, **fields: str) -> Kind:
    header = "".join(f" | {name} {value}" for name, value in fields.items())
    return next(read("tuning", f"== family\n-- kind{header}\n{text}\n"))


def a_secret(secret: str, text: str, *, route: str = "prompt") -> Planted:
    return Planted(a_kind(text), route, secret, (("", text),), frozenset({secret}))


def test_a_third_of_the_families_is_held_back_and_kinds_have_names_of_their_own() -> None:
    halves = {kind.family: kind.half for kind in KINDS}
    assert {(kind.family, kind.half) for kind in KINDS} == set(halves.items())
    assert len(halves) >= 24
    assert len(KINDS) >= 250
    assert 0.3 < Counter(halves.values())["held"] / len(halves) < 0.6
    assert max(Counter((kind.family, kind.name) for kind in KINDS).values()) == 1


def test_every_kind_has_a_text_with_a_secret_in_it_which_a_seed_draws() -> None:
    assert [kind.name for kind in KINDS if not kind.texts] == []
    one, again, other = (list(corpus(seed)) for seed in ("1", "1", "2"))
    assert one == again
    assert not {each.secret for each in one} & {each.secret for each in other}
    for each in one:
        assert any(form in each.text for form in each.forms), each.kind.name
        assert not re.search(r"[«»\ue000\ue001]|<\w+:\d+>", each.text), each.kind.name


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        pytest.param("«url(»«s»«)»", "a%2Fb%21c", id="percent"),
        pytest.param("«b64(»{'k': '«s»'}«)»", "EvYiFj", id="base64-is-of-the-secret-alone"),
        pytest.param("x = «concat(»«s»«)»", 'a/" + "b!c', id="halves"),
        pytest.param("«NAME» «camel» «kebab» «dotted»", "A_B aB a-b app.a.b", id="names"),
        pytest.param("«hexescape(»«s»«)»", r"\x61\x2f\x62\x21\x63", id="escapes"),
    ],
)
def test_a_secret_is_written_in_many_ways(text: str, seen: str) -> None:
    made = render(a_kind(text, **{"is": "a/b!c", "as": "a_b"}), text, "hex", "1")
    assert seen in made.texts[0][1]


def test_a_kind_may_take_several_events_and_each_alphabet_is_drawn_from() -> None:
    text = "k = «s»\n~~ prompt\nis «s» it?"
    made = render(a_kind(text), text, "hex", "1")
    assert made.texts == (("", f"k = {made.secret}"), ("prompt", f"is {made.secret} it?"))
    drawn_from = {each: render(a_kind("«s»"), "«s»", each, "1").secret for each in ALPHABETS}
    assert len(set(drawn_from.values())) == len(ALPHABETS) == 6


def test_what_reaches_the_disk_is_found_on_every_route(tmp_path: Path) -> None:
    """Words that no rule knows: a route on which they are not found would prove nothing."""
    routes = (*sorted(ROUTES.keys() - UNKEPT.keys()), "note", "note directory")
    planted = [
        a_secret(word := f"canary{chr(ord('a') + number) * 6}", word, route=route)
        for number, route in enumerate(routes)
    ]
    assert {each.route for each in leaked(planted, plant(planted, tmp_path))} == set(routes)


def test_half_of_a_long_secret_is_a_leak_and_a_redacted_one_is_none(tmp_path: Path) -> None:
    half = a_secret("onetwothreefourfive", "threefourfive")
    planted = [half, a_secret(TOKEN, f"use {TOKEN}")]
    assert leaked(planted, plant(planted, tmp_path)) == [half]
    as_name = [fits(a_secret(word, word, route="branch")) for word in ("ab", "a b")]
    assert as_name == [True, False], "what cannot be a name is not planted as one"


def test_false_redactions_are_counted_and_each_is_shown_with_what_stands_around() -> None:
    text = f"one\nbefore {TOKEN} and {'word ' * 8} {TOKEN}\nlast"
    (found,) = count([Ordinary("docs", "a.md", text), Ordinary("docs", "b.md", "[redacted:x] y")])
    assert [mark.shown.count("⟦" + TOKEN + "⟧") for mark in found.marks] == [1, 1]
    assert found.marks[0].shown.startswith("one⏎before ⟦")
    assert found.characters == len(text) + 14


def test_texts_of_transcripts_are_looked_at_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "transcripts").mkdir()
    line = json.dumps({"message": {"content": [{"text": f"use {TOKEN}"}, {"text": "no"}]}})
    (tmp_path / "transcripts/a.jsonl").write_text(f"{line}\n{{torn\n")
    assert [each.text for each in transcripts(tmp_path)] == [f"use {TOKEN}", "no"]


def test_ordinary_text_stays_as_it_is() -> None:
    assert [text for _, text in drawn(times=40) if redact_text(text) != text] == []
