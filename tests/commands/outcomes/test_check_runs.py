"""Which pass answers which failure, and what makes two failures the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.commands import check_runs
from observer.commands.check import CheckIdentity, answers, covers
from observer.commands.check_runs import CheckResults, check_results_of
from observer.commands.command_line import parse_command_line
from observer.commands.outcome import command_result
from observer.commands.result import SIGNATURE, bare_name, signature
from observer.core.events import Command


def results(command: str, output: str, *, failed: bool = True) -> CheckResults:
    body = Command(command=command, output=output, failed=failed)
    result = command_result(body, parse_command_line(command))
    return check_results_of(body, result, root="/shop", cwd="/shop", tasks={})


def red(command: str, output: str, *, failed: bool = True) -> list[str]:
    return [check.base for check in results(command, output, failed=failed).failed]


@pytest.mark.parametrize("before", ["./seed; ", "./seed\n", "docker compose up -d db; "])
def test_what_stands_before_a_semicolon_has_no_part_in_the_exit_code(before: str) -> None:
    assert red(f"{before}npm run lint", "odd") == ["script lint"]


@pytest.mark.parametrize("line", ["./seed && npm run lint", "npm run lint; ./seed"])
def test_what_may_have_failed_beside_a_check_leaves_it_open(line: str) -> None:
    assert red(line, "odd") == []


def read(command: str, cwd: str = "/p") -> CheckIdentity | None:
    return check_runs.check_ran(command, "", root="/p", cwd=cwd)


def known(command: str) -> CheckIdentity:
    found = read(command)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest -x -q tests", "python -m pytest tests -vv --tb=short"),
        ("pytest -n 4 --maxfail 1 a.py b.py", "pytest b.py a.py"),
        ("pytest -k total", "pytest -k 'total' 2>&1 | tail -5"),
        ("npm run test", "npm test"),
        ("cd api && pytest", "pushd x; cd api; pytest"),
        ("npm ci && npm test", "npm test"),
        ("cargo test --package a", "cargo test --package=a"),
        ("git stash && pytest", "pytest"),
        ("pytest tests < said.txt", "pytest tests"),
        ("make -j4 all", "make -j4 all"),
        ("ruff check --fix .", "ruff check ."),
    ],
)
def test_these_are_the_same(one: str, other: str) -> None:
    assert covers(known(one), known(other))
    assert covers(known(other), known(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest a.py", "pytest b.py"),
        ("mypy --strict a.py", "mypy a.py"),
        ("npm test", "npm run build"),
        ("make test", "make lint"),
        ("python app.py --port 1", "python app.py"),
        ("cd api && pytest", "cd web && pytest"),
        ("cargo test", "cargo build"),
        ("go test ./...", "go test ."),
        ("cargo clippy -D warnings", "cargo clippy"),
    ],
)
def test_these_are_not(one: str, other: str) -> None:
    assert read(one) != read(other)


def test_the_folder_is_that_of_the_shell_too() -> None:
    assert read("pytest", "/p/api") == read("cd api && pytest")


@pytest.mark.parametrize("command", ["git push", "ls -l", "cd api", "cat a | grep b"])
def test_what_checks_nothing_is_none(command: str) -> None:
    assert read(command) is None


def test_the_part_that_spoke_is_read() -> None:
    spoken = check_runs.check_ran("mypy . ; pytest", "mypy", root="", cwd="")
    assert spoken is not None
    assert spoken.base == "mypy"


@pytest.mark.parametrize(
    ("passed", "failed", "tests", "place"),
    [
        pytest.param("pytest", "pytest", [], "", id="the same"),
        pytest.param("pytest", "pytest tests/a.py", [], "", id="all of it"),
        pytest.param("pytest tests", "pytest tests/a.py::test_x", [], "", id="the folder"),
        pytest.param(
            "pytest tests/a.py", "pytest", ["tests/a.py::test_x"], "", id="all that failed"
        ),
        pytest.param("pytest -k test_x", "pytest", ["tests/a.py::test_x"], "", id="by name"),
        pytest.param("pytest --lf", "pytest", [], "", id="what failed last"),
        pytest.param("ruff check", "ruff check --fix", [], "", id="what could not mend all"),
        pytest.param("pytest", "pytest --lf", [], "", id="all that failed last"),
        pytest.param("go test -run TestTotal", "go test", ["TestTotal"], "", id="go by name"),
        pytest.param("mypy a.py", "mypy .", [], "a.py", id="the place of the only error"),
        pytest.param(
            "pytest tests/a.py::test_x", "pytest", ["tests/a.py::test_x[1]"], "", id="case"
        ),
    ],
)
def test_a_pass_answers(passed: str, failed: str, tests: list[str], place: str) -> None:
    assert answers(known(passed), known(failed), tests, place)


@pytest.mark.parametrize(
    ("passed", "failed", "tests"),
    [
        pytest.param("pytest tests/a.py", "pytest", [], id="nobody knows what failed"),
        pytest.param("pytest a.py", "pytest", ["a.py::x", "b.py::y"], id="a part of it"),
        pytest.param("pytest test_a", "pytest test_abc", [], id="a name that only begins so"),
        pytest.param("ruff check", "mypy", [], id="another program"),
        pytest.param("pytest --lf -k x", "pytest", ["a.py::x", "a.py::y"], id="of these a part"),
        pytest.param("pytest a.py", "pytest --lf", [], id="a part of what failed last"),
        pytest.param("ruff check --fix", "ruff check", [], id="what mends"),
    ],
)
def test_a_pass_does_not_answer(passed: str, failed: str, tests: list[str]) -> None:
    assert not answers(known(passed), known(failed), tests, "")


SAME = [
    ("place", "src/api/user.py:41: KeyError: 'email'", "lib/x.py:7: KeyError: 'email'"),
    ("time", "2026-11-22 10:00:00,123 ERROR no quorum", "2027-01-02 03:04:05 ERROR no quorum"),
    ("clock", "[12:00:01] no quorum", "[03:04:05.5] no quorum"),
    ("port", "connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:40611"),
    ("host", "connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED [::1]:5432"),
    ("folder", "open /tmp/a8f/conf.yaml: denied", "open /home/ana/conf.yaml: denied"),
    ("windows", r"open C:\ana\conf.yaml: denied", "open /home/ana/conf.yaml: denied"),
    ("temporary", "cannot lock /tmp/tmp8sd9f/tmpx1.lock", "cannot lock /tmp/tmpq/tmpw2.lock"),
    ("address", "<Cart object at 0x7f33aa> is closed", "<Cart object at 0x55d0> is closed"),
    ("uuid", "no user 550e8400-e29b-41d4-a716-446655440000",
     "no user 00000000-0000-4000-8000-000000000001"),
    ("hash", "bad object 4fd1c2a9e0", "bad object 00ab12cd34"),
    ("number", "index out of range [3] with length 3", "index out of range [7] with length 5"),
    ("list", "bad shape [1, 2, 3]", "bad shape [4, 5]"),
    ("duration", "Timeout of 5000ms exceeded", "Timeout of 2s exceeded"),
    ("size", "cannot allocate 512MB", "cannot allocate 1,024MiB"),
    ("version", "needs left-pad@1.2.3", "needs left-pad@1.3.0"),
    ("value", "invalid literal for int() with base 10: 'a'",
     "invalid literal for int() with base 10: 'b c'"),
    ("double-quoted value", 'For input string: "a"', 'For input string: "b c"'),
    ("cut value", '"<html>"... is no JSON', '"<p>"... is no JSON'),
    ("shell", "bash: line 1: jq: command not found", "zsh: command not found: jq"),
    ("old shell", "/bin/sh: 1: jq: not found", "sh: jq: command not found"),
    ("shell's place", "bash: line 3: ./run: Permission denied", "sh: 1: ./run: Permission denied"),
    ("compiler's place", "a/b.cs(12,5): error CS1002: ; expected", "error CS1002: ; expected"),
    ("local server", "GET http://127.0.0.1:8080/a failed", "GET http://localhost:99/b failed"),
    ("JUnit's number", "expected: <4> but was: <3>", "expected: <5> but was: <12>"),
    ("level", "error: no quorum", "no quorum."),
]  # fmt: skip

DIFFERENT = [
    ("name", "No module named 'requests'", "No module named 'numpy'"),
    ("key", "KeyError: 'email'", "KeyError: 'name'"),
    ("code", "error TS2304: Cannot find it", "error TS2305: Cannot find it"),
    ("errno", "[Errno 2] cannot open", "[Errno 13] cannot open"),
    ("http", "got HTTP 404 from the server", "got HTTP 500 from the server"),
    ("file", "open /tmp/a/conf.yaml: denied", "open /tmp/a/key.pem: denied"),
    ("import", "Cannot find module './date'", "Cannot find module './time'"),
    ("package", "Cannot find module '@acme/core'", "Cannot find module '@acme/web'"),
    ("header", "a.h: No such file or directory", "b.h: No such file or directory"),
    ("what is asked", "404 - GET https://npm.io/left-pad", "404 - GET https://npm.io/is-odd"),
    ("server", "no route to https://a.acme.io/v1", "no route to https://b.acme.io/v1"),
    ("kind", "TypeError: no", "ValueError: no"),
    ("token", "expected ';' before '}' token", "expected ')' before '}' token"),
]  # fmt: skip

NOTHING = [
    "",
    "exit 1",
    "exit status 1",
    "Error: Process completed with exit code 1.",
    "Test failed.",
    "make: *** [Makefile:3: all] Error 2",
    "assert 1 == 2",
    "12:00:01",
    "/tmp/x:3:5",
    "\0",
]


@pytest.mark.parametrize(("one", "other"), [c[1:] for c in SAME], ids=[c[0] for c in SAME])
def test_what_varies_does_not_count(one: str, other: str) -> None:
    assert signature(one) == signature(other) != ""


@pytest.mark.parametrize(
    ("one", "other"), [c[1:] for c in DIFFERENT], ids=[c[0] for c in DIFFERENT]
)
def test_what_tells_errors_apart_stays(one: str, other: str) -> None:
    assert signature(one) != signature(other)


@pytest.mark.parametrize("error", NOTHING)
def test_where_nothing_can_be_recognised_there_is_no_signature(error: str) -> None:
    assert signature(error) == ""


@pytest.mark.parametrize(
    ("error", "test", "said"),
    [
        ("assert 3 == 4", "tests/t.py::T::test_a[3-4]", "T::test_a: assert <n> == <n>"),
        ("AssertionError: 3", "tests.test_m.T.test_a", "T.test_a: AssertionError: <n>"),
        ("expected 3, got 4", "src/a.ts > cart > adds", "cart > adds: expected <n>, got <n>"),
        ("", "cart::tests::adds", "cart::tests::adds"),
        ("KeyError: 'a'", "tests/t.py::test_a", "KeyError: 'a'"),
        ("Cannot find module './b'", "src/a.test.js", "Cannot find module 'b'"),
    ],
)  # fmt: skip
def test_only_an_assertion_is_shown_by_its_test(error: str, test: str, said: str) -> None:
    assert signature(error, test) == said


def test_a_test_file_is_named_as_it_is() -> None:
    assert bare_name("src/a.test.js") == "src/a.test.js"


@given(st.text(max_size=800) | st.text("'\"/\\.:-<[]0aZ \n", max_size=800))
def test_any_error_has_a_short_printable_signature(error: str) -> None:
    """No output can break the signature, and it fits where it is shown."""
    found = signature(error)
    assert len(found) <= SIGNATURE
    assert found.isprintable()
