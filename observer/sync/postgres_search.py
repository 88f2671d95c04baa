"""Asking a share on a PostgreSQL server for what may answer a search, and giving it items.

Each time is a transaction with settings of its own, so that a pool may stand between.
"""

from __future__ import annotations

import math
import re
import struct
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import psycopg

from observer.core.errors import Ambiguous, ShareUnavailable

VERSION = 1
OLDEST_PGVECTOR = (0, 8)
LOOKED_AT = 3_000
"""Rows that words choose candidates from, at most: those of the rarest words."""
USUAL_DIMENSIONS = 640
"""Of the model that ships: its index is made with the share."""
_SQL = Path(__file__).with_name("sql")
_Connection = psycopg.Connection[tuple[Any, ...]]  # columns of several types


class SearchEntry(NamedTuple):
    """What makes an item findable: codes of its words by column, its vector in eight bits."""

    uuid: str
    project: str
    kind: str
    type: str
    created_ms: int
    columns: Sequence[Sequence[int]]
    model: str = ""
    vector: bytes = b""


class SearchAsked(NamedTuple):
    """What a search asks of a server; None does not restrict, times are ms, `until` exclusive."""

    codes: Sequence[int]
    model: str = ""
    vector: Sequence[float] = ()
    project: str | None = None
    kinds: list[str] | None = None
    types: list[str] | None = None
    since: int | None = None
    until: int | None = None
    limit: int = 60


class Candidate(NamedTuple):
    """An item as its newest record says it, with its vector if it has one of the asking model."""

    uuid: str
    person: str
    body: str
    vector: bytes | None


class ServerAnswer(NamedTuple):
    """Candidates of a search, and of all rows how many there are and how many hold each word."""

    size: int
    counts: Sequence[int]
    candidates: Sequence[Candidate]


class ServerSearch:
    """The searchable part of a share, over its carrier's connection, which `close` closes.

    Raises: ShareUnavailable (the share has no such part, or a later one).
    """

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[_Connection]],
        close: Callable[[], None],
    ) -> None:
        self._transaction, self.close = transaction, close
        try:
            with transaction() as connection:
                self._vector = _schema_of_pgvector(connection)
                _check(connection)
        except BaseException:
            close()
            raise

    def ask(self, asked: SearchAsked, *, timeout_ms: int) -> ServerAnswer:
        """Return what may answer a search. Raises: ShareUnavailable (away, or too slow)."""
        with self._asking(timeout_ms) as connection:
            codes = [f"{code:x}" for code in asked.codes]
            counts = self._rows(connection, "counts", {"codes": codes, "most": LOOKED_AT + 1})
            held = [int(row[0]) for row in counts]
            ((size,),) = self._rows(connection, "size", (LOOKED_AT + 1,))
            uuids = dict.fromkeys(
                (
                    *self._by_words(connection, asked, codes, held, size),
                    *self._by_meaning(connection, asked),
                )
            )
            found = self._fetched(connection, list(uuids), asked.model)
        return ServerAnswer(max(size, len(found)), held, found)

    def named(self, handle: str, *, timeout_ms: int) -> Candidate | None:
        """Return the item with a uuid or its begin, if any. Raises: Ambiguous, ShareUnavailable."""
        with self._asking(timeout_ms) as connection:
            uuids = [row[0] for row in self._rows(connection, "named", (handle,))]
            found = self._fetched(connection, uuids, "")
        if len(found) > 1:
            raise Ambiguous(f"{handle!r} fits several items", hint="give more of it")
        return found[0] if found else None

    def put(self, origin: str, entries: Sequence[SearchEntry]) -> None:
        """Have the server know items that this home has sent; what is deleted there is left out."""
        with self._transaction() as connection, connection.cursor() as cursor:
            cursor.executemany(self._sql("put"), [_row(origin, entry) for entry in entries])
            cursor.execute(self._sql("sweep"), (origin,))

    def _by_words(
        self,
        connection: _Connection,
        asked: SearchAsked,
        codes: Sequence[str],
        held: Sequence[int],
        size: int,
    ) -> list[str]:
        there = sorted((count, code) for count, code in zip(held, codes, strict=True) if count)
        if not there:
            return []
        rows = accumulate(count for count, _ in there)
        rare = [code for (_, code), sum_ in zip(there, rows, strict=True) if sum_ <= LOOKED_AT]
        rarities = [math.log(1 + (size + 0.5) / (count + 0.5)) for count in held]
        # Common words alone have to stand together: any of them would be found all over.
        gate = " | ".join(rare) or " & ".join(code for _, code in there)
        asking = {**asked._asdict(), "codes": codes, "rarities": rarities, "gate": gate}
        return [row[0] for row in self._rows(connection, "by_words", asking)]

    def _by_meaning(self, connection: _Connection, asked: SearchAsked) -> list[str]:
        if not asked.vector:
            return []
        text = f"[{','.join(f'{value:.5g}' for value in asked.vector)}]"
        statement = self._sql("by_meaning", dimensions=len(asked.vector))
        rows = connection.execute(statement, {**asked._asdict(), "asked": text})
        return [row[0] for row in rows]

    def _fetched(
        self, connection: _Connection, uuids: Sequence[str], model: str
    ) -> list[Candidate]:
        rows = self._rows(connection, "fetch", {"uuids": list(uuids), "model": model})
        return [Candidate._make((*said, _bytes_of(vector))) for *said, vector in rows]

    @contextmanager
    def _asking(self, timeout_ms: int) -> Iterator[_Connection]:
        with self._transaction() as connection:
            connection.execute(self._sql("settings"), (f"{timeout_ms}ms",))
            yield connection

    def _rows(
        self,
        connection: _Connection,
        name: str,
        values: Mapping[str, Any] | Sequence[Any],  # as the driver takes them
    ) -> list[tuple[Any, ...]]:
        return connection.execute(self._sql(name), values).fetchall()

    def _sql(self, name: str, *, dimensions: int = 0) -> LiteralString:
        return _statement(name, self._vector, dimensions)


def install(connection: _Connection, members: str) -> bool:
    """Make a share searchable as a whole, by its owner; return False if it was.

    Raises: ShareUnavailable (the server has no pgvector, or too old a one).
    """
    try:
        with connection.transaction():
            connection.execute(_statement("create_pgvector"))
    except psycopg.Error as error:
        raise ShareUnavailable(
            f"the server has no pgvector: {str(error).splitlines()[0]}",
            hint="have a superuser CREATE EXTENSION vector (0.8 or later), then repeat this",
        ) from error
    vector = _schema_of_pgvector(connection)
    is_new = not value_of(connection, _statement("is_there"))
    if is_new:
        text = (_SQL / "search.sql").read_text(encoding="utf-8")
        filled = text.replace("{members}", members).replace("{vector}", vector)
        connection.execute(filled)
        if not value_of(connection, _statement("may_use"), members, vector.strip('"')):
            raise ShareUnavailable(
                f"the owner may not have members use the schema {vector}, where pgvector is",
                hint=f"a superuser says: GRANT USAGE ON SCHEMA {vector} TO"
                f" {connection.info.user} WITH GRANT OPTION",
            )
    found = {row[0] for row in connection.execute(_statement("dimensions"))}
    for dimensions in sorted(found | {USUAL_DIMENSIONS}):
        if not value_of(connection, _statement("has_index", vector, dimensions)):
            connection.execute(_statement("create_index", vector, dimensions))
    return is_new


def _check(connection: _Connection) -> None:
    if not value_of(connection, _statement("is_there")):
        raise ShareUnavailable(
            "the share cannot be searched as a whole yet",
            hint="its owner makes it so: observer sync add URL --create",
        )
    version = value_of(connection, _statement("version"))
    if version != VERSION:
        raise ShareUnavailable(
            f"the share is searched by version {version}, this observer knows {VERSION}",
            hint="update observer",
        )


def _schema_of_pgvector(connection: _Connection) -> str:
    row = connection.execute(_statement("pgvector")).fetchone()
    if row is None:
        raise ShareUnavailable(
            "the server has no pgvector: the share cannot be searched as a whole",
            hint="its owner installs pgvector 0.8, then: observer sync add URL --create",
        )
    version = tuple(int(part) for part in re.findall(r"\d+", row[1])[:2])
    if version < OLDEST_PGVECTOR:
        raise ShareUnavailable(
            f"the server has pgvector {row[1]}",
            hint="use 0.8 or later, and: ALTER EXTENSION vector UPDATE",
        )
    return str(row[0])


def _row(origin: str, entry: SearchEntry) -> dict[str, object]:
    return entry._asdict() | {
        "origin": origin,
        "words": _words(entry.columns),
        "dimensions": len(entry.vector),
        "embedding": f"[{','.join(map(str, array('b', entry.vector)))}]" if entry.vector else None,
    }


MOST_PLACES, LAST_PLACE = 255, 16_383
"""Of a word in a row, as PostgreSQL keeps them."""
_HEAD_BYTES = 4
"""Before the halves of a vector: how many they are."""
_WEIGHTS = "ABDBBD"
"""Of title, subtitle, narrative, facts, concepts and files."""


def _words(columns: Sequence[Sequence[int]]) -> str:
    places: dict[int, list[str]] = {}
    at = 0
    for weight, codes in zip(_WEIGHTS, columns, strict=True):
        for at, code in enumerate(codes, start=at + 1):  # noqa: B020 - goes on counting
            known = places.setdefault(code, [])
            if len(known) < MOST_PLACES:
                known.append(f"{min(at, LAST_PLACE)}{weight}")
    return " ".join(f"{code:x}:{','.join(known)}" for code, known in places.items())


def _bytes_of(vector: bytes | None) -> bytes | None:
    """Return a vector of whole numbers, as the server sends it, in eight bits each."""
    if vector is None:
        return None
    halves = memoryview(vector)[_HEAD_BYTES:]
    return array("b", map(int, struct.unpack(f">{len(halves) // 2}e", halves))).tobytes()


def value_of(
    connection: psycopg.Connection[Any], statement: LiteralString, *values: object
) -> object:
    """Return the first column of the first row of an answer, None if there is none."""
    row = connection.execute(statement, values or None).fetchone()
    return row[0] if row else None


@cache
def statements(file: str) -> dict[str, LiteralString]:
    """Return the statements of a file of SQL, by their names."""
    text = (_SQL / file).read_text(encoding="utf-8")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))


@cache
def _statement(name: str, vector: str = "", dimensions: int = 0) -> LiteralString:
    """Return a statement; `vector` is as the server quotes it, so nobody's text."""
    text = statements("search_statements.sql")[name].replace("{vector}", vector)
    return text.replace("{dimensions}", str(dimensions))
