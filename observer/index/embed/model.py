"""One loaded model, or two joined: texts in, unit vectors out.

Of graphs a *bag* takes `ids` (rows, tokens) where 0 stands for no token, and embeds many texts a
call. A *sequence* takes `input_ids` (rows, tokens), and `attention_mask` and `token_type_ids` if it
wants them; it is given one text a call, as an eight-bit graph's result depends on the others.

A joined model embeds with the first model at once, and completes the vector with the second later.
An item's vector is the two vectors of equal length one after the other, so that the cosine with a
query is the mean of both, weighted as the query's halves are.

`model.toml` declares what a folder with a model holds: `model.onnx`, the graph, and
`tokenizer.json`. Their digests are checked when the model is loaded.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from observer.core.errors import ConfigInvalid
from observer.core.value import Value

if TYPE_CHECKING:
    from tokenizers import Tokenizer

GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "model.toml"
DIGESTED = (GRAPH, TOKENIZER)
ID_CHARS = 12
_CARD_BYTES = 65536


class Manifest(Value):
    """What `model.toml` says.

    `words` is a regular expression that finds the words of a text, of which the tokens are cached:
    three times as fast as whole texts. `sha256` maps file names to digests.
    """

    dimensions: Annotated[int, Meta(ge=1, le=4096)]
    description: str = ""
    licence: str = ""
    most_tokens: Annotated[int, Meta(ge=1, le=8192)] = 256
    words: str = ""
    sha256: dict[str, str] = msgspec.field(default_factory=dict)


def read(folder: Path) -> Manifest:
    """Return what a folder's `model.toml` says. Raises: ConfigInvalid (or a file is missing)."""
    for name in (MANIFEST, *DIGESTED):
        if not (folder / name).is_file():
            raise ConfigInvalid(f"{folder} has no {name}", hint="see: Models in the README")
    return parse((folder / MANIFEST).read_bytes()[: _CARD_BYTES + 1], source=str(folder / MANIFEST))


def parse(data: bytes, *, source: str) -> Manifest:
    """Return the manifest in these bytes of `source`. Raises: ConfigInvalid (it is none)."""
    if len(data) > _CARD_BYTES:
        raise ConfigInvalid(f"{source} is longer than {_CARD_BYTES} bytes")
    try:
        manifest = msgspec.convert(tomllib.loads(data.decode()), Manifest)
        re.compile(manifest.words)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigInvalid(f"{source} is not a model manifest: {error}") from error
    except re.error as error:
        raise ConfigInvalid(f"words in {source} is not a regular expression: {error}") from error
    return manifest


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def identity(folder: Path, manifest: Manifest) -> str:
    """Return the name of a model's vectors, of all that changes one: 12 hexadecimal digits."""
    parts = [manifest.sha256.get(name) or digest(folder / name) for name in DIGESTED]
    parts += [manifest.words, str(manifest.most_tokens)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:ID_CHARS]


def verify(folder: Path, manifest: Manifest) -> None:
    """Check the files against the manifest's digests. Raises: ConfigInvalid (another one)."""
    for name in DIGESTED:
        expected = manifest.sha256.get(name)
        if expected and digest(folder / name) != expected.lower():
            raise ConfigInvalid(f"{folder / name} is damaged: its SHA-256 is not the manifest's")


_CHARS_A_TOKEN = 16
"""Text beyond this many characters for every token that a model takes is not looked at."""
_REMEMBERED = 32768
_REMEMBERED_CHARS = 32

Ids = NDArray[np.uint32]
"""Ids of tokens, in their order."""


class Tokens:
    """The tokenizer of one model; safe to share between threads."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        self.vocabulary: int = self._tokenizer.get_vocab_size()
        """How many ids there are; every id is below it."""
        self._find = re.compile(manifest.words).findall if manifest.words else None
        self._most = manifest.most_tokens
        self._most_chars = manifest.most_tokens * _CHARS_A_TOKEN
        # Their ids as bytes: a third of what lists of numbers would take.
        self._known: dict[str, bytes] = {}
        if not manifest.words:
            self._tokenizer.enable_truncation(manifest.most_tokens)

    def ids(self, text: str) -> Ids:
        """Return the ids of a text's tokens, at most `most_tokens`; none for a text of blanks."""
        # Tokenizers take no lone surrogates.
        text = text[: self._most_chars].encode("utf-8", "replace").decode()
        if self._find is None:
            encoded = self._tokenizer.encode(text)
            ids = encoded.ids if 0 in encoded.special_tokens_mask else []
            return np.array(ids, np.uint32)
        known = self._known
        words = self._find(text)
        try:
            found = [known[word] for word in words]
        except KeyError:
            found = [self._word(word) for word in words]
        return np.frombuffer(b"".join(found), np.uint32)[: self._most]

    def _word(self, word: str) -> bytes:
        ids = self._known.get(word)
        if ids is None:
            encoded = self._tokenizer.encode(word, add_special_tokens=False)
            ids = np.array(encoded.ids, np.uint32).tobytes()
            if len(word) <= _REMEMBERED_CHARS:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[word] = ids
        return ids


def _tokenizer(file: Path) -> Tokenizer:
    from tokenizers import Tokenizer  # noqa: PLC0415 - native, loaded with the first model

    try:
        made = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises nothing narrower
        raise ConfigInvalid(f"{file.name} is not a tokenizer: {error}") from error
    # Some files have a fixed padding baked in, which would make every text as long.
    made.no_padding()
    made.no_truncation()
    return made


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

    def __init__(self, folder: Path, manifest: Manifest, *, name: str) -> None:
        """Load the files of a folder. Raises: ConfigInvalid (no such graph or tokenizer)."""
        self.name = name
        self.id = identity(folder, manifest)
        self.dimensions = manifest.dimensions
        self._tokens: Tokens = Tokens(folder, manifest)
        self._session = _session(folder / GRAPH)
        self._inputs: dict[str, np.dtype[Any]] = {}
        for given in self._session.get_inputs():
            if given.type not in _INTEGERS:
                raise ConfigInvalid(
                    f"the graph's input {given.name} is {given.type}, not token ids"
                )
            self._inputs[given.name] = _INTEGERS[given.type]
        self.is_quick = set(self._inputs) == BAG
        """Whether a text takes a fraction of a millisecond."""
        self.quick = self if self.is_quick else None
        """What embeds items at once: see `observer.index.embed.model.Joined`."""
        self._output = self._session.get_outputs()[0].name
        self._asked: Callable[[str], NDArray[np.float32]] = lru_cache(ASKED)(self._ask)
        self._check()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, float32 (texts, dimensions); zeros without any token."""
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
        """Return the unit vector of a query, read-only; `doubt` counts where models are joined."""
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
    options.log_severity_level = 4  # a damaged file is reported once, by us
    try:
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except _native_errors() as error:
        raise ConfigInvalid(f"{file.name} is not an ONNX graph: {error}") from error


def _native_errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: a class for every status, without a common root."""
    from onnxruntime.capi import (  # type: ignore[import-untyped]  # noqa: PLC0415 - as above
        onnxruntime_pybind11_state as native,
    )

    every = vars(native).values()
    return tuple(e for e in every if isinstance(e, type) and issubclass(e, Exception))


LEAST, MOST = 0.3, 0.95
"""What the second model counts for in a query whose words find much, and in one whose words find
nothing; the first one counts for the rest. Source: the sets in docs/benchmarks.md on which weights
were chosen."""
EVEN = 0.5
"""Doubt where none is named: both models count."""

FEW_WORDS = 3
LITTLE_DOUBT = 0.3
"""Words of the longest query, and the most doubt, with which the second model is not asked. Source:
development sets, of which identifiers gain 0.1 to 0.2 points; it takes half of a search's time."""


class Joined:
    """A model made of two; safe to share between threads."""

    def __init__(self, first: Model, second: Model, *, name: str) -> None:
        self.name = name
        self.id = f"{first.id}+{second.id}"
        self.dimensions = first.dimensions + second.dimensions
        self.quick = first.quick
        """What embeds an item at once, if not completely; None where the first model is slow."""
        self._parts = (first, second)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text, float32 (texts, dimensions): see `Model.embed`."""
        whole: NDArray[np.float32] = np.concatenate([p.embed(texts) for p in self._parts], axis=1)
        return whole

    def ask(self, text: str, doubt: float = EVEN) -> NDArray[np.float32]:
        """Return the unit vector of a query; `doubt`: how little its words find, 0 to 1."""
        second = LEAST + (MOST - LEAST) * doubt
        if doubt <= LITTLE_DOUBT and len(text.split()) <= FEW_WORDS:
            second = 0.0
        halves = [
            share * part.ask(text) if share else np.zeros(part.dimensions, np.float32)
            for share, part in zip((1 - second, second), self._parts, strict=True)
        ]
        whole: NDArray[np.float32] = np.concatenate(halves)
        length = float(np.linalg.norm(whole))
        return whole / np.float32(length) if length else whole
