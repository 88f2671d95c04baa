from __future__ import annotations

from observer.code.edits import ChangeSummary
from observer.observations import session_commits, session_state
from observer.observations.drafts import ItemOrigin
from observer.observations.session_state import (
    CommandState,
    OpenGroup,
    SessionState,
)

ORIGIN = ItemOrigin(seq=1, event="e1", at_ms=5)


def test_no_bytes_are_a_new_state() -> None:
    assert session_state.decode(b"") == SessionState()


def test_a_state_comes_back_as_it_was() -> None:
    known = session_state.with_write(
        SessionState(), "a.py", ChangeSummary(added=1, new=("f",)), "create"
    )
    known = session_state.with_group(known, OpenGroup(key="write||a.py", origin=ORIGIN, last_ms=5))
    known = session_state.with_command(known, "pytest", CommandState(ok=False, is_check=True))
    assert session_state.decode(session_state.encode(known)) == known


def test_every_part_is_bounded() -> None:
    known = SessionState()
    for number in range(300):
        known = session_state.with_group(
            known, OpenGroup(key=str(number), origin=ORIGIN, last_ms=5)
        )
        known = session_state.with_reads(known, (f"{number}.py",))
        known = session_state.with_command(known, f"cmd {number}", CommandState(ok=True))
    assert len(known.groups) == session_state.GROUPS
    assert len(known.files) == session_state.FILES
    assert len(known.commands) == session_state.COMMANDS
    assert "299.py" in known.files


def test_long_keys_are_short_and_differ() -> None:
    first, second = (session_state.key_of("command", end * 500) for end in "ab")
    assert first != second
    assert max(len(first), len(second)) < 60


def test_unprintable_keys_can_be_stored() -> None:
    assert session_state.key_of("write", "\ud800\0").encode()


def test_a_saying_is_kept_once() -> None:
    assert session_state.added(("a",), "a", "b", "") == ("a", "b")


def test_a_commit_makes_its_files_clean() -> None:
    known = session_state.with_write(SessionState(), "a.py", ChangeSummary(), "edit")
    known = session_state.with_write(known, "b.py", ChangeSummary(), "edit")
    known = session_commits.with_commit(known, "x", "abc", ("a.py",))
    assert {path: file.is_dirty for path, file in known.files.items()} == {
        "a.py": False,
        "b.py": True,
    }


def test_a_deleted_file_becomes_deleted() -> None:
    known = session_state.with_write(SessionState(), "a.py", ChangeSummary(), "edit")
    known = session_state.with_write(known, "a.py", ChangeSummary(), "delete")
    assert known.files["a.py"].fate == "deleted"
