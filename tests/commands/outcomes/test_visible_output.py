from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled.outcomes import Label

from observer.commands import command_line, outcome, visible_output
from observer.core.events import Command


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
    seen = visible_output.visible_output_of(command)
    assert (seen.is_whole(text), seen.shows_end(text)) == (is_whole, shows_end)


@pytest.mark.parametrize(
    ("command", "line", "is_shown"),
    [
        ("make", "1 failed", True),
        ("make | grep -E 'passed|failed'", "1 failed", True),
        (r"make | grep 'passed\|failed'", "1 failed", True),
        (r"make | grep -E '^\s*[0-9]+ (pass|fail)'", " 1 fail", True),
        ("make | grep passed", "1 failed", False),
        ("make | grep -i FAILED", "1 failed", True),
        ("make | grep FAILED", "1 failed", False),
        ("make | grep -c failed", "1 failed", False),
        ("make | grep -E 'a|failed' | grep failed", "1 failed", True),
        ("make | grep -E 'a|failed' | grep a", "1 failed", False),
        ("make | grep '[f]ailed' ", "1 failed", False),
        ("make | awk '{print}'", "1 failed", False),
    ],
)
def test_a_pattern_lets_through_lines_with_its_words(
    command: str, line: str, *, is_shown: bool
) -> None:
    assert visible_output.visible_output_of(command).lets_through(line) is is_shown


@given(st.text(alphabet="make| tailhdgrep-n+c05'\"\\()v>", max_size=80))
def test_any_command_line_lets_something_through(command: str) -> None:
    assert visible_output.visible_output_of(command).is_whole("a") in {True, False}


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


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    [
        ("tsc --noEmit 2>&1 | tail -5", "", True),
        ("npx tsc --noEmit 2>&1 | head -50", "", True),
        ("bun run typecheck 2>&1 | tail -5", "$ tsc --noEmit", True),
        ("bun run typecheck 2>&1 | tail -1", "$ tsc --noEmit", True),
        ("npm run lint 2>&1 | tail -20", "\n> shop@1.0.0 lint\n> eslint src\n", True),
        ("mise run vet 2>&1 | tail -5", "[vet] $ go vet ./...\n[vet] Finished in 1.2s", True),
        ("go build ./... && go vet ./... 2>&1 | tail -5", "", True),
        ("gofmt -l . | cat", "", True),
        ("tsc --noEmit 2>&1 | tail -1", "", None),
        ("npm run lint 2>&1 | head -3", "\n> shop@1.0.0 lint\n> eslint src", None),
        ("tsc --noEmit | grep error", "", None),
        ("tsc --noEmit > log; tail -5 log", "", None),
        ("go build ./... 2>/dev/null | tail -5", "", None),
        ("bun run build 2>&1 | tail -5", "$ ./build.sh", None),
        ("npm start 2>&1 | tail -5", "", None),
        ("go test ./... 2>&1 | tail -5", "", None),
        ("go | tail -5", "", None),
        ("tsc --noEmit 2>&1 | tail -5", "something", None),
    ],
)
def test_silence_is_a_success_of_tools_that_print_what_is_wrong(
    command: str,
    text: str,
    ok: bool | None,
) -> None:
    given = Command(command=command, output=text, failed=False)
    assert outcome.command_result(given, command_line.parse_command_line(command)).ok is ok


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
