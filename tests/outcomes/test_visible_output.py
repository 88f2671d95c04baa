from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.outcomes import visible_output


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
