"""Which check of a line is red, where the exit code is known but no checker's words are."""

from __future__ import annotations

import pytest

from observer.core.events import Command
from observer.outcomes.check_runs import CheckResults, check_results_of
from observer.outcomes.outcome import command_result
from observer.shell.command_line import parse_command_line


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
