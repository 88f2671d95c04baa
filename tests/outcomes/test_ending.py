from __future__ import annotations

import pytest

from observer.core.events import Command
from observer.observations import event_text
from observer.observations.drafts import Where
from observer.outcomes import ending, outcome
from observer.shell import command_line


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
