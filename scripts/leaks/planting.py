"""Planting secrets in a home through the real pipeline, and finding what reached the disk."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw
from legible import legible
from sessions.product import Clock, Product

from leaks.drawing import ALPHABETS
from leaks.kinds import KINDS, Kind
from leaks.rendering import render
from leaks.routes import HOME, MAIN, OTHERS, ROUTES, Sent
from observer.core.events import Event, Remember

_NOW_MS = 1_763_715_600_000
_NOTES = {"note": "content", "note directory": "metadata"}
_MANY = 40
"""A family of more kinds, as the issuers' is, sends each of them on fewer routes."""
_SHORT = 12
"""A secret of fewer characters leaks as a whole only; of a longer one, half is a leak."""
_LEAST = 6
_KEY = 6
"""Characters by which pieces of secrets are looked up; no secret has shorter pieces."""
_UNFIT_FOR_NAMES = re.compile(r"[/\s~^:?*\[\\{@;|<>&()!#]")
_TABLES = "SELECT name FROM sqlite_master WHERE type='table'"


class Planted(NamedTuple):
    """A secret, the texts that it stands in, the way that they take, and how it is written."""

    kind: Kind
    route: str
    secret: str
    texts: tuple[tuple[str, str], ...]
    forms: frozenset[str]

    @property
    def text(self) -> str:
        """The texts as one."""
        return "\n".join(text for _, text in self.texts)


def corpus(seed: str, *, most: int = 1, kinds: Iterable[Kind] = KINDS) -> Iterator[Planted]:
    """Yield every kind on each of its routes, so many times each."""
    known = tuple(kinds)
    sizes = Counter(kind.family for kind in known)
    for number, kind in enumerate(known):
        for step, route in enumerate(_routes(kind, number, sizes[kind.family] > _MANY)):
            for turn in range(most):
                yield _planted(kind, route, f"{seed}|{kind.name}|{route}|{turn}", number + step)


def _routes(kind: Kind, number: int, is_one_of_many: bool) -> Iterator[str]:  # noqa: FBT001 - private
    if kind.routes:
        yield from kind.routes
        return
    is_line = all("\n" not in text for text in kind.texts)
    main = [route for route in MAIN if is_line or route != "history"]
    others = list(OTHERS)
    if is_one_of_many:
        every = [*main, *others]
        yield from (every[(number + at) % len(every)] for at in (0, 5, 11))
        yield from ("branch", "file name")[number % 2 : number % 2 + 1]
        return
    yield from main
    yield others[number % len(others)]
    if kind.path:
        yield "cat"


def _planted(kind: Kind, route: str, seed: str, number: int) -> Planted:
    digest = hashlib.sha256(seed.encode()).digest()
    alphabet = ALPHABETS[number % len(ALPHABETS)]
    text = kind.texts[digest[0] % len(kind.texts)]
    if route in {"branch", "file name"} and not kind.routes:
        text = ("«kebab»-«s»", "«name»=«s»", "fix-«kebab»_«s»", "«name»_«s»")[digest[0] % 4]
    made = render(kind, text, alphabet, seed)
    return Planted(kind, route, made.secret, made.texts, made.forms)


def fits(each: Planted) -> bool:
    """Return whether a secret can take its way: no name of a branch or file holds a blank."""
    of_names = each.route in {"branch", "file name"}
    return not (of_names and _UNFIT_FOR_NAMES.search(each.texts[0][1]))


def plant(secrets: Sequence[Planted], folder: Path) -> Path:
    """Send secrets through the pipeline of a home in an empty folder; returns the home."""
    root = folder / "shop"
    (root / ".git/objects").mkdir(parents=True)
    (root / ".git/refs").mkdir()
    head = root / ".git/HEAD"
    head.write_text("ref: refs/heads/main\n")
    clock = Clock()
    clock.at_ms = _NOW_MS
    product = Product(folder / "home", clock, with_vectors=False)
    for each in secrets:
        for asked, text in each.texts:
            clock.at_ms += 60_000
            route = asked or each.route
            if route in _NOTES:
                product.ingest([_note(_NOTES[route], text, clock.at_ms, str(root))])
                continue
            if route == "branch":
                product.drain()
                head.write_text(f"ref: refs/heads/fix/{text}\n")
            sent = Sent(text, f"s-{each.kind.name}", each.kind.path)
            product.spool(*_envelope(route, sent, folder))
    product.drain()
    head.write_text("ref: refs/heads/main\n")
    product.settle()
    product.context(root)
    product.close()
    return folder / "home"


def _envelope(route: str, sent: Sent, folder: Path) -> tuple[list[tuple[str, str]], bytes]:
    spooled = ROUTES[route](sent)
    fields = [(name, value.replace(HOME, str(folder))) for name, value in spooled.fields.items()]
    return fields, spooled.payload.replace(HOME.encode(), str(folder).encode())


def _note(field: str, text: str, at_ms: int, root: str) -> Event:
    content = f"Remember: {text}" if field == "content" else "A note with a place"
    metadata = json.dumps({"directory": text}) if field == "metadata" else ""
    body = Remember(content=content, title="A note", metadata=metadata)
    return Event(id=f"note-{at_ms}", at_ms=at_ms, client="mcp", cwd=root, body=body)


def leaked(secrets: Sequence[Planted], home: Path) -> list[Planted]:
    """Return the secrets of which a half or more stands in the bytes of a home.

    A secret of several lines, or one that is written in parts, leaks by any of them. A piece that
    several secrets share, as two words of a passphrase may be, shows none of them.
    """
    pieces = _known(secrets)
    found: set[int] = set()
    for blob in _blobs(home):
        for at in range(len(blob) - _KEY + 1):
            if starts := pieces.get(blob[at : at + _KEY]):
                found.update(number for piece, number in starts if blob.startswith(piece, at))
    return [secrets[number] for number in sorted(found)]


def _known(secrets: Sequence[Planted]) -> dict[bytes, list[tuple[bytes, int]]]:
    """Return the pieces of one secret alone, and its place, by their first characters."""
    owners: dict[bytes, set[int]] = {}
    for number, each in enumerate(secrets):
        for piece in _pieces(each.forms):
            owners.setdefault(piece, set()).add(number)
    pieces: dict[bytes, list[tuple[bytes, int]]] = {}
    for piece, numbers in owners.items():
        if len(numbers) == 1:
            pieces.setdefault(piece[:_KEY], []).append((piece, min(numbers)))
    return pieces


def _pieces(forms: Iterable[str]) -> Iterator[bytes]:
    for line in {line.strip(" +-\t\r") for form in forms for line in form.splitlines()}:
        if len(line) < _LEAST:
            continue
        size = max(_SHORT // 2, -(-len(line) // 2)) if len(line) >= _SHORT else len(line)
        for start in {0, (len(line) - size) // 2, len(line) - size}:
            piece = line[start:][:size]
            for written in {piece, json.dumps(piece)[1:-1], piece.lower()}:
                yield written.encode()


def _blobs(home: Path) -> Iterator[bytes]:
    """Yield what lies on the disk: all files, and every value of the database as one piece."""
    for path in sorted(home.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(home)).encode() + b"\n" + legible(path)
    with closing(apsw.Connection(str(home / "observer.db"))) as database:
        for (table,) in database.execute(_TABLES).fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - our own names
                yield b"\n".join(
                    value if isinstance(value, bytes) else str(value).encode() for value in row
                )
