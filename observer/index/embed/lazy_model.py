"""The model in use, loaded when it is needed by a thread of its own, and let go where it is not.

Callers may wait for it or go without; for one that comes back after a rest all wait.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from observer.core.errors import ConfigInvalid
from observer.core.model import ASKED, Item
from observer.core.text import MARKS
from observer.index.embed.model import EVEN, Joined, Model
from observer.index.embed.registry import ModelInfo, load

TEXT_CHARS = 900
"""Most characters of an item that a model is given. A third more changes nDCG@10 by 0.03."""
_SHARES = {"subtitle": 100, "facts": 240, "concepts": 90, "files": 120}
_TITLE_CHARS = 200
_WRITTEN_CHARS = 250
"""Of what a language model wrote about the item, where one did."""


def text_of(item: Item) -> str:
    """Return what is embedded of an item, title first, at most `TEXT_CHARS` characters.

    Subtitle, facts, concepts and file names get at most their share; the narrative gets the rest. A
    title that is but the beginning of the narrative is left out: a model would take what is said
    twice for the most of what is meant. Of a turn that is what was asked and answered, and files.
    """
    if item.type == "turn":
        return _turn(item)
    repeated = item.narrative.lstrip(MARKS).startswith(item.title.removesuffix("…"))
    title = "" if repeated else item.title[:_TITLE_CHARS]
    shares = {
        "subtitle": item.subtitle[: _SHARES["subtitle"]],
        "facts": _listed(item.facts, _SHARES["facts"]),
        "concepts": _listed(item.concepts, _SHARES["concepts"]),
        "files": _listed(_base_names(item), _SHARES["files"]),
    }
    spent = len(title) + sum(len(part) + 1 for part in shares.values()) + 1
    narrative = " ".join(filter(None, (_written(item), item.narrative)))[: TEXT_CHARS - spent]
    parts = (title, shares["subtitle"], narrative, *(shares[n] for n in list(_SHARES)[1:]))
    return " ".join(part for part in parts if part)


def _turn(item: Item) -> str:
    title, files = item.title[:_TITLE_CHARS], _listed(_base_names(item), _SHARES["files"])
    answered, _, asked = f"\n\n{item.narrative}".partition(ASKED)
    room = TEXT_CHARS - len(title) - len(files) - 3
    asked = asked[: room // 2]
    said = " ".join(filter(None, (_written(item), answered.strip())))
    return " ".join(filter(None, (title, asked, said[: room - len(asked)], files)))


def _written(item: Item) -> str:
    return item.enrichment.narrative[:_WRITTEN_CHARS] if item.enrichment else ""


def _listed(words: Iterable[str], at_most_chars: int) -> str:
    """Join whole words, as many as fit; a first one that is too long is cut."""
    text = ""
    for word in words:
        longer = f"{text} {word}" if text else word[:at_most_chars]
        if len(longer) > at_most_chars:
            break
        text = longer
    return text


def _base_names(item: Item) -> list[str]:
    """Return the names of changed files, then of read ones, without folders and repeats."""
    paths = (*item.files_modified, *item.files_read)
    return list(dict.fromkeys(path.rpartition("/")[2] for path in paths))


WAKE_S = 1.0
"""How long a question waits for a model that was let go; it is there again after half of that."""
FEW = 4
"""Items up to which waking a thread takes longer than embedding them where they are wanted."""


class LazyModel:
    """One model that may not be there yet; one with a problem never is."""

    def __init__(self, info: ModelInfo) -> None:
        self.info = info
        self.id, self.dimensions = info.id, info.dimensions
        self.problem = info.problem
        self._model: Model | Joined | None = None
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._used_s = 0.0
        self._wake_s = 0.0
        self._working = ThreadPoolExecutor(1, thread_name_prefix="embedding")

    def start(self) -> threading.Thread | None:
        """Begin to load, if nobody did; return the thread that loads, None if it never will."""
        with self._changing:
            self._used_s = time.monotonic()
            if self._thread is None and not self.problem:
                self._thread = threading.Thread(target=self._load, name="model", daemon=True)
                self._thread.start()
            return self._thread

    def let_go(self, *, unused_s: float) -> bool:
        """Drop what nobody has used for so long; return True if there was something to free."""
        with self._changing:
            if self._model is None or time.monotonic() - self._used_s < unused_s:
                return False
            self._model = self._thread = None
            self._wake_s = WAKE_S
        gc.collect()  # a model is part of a cycle, with the questions that it keeps
        return True

    def encode(self, text: str, doubt: float = EVEN) -> NDArray[np.float32] | None:
        """Return what a text means as a unit vector; None while the model is not there.

        `doubt`: see `Joined.ask`.
        """
        model = self._loaded(within_s=self._wake_s)
        return model.ask(text, doubt) if model else None

    def encode_patiently(self, text: str, doubt: float = EVEN) -> NDArray[np.float32] | None:
        """Return what `encode` does once the model is there; None if it cannot be."""
        model = self._loaded()
        return model.ask(text, doubt) if model else None

    def begin(self, items: Sequence[Item]) -> Callable[[], dict[int, bytes]]:
        """Begin to embed items in a thread; returns what waits for their packed vectors, by id.

        A model that is slow embeds nothing here, and one of which only the first part is quick
        makes but the beginning of vectors. A few notes get whole ones: they are compared next.
        """
        if len(items) > FEW:
            return self._working.submit(self.made, items, is_quick=True).result
        return partial(self.made, items, is_quick=any(item.kind != "note" for item in items))

    def made(self, items: Sequence[Item], *, is_quick: bool = False) -> dict[int, bytes]:
        """Return the packed vector of each item, by id, of what is quick or however slow."""
        model = self._loaded() if items else None
        model = model.quick if model and is_quick else model
        if model is None:
            return {}
        rows = packed(model.embed([text_of(item) for item in items]))
        return {item.id: row.tobytes() for item, row in zip(items, rows, strict=True)}

    def _loaded(self, *, within_s: float | None = None) -> Model | Joined | None:
        if thread := self.start():
            thread.join(within_s)
        return self._model

    def _load(self) -> None:
        try:
            self._model = load(self.info)
        except ConfigInvalid as error:
            self.problem = error.message


def packed(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return vectors in eight bits a dimension; a vector of zeros stays one.

    Each is scaled so that its largest dimension is 127: what counts is where it points.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors * np.divide(127, largest, out=np.zeros_like(largest), where=largest > 0)
    whole: NDArray[np.int8] = np.rint(scaled).astype(np.int8)
    return whole
