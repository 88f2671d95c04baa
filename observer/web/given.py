"""What sessions are given unasked, and what they were given: each line, its cost, and its use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from observer.core.clock import now_ms
from observer.core.model import Project
from observer.core.paths import home
from observer.local.given import GivenLog
from observer.memory.api import Memory
from observer.memory.used import MOST, GivenToSession
from observer.tools import hook_output
from observer.tools.hook_output import explained, given
from observer.web.view import WebPage, WebRequest, number_in, projects, shared

DAY_MS = 86_400_000
DAYS = 30
GIVINGS = 20
"""Newest of what sessions were given that are shown with what they used."""
SORTS = {
    "start": "at the start",
    "form": "before or after a command that cannot run",
    "others": "before an edit of a file that others changed",
}
"""When each is given."""


class UseOfGiven(NamedTuple):
    """What sessions were given of a sort, in numbers, and how much of it they used."""

    sort: str
    times: int
    tokens: int
    items: int
    used: int


def given_page(view: WebRequest) -> WebPage:
    """Show what sessions of a project are given at their start and later, and what they were."""
    memory, asked = view.memory, view.query
    known = projects(memory)
    handle = asked.get("project") or (known[0].uuid if known else "")
    client = asked.get("client", "")
    found = explained(given(memory, "/", project=handle, client=client)) if handle else None
    one = memory.project(handle) if handle else None
    reminders = memory.accounts.standing_reminders(one) if one else []
    shown = [(each, line) for each in reminders if (line := hook_output.text(each))]
    ids = [line["id"] for line in found.lines] if found else []
    items = memory.accounts.steps([*ids, *(each.item for each, _ in shown)])
    since_ms = now_ms() - DAYS * DAY_MS
    values = {
        **shared(memory),
        "found": found,
        "project": one,
        "items": {item.id: item for item in items},
        "reminders": shown,
        "was": given_since(memory, since_ms, one, client, limit=GIVINGS) if one else (),
        "sorts": SORTS,
        "span": DAYS,
        "chosen": memory.choices.given(),
        "hidden": memory.choices.hidden(one.id) if one else (),
    }
    return WebPage("given.html", "Given", values)


def given_since(
    memory: Memory, since_ms: int, project: Project | None, client: str = "", *, limit: int = MOST
) -> list[GivenToSession]:
    """Return what sessions were given since a time, the newest first, and what they used of it."""
    given = (one for one in GivenLog(home().given).since(since_ms) if client in {"", one.client})
    return memory.accounts.used(given, project=project, limit=limit)


def uses(was: Sequence[GivenToSession]) -> list[UseOfGiven]:
    """Return what was given in numbers, a row for each sort of it."""
    groups = {sort: [one for one in was if one.given.sort == sort] for sort in SORTS}
    return [
        UseOfGiven(
            sort=SORTS[sort],
            times=len(some),
            tokens=sum(one.given.tokens for one in some),
            items=sum(len(one.items) for one in some),
            used=sum(bool(each.how) for one in some for each in one.items),
        )
        for sort, some in groups.items()
        if some
    ]


def give(view: WebRequest) -> str:
    """Hide an item, pin it, or take that back, and go on where that was chosen."""
    memory, form = view.memory, view.form
    memory.choices.give(str(number_in(view, "id")), form.get("how", ""))
    asked = {name: form[name] for name in ("project", "client") if form.get(name)}
    return f"/given?{urlencode(asked)}" if asked else "/given"
