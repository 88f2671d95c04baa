from __future__ import annotations

from observer.interpret import committed, state
from observer.interpret.changes import Change
from observer.interpret.state import Open, Origin, Ran, State

ORIGIN = Origin(seq=1, event="e1", at_ms=5)


def test_no_bytes_are_a_new_state() -> None:
    assert state.decode(b"") == State()


def test_a_state_comes_back_as_it_was() -> None:
    known = state.wrote(State(), "a.py", Change(added=1, new=("f",)), "create")
    known = state.opened(known, Open(key="write||a.py", origin=ORIGIN, last_ms=5))
    known = state.ran(known, "pytest", Ran(ok=False, is_check=True))
    assert state.decode(state.encode(known)) == known


def test_every_part_is_bounded() -> None:
    known = State()
    for number in range(300):
        known = state.opened(known, Open(key=str(number), origin=ORIGIN, last_ms=5))
        known = state.read(known, (f"{number}.py",))
        known = state.ran(known, f"cmd {number}", Ran(ok=True))
    assert len(known.opens) == state.OPENS
    assert len(known.files) == state.FILES
    assert len(known.commands) == state.COMMANDS
    assert "299.py" in known.files


def test_long_keys_are_short_and_differ() -> None:
    first, second = (state.key_of("command", end * 500) for end in "ab")
    assert first != second
    assert max(len(first), len(second)) < 60


def test_unprintable_keys_can_be_stored() -> None:
    state.key_of("write", "\ud800\0").encode()


def test_a_saying_is_kept_once() -> None:
    assert state.added(("a",), "a", "b", "") == ("a", "b")


def test_a_fix_names_what_changed_since_the_failure() -> None:
    failing = Ran(ok=False, first_error="t::a - no", is_check=True)
    known = state.ran(State(), "pytest", failing)
    known = state.ran(known, "ls", Ran(ok=True))
    for _ in range(2):
        known = state.wrote(known, "a.py", Change(), "edit")
    known = state.ran(known, "pytest", failing)
    known = state.ran(known, "pytest", Ran(ok=True, is_check=True))
    assert known.fixed == ("pytest failed (t::a - no), passes after changes to a.py",)


def test_a_failure_that_went_away_by_itself_is_told_so() -> None:
    known = state.ran(State(), "pytest", Ran(ok=False, is_check=True))
    known = state.ran(known, "pytest", Ran(ok=True, is_check=True))
    assert known.fixed == ("pytest failed, passes again",)


def test_a_commit_makes_its_files_clean() -> None:
    known = state.wrote(State(), "a.py", Change(), "edit")
    known = state.wrote(known, "b.py", Change(), "edit")
    known = committed.taken_in(known, "x (abc)", ("a.py",))
    assert {path: file.is_dirty for path, file in known.files.items()} == {
        "a.py": False,
        "b.py": True,
    }


def test_a_deleted_file_is_told_as_deleted() -> None:
    known = state.wrote(State(), "a.py", Change(), "edit")
    known = state.wrote(known, "a.py", Change(), "delete")
    assert known.files["a.py"].fate == "deleted"
