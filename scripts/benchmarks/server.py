"""A PostgreSQL server for a measurement, on a socket of its own, gone afterwards."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

ROOT = Path(__file__).parents[2]


@contextmanager
def own_server(settings: str) -> Iterator[str]:
    """Yield the address of an empty database; `settings` are options of `postgres`."""
    sys.path.insert(0, str(ROOT))
    from tests.sync.conftest import Server  # noqa: PLC0415 - a dev dependency

    folder = Path(tempfile.mkdtemp(prefix="observer-server-"))
    server = Server(folder, settings=settings)
    try:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE team")
        yield server.url("team")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
