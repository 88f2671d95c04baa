"""What is shown unasked at a prompt, and of what nothing ever is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from observer.core.events import Command, Event, Reply
from observer.core.filters import Filters
from observer.core.model import Item
from observer.search.candidates import Sources
from observer.search.reminder import NOTHING, Reminder, after, before, decided
from observer.store.sqlite.database import SqliteStore

NOW_MS = 1_800_000_000_000
HERE = Filters(project_id=2, owner="ana")

Filled = Callable[..., Sources]
Make = Callable[..., Item]


@pytest.fixture
def a_rule(an_item: Make) -> Make:
    def make(**fields: Any) -> Item:
        title = "`round_total` rounds half even"
        given = {"kind": "note", "type": "decision", "title": title, "author": "person"}
        return an_item(1, **given | fields)

    return make


def asked(sources: Sources, prompt: str = "`round_total` is off by a cent") -> Reminder:
    return decided(sources, prompt, HERE, now_ms=NOW_MS)


def test_a_persons_rule_about_what_a_prompt_names_is_shown(filled: Filled, a_rule: Make) -> None:
    rule = a_rule()
    shown = asked(filled(rule, meanings=True))
    assert shown == Reminder(sort="rule", instead=rule.title, failed="decision", item=rule.id)
    assert shown.about == f"rule {rule.id}"


@pytest.mark.parametrize(
    ("title", "prompt"),
    [
        ("`Cart` keeps prices in cents", "`Cart` is too slow"),
        ("CartTotal keeps prices in cents", "CartTotal is too slow"),
        ("cart.py keeps prices in cents", "cart.py is too slow"),
        ("cart.py keeps prices in cents", "can src/shop/cart.py be quicker?"),
        ("keep prices of `add_item()` in cents", "keep `add_item` quick"),
    ],
)
def test_a_name_is_a_symbol_or_a_file(
    filled: Filled, a_rule: Make, title: str, prompt: str
) -> None:
    assert asked(filled(a_rule(title=title), meanings=True), prompt).instead == title


def test_an_agents_rule_is_shown_once_a_person_has_approved_it(
    filled: Filled, a_rule: Make
) -> None:
    approved = a_rule(author="agent", approval="approved")
    assert asked(filled(approved, meanings=True)).item == approved.id


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"author": "agent"}, id="an agent's own"),
        pytest.param({"author": "agent", "approval": "provisional"}, id="not approved yet"),
        pytest.param({"status": "superseded"}, id="superseded"),
        pytest.param({"suspicion": "override"}, id="an order"),
        pytest.param({"expires_ms": NOW_MS - 1}, id="expired"),
        pytest.param({"kind": "observation"}, id="only proposed"),
        pytest.param({"type": "note"}, id="no rule"),
        pytest.param({"project_id": 3}, id="of another project"),
    ],
)
def test_what_no_person_stands_for_is_not_shown(
    filled: Filled, a_rule: Make, fields: dict[str, Any]
) -> None:
    assert asked(filled(a_rule(**fields), meanings=True)) == NOTHING


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("`round_tax` is off by a cent", id="names another"),
        pytest.param("`", id="names nothing"),
        pytest.param("`round_totals` is off by a cent", id="names another by a letter"),
        pytest.param("`round` total is off by a cent", id="names a part"),
        pytest.param("Why is `round_total` off by a cent?", id="means another"),
    ],
)
def test_a_rule_that_the_prompt_does_not_touch_is_not_shown(
    filled: Filled, a_rule: Make, prompt: str
) -> None:
    assert asked(filled(a_rule(), meanings=True), prompt) == NOTHING


def test_what_only_speaks_reminds_of_nothing(store: SqliteStore) -> None:
    event = Event(id="e", at_ms=NOW_MS, client="cursor", cwd="/app", body=Reply(text="done"))
    with store.read() as reader:
        assert before(reader, event, HERE) == after(reader, event, HERE) == NOTHING


def test_a_command_that_passed_reminds_of_nothing(store: SqliteStore) -> None:
    body = Command(command="make", output="ok", exit_code=0)
    event = Event(id="e", at_ms=NOW_MS, client="cursor", cwd="/app", body=body)
    with store.read() as reader:
        assert after(reader, event, HERE) == NOTHING
