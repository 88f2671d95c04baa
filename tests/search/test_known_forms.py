"""Which form of a command works instead: only what is certain, and only of the very command."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from observer.commands.command_forms import InvocationForm, forms_of
from observer.commands.ending import Reason
from observer.core.model import item_id
from observer.observations.drafts import ItemOrigin
from observer.observations.project_state import Alternative, ProjectState
from observer.search import reminder

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


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("wrap bun test", "bun test", id="as it failed"),
        pytest.param("cd src && wrap bun test", "", id="as it failed elsewhere"),
        pytest.param("wrap bun lint --strict", "bun test", id="by the word to blame"),
        pytest.param("wrap bunx test", "", id="by a longer word"),
        pytest.param("wrap git status", "", id="by another word"),
        pytest.param("bun test", "", id="the form that works"),
        pytest.param("git commit -m 'wrap bun test'", "", id="in words"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_only_what_cannot_run_is_answered(command: str, expected: str) -> None:
    assert shown(command, WRAPPED) == expected


def test_the_folder_is_part_of_a_form() -> None:
    folder = replace(LINTED, reason="script")
    assert shown("bun run lint", folder, cwd="/app/web") == "bun run lint"
    assert shown("bun run lint", folder) == ""


@pytest.mark.parametrize(
    "unsure",
    [
        pytest.param(replace(WRAPPED, reason=""), id="only a setting was missing"),
        pytest.param(replace(WRAPPED, reason="service"), id="a service was not up"),
        pytest.param(replace(WRAPPED, reason="stopped"), id="it was interrupted"),
        pytest.param(replace(WRAPPED, is_refuted=True), id="it has worked since"),
        pytest.param(
            replace(WRAPPED, failed=replace(WRAPPED.failed, line="wrap bun te…")), id="cut"
        ),
    ],
)
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
    assert reminder.item_of(WRAPPED) == item_id(7, "arc")
