"""Which outputs say that a command itself could not do its work."""

from __future__ import annotations

import pytest

from observer.outcomes.ending import NotStarted, start_failure


@pytest.mark.parametrize(
    ("output", "reason", "name"),
    [
        ("bash: line 1: pytest: command not found", "missing", "pytest"),
        ("zsh:1: command not found: ruff", "missing", "ruff"),
        ("(eval):1: command not found: timeout", "missing", "timeout"),
        ("sh: 1: vitest: not found", "missing", "vitest"),
        ("bash: ./gradlew: No such file or directory", "missing", "./gradlew"),
        ("/usr/bin/python3: No module named pytest", "missing", "pytest"),
        ('exec: "docker": executable file not found in $PATH', "missing", "docker"),
        ("Error: spawn tsc ENOENT", "missing", "tsc"),
        ("bundler: command not found: rspec", "missing", "rspec"),
        ("'mvn' is not recognized as an internal or external command", "missing", "mvn"),
        ("error: Failed to spawn: `pytest`\n  Caused by: No such file", "missing", "pytest"),
        ("npm ERR! could not determine executable to run", "missing", ""),
        ('npm ERR! Missing script: "lint"', "script", "lint"),
        ('error: Script not found "lint"', "script", "lint"),
        ("make: *** No rule to make target 'lint'.  Stop.", "script", "lint"),
        ("Task 'lint' not found in root project 'shop'.", "script", "lint"),
        ("error: no such command: `nextest`", "script", "nextest"),
        ("go: go.mod file not found in current directory", "folder", ""),
        ("error: could not find `Cargo.toml` in `/x` or any parent directory", "folder", ""),
        ("bash: line 0: cd: api: No such file or directory", "folder", ""),
        ("error: unrecognized subcommand 'bun'\n\nUsage: wrap <COMMAND>", "usage", "bun"),
        ("error: unexpected argument '-C' found", "usage", "-C"),
        ("usage: x [-h]\nx: error: unrecognized arguments: --foo", "usage", "--foo"),
        ("flag provided but not defined: -foo", "usage", "-foo"),
        ("Error: No such option: --foo", "usage", "--foo"),
        ("bash: ./run.sh: Permission denied", "permission", "./run.sh"),
        ('service "app" is not running', "service", "app"),
        ("Error response from daemon: container 1a2b is not running", "service", "1a2b"),
        ("Error response from daemon: No such container: shop", "service", ""),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "service", ""),
    ],
)
def test_a_command_that_could_not_start_says_why(output: str, reason: str, name: str) -> None:
    found = start_failure(output)
    assert (found.reason, found.name) == (reason, name)
    assert found.said in " ".join(output.split())


@pytest.mark.parametrize(
    "output",
    [
        "E   ModuleNotFoundError: No module named 'x'\n1 failed",
        "ValueError: unknown option --x",
        "src/a.ts(1,1): error TS2304: Cannot find name 'x'.",
        "1 failed, 2 passed in 0.10s",
        "",
        "line\n" * 40 + "bash: pytest: command not found",
        "x" * 5000 + "\nbash: pytest: command not found",
    ],
)
def test_a_command_that_ran_and_failed_is_none(output: str) -> None:
    assert start_failure(output) == NotStarted()


@pytest.mark.parametrize(("code", "reason"), [(127, "missing"), (126, "permission"), (1, "")])
def test_the_shells_own_exit_codes_say_it_without_words(code: int, reason: str) -> None:
    assert start_failure("oops", code=code).reason == reason
