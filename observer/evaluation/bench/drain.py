"""How fast a backlog becomes searchable: by the daemon, and by its pipeline alone."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.evaluation.bench.figure import Aim, Figure
from observer.evaluation.bench.lab import Lab, Options, lab, until
from observer.evaluation.bench.wire import processor_s
from observer.evaluation.bench.work import EndlessWork, spool
from observer.ingest.pipeline import Pipeline
from observer.projects import PlaceCache
from observer.spool.spool import Spool
from observer.store.sqlite.database import SqliteStore

EVENTS = 20_000
PROJECTS = ("shop", "billing", "site")
AIM = Aim(least=3000.0)
STEP_S = 0.05


def run(options: Options) -> Iterator[Figure]:
    """Yield events a second of the daemon and of the pipeline in this process."""
    for by, drained in (("the daemon", by_daemon), ("the pipeline alone", _by_pipeline)):
        with lab(options) as place:
            projects = [place.repository(name) for name in PROJECTS]
            work = EndlessWork(projects, random.Random(2))  # noqa: S311 - the same work each time
            count = options.rounds(EVENTS)
            size_bytes = spool(place.home, work, count)
            rate, remark = drained(place, count)
            remark = f"{remark}; {count:,} events of {size_bytes / count / 1000:.1f} KB"
            yield Figure(f"drained by {by}", [rate], " events/s", (AIM,), remark=remark)


def by_daemon(place: Lab, count: int) -> tuple[float, str]:
    """Time from the first commit to the last; what the start costs is said beside it."""
    new = place.home.spool / "new"
    started = time.perf_counter()
    daemon = place.up()
    with place.store() as store:

        def stored() -> int:
            with store.read() as reader:
                return reader.totals().events

        until(stored, step_s=STEP_S)
        first, begun = stored(), time.perf_counter()
        # The daemon adds the ends of sessions that it takes for idle.
        until(lambda: stored() >= count and not any(new.iterdir()), step_s=STEP_S)
    done = time.perf_counter()
    cpu_s = processor_s(daemon)
    rate = (count - first) / (done - begun)
    remark = f"{done - started:.1f} s from `up` on, {_cost(cpu_s, count)}"
    return rate, remark


def _by_pipeline(place: Lab, count: int) -> tuple[float, str]:
    store = SqliteStore(place.home.database)
    pipeline = Pipeline(
        store,
        Spool(place.home.spool),
        settings=Settings(),
        places=PlaceCache(),
        now_ms=now_ms,
    )
    begun, begun_cpu = time.perf_counter(), time.process_time()
    while pipeline.drain().entries:
        pass
    took_s, cpu_s = time.perf_counter() - begun, time.process_time() - begun_cpu
    with store.read() as reader:
        stored = reader.totals().events
    store.close()
    if stored != count:
        raise RuntimeError(f"{count} events were spooled, {stored} stored")
    return count / took_s, _cost(cpu_s, count)


def _cost(cpu_s: float, count: int) -> str:
    return f"{cpu_s / count * 1e6:.0f} µs of processor time an event"
