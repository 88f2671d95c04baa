"""Finds a text, however it is escaped, in bytes, events and files, and overwrites these."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from observer.core.disk import settle
from observer.core.errors import BadInput
from observer.core.json_text import strings
from observer.core.paths import Home, flush
from observer.local.logs import ShellLogs
from observer.store.purging import StoredEvent, packed_texts
from observer.upkeep.home_guard import PROGRAM

SHORTEST = 3  # characters of the shortest text that may be looked for: fewer stand everywhere

_BLANKS = (
    rb"(?:[\s\x1c-\x1f]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f"
    rb"|\xe3\x80\x80|\\+[nrtfv]|\\+u(?:000[9a-dA-D]|001[c-fC-F]|0020|0085|00[aA]0|1680"
    rb"|20[0-2][0-9a-fA-F]|205[fF]|3000))+"
)  # what `str.split` takes for blanks, in UTF-8 and escaped
_ESCAPED_TOO = {
    '"': rb"\\*\"", "\\": rb"\\+", "/": rb"\\*/", "\b": rb"(?:\x08|\\+b|\\+u0008)"
}  # fmt: skip


def finder(texts: Iterable[str]) -> re.Pattern[bytes] | None:
    """Return what finds any of the texts in bytes; None for none.

    Blanks fit any blanks, so that a text over several lines is found where it was joined to one.
    Raises BadInput: a text is too short to be distinctive.
    """
    forms: dict[bytes, object] = {}
    for text in texts:
        if len(text.strip()) < SHORTEST:
            message = f"{text!r} is too short to be looked for"
            raise BadInput(message, hint=f"give {SHORTEST} characters")
        for one in (text, *(unicodedata.normalize(form, text) for form in ("NFC", "NFD"))):
            forms[_BLANKS.join(b"".join(map(_character, word)) for word in one.split())] = None
    return re.compile(b"|".join(forms)) if forms else None


def _character(one: str) -> bytes:
    if one in _ESCAPED_TOO:
        return _ESCAPED_TOO[one]
    if one.isascii() and one.isalnum():
        return one.encode()
    plain = re.escape(one.encode("utf-8", "surrogatepass"))
    units = one.encode("utf-16-be", "surrogatepass").hex()
    digits = (units[at : at + 4].encode() for at in range(0, len(units), 4))
    return rb"(?:%b|%b)" % (plain, b"".join(rb"\\+u(?i:%b)" % each for each in digits))


_AROUND = ("id", "id", "client", "folder", "branch", "commit")
_WHOLE = ("its record",)


def places(text: re.Pattern[bytes], stored: StoredEvent) -> tuple[str, ...]:
    """Return in which fields an event holds a text; a branch that is called so is left out."""
    if not text.search(stored.held):
        return ()
    try:
        event = orjson.loads(stored.data)
    except orjson.JSONDecodeError:
        return _WHOLE
    around = stored.held[len(stored.data) + 1 :].split(b"\n")
    if not isinstance(event, dict) or len(around) != len(_AROUND):
        return _WHOLE
    if text.fullmatch(around[4]):
        around[4] = b""
        event.pop("branch", None)
    body = event.pop("body", {})
    said = {**event, **body} if isinstance(body, dict) else event
    found = [
        name
        for name, value in said.items()
        for _, held in strings(value, names=True)
        if text.search(held.encode("utf-8", "surrogatepass"))
    ]
    found += [name for name, value in zip(_AROUND, around, strict=True) if text.search(value)]
    is_held = found or text.search(orjson.dumps(said)) or text.search(b"\n".join(around))
    return tuple(dict.fromkeys(found)) or (_WHOLE if is_held else ())


YOUNG_S = 2.0  # a hook that lives makes a name for its file long before
_CHUNK_BYTES = 1 << 20
_REASON = ".reason"


def shred(path: Path, *, keep: bool = False) -> None:
    """Overwrite a file and delete it, or with `keep` empty it; one that is gone is not an error."""
    with suppress(FileNotFoundError):
        if path.is_symlink() or not path.is_file():
            path.unlink()
            return
        with path.open("r+b") as file:
            _overwrite(file)
        if not keep:
            path.unlink()


def supersede(path: Path, by: Path) -> None:
    """Put a file in place of another, and overwrite that; a kill leaves either of them whole."""
    with path.open("r+b") as file:
        by.replace(path)
        # Else a power failure could bring the name back to bytes that are gone.
        settle(path.parent)
        _overwrite(file)


def _overwrite(file: BinaryIO) -> None:
    left = os.fstat(file.fileno()).st_size
    while left > 0:
        left -= file.write(bytes(min(left, _CHUNK_BYTES)))
    file.flush()
    flush(file.fileno())
    file.truncate(0)


def clear_derived(home: Home) -> None:
    """Delete index, contexts, stand-ins of repositories, reminders, logs, and what a kill left."""
    for folder in (home.index, home.context, home.run / "git", home.expiring, home.workshop):
        discard(folder)
    for file in (home.reminders, home.given):
        shred(file)
    for path in _files(home.logs):
        if path != home.refused:
            # Hooks and a daemon go on appending to these two.
            shred(path, keep=path.name in {"daemon.log", "hooks.log"})
    ShellLogs(home.spool / "shell").blank()


def clear_text(home: Home, text: re.Pattern[bytes]) -> dict[str, int]:
    """Delete what holds a text in the spool, beside the copies, or as what was imported; count it.

    What has a name in `spool/new` came after the purge had begun, and is an event of its own.
    """
    gone = Counter[str]()
    for path in _files(home.spool / "bad"):
        whole = path.with_name(path.name.removesuffix(_REASON))
        if path.exists() and holds(path, text):
            shred(whole)
            shred(whole.with_name(whole.name + _REASON))
            gone["spool/bad"] += 1
    new, left = home.spool / "new", _files(home.spool / "tmp")
    gone["spool/tmp"] = _shredded((path for path in left if is_abandoned(path, new)), text)
    beside = (path for path in _files(home.backups) if path.suffix != ".db")
    gone["backups"] = _shredded(beside, text)
    gone[home.imports.name] = _shredded([home.imports], text)
    for change in sorted(home.note_versions.glob("*")):
        if any(holds(path, text) for path in _files(change)):
            discard(change)
            gone[home.note_versions.name] += 1
    return dict(+gone)


def _shredded(paths: Iterable[Path], text: re.Pattern[bytes]) -> int:
    held = [path for path in paths if holds(path, text)]
    for path in held:
        shred(path)
    return len(held)


def left(home: Home, text: re.Pattern[bytes]) -> list[str]:
    """Return the files of the home that hold a text, or are called so, but for the program."""
    names = (str(path.relative_to(home.root)) for path in _files(home.root) if path != home.purging)
    return [
        name
        for name in names
        if not name.startswith(f"{PROGRAM}/") and holds(home.root / name, text)
    ]


def holds(path: Path, text: re.Pattern[bytes]) -> bool:
    """Return True if a text stands in a file's bytes, packed in a database, or in its name."""
    if text.search(os.fsencode(path.name)):
        return True
    if path.is_symlink():
        return text.search(os.fsencode(path.readlink())) is not None
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
                if text.search(held):
                    return True
    except FileNotFoundError:
        return False
    return path.suffix == ".db" and any(map(text.search, packed_texts(path)))


def is_abandoned(path: Path, names: Path) -> bool:
    """Return True if no hook will make an event of a file any more."""
    with suppress(FileNotFoundError):
        age_s = time.time() - path.stat().st_mtime
        if 0 <= age_s < YOUNG_S:
            time.sleep(YOUNG_S - age_s)
    return not (names / path.name).exists()


def discard(folder: Path) -> None:
    """Overwrite and delete a folder with its files; one that is not there is not an error."""
    for path in _files(folder):
        shred(path)
    shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or path.is_file():
            yield path
