"""What is said before a command or an edit: a form that works, what was taken back, a check."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from observer.commands.command_line import InvocationForm, forms_of
from observer.commands.ending import Reason
from observer.core.events import Command, Event, Reply
from observer.core.filters import Filters
from observer.core.model import Item, item_id
from observer.observations.drafts import ItemOrigin
from observer.observations.project_state import Alternative, ProjectState
from observer.search import reminder
from observer.search.code_history import is_check, standing_checks
from observer.search.reminder import NOTHING, dead_end
from observer.store.database import SqliteStore

from .conftest import NOW_MS

ORIGIN = ItemOrigin(seq=7, event="e7", at_ms=1)


def a_form(command: str, folder: str = "") -> InvocationForm:
    (form,) = forms_of(command, folder=folder)
    return form


def a_pair(
    failed: str, worked: str, error: str = "", *, reason: Reason = "usage", folder: str = ""
) -> Alternative:
    return Alternative(
        failed=a_form(failed, folder),
        worked=a_form(worked),
        origin=ORIGIN,
        reason=reason,
        error=error,
        times=1,
    )


WRAPPED = a_pair("wrap bun test", "bun test", "error: unrecognized subcommand 'bun'")
LINTED = a_pair("bun run lint", "bun run lint", 'Script not found "lint"', folder="web")


def shown(command: str, *known: Alternative, cwd: str = "/app") -> str:
    found = reminder.find_form(ProjectState(alternatives=known), command, root="/app", cwd=cwd)
    return found.worked.line if found else ""


@pytest.mark.parametrize(("command", "expected"), [
    pytest.param("wrap bun test", "bun test", id="as it failed"),
    pytest.param("cd src && wrap bun test", "", id="as it failed elsewhere"),
    pytest.param("wrap bun lint --strict", "bun test", id="by the word to blame"),
    pytest.param("wrap bunx test", "", id="by a longer word"),
    pytest.param("wrap git status", "", id="by another word"),
    pytest.param("bun test", "", id="the form that works"),
    pytest.param("git commit -m 'wrap bun test'", "", id="in words"),
    pytest.param("", "", id="nothing"),
])  # fmt: skip
def test_only_what_cannot_run_is_answered(command: str, expected: str) -> None:
    assert shown(command, WRAPPED) == expected


def test_the_folder_is_part_of_a_form() -> None:
    folder = replace(LINTED, reason="script")
    assert shown("bun run lint", folder, cwd="/app/web") == "bun run lint"
    assert shown("bun run lint", folder) == ""


@pytest.mark.parametrize("unsure", [
    pytest.param(replace(WRAPPED, reason=""), id="only a setting was missing"),
    pytest.param(replace(WRAPPED, reason="service"), id="a service was not up"),
    pytest.param(replace(WRAPPED, reason="stopped"), id="it was interrupted"),
    pytest.param(replace(WRAPPED, is_refuted=True), id="it has worked since"),
    pytest.param(replace(WRAPPED, failed=replace(WRAPPED.failed, line="wrap bun te…")), id="cut"),
])  # fmt: skip
def test_what_is_not_certain_is_not_shown(unsure: Alternative) -> None:
    assert shown("wrap bun test", unsure) == ""


def test_an_option_to_blame_says_nothing_of_other_commands() -> None:
    known = a_pair("bun test --fast", "bun test", "error: unrecognized option '--fast'")
    assert shown("bun test --fast", known) == "bun test"
    assert shown("bun test --fast src", known) == ""


def test_what_was_met_most_often_is_shown() -> None:
    known = a_pair("wrap bun test", "npx bun test", WRAPPED.error)
    assert shown("wrap bun test", replace(known, times=2), WRAPPED) == "npx bun test"


def test_its_item_is_the_one_that_tells_of_the_form() -> None:
    assert reminder._of_form(WRAPPED).item == item_id(7, "arc")


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


@pytest.mark.parametrize(("title", "expected"), [
    ("pytest -q", True), ("pytest: 3 failed", True), ("npm run test:unit", True),
    ("biome check src", True), ("cargo clippy: 2 warnings", True), ("ls", False),
    ("git status", False), ("", False),
])  # fmt: skip
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


AT = Filters(project_id=2, owner="ana")


def test_what_only_speaks_reminds_of_nothing(store: SqliteStore) -> None:
    event = Event(id="e", at_ms=NOW_MS, client="cursor", cwd="/app", body=Reply(text="done"))
    with store.read() as reader:
        assert dead_end(reader, event, AT, is_coming=True) == NOTHING


def test_a_command_that_passed_reminds_of_nothing(store: SqliteStore) -> None:
    body = Command(command="make", output="ok", exit_code=0)
    event = Event(id="e", at_ms=NOW_MS, client="cursor", cwd="/app", body=body)
    with store.read() as reader:
        assert dead_end(reader, event, AT, is_coming=False) == NOTHING
