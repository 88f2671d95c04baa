"""The manifest `model.toml`: what a folder with a model declares, read and checked.

Beside it stand `model.onnx`, the graph, and `tokenizer.json`. Their digests are checked when the
model is loaded, and must be declared when it is downloaded.
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
MANIFEST = "model.toml"
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
        ConfigInvalid: a file is missing, or the manifest is not what `Manifest` describes.
    """
    for name in (MANIFEST, *DIGESTED):
        if not (folder / name).is_file():
            raise ConfigInvalid(f"{folder} has no {name}", hint="see: Models in the README")
    return parse((folder / MANIFEST).read_bytes()[: _CARD_BYTES + 1], source=str(folder / MANIFEST))


def parse(data: bytes, *, source: str) -> Manifest:
    """Return the manifest in these bytes.

    Raises:
        ConfigInvalid: it is too long, no TOML, or not what `Manifest` describes; names `source`.
    """
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
    """Return the name of the vectors that this model makes: 12 hexadecimal digits.

    It changes with whatever changes a vector. Digests that the manifest lacks are computed.
    """
    parts = [manifest.sha256.get(name) or digest(folder / name) for name in DIGESTED]
    parts += [manifest.words, str(manifest.most_tokens)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:ID_CHARS]


def verify(folder: Path, manifest: Manifest) -> None:
    """Check the files against the digests that the manifest gives.

    Raises:
        ConfigInvalid: a file is not the one that the manifest was written for.
    """
    for name in DIGESTED:
        expected = manifest.sha256.get(name)
        if expected and digest(folder / name) != expected.lower():
            raise ConfigInvalid(f"{folder / name} is damaged: its SHA-256 is not the manifest's")
