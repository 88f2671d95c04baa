from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.events import Command
from observer.outcomes import outcome, visible_output
from observer.shell import command_line

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
    assert visible_output.strip_task_prefixes(text) == text


@given(st.text(alphabet="ab:#[]| \n1", max_size=200))
def test_lines_only_get_shorter(text: str) -> None:
    assert len(visible_output.strip_task_prefixes(text)) <= len(text)


def test_where_a_client_went_back_to_is_no_output() -> None:
    text = "2 passed in 0.10s\nShell cwd was reset to /app\n"
    assert visible_output.plain_output(text) == "2 passed in 0.10s\n"
    silent = Command(command="touch a", output="Shell cwd was reset to /app", failed=False)
    assert outcome.command_result(silent, command_line.parse_command_line("touch a")).said == ""


def test_what_turbo_says_before_and_behind_its_tasks_does_not_count() -> None:
    text = """• Running typecheck in 2 packages
@shop/ui:typecheck: cache miss, executing 1a2b
@shop/ui:typecheck: src/a.ts(3,5): error TS2322: Type 'string' is not assignable.
@shop/ui:typecheck: ERROR: command finished with error: pnpm run typecheck exited (2)

 Tasks:    1 successful, 2 total
Cached:    1 cached, 2 total
  Time:    2.1s
Failed:    @shop/ui#typecheck
"""
    found = outcome.command_result(
        Command(command="turbo typecheck", output=text), command_line.parse_command_line("turbo")
    )
    assert found.ok is False
    assert found.first_error == "src/a.ts:3: TS2322: Type 'string' is not assignable."
