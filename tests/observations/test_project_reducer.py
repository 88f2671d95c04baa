"""Fixes and links, and that batches change nothing about them.

The rules themselves are held by the labelled sessions of `tests/data/arcs`; here are the corners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.core.events import (
    AnyBody,
    Checkout,
    Command,
    Commit,
    Edit,
    FileChange,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Rewrite,
)
from observer.core.model import UNASSIGNED, Item, Link, Recorded, item_id
from observer.observations import project_state
from observer.observations.open_failures import FORGOTTEN_MS
from observer.observations.project_state import EDITS
from tests.observations.conftest import Fed

Place = Callable[..., Recorded]
ERROR = "FAILED test_cart.py::test_total - KeyError: 'total'"
RED = Command(command="pytest -q", output=f"{ERROR}\n1 failed in 0.10s", exit_code=1)
GREEN = Command(command="pytest -q", output="1 passed in 0.10s", exit_code=0)


def edit(old: str, new: str, path: str = "cart.py") -> FileWrite:
    return FileWrite(path=path, edits=(Edit(old=old, new=new),))


C = edit("x", "y", "README.md")
A, BACK, B = edit("a = 1", "a = 2"), edit("a = 2", "a = 1"), edit("b = 1", "b = 2")


def git(command: str, output: str = "", *, code: int = 0) -> Command:
    return Command(command=f"git {command}", output=output, exit_code=code)


def commit(number: int, *paths: str, message: str = "") -> Commit:
    return Commit(
        hash=hash_of(number),
        subject=f"c{number}",
        message=message or f"c{number}",
        parents=(hash_of(number - 1),),
        files=tuple(FileChange(path=path) for path in paths),
    )


def hash_of(number: int) -> str:
    return f"{number:x}" * 40


def reverting(number: int, *numbers: int) -> Commit:
    said = "\n".join(f"This reverts commit {hash_of(one)}." for one in numbers)
    return commit(number, "cart.py", message=f"Revert\n\n{said}")


def reverting_items(fed: Any) -> list[Item]:
    """Return the items that are linked to what they took back."""
    items = fed.items.values()
    return [item for item in items if any(link.kind == "reverts" for link in item.links)]


Feed = Callable[..., Any]


def test_a_fix_links_failure_edits_and_pass_and_says_all_of_it(feed: Feed) -> None:
    fed = feed(RED, A, GREEN)
    (fix,) = fed.of("fix")
    assert fix.id == item_id(3, "arc")
    assert fix.links == (
        Link(kind="fixes", target=item_id(1), excerpt="pytest -q"),
        Link(kind="edit", target=item_id(2)),
        Link(kind="evidence", target=item_id(3), excerpt="pytest -q"),
    )
    assert fix.signature == fed.items[item_id(1)].signature != ""
    assert fix.title == "Fixed: test_cart.py::test_total - KeyError: 'total'"
    assert fix.subtitle == "pytest -q passes after cart.py (`a = 1` became `a = 2`)"
    assert "pytest -q passes (1 passed in 100 ms)" in fix.narrative
    assert fix.files_modified == ("cart.py",)


def test_a_call_that_never_ran_is_neither_a_failure_nor_a_remedy(feed: Feed) -> None:
    refused = Command(
        command="pip install shop && pytest -q", output="User rejected the command", failed=True
    )
    fed = feed(RED, refused, GREEN)
    assert not fed.of("fix")
    fed = feed(refused, A, GREEN)
    assert not fed.of("fix")


def test_a_wider_pass_later_reports_no_second_fix(feed: Feed) -> None:
    narrow = Command(command="npm test -- cart", output="Tests: 1 passed, 1 total", exit_code=0)
    wide = Command(command="npm test", output="Tests: 1 failed, 1 total", exit_code=1)
    fed = feed(
        wide,
        replace(narrow, output="Tests: 1 failed, 1 total", exit_code=1),
        edit("x", "y", "cart.ts"),
        narrow,
        replace(wide, output="Tests: 9 passed, 9 total", exit_code=0),
    )
    assert len(fed.of("fix")) == 1


def test_tests_that_passed_one_by_one_are_fixed_by_the_last(feed: Feed) -> None:
    both = "FAILED a.py::x - E\nFAILED b.py::y - E\n2 failed in 0.1s"
    fed = feed(
        Command(command="pytest", output=both, exit_code=1),
        A,
        replace(GREEN, command="pytest a.py"),
        edit("y", "z", "b.py"),
        replace(GREEN, command="pytest b.py"),
    )
    (fix,) = fed.of("fix")
    assert fix.files_modified == ("b.py",)


def test_failures_of_two_parts_are_two(feed: Feed) -> None:
    def red(part: str) -> Command:
        said = f"FAILED {part}::x - E\n1 failed in 0.1s"
        return Command(command=f"pytest {part}", output=said, exit_code=1)

    green = replace(GREEN, command="pytest a.py")
    fed = feed(red("a.py"), red("b.py"), A, red("b.py"), BACK, edit("x", "y", "a.py"), green)
    (fix,) = fed.of("fix")
    assert fix.links[0].target == item_id(1)
    assert "failed 2 times" not in fix.narrative


def test_the_file_that_the_error_names_counts_whoever_changed_it(feed: Feed, place: Place) -> None:
    theirs = replace(place(edit("x", "y", "test_cart.py"), 2), session_id=5)
    assert len(feed(RED, theirs, place(GREEN, 3)).of("fix")) == 1


def test_in_no_project_a_session_answers_only_itself(place: Place) -> None:
    def at(body: AnyBody, seq: int, session: int) -> Recorded:
        return replace(place(body, seq), session_id=session, project_id=UNASSIGNED)

    assert Fed([at(RED, 1, 1), at(A, 2, 2), at(GREEN, 3, 2)]).of("fix") == []
    assert len(Fed([at(RED, 1, 1), at(A, 2, 1), at(GREEN, 3, 1)]).of("fix")) == 1


def test_a_failure_of_long_ago_is_forgotten(feed: Feed, place: Place) -> None:
    late = FORGOTTEN_MS / 1000 + 60
    other = place(Command(command="mypy .", exit_code=1), 2, at_s=late)
    fed = feed(RED, other, place(A, 3, at_s=late), place(GREEN, 4, at_s=late))
    assert fed.of("fix") == []


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((RED, replace(A, error="no"), GREEN), id="an edit that failed"),
        pytest.param((RED, A, Command(command="pytest -q")), id="nobody knows how it ended"),
        pytest.param((RED, A, git("stash"), GREEN), id="set aside"),
        pytest.param((RED, git("restore ."), GREEN), id="nothing to take back"),
        pytest.param((RED, A, git("stash"), git("stash pop")), id="nothing passed"),
        pytest.param((RED, git("checkout -- cart.py", code=1), GREEN), id="git failed"),
        pytest.param((RED, Command(command="npm install x"), GREEN), id="of another tool"),
        pytest.param((RED, edit("x", "y", "shop.png"), GREEN), id="a picture"),
        pytest.param((Command(command="ls x", exit_code=2), A, Command(command="ls x")), id="ls"),
    ],
)
def test_no_fix(feed: Feed, bodies: tuple[AnyBody, ...]) -> None:
    assert feed(*bodies).of("fix") == []


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((RED, A, git("stash"), git("stash pop"), GREEN), id="set aside and back"),
        pytest.param((RED, A, git("stash"), C, git("stash pop"), GREEN), id="back with more"),
        pytest.param((RED, git("stash"), A, GREEN), id="nothing was set aside"),
        pytest.param((RED, A, git("stash"), B, GREEN), id="left behind in the stash"),
        pytest.param((RED, Checkout(old="1", new="2", branch="x"), RED, A, GREEN), id="anew"),
        pytest.param((RED, git("checkout -- cart.py"), GREEN), id="what was there before"),
        pytest.param((B, RED, edit("b = 2", "b = 1"), GREEN), id="what broke it edited back"),
        pytest.param((RED, git("pull"), GREEN), id="by others"),
    ],
)
def test_a_fix(feed: Feed, bodies: tuple[AnyBody, ...]) -> None:
    assert len(feed(*bodies).of("fix")) == 1


@pytest.mark.parametrize(
    ("way", "count"),
    [
        pytest.param((git("switch -c x"),), 1, id="a new branch"),
        pytest.param((Checkout(old="1", new="1", branch="x"), git("switch -c x")), 1, id="hooks"),
        pytest.param((git("switch x"),), 0, id="another branch"),
        pytest.param((Checkout(old="1", new="2", branch="x"),), 0, id="another commit"),
        pytest.param((git("switch -c x main"),), 0, id="a new branch from elsewhere"),
    ],
)
def test_a_new_branch_at_the_same_commit_takes_failures_along(
    feed: Feed, place: Place, way: tuple[AnyBody, ...], count: int
) -> None:
    on_x = [replace(place(one, 7), branch="x") for one in (*way, A, GREEN)]
    assert len(feed(RED, *on_x).of("fix")) == count
    assert len(feed(RED, on_x[0], place(A, 8), place(GREEN, 9)).of("fix")) == 1 - count


WHOLE = FileWrite(path="cart.py", operation="write", content="a = 1\n")
NEW = FileWrite(path="new.py", operation="create", content="a = 1\n")


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((RED, NEW, RED, git("clean -fd")), id="cleaned"),
        pytest.param((RED, A, RED, git("checkout cart.py && pytest -q", code=1)), id="in one line"),
        pytest.param(
            (RED, replace(A, path="api/cart.py"), RED, git("restore api")), id="a folder of it"
        ),
        pytest.param(
            (RED, A, RED, Command(command="cd api && git restore ../cart.py", exit_code=0)),
            id="by another path",
        ),
        pytest.param((RED, A, commit(2, "cart.py"), RED, reverting(3, 2)), id="reverted"),
        pytest.param(
            (RED, A, commit(2, "cart.py"), RED, git("checkout HEAD~1 -- cart.py")), id="older file"
        ),
        pytest.param((RED, A, commit(2, "cart.py"), RED, git("reset --hard HEAD~1")), id="reset"),
        pytest.param(
            (
                RED,
                A,
                commit(2, "cart.py"),
                RED,
                git("reset --hard main", f"HEAD is now at {hash_of(1)[:7]} c1"),
            ),
            id="reset by the output",
        ),
        pytest.param(
            (RED, A, commit(2, "cart.py"), git("reset HEAD~1"), RED, git("restore .")),
            id="dissolved, then restored",
        ),
        pytest.param(
            (
                RED,
                A,
                commit(2, "cart.py"),
                Rewrite(pairs=((hash_of(2), hash_of(5)),)),
                RED,
                reverting(6, 5),
            ),
            id="amended, then reverted",
        ),
    ],
)
def test_what_is_taken_back_is_linked(feed: Feed, bodies: tuple[AnyBody, ...]) -> None:
    assert reverting_items(feed(*bodies))


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((RED, A, RED, git("restore other.py")), id="another file"),
        pytest.param((RED, A, commit(2, "cart.py"), RED, git("reset --hard HEAD~9")), id="no way"),
        pytest.param((RED, A, commit(2, "cart.py"), RED, git("restore .")), id="committed"),
        pytest.param(
            (RED, A, commit(2, "cart.py"), RED, git("reset --hard main")),
            id="nobody knows to where",
        ),
        pytest.param((RED, A, RED, git("restore cart.py", code=1)), id="git failed"),
        pytest.param((RED, A, RED, git("reset HEAD~1")), id="only the index"),
    ],
)
def test_nothing_is_taken_back(feed: Feed, bodies: tuple[AnyBody, ...]) -> None:
    assert not reverting_items(feed(*bodies))


def test_a_revert_of_a_revert_brings_the_edit_back(feed: Feed) -> None:
    fed = feed(RED, A, commit(2, "cart.py"), reverting(3, 2), reverting(4, 3), RED, reverting(5, 2))
    assert (len(fed.of("fix")), len(reverting_items(fed))) == (0, 3)


def links_of(fed: Any, seq: int) -> set[tuple[str, int, str]]:
    return {(one.kind, one.target, one.title) for one in fed.items[item_id(seq)].links}


def test_a_commit_replaces_those_that_a_reset_dissolved(feed: Feed) -> None:
    fed = feed(
        commit(2, "cart.py"),
        commit(3, "b.py"),
        git("reset --soft HEAD~2"),
        git("reset --soft HEAD~1"),
        commit(4, "cart.py"),
    )
    assert links_of(fed, 5) == {("replaces", 0, hash_of(2))}


def test_history_links_what_it_takes_back(feed: Feed) -> None:
    fed = feed(
        A,
        commit(2, "cart.py"),
        Prompt(text="hm"),
        commit(3, "b.py"),
        git("reset --hard HEAD~2"),
        reverting(4, 2),
        Rewrite(reason="amend", pairs=((hash_of(4), hash_of(5)),)),
    )
    assert links_of(fed, 5) == {
        ("reverts", item_id(1), ""),
        ("reverts", 0, hash_of(3)),
        ("reverts", 0, hash_of(2)),
    }
    assert links_of(fed, 6) == {("reverts", 0, hash_of(2))}
    assert links_of(fed, 7) == {("replaces", 0, hash_of(4)), ("makes", 0, hash_of(5))}


@pytest.mark.parametrize("action", ["commit", "import"])
@pytest.mark.parametrize("subject", ["c3", "c3 and more"])
def test_a_merge_that_repeats_its_commit_leads_to_it(feed: Feed, action: Any, subject: str) -> None:
    said = f"Merge pull request #7 from ana/cart\n\n{subject}"
    merge = Commit(
        hash=hash_of(4),
        subject=said.partition("\n")[0],
        message=said,
        action=action,
        parents=(hash_of(2), hash_of(3)),
    )
    made = feed(replace(commit(3), action=action), merge).last
    leads = {("brings", 0, hash_of(3))} if subject == "c3" else set()
    assert (made.kind == "record", {(one.kind, one.target, one.title) for one in made.links}) == (
        bool(leads),
        leads,
    )


def test_an_import_only_links(feed: Feed) -> None:
    fed = feed(replace(reverting(4, 2), action="import"), replace(commit(2), action="import"))
    assert links_of(fed, 1) == {("reverts", 0, hash_of(2))}
    assert project_state.decode(fed.data).commits == ()


def test_several_operations_of_one_line_are_reported_together(feed: Feed) -> None:
    fed = feed(
        A, edit("x", "y", "b.py"), Command(command="git restore cart.py; git restore b.py; rm -f x")
    )
    assert links_of(fed, 3) == {("reverts", item_id(1), ""), ("reverts", item_id(2), "")}


def test_the_story_is_bounded(feed: Feed) -> None:
    fed = feed(RED, *(edit(f"{n}", f"{n}.", f"f{n}.py") for n in range(2 * EDITS)))
    assert len(project_state.decode(fed.data).edits) == EDITS


BODIES = st.sampled_from(
    [
        RED,
        GREEN,
        replace(RED, command="pytest tests"),
        Command(command="mypy .", output="a.py:1: error: x\nFound 1 error", exit_code=1),
        A,
        BACK,
        B,
        WHOLE,
        NEW,
        commit(2, "cart.py"),
        reverting(3, 2),
        Rewrite(reason="amend", pairs=((hash_of(2), hash_of(3)),)),
        Checkout(old="1", new="2", branch="x"),
        Checkout(old="1", new="2", branch="main"),
        git("stash"),
        git("stash pop"),
        git("stash drop"),
        git("reset --hard HEAD~1"),
        git("reset --soft HEAD~1"),
        git("restore ."),
        git("switch -c y"),
        Command(command="pip install x"),
        Intent(tool="fs", of=A),
        Outcome(tool="fs"),
    ]
)


@pytest.mark.measured
@given(st.lists(BODIES, min_size=1, max_size=25), st.sets(st.integers(0, 25)))
def test_batches_may_be_cut_anywhere(place: Place, bodies: list[Any], cuts: set[int]) -> None:
    history = [place(body, seq) for seq, body in enumerate(bodies, 1)]
    whole = Fed(history)
    assert Fed(history, sorted(cuts)).items == whole.items
    assert Fed(history, range(25)).data == whole.data
