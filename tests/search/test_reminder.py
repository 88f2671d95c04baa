"""Of what nothing is ever shown unasked."""

from __future__ import annotations

from observer.core.events import Command, Event, Reply
from observer.core.filters import Filters
from observer.search.reminder import NOTHING, after, before
from observer.store.database import SqliteStore

NOW_MS = 1_800_000_000_000
HERE = Filters(project_id=2, owner="ana")


def test_what_only_speaks_reminds_of_nothing(store: SqliteStore) -> None:
    event = Event(id="e", at_ms=NOW_MS, client="cursor", cwd="/app", body=Reply(text="done"))
    with store.read() as reader:
        assert before(reader, event, HERE) == after(reader, event, HERE) == NOTHING


def test_a_command_that_passed_reminds_of_nothing(store: SqliteStore) -> None:
    body = Command(command="make", output="ok", exit_code=0)
    event = Event(id="e", at_ms=NOW_MS, client="cursor", cwd="/app", body=body)
    with store.read() as reader:
        assert after(reader, event, HERE) == NOTHING
