"""How fast the daemon answers with each page, and what ten open pages cost it."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from http.client import HTTPException
from http.cookiejar import CookieJar
from threading import Thread
from typing import BinaryIO
from urllib.parse import urlencode
from urllib.request import (
    HTTPCookieProcessor,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from benchmarks import shelf
from benchmarks.homes import Options
from benchmarks.load import spooled
from benchmarks.person import EVENT_EVERY_S
from benchmarks.work import EndlessWork
from observer.cli.doctor.lab import (
    Aim,
    Figure,
    Lab,
    is_quiet,
    kill,
    lab,
    launcher,
    processor_s,
    rss_mib,
    took_ms,
    until,
    wire,
)
from observer.core.clock import now_ms
from observer.core.model import item_id
from observer.local import client

ITEMS = 100_000
ROUNDS = 60
OPEN, OPEN_S = 10, 36.0
"""Pages that are open and live, and for how long."""
AIMS = {False: (Aim(percent=95, most=60.0),), True: (Aim(percent=95, most=150.0),)}
"""By whether there are more items than `ITEMS`."""
CORE = Aim(most=3.0)

PAGES = (
    *("/", "/search?q=total+of+the+cart", "/timeline", "/timeline?type=commit", "/sessions"),
    *("/session/{session}", "/edits/{session}", "/item/{item}", "/project", "/project/shop"),
    *(
        "/notes",
        "/review",
        "/signals",
        "/given",
        "/why",
        "/usage",
        "/usage?days=365",
        "/privacy",
        "/purged",
    ),
    "/health",
)
DAY_MS = 86_400_000


def run(options: Options) -> Iterator[Figure]:
    """Yield the time of each page as a browser waits for it, and the cost of open ones."""
    items = options.items or options.rounds(ITEMS)
    until_ms = now_ms() // DAY_MS * DAY_MS + DAY_MS  # so that something happened today
    database = shelf.opened(options.texts, options.work, items, until_ms)
    with lab(options) as place:
        shutil.copyfile(database, place.home.database)
        daemon = place.up()
        with wire(launcher(), place.folder) as asked:
            until(lambda: "degraded" not in asked.call("search", query="total"), wait_s=900.0)
            until(lambda: is_quiet(daemon), wait_s=900.0)
        yield Figure(f"daemon without a page, {items:,} items", [rss_mib(daemon)], " MiB")
        opener, base = _logged_in(place)
        yield Figure(f"daemon with pages, {items:,} items", [rss_mib(daemon)], " MiB")

        def get(path: str) -> None:
            with opener.open(base + path) as answer:
                answer.read()

        for path in PAGES:
            session = items - (items - 1) % shelf.EVENTS_OF_A_SESSION
            ask = partial(get, path.format(session=session, item=item_id(items - 1)))
            ask()
            before_s, rounds = processor_s(daemon), options.rounds(ROUNDS)
            took = [took_ms(ask) for _ in range(rounds)]
            each = f"{1000 * (processor_s(daemon) - before_s) / rounds:.1f} ms of processor each"
            yield Figure(f"page {path} at {items:,} items", took, " ms", AIMS[items > ITEMS], each)
        yield from _watched(place, daemon, get, lambda: opener.open(f"{base}/changes"))


def _logged_in(place: Lab) -> tuple[OpenerDirector, str]:
    """Return a browser that has followed a link, and the address that it looks at."""
    base, _, word = client.call(place.home, "POST", "/web")["url"].partition("/login?link=")
    opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()))
    came = {"Sec-Fetch-Site": "same-origin"}
    opener.open(Request(f"{base}/login", urlencode({"link": word}).encode(), came)).close()  # noqa: S310 - loopback
    return opener, base


def _watched(
    place: Lab, daemon: int, get: Callable[[str], None], stream: Callable[[], BinaryIO]
) -> Iterator[Figure]:
    """Yield what pages that are open cost: at rest, and while an agent works."""
    work = iter(EndlessWork([place.repository("live")], random.Random(2)))  # noqa: S311 - the same each time

    def spent(named: str, event_every_s: float | None) -> float:
        until(lambda: is_quiet(daemon))
        before_s, end_s = processor_s(daemon), time.monotonic() + OPEN_S
        while (left_s := end_s - time.monotonic()) > 0:
            time.sleep(min(event_every_s or left_s, left_s))
            if event_every_s:
                spooled(place.home, f"{named}-{left_s:.0f}", next(work))
        return 100 * (processor_s(daemon) - before_s) / OPEN_S

    alone = [spent("alone", every_s) for every_s in (None, EVENT_EVERY_S)]
    with ExitStack() as stack:
        for _ in range(OPEN):
            lines = stack.enter_context(stream())
            Thread(target=_looks, args=(lines, get), daemon=True).start()
        for without, every_s in zip(alone, (None, EVENT_EVERY_S), strict=True):
            share = spent("open", every_s)
            name = f"{OPEN} open pages, an agent works" if every_s else f"{OPEN} open pages"
            yield Figure(f"{name}, of a core", [share], " %", (CORE,), f"{without:.1f} % without")
        kill(place.home)  # ends the streams, so that whoever reads them goes on


def _looks(lines: BinaryIO, get: Callable[[str], None]) -> None:
    """Load the first page anew whenever something was written, as a browser does."""
    with suppress(OSError, HTTPException):  # the daemon has ended
        for line in lines:
            if line.startswith(b"event: changed"):
                get("/")
