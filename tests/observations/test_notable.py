"""Which observations are kept as items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from observer.core.events import AnyBody, Command, Commit, Edit, FileWrite, Prompt, Search, ToolUse
from observer.core.model import Item, Link, Recorded
from observer.observations.notable import AlreadySaid, is_covered_by_fix, is_notable, is_superseded
from observer.observations.session_lifecycle import begin
from observer.observations.session_reducer import SessionReducer

TODO = '{{"todos": [{0}]}}'
POINT = '{{"content": "step {0}", "status": "pending"}}'
COMMITTED = Commit(hash="ab12cd34" * 5, subject="Round prices once")
TESTS = "2 failed, 3 passed in 0.1s"


@pytest.fixture
def keeps(place: Callable[..., Recorded]) -> Callable[..., bool]:
    """Feed bodies as one session; return whether an item is kept of the last."""

    def keeps(*bodies: AnyBody, **known: Any) -> bool:
        events = [
            body if isinstance(body, Recorded) else place(body, seq, **known)
            for seq, body in enumerate(bodies, 1)
        ]
        fold = SessionReducer(begin(events[0]))
        for event in events:
            whole, made = fold.add_paired(event)
        return bool(made) and is_notable(made[0], whole, fold.state())

    return keeps


Keeps = Callable[..., bool]


KEPT = [
    Command(command="pytest -q", output="3 passed in 0.1s"),
    Command(command="pytest -q", exit_code=0),
    Command(command="make check", exit_code=0),
    Command(command="pytest -q && ruff check .", output="3 passed in 0.1s\nAll checks passed!"),
    Command(command="ruff check .", output="a.py:1:1: F401 `os` imported", exit_code=1),
    Command(command="pytest -q", output=TESTS, exit_code=1),
    Command(command="npm install left-pad"),
    Command(command="alembic upgrade head"),
    Command(command="git reset --hard HEAD~1"),
    Command(command="git tag v1.2 && git push --tags"),
    Command(command="git commit -m 'Round prices once'", output="[main 1a2b3c4] Round prices"),
    Command(command="./measure", output="p95 12 ms"),
    Command(command="sed -i s/a/b/ cart.py", output="done"),
    Command(command="python3 -c \"open('a.txt', 'w').write('x')\""),
    Command(command="gh api repos/a/b -X DELETE", output="{}"),
    ToolUse(tool="Deploy", output="deployed"),
    Search(query="half even", where="web", output="Decimal"),
    Prompt(text="Round prices once"),
]
DROPPED = [
    Command(command="ruff check .", output="All checks passed!"),
    Command(command="tsc --noEmit", exit_code=0),
    Command(command="npm run build", output="built in 1.2s", exit_code=0),
    Command(command="ruff check --fix .", output="Found 1 error (1 fixed, 0 remaining)."),
    Command(command="pytest -q | grep -c x", output="tests/test_a.py"),
    Command(command="rm -rf build && mkdir build"),
    Command(command="git push origin main", output="ab12..cd34 main -> main"),
    Command(command="./measure"),
    Command(command="cat -A a.py", output="cat: illegal option -- A", exit_code=1),
    Command(command="gh api repos/a/b", output='{"id": 1}'),
    Command(command="python3 -c \"print(open('a.txt').read())\"", output="x"),
    ToolUse(tool="Skill", output="Unknown skill: commit", failed=True),
    ToolUse(tool="tool_search", input='{"query": "select:deploy"}', output="<functions>"),
    ToolUse(tool="ToolSearch", input='{"query": "select:deploy"}', output="<functions>"),
    ToolUse(tool="TodoWrite", input=TODO.format(", ".join(map(POINT.format, range(3))))),
    ToolUse(tool="Read", output="EISDIR: illegal operation on a directory", failed=True),
    FileWrite(path="a.py", edits=(Edit(old="x=1", new="x = 1"),)),
]


def _named(body: AnyBody) -> str:
    return getattr(body, "command", "") or type(body).__name__


@pytest.mark.parametrize("body", KEPT, ids=_named)
def test_what_says_something_is_kept(keeps: Keeps, body: AnyBody) -> None:
    assert keeps(body)


@pytest.mark.parametrize("body", DROPPED, ids=_named)
def test_what_nobody_would_look_for_is_not(keeps: Keeps, body: AnyBody) -> None:
    assert not keeps(body)


@pytest.mark.parametrize(
    "output", ["[main ab12cd3] Round prices once", "", " 1 file changed, 2 insertions(+)"]
)
def test_a_commit_reported_by_a_hook_is_not_reported_again(keeps: Keeps, output: str) -> None:
    command = Command(command='git add . && git commit -m "Round prices once"', output=output)
    assert not keeps(COMMITTED, command)


def test_a_pass_that_says_nothing_new_is_not_kept(
    keeps: Keeps, place: Callable[..., Recorded]
) -> None:
    passes = Command(command="pytest -q", output="3 passed in 0.1s")
    later = place(passes, 9, at_s=3600)
    assert not keeps(passes, later)
    assert keeps(passes, FileWrite(path="a.py", content="x = 1"), later)
    assert keeps(passes, passes), "it counts how often"


def test_a_commit_that_failed_is_kept(keeps: Keeps) -> None:
    command = Command(command='git commit -m "x"', output="ruff: a.py:1 F401", exit_code=1)
    assert keeps(COMMITTED, command)


@pytest.mark.parametrize("command", ["make", "rm -rf build", "git push", "ssh build uptime"])
def test_what_a_person_typed_is_kept(keeps: Keeps, command: str) -> None:
    assert keeps(Command(command=command, exit_code=0), author="person")


def test_a_refused_call_is_not_kept(keeps: Keeps) -> None:
    assert not keeps(
        Command(command="make", output="Cancelled: parallel call errored", failed=True)
    )


def test_a_failure_whose_remedy_is_reported_is_not_reported_again(
    place: Callable[..., Recorded],
) -> None:
    event = place(Command(command="rtk bun test", output="unrecognized 'bun'", exit_code=2), 1)
    fold = SessionReducer(begin(event))
    whole, (made,) = fold.add_paired(event)
    assert is_notable(made, whole, fold.state())
    assert not is_notable(made, whole, fold.state(), AlreadySaid(is_fix=True))


RED = {
    "title": "npm run lint: Found 1 error.",
    "facts": ("$ npm run lint", "error: Found 1 error."),
}
NAMED = {"facts": ("$ npm run lint", "error: a.ts:3: no-var")}


@pytest.mark.parametrize(
    ("failure", "fix", "spent"),
    [
        pytest.param(RED, {}, True, id="a-count"),
        pytest.param(NAMED, {}, False, id="a-cause"),
        pytest.param({"facts": ("error: 1 fail", "failing: test_a")}, {}, False, id="a-test"),
        pytest.param(NAMED, {"category": "repair"}, True, id="what-a-fixer-mends"),
        pytest.param(NAMED | {"concepts": ("testing",)}, {"category": "repair"}, False, id="tests"),
        pytest.param(RED | {"type": "prompt"}, {}, False, id="no-command"),
    ],
)
def test_a_failure_is_spent_once_its_fix_says_more(
    failure: dict[str, Any], fix: dict[str, Any], spent: bool
) -> None:
    item = {"id": 4, "uuid": "u", "kind": "observation", "type": "command", "title": "npm run lint"}
    fixed = item | {"id": 9, "type": "fix", "title": "Fixed"} | fix
    assert is_superseded(Item(**(item | failure)), Item(**fixed)) is spent


def test_a_run_is_reported_by_the_fix_that_ends_with_it() -> None:
    run = Item(id=4, uuid="u", kind="observation", type="command", title="pytest -q")
    link = Link(kind="evidence", target=4, excerpt="pytest -q")
    fix = Item(id=6, uuid="v", kind="observation", type="fix", title="Fixed", links=(link,))
    assert is_covered_by_fix(run, [fix])
    assert not is_covered_by_fix(run, [])
    assert not is_covered_by_fix(run, [Item(**(structs.asdict(fix) | {"category": "command"}))])
    assert not is_covered_by_fix(Item(**(structs.asdict(run) | {"id": 8})), [fix])


EDITS = [
    pytest.param("a.py", "x = 1", "y = 2", True, id="code"),
    pytest.param("a.py", "x=1", "x = 1", False, id="layout"),
    pytest.param("a.py", "", "import os", True, id="an-import"),
    pytest.param("/home/ana/.claude/plans/brave-fox.md", "# A", "# B", False, id="a-plan"),
    pytest.param("docs/plans/next.md", "# A", "# B", True, id="a-plan-of-the-project"),
]


@pytest.mark.parametrize(("path", "old", "new", "kept"), EDITS)
def test_an_edit_is_kept_if_it_changes_something(
    keeps: Keeps, path: str, old: str, new: str, kept: bool
) -> None:
    assert keeps(FileWrite(path=path, edits=(Edit(old=old, new=new),))) is kept


def test_a_small_new_file_that_begins_with_an_import_is_kept(keeps: Keeps) -> None:
    assert keeps(FileWrite(path="a.py", content="import os\nprint(os.name)\n"))


def test_a_commit_reported_by_a_hook_outside_of_the_session_is_not_reported_again(
    place: Callable[..., Recorded],
) -> None:
    edit = place(FileWrite(path="a.py", content="x = 1"), 1)
    fold = SessionReducer(begin(edit))
    fold.add_paired(edit)
    fold.commit("Round prices once (ab12cd34)", ["a.py"])
    whole, (made,) = fold.add_paired(
        place(Command(command="git commit -qam 'Round prices once'"), 2)
    )
    assert not is_notable(made, whole, fold.state())
