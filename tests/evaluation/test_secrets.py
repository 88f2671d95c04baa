"""The campaign over planted secrets: what it plants, what it finds, and that it is repeatable."""

from __future__ import annotations

from pathlib import Path

from leaks.kinds import KINDS
from leaks.ordinary import drawn
from leaks.planting import Planted, corpus, leaked, plant
from leaks.routes import NAMES, ROUTES

from observer.redaction.redact import redact_text


def a_secret(secret: str, text: str, *, route: str = "prompt") -> Planted:
    return Planted("k", "issuer", route, secret, text, is_held=False)


def test_more_than_three_hundred_secrets_of_sixty_kinds_go_every_way() -> None:
    planted = list(corpus(most=1))
    assert len({each.secret for each in planted}) > 300
    assert len({each.kind for each in planted}) == len(KINDS) > 60
    assert {each.route for each in planted} == {*ROUTES, *NAMES, "note"}


def test_the_corpus_is_the_same_every_time() -> None:
    assert list(corpus(most=1)) == list(corpus(most=1))


def test_half_of_the_renderings_are_held_back() -> None:
    planted = list(corpus(most=2))
    assert 0.4 < sum(each.is_held for each in planted) / len(planted) < 0.6


def test_what_reaches_the_disk_is_found_on_every_route(tmp_path: Path) -> None:
    """Words that no rule knows: a route on which they are not found would prove nothing."""
    routes = (*ROUTES, "note", *NAMES)
    canaries = [
        a_secret(f"canary{'abcdefghijklmnopqrs'[number] * 6}", "", route=route)
        for number, route in enumerate(routes)
    ]
    planted = [each._replace(text=each.secret) for each in canaries]
    assert {each.route for each in leaked(planted, plant(planted, tmp_path))} == set(routes)


def test_a_redacted_secret_is_not_found(tmp_path: Path) -> None:
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
    planted = [a_secret(secret, f"use {secret}")]
    assert leaked(planted, plant(planted, tmp_path)) == []


def test_ordinary_text_stays_as_it_is() -> None:
    assert [text for _, text in drawn(times=40) if redact_text(text) != text] == []
