"""The working set: files by how much recent work touched them, and the checks that work here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.model import Project, Session, item_id
from observer.observations import session_state
from observer.observations.session_state import CommandState, SessionState
from observer.search.recent_sessions import (
    MOST_CHECKS,
    RecentSessions,
    dense,
    likely_files,
    named_in,
    working_checks,
)
from observer.store.database import SqliteStore

from .conftest import HERE, an_item

PASSED = CommandState(ok=True, said="3 passed", is_check=True)


@pytest.fixture
def add(store: SqliteStore) -> Callable[..., None]:
    """Store a session with its summary; a higher number is a younger session."""

    def add(number: int, **known: Any) -> None:
        fields = {name: known.pop(name, ()) for name in ("files_read", "files_modified")}
        session = Session(
            id=number,
            external=f"s{number}",
            client="claude-code",
            project_id=HERE,
            last_ms=number,
            state=session_state.encode(SessionState(**known)),
        )
        summary = an_item(number, kind="summary", type="summary", session_id=number, **fields)
        summary = replace(summary, id=item_id(number, "summary"))
        with store.write() as writer:
            writer.put_project(Project(id=HERE, uuid="u", name="app"))
            writer.put_session(session)
            writer.put_items([summary])

    return add


def files(store: SqliteStore) -> list[str]:
    with store.read() as reader:
        return likely_files(reader, HERE)


def commands(store: SqliteStore) -> list[str]:
    with store.read() as reader:
        return working_checks(RecentSessions(reader, HERE).all)


@pytest.fixture
def work(store: SqliteStore) -> Callable[..., None]:
    """Store work that changed files, each a turn unless it is said to be a commit, oldest first."""

    def work(*changed: Sequence[str], kind: str = "turn", after: int = 0) -> None:
        items = [
            an_item(after + at, type=kind, created_ms=after + at, files_modified=tuple(paths))
            for at, paths in enumerate(changed, start=1)
        ]
        with store.write() as writer:
            writer.put_items(items)

    return work


def test_what_was_changed_often_and_lately_comes_first(
    store: SqliteStore, work: Callable[..., None]
) -> None:
    work(["cart.py", "old.py"], ["cart.py", "prices.py"], ["prices.py"])
    assert files(store) == ["prices.py", "cart.py", "old.py"]


def test_commits_count_half_whoever_made_them(
    store: SqliteStore, work: Callable[..., None]
) -> None:
    work(["a.py"])
    work(["b.py", "c.py"], kind="commit", after=10)
    assert files(store) == ["a.py", "b.py", "c.py"]


def test_what_a_session_only_read_counts_half(
    store: SqliteStore, work: Callable[..., None], add: Callable[..., None]
) -> None:
    work(["a.py"], ["d.py"], after=10)
    add(20, files_read=("b.py", "c.py", "d.py"), files_modified=("d.py",))
    assert files(store) == ["d.py", "a.py", "b.py", "c.py"]


def test_what_is_changed_again_and_again_outweighs_what_was_changed_once(
    store: SqliteStore, work: Callable[..., None]
) -> None:
    work(*[["README.md"]] * 9, *[["other.py"]] * 9, ["once.py"])
    assert files(store) == ["other.py", "README.md", "once.py"]


@pytest.mark.parametrize(("text", "said"), [
    pytest.param("see `src/cart.py`: it rounds", {"src/cart.py"}, id="path"),
    pytest.param("**cart.py** changed", {"src/cart.py"}, id="name"),
    pytest.param("cart.pyc, a cart.py.bak", set(), id="other"),
    pytest.param("index.ts", set(), id="name of two"),
    pytest.param("src: api/index.ts", {"src/api/index.ts"}, id="two parts"),
])  # fmt: skip
def test_a_text_names_a_file_as_far_as_no_other_has_that_name(text: str, said: set[str]) -> None:
    assert named_in(text, ["src/cart.py", "src/api/index.ts", "web/index.ts"]) == said


def test_files_elsewhere_and_lock_files_are_left_out(
    store: SqliteStore, work: Callable[..., None]
) -> None:
    work(["/etc/hosts", "../x.py", "~/y", "web/package-lock.json", ".observer.toml", "a.py"])
    assert files(store) == ["a.py"]


@pytest.mark.parametrize(
    ("ran", "chosen"),
    [
        pytest.param(
            {"pytest -q": PASSED, "ruff check .": PASSED}, ["pytest -q", "ruff check ."], id="kinds"
        ),
        pytest.param(
            {
                "pytest -q tests/a": PASSED,
                "pytest -q": CommandState(ok=True, is_check=True, runs=5),
            },
            ["pytest -q"],
            id="most used",
        ),
        pytest.param({"pytest a.py": PASSED, "pytest": PASSED}, ["pytest"], id="wider"),
        pytest.param({"pytest -q": CommandState(ok=False, is_check=True)}, [], id="failed"),
        pytest.param({"git push": PASSED, "python app.py": PASSED}, [], id="no checks"),
        pytest.param(
            {"go test ./... && go vet ./...": PASSED, "go test ./...": PASSED},
            ["go test ./...", "go test ./... && go vet ./..."],
            id="only where it adds",
        ),
        pytest.param(
            {
                "go test ./... && go vet ./...": PASSED,
                "go test ./...": PASSED,
                "go vet ./...": PASSED,
            },
            ["go test ./...", "go vet ./..."],
            id="adds nothing",
        ),
        pytest.param({"cd web && npm test": PASSED}, ["cd web && npm test"], id="folder"),
        pytest.param({"npm test (in web)": PASSED}, ["npm test (in web)"], id="below"),
        pytest.param({"pytest " + "x" * 120: PASSED}, [], id="too long"),
        pytest.param(
            {"black .": PASSED, "black --check .": PASSED}, ["black --check ."], id="no formatter"
        ),
    ],
)
def test_of_each_kind_of_check_the_one_that_works_is_chosen(
    store: SqliteStore, add: Callable[..., None], ran: Mapping[str, CommandState], chosen: list[str]
) -> None:
    add(1, commands=dict(ran))
    assert sorted(commands(store)) == sorted(chosen)
    assert len(chosen) <= MOST_CHECKS


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        pytest.param([], "", id="none"),
        pytest.param(["README.md", "a.py"], "README.md a.py", id="root"),
        pytest.param(["src/a.py", "x.py", "src/b.py"], "src: a.py b.py · x.py", id="folders"),
        pytest.param(
            ["web/x/index.ts", "web/y/index.ts"], "web: x/index.ts y/index.ts", id="same name"
        ),
        pytest.param(["x/index.ts", "index.ts"], "x/index.ts index.ts", id="at the root"),
    ],
)
def test_files_are_shown_folder_by_folder(paths: list[str], shown: str) -> None:
    assert dense(paths) == shown


def test_a_name_that_another_file_has_keeps_its_folder() -> None:
    assert dense(["web/x/index.ts", "web/a.ts"], ["api/index.ts"]) == "web: x/index.ts a.ts"
