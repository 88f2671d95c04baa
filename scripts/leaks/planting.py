"""Planting secrets in a home through the real pipeline, and finding what reached the disk."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw
from sessions.product import Clock, Product

from leaks.kinds import KINDS, Family
from leaks.renderings import Rendered, joined, render
from leaks.routes import NAMES, ROOT, ROUTES, Spooled
from observer.core.events import Event, Remember

_NOW_MS = 1_763_715_600_000
_NOTE = "note"
_UNFIT_FOR_NAMES = frozenset({"webhook", "url", "key", "prose"})
_KEY = 6
"""Characters by which pieces of secrets are looked up; no secret has shorter pieces."""
_SHORT = 24
"""A secret of so many characters leaks as a whole: its words stand in others as well."""
_TABLES = "SELECT name FROM sqlite_master WHERE type='table'"


class Planted(NamedTuple):
    """A secret, the text that it stands in and the way that this takes."""

    kind: str
    family: Family
    route: str
    secret: str
    text: str
    is_held: bool


def corpus(*, most: int) -> Iterator[Planted]:
    """Yield every kind in every route, in so many renderings each."""
    for kind in KINDS:
        for route in (*ROUTES, _NOTE):
            yield from _planted(kind.name, kind.family, route, render(kind, route, most=most))
        if kind.family not in _UNFIT_FOR_NAMES:
            for route in NAMES:
                yield from _planted(kind.name, kind.family, route, joined(kind, route, most=most))


def _planted(
    name: str, family: Family, route: str, rendered: Iterable[Rendered]
) -> Iterator[Planted]:
    for each in rendered:
        yield Planted(name, family, route, each.secret, each.text, each.is_held)


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
        clock.at_ms += 60_000
        if each.route == _NOTE:
            product.ingest([_note(each, clock.at_ms, str(root))])
            continue
        if each.route == "branch":
            product.drain()
            head.write_text(f"ref: refs/heads/fix/{each.text}\n")
        product.spool(*_envelope(each, str(root)))
    product.drain()
    head.write_text("ref: refs/heads/main\n")
    product.settle()
    product.context(root)
    product.close()
    return folder / "home"


def _envelope(each: Planted, root: str) -> tuple[list[tuple[str, str]], bytes]:
    spooled: Spooled = (ROUTES | NAMES)[each.route](each.text)
    fields = [(name, value.replace(ROOT, root)) for name, value in spooled.fields.items()]
    return fields, spooled.payload.replace(ROOT.encode(), root.encode())


def _note(each: Planted, at_ms: int, root: str) -> Event:
    body = Remember(content=f"Remember: {each.text}", title="A note")
    return Event(id=f"note-{at_ms}", at_ms=at_ms, client="mcp", cwd=root, body=body)


def leaked(secrets: Sequence[Planted], home: Path) -> list[Planted]:
    """Return the secrets of which a half or more stands in the bytes of a home.

    A secret of several lines leaks by any of them.
    """
    pieces: dict[bytes, list[tuple[bytes, int]]] = {}
    for number, each in enumerate(secrets):
        for piece in _pieces(each.secret):
            pieces.setdefault(piece[:_KEY], []).append((piece, number))
    found: set[int] = set()
    for blob in _blobs(home):
        for at in range(len(blob) - _KEY + 1):
            for piece, number in pieces.get(blob[at : at + _KEY], ()):
                if blob.startswith(piece, at):
                    found.add(number)
    return [secrets[number] for number in sorted(found)]


def _pieces(secret: str) -> Iterator[bytes]:
    for line in secret.splitlines():
        size = max(_KEY, len(line) // 2) if len(line) > _SHORT else len(line)
        for start in {0, (len(line) - size) // 2, len(line) - size}:
            piece = line[max(start, 0) :][:size]
            for written in {piece, json.dumps(piece)[1:-1], piece.lower()}:
                yield written.encode()


def _blobs(home: Path) -> Iterator[bytes]:
    """Yield what lies on the disk: all files, and every value of the database as one piece."""
    for path in sorted(home.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(home)).encode() + b"\n" + path.read_bytes()
    with closing(apsw.Connection(str(home / "observer.db"))) as database:
        for (table,) in database.execute(_TABLES).fetchall():
            for row in database.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - our own names
                yield b"\n".join(
                    value if isinstance(value, bytes) else str(value).encode() for value in row
                )
