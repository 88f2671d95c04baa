"""What `scripts/bench.py` asks for beside a throw-away home, and its store read in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from observer.cli.doctor import lab
from observer.cli.doctor.lab import ROOT, Lab
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.index import Index
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import find
from observer.memory.api import Memory
from observer.memory.opening import index_for
from observer.search.candidates import Sources


@dataclass(frozen=True, slots=True)
class Options(lab.Options):
    """What the command line asked for."""

    texts: Path = ROOT
    items: int = 0
    """Items that `recall` asks; 0: as many as the figure promises."""
    peer: Path | None = None
    """Where the peer is installed that `peer` asks the same; None asks none."""


@contextmanager
def memory_of(place: Lab) -> Iterator[Memory]:
    """Read the store as the daemon does, in this process."""
    with place.store() as store:
        index, model = _index(place)
        yield Memory(store, owner="", now_ms=now_ms, index=index, encode=model.encode_patiently)


@contextmanager
def sources_of(place: Lab) -> Iterator[Sources]:
    """Lend what recall looks into."""
    index, model = _index(place)
    with place.store() as store, store.read() as reader, index.view(reader) as view:
        yield Sources(reader, view, model.encode_patiently)


def _index(place: Lab) -> tuple[Index, LazyModel]:
    model = LazyModel(find(Settings().model, place.home.models))
    return index_for(place.home.index, model, is_owner=False), model
