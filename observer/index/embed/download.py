"""Downloading a model from a URL of the user's choice: pinned, bounded, all or nothing.

The user gives the base URL and the SHA-256 of `model.toml`, which has those of the other two files.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import tempfile
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path

from observer.core.errors import BadInput, ConfigInvalid, NotFound
from observer.index.embed import model, registry
from observer.index.embed.registry import ModelInfo

MOST_BYTES = {model.MANIFEST: 1 << 16, model.TOKENIZER: 64 << 20, model.GRAPH: 2 << 30}
"""Largest file that is taken, in bytes, in the order of the download."""
_WAIT_S = 30
_CHUNK_BYTES = 1 << 20
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")


def pull(name: str, base_url: str, *, sha256: str, folder: Path) -> ModelInfo:
    """Download `<base_url>/<name>/` into `folder / name`, replacing what is there.

    Nothing is changed unless all three files came, are what was pinned, and load. Raises: BadInput
    (the name, address or digest is none, or a file too large), NotFound (the server has no such
    file, or does not answer), ConfigInvalid (other files than pinned, or no model).
    """
    _check(name, base_url, sha256)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pull-", dir=folder) as temporary:
        fresh = Path(temporary, name)
        fresh.mkdir()
        _fetch(f"{base_url.rstrip('/')}/{name}", fresh, sha256=sha256.lower())
        registry.load(registry.find(str(fresh), folder))
        if (folder / name).exists():  # moved aside, and deleted with the rest
            (folder / name).rename(Path(temporary, "replaced"))
        fresh.rename(folder / name)
    return registry.find(name, folder)


def _check(name: str, base_url: str, sha256: str) -> None:
    if not registry.NAME.fullmatch(name):
        raise BadInput(f"{name!r} is not a model name", hint="use a-z, 0-9, dot, dash")
    if name in registry.BUILT_IN_NAMES:
        raise BadInput(f"{name!r} is built in", hint="choose another name")
    is_web = False
    with suppress(ValueError):  # a bracket that is not closed, or what is in it is no IPv6 address
        address = urllib.parse.urlsplit(base_url)
        is_web = address.scheme in {"http", "https"} and bool(address.hostname)
    if not is_web:
        raise BadInput(f"{base_url!r} is not an http or https URL", hint="set model_url")
    if not _DIGEST.fullmatch(sha256):
        raise BadInput(f"{sha256!r} is no SHA-256", hint="sha256sum model.toml")


def _fetch(address: str, fresh: Path, *, sha256: str) -> None:
    """Download the manifest, then the files that it pins."""
    _download(f"{address}/{model.MANIFEST}", fresh / model.MANIFEST, sha256=sha256)
    declared = model.parse(
        (fresh / model.MANIFEST).read_bytes(), source=f"{address}/{model.MANIFEST}"
    )
    missing = [name for name in model.DIGESTED if name not in declared.sha256]
    if missing:
        raise ConfigInvalid(f"{address}/{model.MANIFEST} pins no {missing[0]}")
    for name in reversed(model.DIGESTED):
        _download(f"{address}/{name}", fresh / name, sha256=declared.sha256[name].lower())


def _download(address: str, file: Path, *, sha256: str) -> None:
    most = MOST_BYTES[file.name]
    seen, size = hashlib.sha256(), 0
    try:
        # The scheme was checked; redirects stay within http, https and ftp.
        with urllib.request.urlopen(address, timeout=_WAIT_S) as answer, file.open("wb") as out:  # noqa: S310
            while chunk := answer.read(_CHUNK_BYTES):
                size += len(chunk)
                if size > most:
                    raise BadInput(f"{address} is larger than {most} bytes")
                seen.update(chunk)
                out.write(chunk)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotFound(f"{address} cannot be had: {error}", hint="check model_url") from error
    if seen.hexdigest() != sha256:
        raise ConfigInvalid(
            f"{address} is not the pinned file: its SHA-256 is {seen.hexdigest()}",
            hint="check the digest with whoever published the model",
        )
