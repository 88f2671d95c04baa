"""How a command ended, and what of its output is visible."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled.outcomes import Label

from observer.commands import command_line, ending, outcome
from observer.commands.ending import NotStarted, start_failure
from observer.core.events import Command
from observer.observations import event_text
from observer.observations.drafts import Where


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
        ("<tool_use_error>Cancelled: parallel tool call errored</tool_use_error>", "cancelled"),
        ("Cancelled", "cancelled"),
        ("The user doesn't want to proceed with this tool use. It was rejected.", "refused"),
        ("User rejected the command", "refused"),
        ("Error: The user doesn't want to take this action right now.", "refused"),
        ("Exit code 1\nThe user doesn't want to proceed with this tool use.", "refused"),
        ("Rejected by user", "refused"),
        ("exec command rejected by user", "refused"),
        ("Permission to use Bash with command make x has been denied.", "refused"),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", "refused"),
        ("This command requires approval", "refused"),
        (
            (
                "This Bash command contains multiple operations. "
                "The following part requires approval: x"
            ),
            "refused",
        ),
        ('exec_command failed for `make`: CreateProcess { "rejected by user" }', "refused"),
        ("exec_command failed for `make`: No such file or directory", "not started"),
        ("failed to parse function arguments: missing field `command`", "invalid call"),
        ("Hook PreToolUse:Bash denied this tool", "blocked"),
        ("[Request interrupted by user for tool use]", "interrupted"),
        ("aborted by user after 3.1s", "interrupted"),
        ("PreToolUse:Bash hook error: [guard.sh]: no force push", "blocked"),
        ("Command was blocked by a hook", "blocked"),
        ("cd to '/etc' was blocked. For security, only", "blocked"),
        ("<tool_use_error>InputValidationError: command</tool_use_error>", "invalid call"),
    ],
)
def test_a_call_that_never_ran_neither_failed_nor_passed(output: str, said: str) -> None:
    command = Command(command="make test", output=output, failed=True)
    line = command_line.parse_command_line(command.command)
    verdict = outcome.command_result(command, line)
    shown = event_text.run(command, line, verdict, where=Where())
    assert (verdict.ok, verdict.was_run, verdict.first_error) == (None, False, "")
    assert shown.title == f"make test: not run: {said}"


def test_a_call_that_the_person_refused_has_not_failed_whatever_code_a_client_gives_it() -> None:
    refused = Command(command="make test", output="User rejected the command", exit_code=1)
    verdict = outcome.command_result(refused, command_line.parse_command_line("make test"))
    assert (verdict.ok, verdict.was_run) == (None, False)


@pytest.mark.parametrize(
    ("output", "exit_code", "failed"),
    [
        ("", None, True),
        ("make: *** [x] Error 1", None, True),
        ("Sibling tool call errored", 1, True),
        ("User rejected by the server", None, False),
    ],
)
def test_what_a_program_printed_is_no_refusal(
    output: str, exit_code: int | None, *, failed: bool
) -> None:
    command = Command(command="make", output=output, exit_code=exit_code, failed=failed)
    assert ending.unexecuted_result(command) is None


def test_a_command_in_the_background_has_not_ended() -> None:
    text = "Command running in background with ID: b1. Output is being written to: /tmp/b1"
    command = Command(command="npm test", output=text, failed=False)
    verdict = outcome.command_result(command, command_line.parse_command_line(command.command))
    assert (verdict.ok, verdict.was_run, verdict.said) == (None, True, ending.BACKGROUND)


def test_an_interrupted_command_is_unknown() -> None:
    text = "3 passed\n[Request interrupted by user for tool use]"
    command = Command(command="pytest", output=text, exit_code=137, failed=True)
    assert outcome.command_result(command, command_line.parse_command_line("pytest")).ok is None


@pytest.mark.parametrize(
    "output",
    [
        "tests/test_a.py ..\nCommand timed out after 2m 0.0s",
        "<error>Command timed out after 2m 0.0s</error>\ntests/test_a.py ..",
        "command timed out after 10000 milliseconds\ntests/test_a.py ..",
        "Command was cancelled because it exceeded the timeout of 5.0 minutes\ntests/test_a.py ..",
    ],
)
def test_a_client_that_waited_long_enough_cuts_a_run_off(output: str) -> None:
    command = Command(command="pytest -x", output=output, failed=True)
    verdict = outcome.command_result(command, command_line.parse_command_line(command.command))
    assert verdict.is_cut_off
    assert verdict.first_error == "timed out; its last words: tests/test_a.py .."


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_program_that_prints_of_a_time_limit_was_not_cut_off(exit_code: int) -> None:
    command = Command(
        command="./deploy", output="Command timed out after 30 s", exit_code=exit_code
    )
    assert not outcome.command_result(
        command, command_line.parse_command_line(command.command)
    ).is_cut_off


@pytest.mark.parametrize(
    ("output", "exit_code"),
    [
        ("....^C\n!!!!!!!! KeyboardInterrupt !!!!!!!!\n4 passed in 3.10s\n", 2),
        ("!!!!! _pytest.outcomes.Exit: KeyboardInterrupt !!!!!\n4 passed in 3.10s", 2),
        ("Exit code 130\n....\n4 passed in 3.10s", None),
        ("4 passed in 3.10s", 130),
    ],
)
def test_a_run_that_somebody_broke_off_neither_failed_nor_passed(
    output: str, exit_code: int | None
) -> None:
    command = Command(command="pytest", output=output, exit_code=exit_code, failed=True)
    line = command_line.parse_command_line(command.command)
    verdict = outcome.command_result(command, line)
    shown = event_text.run(command, line, verdict, where=Where())
    assert verdict.ok is None
    assert "interrupted" in shown.facts


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


@pytest.mark.parametrize(
    ("command", "success", "failure"),
    [
        ("", True, True),
        ("make", True, True),
        ("cd a && make && make install", True, True),
        ("ls; make", True, True),
        ("make && echo done", True, True),
        ("if test -f a; then make; fi", True, True),
        ("make || exit 1", True, True),
        ("pytest | tail -3", False, False),
        ("pytest 2>&1 | tee log", False, False),
        ("pytest | grep FAILED", False, False),
        ("(pytest | tail -3)", False, False),
        ("pytest | xargs make", False, True),
        ("make || true", False, True),
        ("ls f | xargs -r make", False, True),
        ("make; echo $?", False, False),
        ("make && make test; date", False, False),
        ("make; make test", False, True),
        ("make && make test | tail -3", False, True),
        ("make | tail -3 && make test", False, True),
        ("make && grep -q x log", True, False),
        ("make && cat log", True, True),
        ("make &", False, False),
        ("(make &)", False, False),
        ("make & sleep 1", False, False),
        ("! make", False, False),
        ("for d in a b; do make -C $d; done", False, True),
        ("set -o pipefail; make | tail", True, True),
        ("set -euo pipefail\nmake | tail\nmake test", True, True),
        ("bash -o pipefail -c 'make | tail'", True, True),
        ("set -e; make; make test", True, True),
        ("set -e; make | tail", False, False),
        ("set -x; make; date", False, False),
        ("make | tail -3; exit $rc", False, True),
        ("make; exit $?; date", False, False),
    ],
)
def test_an_exit_code_proves_only_what_it_is_of(
    command: str, *, success: bool, failure: bool
) -> None:
    status = ending.exit_status_of(command)
    assert (status.success, status.failure) == (success, failure)


@given(st.text(alphabet="make|&;!()$?{}'\" =>echoxitrcPIPESTATUS[0]\n", max_size=80))
def test_any_command_line_has_a_status(command: str) -> None:
    assert ending.exit_status_of(command).success in {True, False}


@pytest.mark.parametrize(
    "command",
    ["bash -c '" * 10_000, "set -o pipefail;" + "set x " * 10_000, "make & " + " " * 60_000 + "x"],
    ids=["shells", "options", "blanks"],
)
def test_a_long_command_line_is_read_in_linear_time(command: str) -> None:
    assert len(ending.exit_status_of(command)) == 2


@pytest.mark.parametrize(
    ("command", "text", "is_whole", "shows_end"),
    [
        ("", "a", True, True),
        ("make", "a\nb", True, True),
        ("make | cat", "a\nb", True, True),
        ("make | tee log", "a\nb", True, True),
        ("make | tail -5", "a\nb", True, True),
        ("make | tail -5", "a\n" * 5, False, True),
        ("make | tail -n 5 | cat", "a\n" * 5, False, True),
        ("make | tail", "a\n" * 5, True, True),
        ("make | tail -n +5", "a\n", False, True),
        ("make | tail -c 5", "a\n", False, False),
        ("make | head -n5", "a\nb", True, True),
        ("make | head --lines=5", "a\n" * 5, False, False),
        ("make | tail -20 | head -5", "a\n" * 5, False, False),
        ("make | sed s/a/b/ | tail -5", "a", False, False),
        ("make | grep a", "a", False, False),
        ("make | grep -v a", "b", False, True),
        ("make > log; tail -5 log", "a", False, True),
        ("make 2>/dev/null | tail -5", "a", False, True),
        ("make > '/tmp/x' | tail -5", "a", False, True),
        ("make -m 'a > b' 2>&1 | tail -5", "a", True, True),
        ("git log | head -3; make", "a\nb\nc", True, True),
        ("make; sed -n 1,5p log", "a", True, True),
    ],
)
def test_a_line_lets_through_a_part_of_an_output(
    command: str, text: str, *, is_whole: bool, shows_end: bool
) -> None:
    seen = outcome.visible_output_of(command)
    assert (seen.is_whole(text), seen.shows_end(text)) == (is_whole, shows_end)


@given(st.text(alphabet="make| tailhdgrep-n+c05'\"\\()v>", max_size=80))
def test_any_command_line_lets_something_through(command: str) -> None:
    assert outcome.visible_output_of(command).is_whole("a") in {True, False}


VITEST = """
 FAIL  a.test.ts > adds
AssertionError: expected 3 to be 4
 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
"""


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("npx turbo test", "shop:test: "),
        ("npx turbo test", "@acme/shop:test: "),
        ("pnpm -r test", "packages/shop test: "),
        ("mise run ci", "[test] "),
        ("docker compose up", "shop-1  | "),
        ("make test", ""),
    ],
)
def test_the_name_of_a_task_before_each_line_is_left_out(command: str, prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in VITEST.split("\n"))
    found = outcome.command_result(
        Command(command=command, output=text), command_line.parse_command_line(command)
    )
    assert (found.tool, found.ok, found.failed) == ("vitest", False, 1)
    assert found.first_error == "a.test.ts > adds - AssertionError: expected 3 to be 4"


@pytest.mark.parametrize(
    "text",
    [
        "a.py:1: error: no\na.py:2: error: no\na.py:3: error: no\n",
        "[INFO] a\n[INFO] b\n[INFO] c\n[ERROR] d\n",
        "[app] a\n[app] b\n[app] c\nd\ne\nf\ng\n",
        "one\n",
    ],
)
def test_places_levels_and_a_few_log_lines_are_no_tasks(text: str) -> None:
    assert outcome.strip_task_prefixes(text) == text


@given(st.text(alphabet="ab:#[]| \n1", max_size=200))
def test_lines_only_get_shorter(text: str) -> None:
    assert len(outcome.strip_task_prefixes(text)) <= len(text)


def test_where_a_client_went_back_to_is_no_output() -> None:
    text = "2 passed in 0.10s\nShell cwd was reset to /app\n"
    assert outcome.plain_output(text) == "2 passed in 0.10s\n"
    silent = Command(command="touch a", output="Shell cwd was reset to /app", failed=False)
    assert outcome.command_result(silent, command_line.parse_command_line("touch a")).said == ""


DATA = Path(__file__).parents[2] / "data" / "outcomes"
LABELS = msgspec.toml.decode((DATA / "labels.toml").read_bytes(), type=dict[str, Label])
CUTS = ["cat", *(f"{way} -{lines}" for way in ("tail", "head") for lines in (1, 3, 5, 10, 20, 50))]
ONLY_LOOK = {"git-not-here", "ls-missing"}
"""Lines of which nothing fails: what they look for is not there."""


def behind(name: str, cut: str) -> bool | None:
    text = (DATA / f"{name}.txt").read_text()
    way, _, count = cut.partition(" -")
    if count:
        lines = text.splitlines()
        text = "\n".join(lines[-int(count) :] if way == "tail" else lines[: int(count)])
    command = f"{LABELS[name].command} 2>&1 | {cut}"
    ran = Command(command=command, output=text, failed=False)
    return outcome.command_result(ran, command_line.parse_command_line(command)).ok


@pytest.mark.parametrize("cut", CUTS)
def test_what_is_left_of_an_output_never_tells_the_contrary(cut: str) -> None:
    wrong = {
        name
        for name, label in LABELS.items()
        if name not in ONLY_LOOK and behind(name, cut) not in {label.ok, None}
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("cut", "at_least"), [("cat", 0.95), ("tail -50", 0.95), ("tail -20", 0.9)]
)
def test_most_failures_are_seen_in_what_is_left(cut: str, at_least: float) -> None:
    seen = Counter(
        behind(name, cut)
        for name, label in LABELS.items()
        if not label.ok and name not in ONLY_LOOK
    )
    assert seen[False] / seen.total() >= at_least
