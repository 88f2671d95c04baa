"""Fixes: which failures a pass resolves, which change it names, and alternative commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from observer.core.events import AnyBody, Command, Edit, FileWrite
from observer.observations.summary import summarize

Feed = Callable[..., Any]


def red(command: str, output: str, *, code: int | None = 1) -> Command:
    return Command(command=command, output=output, exit_code=code)


def green(command: str, output: str = "") -> Command:
    return Command(command=command, output=output, exit_code=0)


def edit(path: str, old: str = "a = 1", new: str = "a = 2") -> FileWrite:
    return FileWrite(path=path, edits=(Edit(old=old, new=new),))


FAILED = red("pytest -q", "FAILED test_cart.py::test_total - KeyError: 'x'\n1 failed in 0.1s")
OTHER = red("pytest -q", "FAILED test_user.py::test_name - OSError: no\n1 failed in 0.1s")
PASSED = green("pytest -q", "1 passed in 0.10s")
MISSING = red("wrap bun test", "error: unrecognized subcommand 'bun'\n\nUsage: wrap <COMMAND>")
WORKED = green("bun test", " 12 pass\n 0 fail\nRan 12 tests across 3 files. [20.00ms]")


def test_of_many_edits_only_the_likely_ones_are_reported(feed: Feed) -> None:
    (fix,) = feed(
        FAILED, edit("user.py"), edit("cart.py"), edit("shop.py"), edit("README.md"), PASSED
    ).of("fix")
    assert fix.files_modified == ("cart.py",)


def test_a_cause_that_changed_the_failure_counts_beside_the_last_one(feed: Feed) -> None:
    second = replace(FAILED, output="FAILED test_cart.py::test_tax - OSError: no\n1 failed in 0.1s")
    (fix,) = feed(FAILED, edit("test_cart.py"), second, edit("cart.py"), PASSED).of("fix")
    assert fix.files_modified == ("test_cart.py", "cart.py")


def test_what_left_the_failure_as_it_was_is_no_cause(feed: Feed) -> None:
    (fix,) = feed(FAILED, edit("test_cart.py"), FAILED, edit("cart.py"), PASSED).of("fix")
    assert fix.files_modified == ("cart.py",)


def test_a_pass_without_a_change_since_the_last_failure_is_no_fix(feed: Feed) -> None:
    assert feed(FAILED, edit("cart.py"), FAILED, PASSED).of("fix") == []


def test_where_only_tests_were_changed_it_says_so(feed: Feed) -> None:
    (fix,) = feed(FAILED, edit("test_cart.py"), PASSED).of("fix")
    assert fix.subtitle.startswith("pytest -q passes after the test was changed: test_cart.py")


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        pytest.param(edit("test_cart.py"), "observation", id="a line of a test"),
        pytest.param(edit("test_cart.py", "a = 1\n", "b = 2\nc = 3\n"), "record", id="a test"),
        pytest.param(edit("cart.py", "a = 1\n", "(\n(\n"), "record", id="who knows what"),
        pytest.param(edit("cart.py", "def a():\n 1", "def a():\n 2"), "observation", id="a symbol"),
    ],
)
def test_a_fix_that_does_not_say_what_was_changed_is_a_record(
    feed: Feed, change: AnyBody, kind: str
) -> None:
    (fix,) = feed(FAILED, change, PASSED).of("fix")
    assert fix.kind == kind


def test_what_a_checker_of_types_found_says_itself_how_to_mend_it(feed: Feed) -> None:
    failed = red("npx tsc", "cart.ts(3,1): error TS2322: Type 'A' is not assignable to type 'B'.")
    (fix,) = feed(failed, edit("cart.ts"), green("npx tsc", "")).of("fix")
    assert fix.kind == "record"


@pytest.mark.parametrize(
    ("change", "count"), [(edit("user.py"), 0), (edit("cart.py"), 1), (green("pip install x"), 0)]
)
def test_what_was_left_red_needs_a_likely_cause(feed: Feed, change: AnyBody, count: int) -> None:
    fed = feed(FAILED, (2, change), (2, PASSED))
    assert len(fed.of("fix")) == count
    assert fed.known.failures == ()


def test_a_check_that_fails_of_something_else_later_has_not_failed_twice(feed: Feed) -> None:
    (fix,) = feed(FAILED, (2, OTHER), (2, edit("user.py")), (2, PASSED)).of("fix")
    assert "times" not in fix.narrative
    assert fix.title == "Fixed: test_user.py::test_name - OSError: no"


def test_the_same_failure_in_the_next_session_is_the_second_time(feed: Feed) -> None:
    (fix,) = feed(FAILED, (2, FAILED), (2, edit("cart.py")), (2, PASSED)).of("fix")
    assert "pytest -q failed 2 times" in fix.narrative


def test_failures_whose_tests_are_unknown_are_distinguished_by_their_error(feed: Feed) -> None:
    one, two = (red("make check", f"src/{name}.c:1: error: no") for name in ("cart", "user"))
    done = green("make check", "ok")
    (fix,) = feed(one, (2, two), (2, edit("src/user.c")), (2, done)).of("fix")
    assert "times" not in fix.narrative
    (fix,) = feed(one, edit("src/cart.h"), one, edit("src/cart.c"), done).of("fix")
    assert "failed 2 times" in fix.narrative


def test_an_installation_that_failed_fixed_nothing(feed: Feed) -> None:
    lost = red("python app.py", "ModuleNotFoundError: No module named 'x'")
    assert feed(lost, red("pip install x", "error: no"), green("python app.py")).of("fix") == []


def test_the_same_command_once_more_is_no_cause_of_its_pass(feed: Feed) -> None:
    failed = red("npm start", "Error: listen EADDRINUSE: address already in use :::3000")
    (fix,) = feed(failed, green("kill -9 123"), green("npm start", "ready")).of("fix")
    assert fix.subtitle == "npm start passes after running kill -9 123"
    assert feed(failed, green("npm start", "ready")).of("fix") == []
    (fix,) = feed(failed, failed, green("kill -9 123"), green("npm start", "ready")).of("fix")
    assert fix.narrative.startswith("npm start failed 2 times")


UGLY = red("cargo fmt --check", "Diff in src/cart.rs:1:")
FORMATTED = green("cargo fmt")


def test_a_formatter_is_what_fixes_a_check_and_no_pass_of_it(feed: Feed) -> None:
    assert feed(UGLY, FORMATTED).of("fix") == []
    (fix,) = feed(UGLY, FORMATTED, replace(UGLY, output="", exit_code=0)).of("fix")
    assert fix.subtitle == "cargo fmt --check passes after running cargo fmt"


def test_a_formatter_that_could_not_read_the_code_had_failed(feed: Feed) -> None:
    failed = replace(FORMATTED, output="error: expected `;`\n --> src/cart.rs:3:5", exit_code=1)
    (fix,) = feed(failed, edit("src/cart.rs"), FORMATTED).of("fix")
    assert fix.subtitle == "cargo fmt passes after src/cart.rs (`a = 1` became `a = 2`)"


def test_a_script_that_fixes_is_no_check_of_its_own(feed: Feed) -> None:
    failed = red("npm run lint:fix", "cart.ts:1:1 error no-var")
    assert feed(failed, edit("cart.ts"), replace(failed, exit_code=0)).of("fix") == []


def test_a_title_says_more_than_that_there_were_errors(feed: Feed) -> None:
    vague = red("make lint", "Found 2 errors.")
    (fix,) = feed(vague, edit("cart.c"), green("make lint")).of("fix")
    assert fix.title.startswith("Fixed: make lint: Found 2 errors")
    clear = red("make lint", "src/cart.c:3: error: no such field\nmake: *** [lint] Error 1")
    (fix,) = feed(vague, edit("user.c"), clear, edit("src/cart.c"), green("make lint")).of("fix")
    assert fix.title == "Fixed: src/cart.c:3: no such field"


def test_a_form_that_works_is_reported_with_the_one_that_does_not(feed: Feed) -> None:
    (fix,) = feed(edit("cart.ts"), MISSING, WORKED).of("fix")
    assert fix.category == "command"
    assert fix.title == "Use `bun test`: `wrap bun test` does not work here"
    assert msgspec.json.decode(fix.metadata) == {
        "failed": "wrap bun test",
        "works": "bun test",
        "reason": "usage",
        "times": 1,
    }
    assert fix.facts == (
        "$ wrap bun test",
        "error: error: unrecognized subcommand 'bun'",
        "works: bun test",
        "met 1 time",
    )
    assert [(link.kind, link.target) for link in fix.links] == [("fixes", 8), ("evidence", 12)]


def test_a_pair_is_reported_once_and_counts_how_often_it_was_met(feed: Feed) -> None:
    (fix,) = feed(MISSING, WORKED, (2, MISSING), (2, WORKED)).of("fix")
    assert fix.folded == 2
    assert fix.narrative.endswith("`bun test` does, met 2 times.")


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((MISSING, (2, WORKED)), id="in another session"),
        pytest.param((MISSING, green("bun run build", "ok")), id="something else"),
        pytest.param((MISSING, green("bun test || ls || echo no", "ok")), id="one of several"),
        pytest.param((MISSING, replace(WORKED, exit_code=2, output="oops")), id="it failed too"),
        pytest.param((FAILED, edit("cart.py"), green("A=1 pytest -q", "1 passed")), id="edited"),
        pytest.param((red("pytest", "error: no"), green("pytest a.py", "1 passed")), id="a part"),
    ],
)
def test_no_other_form(feed: Feed, bodies: tuple[AnyBody | tuple[int, AnyBody], ...]) -> None:
    assert [fix for fix in feed(*bodies).of("fix") if fix.category] == []


def test_a_form_that_ran_works_even_where_its_check_fails(feed: Feed) -> None:
    failing = red("bun test", "(fail) a > b\n 11 pass\n 1 fail\nRan 12 tests across 3 files. [2ms]")
    (fix,) = feed(MISSING, failing).of("fix")
    assert fix.category == "command"


def test_a_setting_that_was_missing_is_reported(feed: Feed) -> None:
    failed = red("pytest -q", "KeyError: 'DATABASE_URL'\n1 error in 0.1s")
    (fix,) = feed(failed, green("DATABASE_URL=x pytest -q", "1 passed in 0.10s")).of("fix")
    assert fix.subtitle == "`DATABASE_URL=x pytest -q` works where `pytest -q` failed"


def test_of_a_chain_the_command_that_is_named_does_not_work(feed: Feed) -> None:
    failed = red("protogen all && make build", "bash: protogen: command not found", code=127)
    assert feed(failed, green("make -j4 build", "done")).of("fix") == []


def test_what_could_not_run_says_nothing_about_the_check(feed: Feed) -> None:
    failed = red("pytest -q", "bash: pytest: command not found", code=127)
    known = feed(FAILED, failed).known
    assert [(one.runs, one.unstarted) for one in known.failures] == [(1, ""), (1, "missing")]
    assert len(feed(failed, failed).known.failures) == 1


STOPPED = red("timeout 60 pytest -x", "tests/test_cart.py ...", code=124)
AGAIN = green("pytest --lf", "1 passed in 0.10s")


@pytest.mark.parametrize("then", [AGAIN, PASSED], ids=["what failed last", "all of it"])
@pytest.mark.parametrize("code", [124, 137, 143])
def test_a_run_that_was_cut_off_was_not_red(feed: Feed, code: int, then: Command) -> None:
    fed = feed(replace(STOPPED, exit_code=code), edit("cart.py"), then)
    assert fed.of("fix") == []
    assert fed.session is not None
    fed = summarize(fed.session)
    assert fed is not None
    assert fed.summary is not None
    assert fed.summary.learned == ""


def test_a_run_that_was_cut_off_leaves_the_failure_before_it_as_it_was(feed: Feed) -> None:
    fed = feed(FAILED, edit("cart.py"), STOPPED, AGAIN)
    (fix,) = fed.of("fix")
    assert fix.title == "Fixed: test_cart.py::test_total - KeyError: 'x'"


def test_a_setting_without_which_a_command_never_ends_is_reported(feed: Feed) -> None:
    stopped = red("npm test", "Watching for file changes", code=124)
    (fix,) = feed(stopped, green("CI=1 npm test", "Tests: 1 passed, 1 total")).of("fix")
    assert fix.subtitle == "`CI=1 npm test` works where `npm test` failed"


COMMIT = 'git commit -m "Add a cart"'
REFUSED = red(
    COMMIT, f"{'12 pass' * 100}\ncart.ts(1,1): error TS2322: no\nhusky - pre-commit script failed"
)


@pytest.mark.parametrize("said", [REFUSED.output, "look-words cart.ts [FAILED]\n" * 30])
def test_a_commit_that_hooks_refused_is_fixed_like_a_check(feed: Feed, said: str) -> None:
    refused, done = replace(REFUSED, output=said), green(COMMIT, "[main 1234567] Add a cart")
    (fix,) = feed(refused, edit("cart.ts"), done).of("fix")
    assert fix.files_modified == ("cart.ts",)


@pytest.mark.parametrize(
    "bodies",
    [
        pytest.param((REFUSED, edit("cart.ts"), (2, green(COMMIT))), id="another session's"),
        pytest.param(
            (red(COMMIT, "nothing to commit"), edit("cart.ts"), green(COMMIT)), id="nothing"
        ),
        pytest.param(
            (red(COMMIT, "fatal: no identity"), edit("cart.ts"), green(COMMIT)), id="git's own"
        ),
        pytest.param((red("git push", "rejected"), edit("cart.ts"), green("git push")), id="push"),
    ],
)
def test_other_failures_of_git_are_not_checks(
    feed: Feed, bodies: tuple[AnyBody | tuple[int, AnyBody], ...]
) -> None:
    assert feed(*bodies).of("fix") == []


def test_a_commit_past_its_hooks_fixes_nothing(feed: Feed) -> None:
    past = green("git commit --no-verify -m x", "[main 1234567] x")
    assert feed(REFUSED, edit("cart.ts"), past).of("fix") == []


LINT_FAILED = """$ biome check
src/cart.ts format \u2501\u2501\u2501

  \u00d7 Formatter would have printed the following content:

Checked 9 files in 9ms. No fixes applied.
Found 1 error.
check \u2501\u2501\u2501

  \u00d7 Some errors were emitted while running checks.
"""
LINT = red("bun run lint", f'{LINT_FAILED}\nerror: script "lint" exited with code 1')
FIXED = green("bun run lint:fix", "Checked 9 files in 9ms. Fixed 1 file.")


@pytest.mark.parametrize(
    "line", ["bun run lint && bun run test", "bun run lint 2>&1 && bun run test 2>&1 | tail -5"]
)
def test_each_check_of_a_chain_that_got_through_has_passed(feed: Feed, line: str) -> None:
    (fix,) = feed(LINT, FIXED, green(line, WORKED.output)).of("fix")
    assert fix.kind == "record"
    assert fix.subtitle.endswith("passes after running bun run lint:fix")


def test_what_a_task_that_mends_could_not_is_the_failure_of_the_check(feed: Feed) -> None:
    left = replace(LINT, command="bun run lint:fix")
    done = green("bun run lint", "$ biome check\nChecked 9 files in 9ms. No fixes applied.")
    (fix,) = feed(LINT, left, edit("src/cart.ts"), done).of("fix")
    assert fix.narrative.startswith("bun run lint failed")
    assert "times" not in fix.narrative


def test_of_a_chain_that_failed_the_check_that_failed_is_fixed(feed: Feed) -> None:
    chain = replace(LINT, command="bun run lint && bun run typecheck")
    typed = green("bun run typecheck", "$ tsc --noEmit")
    done = green("bun run lint", "$ biome check\nChecked 9 files in 9ms. No fixes applied.")
    (fix,) = feed(chain, FIXED, typed, done).of("fix")
    assert fix.subtitle == "bun run lint passes after running bun run lint:fix"


def test_git_in_a_form_that_it_does_not_know_has_another_one(feed: Feed) -> None:
    failed = red("git -C /srv/shop add a.py", "error: unexpected argument '-C' found")
    (fix,) = feed(failed, green("wrap git add a.py")).of("fix")
    assert fix.title == "Use `wrap git add a.py`: `git -C /srv/shop add a.py` does not work here"


def test_what_was_interrupted_could_start(feed: Feed) -> None:
    cut = replace(MISSING, interrupted=True)
    assert feed(cut, WORKED).of("fix") == []


def test_a_line_that_only_changes_folder_has_no_form(feed: Feed) -> None:
    lost = red("cd api", "bash: cd: api: No such file or directory")
    assert feed(lost, WORKED).of("fix") == []


def test_what_was_not_up_has_no_other_form(feed: Feed) -> None:
    failed = red("docker compose exec app phpunit", 'service "app" is not running')
    up = Command(command="docker compose up -d app", exit_code=0)
    ran = Command(command="docker compose exec -T app phpunit", output="OK (2 tests, 2 assertions)")
    assert feed(failed, replace(ran, exit_code=0)).of("fix") == []
    (fix,) = feed(failed, up, replace(failed, output="OK (2 tests, 2 assertions)", exit_code=0)).of(
        "fix"
    )
    assert "docker compose up -d app" in fix.narrative
