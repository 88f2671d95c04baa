"""What a database says of itself: whose it is, which schema it has, how far its log goes."""

from __future__ import annotations

import os
from pathlib import Path

from observer.errors import StoreDamaged, StoreUnavailable
from observer.store.sqlite.connection import Connection
from observer.store.sqlite.pages import RESERVED_BYTES

APPLICATION_ID = 0x4F425356
"""`OBSV` in the file's header: tells our databases from other people's."""
PAGES_CHECKED = 9
"""From this schema version on each page carries a checksum."""


def newest_seq(connection: Connection) -> int:
    """Return the `seq` of the newest event that was ever stored; 0 without any."""
    if not connection.table_exists("main", "event"):
        return 0
    rows = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchall()
    return int(rows[0][0]) if rows else 0  # type: ignore[arg-type]  # a number of ours


def count_events(connection: Connection) -> int:
    """Return how many events there are."""
    return int(connection.execute("SELECT count(*) FROM event").fetchall()[0][0])  # type: ignore[arg-type]  # a count


def schema_version(connection: Connection) -> int:
    """Return the schema version; 0 of an empty file.

    Raises:
        StoreUnavailable: it is another program's database.
        StoreDamaged: its pages have lost their checksums, or it has lost its name.
    """
    ours = connection.execute("PRAGMA application_id").fetchall()[0][0]
    version = int(connection.execute("PRAGMA user_version").fetchall()[0][0])  # type: ignore[arg-type]  # a pragma's integer
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0][0]
    if tables and ours != APPLICATION_ID:
        raise StoreUnavailable(
            f"{connection.filename} is another program's database",
            hint="move it away, or set OBSERVER_HOME to another folder",
        )
    if version >= PAGES_CHECKED and connection.reserve_bytes() != RESERVED_BYTES:
        raise StoreDamaged(
            f"{connection.filename}: its header was changed", hint="mend it with: observer up"
        )
    return version


def seal(connection: Connection, path: Path) -> bool:
    """Write a database of an older observer anew, with room for the checksums of its pages.

    Returns True if there is another file now, and the connection is closed. Whoever reads the old
    one goes on doing so.
    """
    if connection.reserve_bytes() == RESERVED_BYTES:
        return False
    connection.reserve_bytes(reserve=RESERVED_BYTES)
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0][0]:
        return False
    # All of it has to be in the one file that is replaced, and its log gone.
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    partial = path.with_name(f"{path.name}.sealing")
    partial.unlink(missing_ok=True)  # of a process that was killed over it
    connection.execute("VACUUM INTO ?", (os.fspath(partial),))
    connection.close()
    partial.chmod(0o600)
    partial.replace(path)
    return True
