"""How fast an agent is answered from 100,000 items, or more, over MCP, whatever it asks."""

from __future__ import annotations

import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks import shelf
from benchmarks.homes import Options, sources_of
from observer.cli.doctor.lab import (
    Aim,
    Figure,
    Lab,
    Wire,
    lab,
    launcher,
    processor_s,
    rss_mib,
    took_ms,
    until,
    wire,
)
from observer.cli.doctor.speed import disk_bytes
from observer.core.filters import Filters
from observer.index import ListRequest
from observer.search.candidates import BY_WORDS

ITEMS = 100_000
QUERIES = 40
"""Of each sort, each asked with and without a project."""
AIMS = (Aim(percent=50, most=6.0), Aim(percent=95, most=20.0))

EXACT = Aim(least=0.98)

RARE, MIDDLING, COMMON = (0, 0.0005), (0.001, 0.01), (0.05, 1)
"""The share of narratives that hold a word of each sort."""

_WORD = re.compile(r"[A-Za-z]{3,20}")
_SYMBOL = re.compile(r"[a-z]{2,}(?:_[a-z]{2,}){1,4}|[A-Z][a-z]+(?:[A-Z][a-z]+){1,3}")


def run(options: Options) -> Iterator[Figure]:
    """Yield search and get_context over all sorts of queries, then sort by sort."""
    items = options.items or options.rounds(ITEMS)
    database = shelf.opened(options.texts, options.work, items)
    with lab(options) as place:
        shutil.copyfile(database, place.home.database)
        queries = queries_of(shelf.read(options.texts), options.rounds(QUERIES))
        begun = time.perf_counter()
        daemon = place.up()
        with wire(launcher(), place.folder) as asked:
            until(lambda: "degraded" not in asked.call("search", query="total"), wait_s=900.0)
            took_s = time.perf_counter() - begun
            yield Figure(f"index of {items:,} items made", [items / took_s], " items/s")
            for tool, asks in (
                ("search", _searches(asked, queries)),
                ("get_context", _contexts(asked, queries)),
            ):
                yield from _asked(tool, asks, daemon, items)
            yield Figure("daemon after all this, VmRSS", [rss_mib(daemon)], " MiB")
            size_mib = disk_bytes(place) / 2**20
            yield Figure("database and index on disk", [size_mib], " MiB")
            yield _nearest(place, queries["questions"])


def _nearest(place: Lab, texts: Sequence[str]) -> Figure:
    """Compare the vectors found with those that looking at every one finds."""
    shares = []
    with sources_of(place) as (reader, view, encode):
        changes = reader.changes(after=0, model=view.model, limit=10**9)
        ids = np.array([change.id for change in changes])
        table = np.frombuffer(b"".join(change.vector or b"" for change in changes), np.int8)
        vectors = table.reshape(len(ids), -1)
        mask = view.mask(Filters())
        for text in texts[:QUERIES]:
            vector = encode(text)
            if vector is None:
                raise RuntimeError("there is no model")
            (found,) = view.by_vector(vector, [ListRequest(mask, BY_WORDS)])
            true = _exact(vectors, vector)
            shares.append(
                len(set(ids[true].tolist()) & set(view.ids(found.places[:10]).tolist())) / 10
            )
    return Figure("vector recall@10 against exact", [sum(shares) / len(shares)], "", (EXACT,))


def _exact(vectors: NDArray[np.int8], query: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the places of the ten vectors with the highest cosines."""
    scores = np.concatenate([
        part.astype(np.float32) @ query / np.linalg.norm(part.astype(np.float32), axis=1)
        for part in np.array_split(vectors, 1 + len(vectors) // 50_000)
    ])  # fmt: skip
    return np.argsort(-scores)[:10]


Asks = dict[str, list[Callable[[], object]]]


def _asked(tool: str, asks: Asks, daemon: int, items: int) -> Iterator[Figure]:
    sorts = []
    everything: list[float] = []
    begun_s = processor_s(daemon)
    for sort, of_sort in asks.items():
        before_s = processor_s(daemon)
        took = [took_ms(ask) for ask in of_sort]
        remark = _cost(processor_s(daemon) - before_s, len(took))
        sorts.append(Figure(f"  {tool}, {sort}", took, " ms", remark=remark))
        everything += took
    remark = _cost(processor_s(daemon) - begun_s, len(everything))
    yield Figure(f"{tool} at {items:,} items", everything, " ms", AIMS, remark=remark)
    yield from sorts


def _cost(spent_s: float, calls: int) -> str:
    return f"{1000 * spent_s / calls:.1f} ms of the daemon's processor time each"


def _searches(asked: Wire, queries: dict[str, list[str]]) -> Asks:
    projects = (*shelf.PROJECTS,)
    found: Asks = {}
    for sort, texts in queries.items():
        found[sort] = [_call(asked, "search", query=text) for text in texts]
        found[f"{sort}, one project"] = [
            _call(asked, "search", query=text, project=projects[number % len(projects)])
            for number, text in enumerate(texts)
        ]
    return found


def _contexts(asked: Wire, queries: dict[str, list[str]]) -> Asks:
    projects = (*shelf.PROJECTS,)
    rounds = len(next(iter(queries.values())))
    plain = [projects[number % len(projects)] for number in range(rounds)]
    found = {"no query": [_call(asked, "get_context", project=name) for name in plain]}
    for sort, texts in queries.items():
        found[sort] = [
            _call(asked, "get_context", project=projects[number % len(projects)], query=text)
            for number, text in enumerate(texts)
        ]
    return found


def _call(asked: Wire, tool: str, **arguments: object) -> Callable[[], object]:
    return lambda: asked.call(tool, **arguments)


def queries_of(texts: shelf.Texts, rounds: int) -> dict[str, list[str]]:
    """Make queries of every sort from the words that the items hold."""
    chance = random.Random(5)  # noqa: S311 - the same queries each time
    counts = Counter(word for text in texts.narratives for word in set(_WORD.findall(text.lower())))
    rare, middling, common = (
        [word for word, n in sorted(counts.items()) if low <= n / len(texts.narratives) <= high]
        for low, high in (RARE, MIDDLING, COMMON)
    )
    symbols = sorted({name for text in texts.narratives for name in _SYMBOL.findall(text)})
    return {
        "rare words": _some(chance, rare, rounds),
        "middling words": _some(chance, middling, rounds),
        "common words": _some(chance, common, rounds),
        "several common words": [
            " ".join(_some(chance, common, chance.randint(3, 5))) for _ in range(rounds)
        ],
        "symbols": _some(chance, symbols, rounds),
        "phrases": _some(chance, _phrases(texts), rounds),
        "questions": [
            f"why does {chance.choice(texts.titles)[:60]} {chance.choice(middling)}"
            for _ in range(rounds)
        ],
    }


def _phrases(texts: shelf.Texts) -> list[str]:
    return sorted({
        f'"{one} {other}"'
        for title in texts.titles
        for one, other in pairwise(_WORD.findall(title))
    })  # fmt: skip


def _some(chance: random.Random, choice: Sequence[str], count: int) -> list[str]:
    return [chance.choice(choice) for _ in range(count)]
