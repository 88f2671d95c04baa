"""One loaded model: texts in, unit vectors out.

Two kinds of graph are understood, told apart by their inputs. A *bag* takes `ids` (rows, tokens)
where 0 stands for no token, and embeds many texts a call. A *sequence* takes `input_ids` (rows,
tokens), and `attention_mask` and `token_type_ids` if it wants them; it is given one text a call,
because what an eight-bit graph makes of a text depends on its neighbours in the call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from observer.embed.card import GRAPH, Card, identity
from observer.errors import ConfigInvalid

if TYPE_CHECKING:
    from observer.embed.tokens import Ids, Tokens

BAG = frozenset({"ids"})
SEQUENCE = frozenset({"input_ids", "attention_mask", "token_type_ids"})
"""Inputs of the two kinds of graph; `input_ids` must be there, the other two may be."""
ASKED, LONGEST = 256, 1_000
"""Queries of which the vector is kept, and characters of the longest such: at most 1.5 MB a model.
Who pages, or asks for a context after a search, asks the same again."""
_ROWS = 8
"""Texts of a call: more cost memory that is never given back (9 MB at 32) and gain nothing."""
_INTEGERS: dict[str, np.dtype[Any]] = {
    "tensor(int64)": np.dtype(np.int64),
    "tensor(int32)": np.dtype(np.int32),
}


class Model:
    """A graph with its tokenizer; safe to share between threads."""

    def __init__(self, folder: Path, card: Card, *, name: str) -> None:
        """Load the files of a folder.

        Raises:
            ConfigInvalid: they are not a graph and a tokenizer as described above.
        """
        from observer.embed.tokens import Tokens  # noqa: PLC0415 - a home without vectors never loads it

        self.name = name
        self.id = identity(folder, card)
        self.dimensions = card.dimensions
        self._tokens: Tokens = Tokens(folder, card)
        self._session = _session(folder / GRAPH)
        self._inputs = {i.name: _integer(i) for i in self._session.get_inputs()}
        self.is_quick = set(self._inputs) == BAG
        """Whether a text takes a fraction of a millisecond."""
        self.quick = self if self.is_quick else None
        """What embeds items at once: see `observer.embed.joined.Joined`."""
        self._output = self._session.get_outputs()[0].name
        self._asked: Callable[[str], NDArray[np.float32]] = lru_cache(ASKED)(self._ask)
        self._check()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, float32 (texts, dimensions), in the order given.

        A text without any token gets zeros. Texts are cut at the model's number of tokens.
        """
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        ids = [self._tokens.ids(text) for text in texts]
        # Neighbours of like length waste the least padding.
        order = sorted((i for i, row in enumerate(ids) if len(row)), key=lambda i: len(ids[i]))
        step = _ROWS if self.is_quick else 1
        for start in range(0, len(order), step):
            rows = order[start : start + step]
            vectors[rows] = self._run([ids[i] for i in rows])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
        return unit

    def ask(self, text: str, doubt: float = 0.0) -> NDArray[np.float32]:
        """Return the unit vector of a query, read-only; zeros for a text without any token.

        `doubt` counts where models are joined.
        """
        del doubt
        return self._asked(text) if len(text) <= LONGEST else self._ask(text)

    def _ask(self, text: str) -> NDArray[np.float32]:
        asked: NDArray[np.float32] = self.embed([text])[0]
        asked.flags.writeable = False
        return asked

    def _run(self, rows: Sequence[Ids]) -> NDArray[np.float32]:
        padded = np.zeros((len(rows), max(map(len, rows))), np.int64)
        for row, ids in zip(padded, rows, strict=True):
            row[: len(ids)] = ids
        made = {"attention_mask": np.ones_like, "token_type_ids": np.zeros_like}
        feed = {
            name: made.get(name, np.asarray)(padded, kind) for name, kind in self._inputs.items()
        }
        vectors: NDArray[np.float32] = self._session.run([self._output], feed)[0]
        return vectors

    def _check(self) -> None:
        """Run two tokens through the graph, so that a wrong one is refused before it is used."""
        names = set(self._inputs)
        if names != BAG and not ("input_ids" in names and names <= SEQUENCE):
            raise ConfigInvalid(
                f"the graph's inputs are {', '.join(sorted(names)) or 'none'}; "
                f"a model takes ids, or {', '.join(sorted(SEQUENCE))}"
            )
        try:
            made = self._run([np.array([0, self._tokens.vocabulary - 1], np.uint32)])
        except _native_errors() as error:
            raise ConfigInvalid(f"the graph does not run: {error}") from error
        if made.shape != (1, self.dimensions) or made.dtype != np.float32:
            raise ConfigInvalid(
                f"the graph's first output is {made.dtype} {made.shape} for one text, "
                f"not float32 (1, {self.dimensions})"
            )


def _session(file: Path) -> Any:  # noqa: ANN401 - onnxruntime has no types
    # On import it writes about this machine into the user's cache folder, to be sent to its maker.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # type: ignore[import-untyped]  # noqa: PLC0415 - slow to import

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # One text is too little work to share, and an idle daemon must not spin.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # every call has another shape
    options.log_severity_level = 4  # a damaged file is told once, by us
    try:
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except _native_errors() as error:
        raise ConfigInvalid(f"{file.name} is no graph: {error}") from error


def _integer(given: Any) -> np.dtype[Any]:  # noqa: ANN401 - as above
    if given.type not in _INTEGERS:
        raise ConfigInvalid(f"the graph's input {given.name} is {given.type}, not token ids")
    return _INTEGERS[given.type]


def _native_errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: a class for every status, without a common root."""
    from onnxruntime.capi import (  # type: ignore[import-untyped]  # noqa: PLC0415 - as above
        onnxruntime_pybind11_state as native,
    )

    every = vars(native).values()
    return tuple(e for e in every if isinstance(e, type) and issubclass(e, Exception))
