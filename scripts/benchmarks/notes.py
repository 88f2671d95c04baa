"""How long it takes to remember, near-duplicate check included, where 100,000 notes are kept.

And to find the signals in them: arcs, stale notes, bursts of tags, links to nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import shelf
from benchmarks.homes import Options
from observer.cli.doctor.lab import Aim, Figure
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.events import Event, Remember
from observer.core.model import Project
from observer.index import Index
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.projects import PlaceCache
from observer.redaction.redact import secret_class
from observer.store.connection import stemmer
from observer.store.database import SqliteStore

NOTES = 100_000
ASKED = 200
WORDS = range(8, 45)
PROJECT = 2
REMEMBER = (Aim(percent=50, most=10.0),)
FOUND = Aim(least=0.95)
SIGNALS = (Aim(most=30.0),)
SPAN_MS = 2 * 365 * 86_400_000
SUBJECTS = 50
LINKED = 0.05


def run(options: Options) -> Iterator[Figure]:
    """Yield what remembering costs, what of it the check costs, and how many copies it finds."""
    rng = random.Random(7)  # noqa: S311 - the same notes every time
    words = " ".join(shelf.read(options.texts).narratives).split()
    count = options.rounds(NOTES)
    memory, pipeline, index, store = _opened(options.work / f"notes-{count}")
    try:
        texts = [_text(rng, words) for _ in range(count)]
        begun = time.perf_counter()
        for start in range(0, count, 500):
            some = [_event(rng, text) for text in texts[start : start + 500]]
            pipeline.ingest(some, PROJECT)
        yield Figure("notes stored", [count / (time.perf_counter() - begun)], " notes/s")
        # As the daemon does once nothing more is coming.
        with store.read() as reader:
            index.refresh(reader)
        index.tidy()
        memory.search("warm")
        rounds = options.rounds(ASKED)
        fresh = [_text(rng, words) for _ in range(rounds)]
        yield Figure(f"remember at {count:,} notes", _remembered(memory, fresh), " ms", REMEMBER)
        copied = [_reworded(rng, text) for text in rng.sample(texts, rounds)]
        yield Figure("  of a near-duplicate", _remembered(memory, copied), " ms", REMEMBER)
        asked = [_text(rng, words) for _ in range(rounds)]
        yield Figure("  the check alone", [_checked(memory, text) for text in asked], " ms")
        others = [_reworded(rng, text) for text in rng.sample(texts, rounds)]
        warned = [bool(memory.notes.similar(text, project_id=PROJECT)) for text in others]
        yield Figure("near-duplicates warned of", [sum(warned) / len(warned)], "", (FOUND,))
        took_s, found = _detected(memory)
        yield Figure(f"signals in {count:,} notes", [took_s], " s", SIGNALS, f"{found:,} found")
        yield Figure("  where nothing has changed", [_detected(memory)[0] * 1000], " ms")
    finally:
        store.close()


def _remembered(memory: Memory, texts: Sequence[str]) -> list[float]:
    took = []
    for text in texts:
        begun = time.perf_counter()
        memory.notes.remember(Note(content=text), project="notes")
        took.append((time.perf_counter() - begun) * 1000)
    return took


def _checked(memory: Memory, text: str) -> float:
    begun = time.perf_counter()
    memory.notes.similar(text, project_id=PROJECT)
    return (time.perf_counter() - begun) * 1000


def _detected(memory: Memory) -> tuple[float, int]:
    """Return how long finding the signals took, in seconds, and how many there are."""
    begun = time.perf_counter()
    found = memory.signals.list().signals
    return time.perf_counter() - begun, len(found)


def _text(rng: random.Random, words: Sequence[str]) -> str:
    """Return a piece of real text: neighbouring words, none of which looks like a secret."""
    start = rng.randrange(len(words) - WORDS.stop)
    text = f"{rng.randrange(10**6)} " + " ".join(words[start : start + rng.choice(WORDS)])
    return _text(rng, words) if secret_class(text) else text


def _reworded(rng: random.Random, text: str) -> str:
    """Return a text with one word in ten left out."""
    words = text.split()
    for _ in range(1 + len(words) // 10):
        words.pop(rng.randrange(len(words)))
    return " ".join(words)


def _event(rng: random.Random, content: str) -> Event:
    """Return that something was remembered on some day of two years, about some subject."""
    subject = f"s{rng.randrange(SUBJECTS)}"
    return Event(
        id=f"note-{hash(content):x}-{time.perf_counter_ns()}",
        at_ms=now_ms() - rng.randrange(SPAN_MS),
        client="bench",
        body=Remember(
            content=f"{content} [[{subject}]]" if rng.random() < LINKED else content,
            type=rng.choice(("fact", "decision")),
            tags=(subject,),
        ),
    )


def _opened(folder: Path) -> tuple[Memory, Pipeline, Index, SqliteStore]:
    folder.mkdir()
    model = LazyModel(find(Settings().model, folder))
    model.encode_patiently("load")
    store = SqliteStore(folder / "observer.db")
    with store.write() as writer:
        writer.put_project(Project(id=PROJECT, uuid="notes", name="notes"))
    pipeline = Pipeline(
        store,
        Spool(folder / "spool"),
        settings=Settings(),
        places=PlaceCache(),
        now_ms=now_ms,
        embedder=model,
    )
    index = Index(folder / "index", stem=stemmer(), is_owner=True)
    index.use(model.id, model.info.dimensions)
    memory = Memory(
        store, owner="", now_ms=now_ms, index=index, encode=model.encode, record=pipeline.ingest
    )
    return memory, pipeline, index, store
