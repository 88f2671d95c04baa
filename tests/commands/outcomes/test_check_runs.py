"""Which check of a line is red, where the exit code is known but no checker's words are."""

from __future__ import annotations

import pytest

from observer.commands import check_runs
from observer.commands.check import CheckIdentity, answers, is_same_check
from observer.commands.check_runs import CheckResults, check_results_of
from observer.commands.command_line import parse_command_line
from observer.commands.outcome import command_result
from observer.core.events import Command


def results(command: str, output: str, *, failed: bool = True) -> CheckResults:
    body = Command(command=command, output=output, failed=failed)
    result = command_result(body, parse_command_line(command))
    return check_results_of(body, result, root="/shop", cwd="/shop", tasks={})


def red(command: str, output: str, *, failed: bool = True) -> list[str]:
    return [check.base for check in results(command, output, failed=failed).failed]


NAMED = [
    ("npm run lint", "npm error Lifecycle script `lint` failed with error:\nnpm error code 1"),
    ("npm run lint", "npm ERR! code ELIFECYCLE\nnpm ERR! shop@1.0.0 lint: `weird .`"),
    ("pnpm lint", "> shop@1.0.0 lint /shop\n> weird .\n\n ELIFECYCLE  Command failed."),
    ("yarn lint", "$ weird .\nerror Command failed with exit code 1."),
    ("bun run lint", '$ weird .\nerror: script "lint" exited with code 1'),
    ("composer lint", "Script weird handling the lint event returned with error code 1"),
]
RUNNERS = [
    ("make lint", "weird .\nmake: *** [Makefile:3: lint] Error 1"),
    ("just lint", "weird .\nerror: Recipe `lint` failed on line 3 with exit code 1"),
    ("task lint", 'task: [lint] weird .\ntask: Failed to run task "lint": exit status 1'),
    ("mise run lint", "[lint] $ weird .\n[lint] ERROR task failed"),
    ("./gradlew lint", "Execution failed for task ':shop:lint'.\n\nBUILD FAILED in 3s"),
]


@pytest.mark.parametrize("pipe", ["", " 2>&1 | tail -20"])
@pytest.mark.parametrize(("command", "said"), NAMED + RUNNERS)
def test_the_task_that_its_runner_names_is_red(command: str, said: str, pipe: str) -> None:
    line = f"./seed && {command}{pipe}"
    (found,) = red(line, f"odd\n{said}", failed=not pipe)
    assert found.endswith(" lint")


def test_of_several_tasks_the_one_that_is_named_is_red_and_those_before_passed() -> None:
    line = "bun run build && bun run lint && bun run test"
    found = results(line, 'odd\nerror: script "lint" exited with code 1')
    assert [check.base for check in found.failed] == ["script lint"]
    assert [check.base for check in found.passed] == ["script build"]


def test_a_file_that_a_task_could_not_make_names_no_task() -> None:
    assert red("./seed && make lint", "make: *** [Makefile:9: out/seed.bin] Error 1") == []


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
