"""Which command mends a failure: one that is certain, and that not everybody finds at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import Item, Link, item_id
from observer.observations.drafts import ItemOrigin
from observer.observations.failure_records import Repair
from observer.observations.project_state import ProjectState
from observer.search import known_fixes
from observer.search.known_fixes import Remedy
from observer.store.sqlite.database import SqliteStore

HERE = 2
MISSING = "module-missing zod"
FIXER = Repair(
    program="biome",
    head="bun run lint",
    by="bun run lint:fix",
    origin=ItemOrigin(seq=7, event="e7", at_ms=1),
    times=2,
    signatures=(MISSING,),
    spans=(6, 9),
)

Make = Callable[..., Item]


@pytest.fixture
def shown(store: SqliteStore) -> Callable[..., Remedy | None]:
    """Return what mends a failure, by what is stored and by the story of the project."""

    def find(*stored: Item, known: ProjectState | None = None, signature: str = MISSING) -> Any:
        with store.write() as writer:
            writer.put_items(stored)
        here = Filters(project_id=HERE)
        with store.read() as reader:
            return known_fixes.find_fix(
                reader, known or ProjectState(), signature, here, session_id=9
            )

    return find


@pytest.fixture
def a_fix(an_item: Make) -> Make:
    def make(seq: int, *commands: str, **fields: Any) -> Item:
        links = tuple(Link(kind="edit", excerpt=one) for one in commands)
        given: dict[str, Any] = {"type": "fix", "signature": MISSING, "links": links}
        return an_item(seq, **given | {"session_id": 1} | fields)

    return make


def test_the_command_that_alone_mended_it_is_known(
    shown: Callable[..., Remedy | None], a_fix: Make
) -> None:
    fixes = [a_fix(1, "bun install"), a_fix(2, "bun install")]
    assert shown(*fixes) == Remedy(command="bun install", times=2, item=fixes[0].id)


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param((), id="nothing that is known"),
        pytest.param(("bun install", "bun run build"), id="two commands"),
        pytest.param(("git pull",), id="a command that only may have"),
        pytest.param(("sed -i s/a/b/ cart.ts",), id="a change of the code"),
    ],
)
def test_what_may_not_mend_it_again_is_not_shown(
    shown: Callable[..., Remedy | None], a_fix: Make, commands: tuple[str, ...]
) -> None:
    assert shown(a_fix(1, *commands)) is None


def test_what_was_mended_by_an_edit_too_has_no_certain_remedy(
    shown: Callable[..., Remedy | None], a_fix: Make
) -> None:
    edited = a_fix(1, "bun install", files_modified=("cart.ts",))
    assert shown(edited) is None
    assert shown(edited, a_fix(2, "bun install")) is None


def test_what_mended_it_in_this_session_is_no_news(
    shown: Callable[..., Remedy | None], a_fix: Make
) -> None:
    assert shown(a_fix(1, "bun install", session_id=9), a_fix(2, "bun install")) is None


def test_another_failure_is_none_of_it(shown: Callable[..., Remedy | None], a_fix: Make) -> None:
    stored = a_fix(1, "bun install")
    assert shown(stored, signature="another") is None
    assert shown(stored, known=ProjectState(repairs=(FIXER,)), signature="") is None


def test_a_fixer_that_was_searched_for_is_shown(shown: Callable[..., Remedy | None]) -> None:
    expected = Remedy(command="bun run lint:fix", times=2, item=item_id(7, "arc"))
    assert shown(known=ProjectState(repairs=(FIXER,))) == expected


@pytest.mark.parametrize(
    "unsure",
    [
        pytest.param(replace(FIXER, times=1), id="once"),
        pytest.param(replace(FIXER, spans=(1, 2, 9)), id="mostly it was the next that was run"),
        pytest.param(replace(FIXER, signatures=("another",)), id="of another failure"),
    ],
)
def test_a_fixer_that_everybody_runs_next_is_not(
    shown: Callable[..., Remedy | None], unsure: Repair
) -> None:
    assert shown(known=ProjectState(repairs=(unsure,))) is None
