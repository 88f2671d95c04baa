"""A check is known by what it ran, by `why` and by drafts of notes alike."""

from __future__ import annotations

import pytest

from observer.core.model import Item
from observer.search.standing_checks import is_check, standing_checks


def ran(title: str, *, number: int = 1, category: str = "", line: str = "") -> Item:
    return Item(
        id=number,
        uuid=f"u{number}",
        kind="observation",
        type="command",
        title=title,
        category=category,
        created_ms=number,
        facts=(f"$ {line or title}",),
    )


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("pytest -q", True),
        ("pytest: 3 failed", True),
        ("npm run test:unit", True),
        ("biome check src", True),
        ("cargo clippy: 2 warnings", True),
        ("ls", False),
        ("git status", False),
        ("", False),
    ],
)
def test_a_check_is_known_by_its_command(title: str, expected: bool) -> None:
    assert is_check(ran(title)) is expected


def test_only_commands_are_checks() -> None:
    prompt = Item(id=1, uuid="u", kind="observation", type="prompt", title="pytest", created_ms=1)
    assert not is_check(prompt)


def test_a_failure_that_passed_later_no_longer_stands() -> None:
    red = ran("biome check src: 2 errors", category="failed", line="biome check src")
    boxed = ran("rtk biome check src: no such file", category="failed", line="rtk biome check src")
    green = ran("biome check src", number=2)
    assert list(standing_checks([boxed, green])) == [green]
    assert list(standing_checks([red, ran("ls", number=3)])) == [red]
    assert list(standing_checks([green, red])) == [green]
