"""`model.toml`: what a folder with a model says about itself, read and checked.

Beside it stand `model.onnx`, the graph, and `tokenizer.json`. Digests in it are checked when the
model is loaded, and must be there when it is downloaded.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from observer.core.errors import ConfigInvalid
from observer.core.value import Value

GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
CARD = "model.toml"
DIGESTED = (GRAPH, TOKENIZER)
ID_CHARS = 12
_CARD_BYTES = 65536


class Manifest(Value):
    """What `model.toml` says; everything but `dimensions` has a default.

    `words` is a regular expression. With it a text is taken apart into words before the tokenizer
    sees them one by one, so that the tokens of a word are looked up once; without it the tokenizer
    gets whole texts. `sha256` maps file names to digests.
    """

    dimensions: Annotated[int, Meta(ge=1, le=4096)]
    description: str = ""
    licence: str = ""
    most_tokens: Annotated[int, Meta(ge=1, le=8192)] = 256
    words: str = ""
    sha256: dict[str, str] = msgspec.field(default_factory=dict)


def read(folder: Path) -> Manifest:
    """Return what the folder's `model.toml` says.

    Raises:
        ConfigInvalid: a file is missing, or the card is not what `Manifest` describes.
    """
    for name in (CARD, *DIGESTED):
        if not (folder / name).is_file():
            raise ConfigInvalid(f"{folder} has no {name}", hint="see: Models in the README")
    return parse((folder / CARD).read_bytes()[: _CARD_BYTES + 1], source=str(folder / CARD))


def parse(data: bytes, *, source: str) -> Manifest:
    """Return the card in these bytes.

    Raises:
        ConfigInvalid: it is too long, no TOML, or not what `Manifest` describes; names `source`.
    """
    if len(data) > _CARD_BYTES:
        raise ConfigInvalid(f"{source} is longer than {_CARD_BYTES} bytes")
    try:
        card = msgspec.convert(tomllib.loads(data.decode()), Manifest)
        re.compile(card.words)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigInvalid(f"{source} is not the card of a model: {error}") from error
    except re.error as error:
        raise ConfigInvalid(f"words in {source} is no regular expression: {error}") from error
    return card


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def identity(folder: Path, card: Manifest) -> str:
    """Return the name of the vectors that this model makes: 12 hexadecimal digits.

    It changes with whatever changes a vector. Digests that the card lacks are computed.
    """
    parts = [card.sha256.get(name) or digest(folder / name) for name in DIGESTED]
    parts += [card.words, str(card.most_tokens)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:ID_CHARS]


def verify(folder: Path, card: Manifest) -> None:
    """Check the files against the digests that the card gives.

    Raises:
        ConfigInvalid: a file is not the one that the card was written for.
    """
    for name in DIGESTED:
        expected = card.sha256.get(name)
        if expected and digest(folder / name) != expected.lower():
            raise ConfigInvalid(f"{folder / name} is damaged: its SHA-256 is not the card's")
