"""`observer usage`: how useful items proved to be."""

from __future__ import annotations

import click
import msgspec

from observer import client
from observer.cli.output import emit, json_option, limit_option, say, table
from observer.cli.session import open_memory
from observer.core.model import Item
from observer.core.paths import home
from observer.memory.api import MOST_IDS, Memory
from observer.search.usage import Usefulness
from observer.views.moment import minute
from observer.views.render import one_line


@click.command("usage", epilog="Example: observer usage -n 50")
@click.argument("handles", nargs=-1, metavar="[ID|UUID]...")
@limit_option(20, "Most items listed.", most=MOST_IDS)
@click.option("--reset", is_flag=True, help="Forget it, of the items named or of all.")
@json_option
def usage_command(*, handles: tuple[str, ...], limit: int, reset: bool, as_json: bool) -> None:
    """List items by what they weigh: more where sessions used them, less where none did."""
    with open_memory() as memory:
        ids = [memory.resolve(handle) for handle in handles] or None
        if not reset:
            _list(memory, ids, limit, as_json=as_json)
            return
    client.ensure_daemon(home())
    answer = client.call(home(), "POST", "/usage/reset", {"ids": ids})
    if as_json:
        emit(answer)
    else:
        say(f"forgot {answer['forgotten']} uses")


def _list(memory: Memory, ids: list[int] | None, limit: int, *, as_json: bool) -> None:
    known = memory.usage.of(ids)
    order = sorted(known, key=lambda item: (-known[item].weight, item))[:limit]
    items = memory.observations(order).items
    if as_json:
        emit([_shown(item, known[item.id]) for item in items])
        return
    rows = [
        (
            item.id,
            f"{(use := known[item.id]).weight:.2f}",
            use.shown,
            use.used,
            _last(use),
            item.title,
        )
        for item in items
    ]
    table(("Id", "Weight", "Shown", "Used", "Last", "Title"), rows)


def _shown(item: Item, use: Usefulness) -> dict[str, object]:
    return {"id": item.id, "title": one_line(item.title), **msgspec.structs.asdict(use)}


def _last(use: Usefulness) -> str:
    return f"{use.uses[-1].sort} {minute(use.uses[-1].at_ms)}"
