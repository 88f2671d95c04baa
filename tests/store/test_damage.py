"""What a store makes of events whose data was damaged."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from observer.core.errors import StoreUnavailable
from observer.core.events import Command, Event
from observer.core.model import UNASSIGNED, Recorded
from observer.store.database import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "observer.db"


def test_a_log_of_which_much_is_damaged_is_read_to_its_end(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        with store.write() as writer:
            for seq in range(1, 8):
                event = Event(id=f"e{seq}", at_ms=seq, client="x", body=Command(command="ls"))
                one = Recorded(seq=seq, event=event, project_id=UNASSIGNED, session_id=None)
                writer.append(one, stored_ms=1, data="{" if seq < 6 else "")
        with store.read() as reader:
            assert [one.seq for one in reader.log(limit=2)] == [6]
            assert len(reader.damaged()) == 5


def test_the_history_of_a_note_is_whole_or_refused(path: Path) -> None:
    with closing(SqliteStore(path)) as store, store.write() as writer:
        event = Event(id="e", at_ms=1, client="x", body=Command(command="ls"))
        one = Recorded(seq=1, event=event, project_id=UNASSIGNED, session_id=None)
        writer.append(one, stored_ms=1, data="{")
        writer.put_history(16, 1)
        with pytest.raises(StoreUnavailable, match="event 1 is damaged"):
            writer.history(16)
