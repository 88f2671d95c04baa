"""How well vectors alone find what a query is about: nDCG@10 over sets of documents and queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from observer.core.model import Item
from observer.index.embed.lazy_model import text_of

DEPTH = 10
Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]


class Set(msgspec.Struct, frozen=True):
    """Queries with the places of the documents they are about."""

    name: str
    kind: str
    documents: list[str]
    queries: list[str]
    relevant: list[list[int]]


class _Document(msgspec.Struct):
    id: str
    title: str
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class _Question(msgspec.Struct):
    q: str
    rel: list[str]


def read(folder: Path) -> list[Set]:
    """Return the sets of a folder of `<repo>_<kind>_docs.jsonl` and `<repo>_<kind>_q.jsonl`.

    A set of queries without documents of its own runs on the `diff` documents of its repository.
    """
    found = []
    for file in sorted(folder.glob("*_q.jsonl")):
        repository, kind, _ = file.stem.rsplit("_", 2)
        own = folder / f"{repository}_{kind}_docs.jsonl"
        source = own if own.exists() else folder / f"{repository}_diff_docs.jsonl"
        documents = msgspec.json.Decoder(_Document).decode_lines(source.read_bytes())
        questions = msgspec.json.Decoder(_Question).decode_lines(file.read_bytes())
        places = {document.id: place for place, document in enumerate(documents)}
        relevant = [[places[id_] for id_ in q.rel if id_ in places] for q in questions]
        texts = [text_of(_item(document)) for document in documents]
        name = f"{repository} {kind}"
        found.append(Set(name, kind, texts, [q.q for q in questions], relevant))
    return found


def measure(sets: Sequence[Set], embed: Embed) -> dict[str, float]:
    """Return the mean nDCG@10, in percent, of every kind of set; documents are embedded once."""
    made: dict[int, Vectors] = {}
    kinds: dict[str, list[float]] = {}
    for one in sets:
        key = hash(tuple(one.documents))
        if key not in made:
            made[key] = embed(one.documents)
        scores = embed(one.queries) @ made[key].T
        kinds.setdefault(one.kind, []).append(100 * _ndcg(scores, one.relevant))
    return {kind: float(np.mean(values)) for kind, values in kinds.items()}


def shown(measured: dict[str, float]) -> str:
    """Return figures on one line."""
    return "  ".join(f"{kind} {value:.1f}" for kind, value in sorted(measured.items()))


def _item(document: _Document) -> Item:
    fields = msgspec.structs.asdict(document)
    files = fields.pop("files")
    del fields["id"]
    return Item(id=0, uuid="", kind="observation", type="", files_modified=files, **fields)


def _ndcg(scores: Vectors, relevant: Sequence[Sequence[int]]) -> float:
    found = np.argsort(-scores, axis=1)[:, :DEPTH]
    gains = 1 / np.log2(np.arange(DEPTH) + 2)
    figures = []
    for top, wanted in zip(found, relevant, strict=True):
        best = math.fsum(gains[: len(wanted)])
        figures.append(math.fsum(gains[np.isin(top, wanted)]) / best)
    return math.fsum(figures) / len(figures)
