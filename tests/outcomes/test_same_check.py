"""Which commands are the same check, and which passes answer which failures."""

from __future__ import annotations

import pytest

from observer.outcomes import check_runs
from observer.shell.check import CheckIdentity, answers, is_same_check


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
        ("make -j4 all", "make -j4 all"),
        ("ruff check --fix .", "ruff check ."),
    ],
)
def test_these_are_the_same(one: str, other: str) -> None:
    assert is_same_check(known(one), known(other))


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
