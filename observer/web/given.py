"""What models were given and used: each line, its cost and its use; tokens, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec.structs import astuple

from observer.core import config
from observer.core.clock import now_ms
from observer.core.model import Project
from observer.core.moment import day
from observer.core.paths import home
from observer.core.value import TokenUsage
from observer.local.given import GivenLog
from observer.memory.api import Memory
from observer.memory.work import MOST, GivenToSession
from observer.search.query import day_start_ms
from observer.store.reader import Spent
from observer.tools import hook_output
from observer.tools.hook_output import explained, given
from observer.web.site import WebPage, WebRequest, number_in, projects, shared

DAY_MS = 86_400_000
DAYS = 30
SORTS = {
    "start": "at the start",
    "form": "before or after a command that cannot run",
    "others": "before an edit of a file that others changed",
}
"""When each is given."""


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
    ids = [line["id"] for line in found["lines"]] if found else []
    items = memory.accounts.steps([*ids, *(each.item for each, _ in shown)])
    since_ms = now_ms() - DAYS * DAY_MS
    values = {
        **shared(memory),
        "found": found,
        "project": one,
        "items": {item.id: item for item in items},
        "reminders": shown,
        "was": given_since(memory, since_ms, one, client, limit=20) if one else (),
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


def uses(was: Sequence[GivenToSession]) -> list[dict[str, Any]]:
    """Return what was given in numbers, a row for each sort of it, and how much of it was used."""
    groups = {sort: [one for one in was if one.given.sort == sort] for sort in SORTS}
    return [
        {
            "sort": SORTS[sort],
            "times": len(some),
            "tokens": sum(one.given.tokens for one in some),
            "items": sum(len(one.items) for one in some),
            "used": sum(bool(each.how) for one in some for each in one.items),
        }
        for sort, some in groups.items()
        if some
    ]


def give(view: WebRequest) -> str:
    """Hide an item, pin it, or take that back, and go on where that was chosen."""
    memory, form = view.memory, view.form
    memory.choices.give(str(number_in(view, "id")), form.get("how", ""))
    asked = {name: form[name] for name in ("project", "client") if form.get(name)}
    return f"/given?{urlencode(asked)}" if asked else "/given"


SPANS = (7, 30, 90, 365)
"""Days that are looked at."""
SESSIONS = 30


def usage(view: WebRequest) -> WebPage:
    """Show what turns used in some days, and what a session's start is given costs."""
    memory, asked = view.memory, view.query
    span = int(asked["days"]) if asked["days"] in {str(days) for days in SPANS} else 30
    since_ms = day_start_ms(now_ms=now_ms(), ago=span - 1)
    project = asked.get("project", "")
    found, ran = memory.accounts.spent(since_ms, project=project or None, sessions=SESSIONS)
    by_model = [one for one in found if one.by == "model"]
    by_session = [one for one in found if one.by == "session"]
    prices = prices_of(config.load(home()).prices)
    names = memory.project_names()
    known = projects(memory)
    days = [day(day_start_ms(now_ms=now_ms(), ago=ago)) for ago in reversed(range(span))]
    by_day = {one.name: sum(astuple(one.usage)) for one in found if one.by == "day"}
    handle = project or (known[0].uuid if known else "")
    values = {
        **shared(memory),
        "span": span,
        "spans": SPANS,
        "total": _row("", by_model, prices),
        "days": [(name, by_day.get(name, 0)) for name in days],
        "tables": {
            "Model": _rows(by_model, lambda one: one.name or "not named by the client", prices),
            "Project": _rows(by_model, lambda one: names(one.place), prices),
        },
        "sessions": _rows(by_session, lambda one: ran.get(one.place or 0), prices),
        "has_prices": bool(prices),
        "given": explained(given(memory, "/", project=handle, client="")) if handle else None,
        "given_to": memory.project(handle).name if handle else "",
        "uses": uses(given_since(memory, since_ms, memory.project(project) if project else None)),
    }
    return WebPage("usage.html", "Usage", values)


def prices_of(lines: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Return prices by the name of a model, longest name first: the one that fits best counts."""
    parts = (line.rpartition("=") for line in lines)
    found = {name: tuple(float(one) for one in prices.split("/")) for name, _, prices in parts}
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _cost(one: Spent, prices: dict[str, tuple[float, ...]]) -> float | None:
    price = next((prices[name] for name in prices if name in one.name), None)
    used = one.usage
    counts = (used.input, used.output, used.cache_read, used.cache_write)
    return sum(a * b for a, b in zip(counts, price, strict=True)) / 1_000_000 if price else None


def _row(
    name: object, some: Sequence[Spent], prices: dict[str, tuple[float, ...]]
) -> dict[str, Any]:
    fields = TokenUsage.__struct_fields__
    total = {field: sum(getattr(one.usage, field) for one in some) for field in fields}
    costs = [(one.turns, _cost(one, prices)) for one in some]
    return {
        "name": name,
        "turns": sum(one.turns for one in some),
        "tokens": sum(total.values()),
        "read": total["input"] + total["cache_write"] + total["cache_read"],
        **total,
        "cost": sum(cost for _, cost in costs if cost is not None),
        "unpriced": sum(turns for turns, cost in costs if cost is None),
    }


def _rows(
    found: Iterable[Spent], key: Callable[[Spent], Any], prices: dict[str, tuple[float, ...]]
) -> list[dict[str, Any]]:
    grouped: dict[Any, list[Spent]] = {}
    for one in found:
        grouped.setdefault(key(one), []).append(one)
    rows = [_row(name, some, prices) for name, some in grouped.items()]
    return sorted(rows, key=lambda row: -int(row["tokens"]))
