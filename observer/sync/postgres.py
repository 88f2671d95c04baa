"""A share on a PostgreSQL server, which itself decides what each person's role sees and adds."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import LiteralString, cast
from urllib.parse import urlsplit, urlunsplit

import msgspec
import psycopg
from psycopg import errors
from psycopg.conninfo import make_conninfo

from observer.core.errors import BadInput, NotFound, ShareUnavailable
from observer.core.value import decode_json
from observer.sync.postgres_search import install, statements, value_of
from observer.sync.record import ProjectKey, Pulled, Record, Refused

FORMAT = 1
OLDEST_VERSION = 15
CONNECT_S = 10
"""Longest wait for the server to take a connection."""
LOOK_S = 5.0
"""Between two looks at what is there while waiting behind a pool, which passes no notice on."""
MOST_S = 300.0
"""Longest time for one call: 2,000 records at half a megabit a second take 80 s."""
_COLUMNS = Record.__struct_fields__
"""As the statements list them."""
_PARTS = ("withhold", "forgotten", "apart")
"""What was added to the share's schema since, in order."""
_SQL = Path(__file__).with_name("sql")
_Connection = psycopg.Connection[tuple[object, ...]]


class PostgresCarrier:
    """The records in a database; `url` has the login of one person.

    Raises: ShareUnavailable (no server, too old, no share, a later format, or no fit login).
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._open: _Connection | None = None
        self._own = ""
        self._is_pooled = False
        self._heard: frozenset[tuple[object, ...]] = frozenset()
        with self._connection():
            pass

    def push(self, records: Sequence[Record]) -> None:
        """Append records of one origin, in their order, durably; known ones are passed over."""
        if any(one.visibility == "personal" for one in records):
            raise BadInput("what is personal does not leave", hint="promote it first")
        with self._connection() as connection, connection.transaction():
            if not records:
                connection.execute(_statement("format"))
                return
            origin = self._own = records[0].origin
            connection.execute(_statement("claim"), (origin,))
            if not value_of(connection, _statement("is_own"), origin):
                raise BadInput(f"{origin} is not the origin of this machine in the share")
            last = cast("int", value_of(connection, _statement("last"), origin))
            fresh = [one for one in records if one.sequence > last]
            if fresh and fresh[0].sequence != last + 1:
                raise BadInput(f"record {fresh[0].sequence} does not follow {last}")
            if fresh:
                connection.execute(_statement("prepare"))
                with connection.cursor() as cursor, cursor.copy(_statement("copy")) as copy:
                    for one in fresh:
                        project = msgspec.json.encode(one.project).decode()
                        values = msgspec.structs.asdict(one) | {"project": project}
                        copy.write_row([values[name] for name in _COLUMNS])
                connection.execute(_statement("append"))

    def pull(self, since: Mapping[str, int], *, limit: int) -> Pulled:
        """Return at most `limit` records of a higher sequence than `since` has of their origin."""
        known = {"origins": list(since), "sequences": list(since.values()), "limit": limit}
        with self._connection() as connection:
            self._heard = self._newest(connection)
            rows = connection.execute(_statement("pull"), known).fetchall()
            origins = sorted({cast("str", row[0]) for row in rows})
            people = connection.execute(_statement("people"), (origins,)).fetchall()
            me = value_of(connection, _statement("me"))
        whose = dict(cast("list[tuple[str, str]]", people))
        records, refused = _records(rows, whose)
        return Pulled(records, refused, whose, cast("str", me))

    def withhold(self, uuids: Collection[str]) -> None:
        """Destroy what this person's records hold of items; the records go on as withheld."""
        with self._connection() as connection, connection.transaction():
            for row in connection.execute(_statement("mine"), (list(uuids),)).fetchall():
                one = _record(row)
                connection.execute(_statement("withhold"), (one.origin, one.sequence, one.hash()))

    def wake(self, timeout_s: float) -> bool:
        """Wait until another may have pushed; return False if nothing was heard of it."""
        until_s = time.monotonic() + timeout_s
        while True:
            with self._connection() as connection:
                if not self._is_pooled:
                    ours = connection.info.backend_pid
                    return any(one.pid != ours for one in connection.notifies(timeout=timeout_s))
                if self._newest(connection) - self._heard:
                    return True
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return False
            time.sleep(min(LOOK_S, left_s))

    def listens(self) -> bool:
        """Return whether news are heard at once, and the server has connections to spare for it."""
        with self._connection() as connection:
            return not self._is_pooled and bool(value_of(connection, _statement("has_room")))

    def close(self) -> None:
        """Let go of the connection."""
        if self._open:
            self._open.close()
            self._open = None

    @contextmanager
    def transaction(self) -> Iterator[_Connection]:
        """Lend the connection in a transaction, for what else the share can be asked."""
        with self._connection() as connection, connection.transaction():
            yield connection

    def _newest(self, connection: _Connection) -> frozenset[tuple[object, ...]]:
        """Return each other origin with its newest sequence; nothing where notices come."""
        if not self._is_pooled:
            return frozenset()
        return frozenset(connection.execute(_statement("newest"), (self._own,)))

    @contextmanager
    def _connection(self) -> Iterator[_Connection]:
        with _plainly():
            try:
                if self._open is None or self._open.closed:
                    self._open = _connected(self._url)
                    self._is_pooled = _is_pooled(self._open)
                with _ended_after(MOST_S, self._open):
                    yield self._open
            except psycopg.OperationalError:
                self.close()  # the next call connects again
                raise


@contextmanager
def _ended_after(seconds: float, connection: _Connection) -> Iterator[None]:
    """End a connection on which something takes longer: of a network that is cut nothing comes."""

    def end() -> None:
        with (
            suppress(psycopg.Error, OSError),
            socket.socket(fileno=os.dup(connection.fileno())) as s,
        ):
            s.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def create(url: str) -> None:
    """Make a share in a database, by its owner's login, or bring it up to date.

    Raises: BadInput (it is), ShareUnavailable (no server, too old, no pgvector, no right).
    """
    with _plainly(), _owner(url) as connection:
        if connection.info.server_version < OLDEST_VERSION * 10_000:
            raise _too_old(connection)
        database = hashlib.sha256(connection.info.dbname.encode()).hexdigest()[:8]
        members = f"observer_members_{database}"
        if not value_of(connection, _statement("is_there")):
            try:
                connection.execute(_filled("schema.sql", members))
            except (errors.DuplicateSchema, errors.DuplicateObject) as error:
                raise BadInput("the database holds a share, or held one") from error
        lacking = [name for name in _PARTS if not value_of(connection, _statement(f"has_{name}"))]
        is_searchable_now = install(connection, members)
        for name in lacking:
            connection.execute(_filled(f"{name}.sql", members))
        if not (is_searchable_now or lacking):
            raise BadInput("the database holds a share, which is up to date")


def _filled(name: str, members: str) -> str:
    """Return statements of ours for a share whose members have that role, a name made of digits."""
    text = (_SQL / name).read_text(encoding="utf-8")
    return text.replace("{members}", members)


class ServerTeam:
    """Who is in a share on a server, for its owner. Each method may raise `ShareUnavailable`."""

    def __init__(self, url: str) -> None:
        self._url = url

    def invite(self, person: str) -> str:
        """Make a login; the server gets a verifier of its password. Return the address with it."""
        role, password = f"observer_{secrets.token_hex(6)}", secrets.token_urlsafe(24)
        with _plainly(), _owner(self._url) as connection:
            verifier = connection.pgconn.encrypt_password(
                password.encode(), role.encode(), b"scram-sha-256"
            )
            connection.execute(_statement("invite"), (role, verifier.decode(), person))
        parts = urlsplit(self._url)
        where = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=f"{role}:{password}@{where}"))

    def members(self) -> list[tuple[str, str]]:
        """Return who is in, as (role, person), by their names."""
        with _plainly(), _owner(self._url) as connection:
            rows = connection.execute(_statement("members")).fetchall()
        return cast("list[tuple[str, str]]", rows)

    def remove(self, role: str) -> None:
        """Take a person's login away, and end its connections. Raises: NotFound (no such)."""
        with _plainly(), _owner(self._url) as connection:
            if not value_of(connection, _statement("remove"), role):
                raise NotFound(f"no member {role} is in the share", hint="list the members")

    def close(self) -> None:
        """Let go of nothing: each call has a connection of its own."""


@contextmanager
def _owner(url: str) -> Iterator[_Connection]:
    with psycopg.connect(url, connect_timeout=CONNECT_S, prepare_threshold=None) as connection:
        yield connection


def _connected(url: str) -> _Connection:
    # Nothing is prepared on the server: a pool between may give each transaction another session.
    connection = psycopg.connect(
        make_conninfo(url, connect_timeout=CONNECT_S), autocommit=True, prepare_threshold=None
    )
    try:
        _check(connection)
        if not _is_pooled(connection):
            connection.execute(_statement("listen"))
    except BaseException:
        connection.close()
        raise
    return connection


def _is_pooled(connection: _Connection) -> bool:
    """Return True if a pool stands between, which lends another session to each transaction."""
    return value_of(connection, _statement("backend")) != connection.info.backend_pid


def _check(connection: _Connection) -> None:
    if connection.info.server_version < OLDEST_VERSION * 10_000:
        raise _too_old(connection)
    row = connection.execute(_statement("role")).fetchone()
    is_superuser, bypasses, is_owner = row or (False, False, False)
    if is_superuser or bypasses or is_owner:
        why = "a superuser" if is_superuser else "bound by no policy" if bypasses else "the owner"
        raise ShareUnavailable(
            f"the login {connection.info.user} is {why}: the server would keep nothing from it",
            hint="make one for each person with: observer sync invite URL PERSON",
        )
    version = value_of(connection, _statement("format"))
    if cast("int", version) > FORMAT:
        raise ShareUnavailable(
            f"the share has format {version}, this observer knows {FORMAT}", hint="update observer"
        )


def _too_old(connection: _Connection) -> ShareUnavailable:
    found = connection.info.server_version // 10_000
    return ShareUnavailable(
        f"the server is PostgreSQL {found}", hint=f"use PostgreSQL {OLDEST_VERSION} or later"
    )


def _records(
    rows: Sequence[tuple[object, ...]], whose: Mapping[str, str]
) -> tuple[list[Record], list[Refused]]:
    """Return records, until one of their origin is none: a member may have written anything."""
    records: list[Record] = []
    refused: dict[str, Refused] = {}
    for row in rows:
        origin, sequence = cast("tuple[str, int]", row[:2])
        try:
            if origin not in refused:
                records.append(_record(row))
        except msgspec.MsgspecError as error:
            why = f"it is no record: {error}"
            refused[origin] = Refused(origin, sequence, why, whose.get(origin, ""))
    return records, list(refused.values())


def _record(row: tuple[object, ...]) -> Record:
    found = dict(zip(_COLUMNS, row, strict=True))
    found["project"] = decode_json(cast("str", found["project"]), ProjectKey)
    return msgspec.convert(found, Record)


def _statement(name: str) -> LiteralString:
    return statements("statements.sql")[name]


@contextmanager
def _plainly() -> Iterator[None]:
    """Raise what the driver says as what the user can do."""
    try:
        yield
    except (errors.InvalidSchemaName, errors.UndefinedTable, errors.UndefinedFunction) as error:
        raise ShareUnavailable(
            "the database holds no share",
            hint="its owner makes one: observer sync add URL --create",
        ) from error
    except errors.InsufficientPrivilege as error:
        raise ShareUnavailable(
            f"the login is no member of the share, or may not do this: {_said(error)}",
            hint="ask the owner of the database for a login: observer sync invite URL PERSON",
        ) from error
    except psycopg.Error as error:
        raise ShareUnavailable(
            f"the server cannot be used: {_said(error)}",
            hint="look whether it runs, at its address, and whether its owner took the login away",
        ) from error


def _said(error: psycopg.Error) -> str:
    with suppress(IndexError):
        return str(error).strip().splitlines()[0]
    return type(error).__name__
