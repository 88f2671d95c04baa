"""How fast the daemon answers with each page, and what ten open pages cost it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from http.cookiejar import CookieJar
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

from benchmarks import shelf
from benchmarks.homes import Options
from observer.cli.doctor.lab import Aim, Figure, lab, launcher, processor_s, took_ms, until, wire
from observer.local import client

ITEMS = 100_000
ROUNDS = 60
OPEN, OPEN_S = 10, 10.0
"""Pages that are open and live, and for how long."""
AIMS = (Aim(percent=95, most=60.0),)
CORE = Aim(most=3.0)

PAGES = (
    *("/", "/search?q=total+of+the+cart", "/timeline", "/timeline?type=commit", "/sessions"),
    *("/notes", "/review", "/given", "/usage", "/privacy", "/health"),
)


def run(options: Options) -> Iterator[Figure]:
    """Yield the time of each page as a browser waits for it, and the cost of open ones."""
    items = options.items or options.rounds(ITEMS)
    database = shelf.opened(options.texts, options.work, items)
    with lab(options) as place:
        shutil.copyfile(database, place.home.database)
        daemon = place.up()
        with wire(launcher(), place.folder) as asked:
            until(lambda: "degraded" not in asked.call("search", query="total"), wait_s=900.0)
        link = client.call(place.home, "POST", "/web")["url"]
        base, _, word = link.partition("/login?link=")
        opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()))
        came = {"Sec-Fetch-Site": "same-origin"}
        sent = Request(f"{base}/login", urlencode({"link": word}).encode(), came)  # noqa: S310 - loopback
        opener.open(sent).close()

        def get(path: str) -> bytes:
            with opener.open(base + path) as answer:
                return bytes(answer.read())

        asks: dict[str, Callable[[], object]] = {path: partial(get, path) for path in PAGES}
        for path, ask in asks.items():
            ask()
            took = [took_ms(ask) for _ in range(options.rounds(ROUNDS))]
            yield Figure(f"page {path} at {items:,} items", took, " ms", AIMS)
        with ExitStack() as stack:
            for _ in range(OPEN):
                stack.enter_context(opener.open(f"{base}/changes"))
            before_s = processor_s(daemon)
            time.sleep(OPEN_S)
            share = 100 * (processor_s(daemon) - before_s) / OPEN_S
        yield Figure(f"{OPEN} open pages, of a core", [share], " %", (CORE,))
