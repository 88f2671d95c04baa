"""How well facts are found in other words, by observer and by other memories installed here.

The set is part of the package: 560 notes of one sentence, 60 of which are asked for. All memories
get the same notes, and are asked the same over MCP; what counts is the order of the notes' texts
in the answer, so that no memory's format is in its way.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from observer import client
from observer.evaluation import sets
from observer.evaluation.bench.figure import Figure
from observer.evaluation.bench.lab import Lab, Options, lab, launchers, until
from observer.evaluation.bench.peers import Lent, Peer, installed
from observer.evaluation.bench.wire import is_quiet, rss_mib, wire
from observer.evaluation.measures import DEPTH, FIGURES, measure
from observer.store.sqlite import SqliteStore

SET = Path(__file__).with_name("notes")
SHOWN = ("R@3", "R@5")
WARM_UP = 3


class Asked(NamedTuple):
    """A query, and the places (from 0) of the notes that it is about."""

    text: str
    relevant: frozenset[int]


def run(options: Options) -> Iterator[Figure]:
    """Yield recall, latency and memory of each memory over the bundled set."""
    titles, asked = bundled()
    with lab(options) as place:
        ours = Peer("observer", partial(_ours, place))
        for memory in (ours, *installed(options.peer)):
            try:
                with memory.opened(place.folder / memory.name, titles) as lent:
                    yield from _measured(memory.name, lent, titles, asked)
            except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as error:
                if memory is ours:
                    raise
                yield Figure(f"{memory.name}, not measured", [], "", remark=str(error)[:200])


def bundled() -> tuple[Sequence[str], Sequence[Asked]]:
    """Return the notes and the queries of the set in the package."""
    read = [sets.read(path) for path in sets.find(SET)]
    places = {document.id: place for place, document in enumerate(read[0].documents)}
    asked = [
        Asked(question.q, frozenset(places[name] for name in question.rel))
        for each in read
        for question in each.questions
    ]
    return [document.title for document in read[0].documents], asked


@contextmanager
def _ours(place: Lab, folder: Path, titles: Sequence[str]) -> Iterator[Lent]:
    del folder  # the home of the lab
    store = SqliteStore(place.home.database)
    documents = [sets.Document(id=str(n), title=title) for n, title in enumerate(titles)]
    with store.write() as writer:
        writer.put_items(sets.item(each, n) for n, each in enumerate(documents, start=1))
    store.close()
    daemon = place.up()
    until(lambda: client.call(place.home, "GET", "/status")["vectors"] == len(titles))
    with wire(next(iter(launchers().values())), place.folder) as asked:
        until(lambda: "degraded" not in asked.call("search", query="total"))
        until(lambda: is_quiet(daemon))  # the slower model completes vectors when work pauses
        yield Lent(lambda text: str(asked.call("search", query=text)), (daemon, asked.pid))


def _measured(
    name: str, lent: Lent, titles: Sequence[str], asked: Sequence[Asked]
) -> Iterator[Figure]:
    for each in asked[:WARM_UP]:
        lent.ask(each.text)
    own_words = [each._replace(text=titles[min(each.relevant)]) for each in asked]
    took: list[float] = []
    for how, of_kind in (("in their own words", own_words), ("in other words", asked)):
        figures = []
        for each in of_kind:
            begun = time.perf_counter()
            answer = lent.ask(each.text)
            took.append((time.perf_counter() - begun) * 1000)
            figures.append(measure(order(answer, titles), each.relevant))
        for place, label in enumerate(FIGURES):
            if label in SHOWN:
                mean = 100 * sum(figure[place] for figure in figures) / len(figures)
                remark = f"{len(of_kind)} of {len(titles)} notes"
                yield Figure(f"found {how}, {label}, {name}", [mean], " %", remark=remark)
    yield Figure(f"search among these, {name}", took, " ms")
    yield Figure(f"memory meanwhile, {name}", [sum(map(rss_mib, lent.pids))], " MiB")


def order(answer: str, titles: Sequence[str]) -> Sequence[int]:
    """Return the places of the notes that an answer holds, in the order in which it names them."""
    found = {place: at for place, title in enumerate(titles) if (at := answer.find(title)) >= 0}
    return sorted(found, key=found.__getitem__)[:DEPTH]
