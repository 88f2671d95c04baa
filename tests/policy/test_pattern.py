"""Patterns match as gitignore's do, where both have the same syntax."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.policy.policies import PathPattern

PATTERNS = [
    "*.pem",
    "secrets",
    "secrets/",
    "/secrets/",
    "src/*.py",
    "/*.py",
    "src/**",
    "**/fixtures",
    "src/**/gen/*.js",
    "a?c.[ch]",
    "**",
    "*",
    "./src/x",
    "src//x",
]
PATHS = [
    "key.pem",
    "src/key.pem",
    "secrets/a",
    "src/secrets/deep/a",
    "secrets",
    "src/a.py",
    "src/deep/a.py",
    "a.py",
    "src/x",
    "tests/fixtures/a/b",
    "src/gen/a.js",
    "src/one/two/gen/a.js",
    "src/one/gen/two/a.js",
    "lib/abc.h",
    "lib/abbc.h",
    "readme",
]
OURS_ALONE = {"./src/x", "src//x"}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_file_is_matched_as_git_ignores_it(tmp_path: Path, pattern: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".git" / "info" / "exclude").write_text(f"{pattern.replace('//', '/')}\n")
    asked = "\n".join(PATHS)
    argv = ["git", "-C", tmp_path, "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(argv, input=asked, capture_output=True, text=True, check=False)
    expected = ["src/x"] if pattern in OURS_ALONE else done.stdout.splitlines()
    assert [path for path in PATHS if PathPattern(pattern).matches(path.split("/"))] == expected


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("!keep.py", "bring back"),
        ("../other/**", "out of the repository"),
        ("src/../../other", "out of the repository"),
        ("a\\b", "backslashes"),
        ("a\x1b[2Jb", "control characters"),
        ("", "names nothing"),
        ("/", "names nothing"),
        ("./", "names nothing"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(pattern: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        PathPattern(pattern)


def test_a_folder_pattern_matches_a_path_only_if_that_may_be_a_folder() -> None:
    pattern = PathPattern("secrets/")
    assert not pattern.matches(["secrets"])
    assert pattern.matches(["secrets"], is_folder=True)


@given(
    st.text("ab*?[]!-/.", min_size=1, max_size=60),
    st.lists(st.text("ab", min_size=1, max_size=60), max_size=40),
)
def test_any_pattern_is_refused_or_matches_at_once(text: str, names: list[str]) -> None:
    try:
        pattern = PathPattern(text)
    except ValueError:
        return
    whole = pattern.matches(names)
    assert pattern.matches([*names, "below"]) or not whole


def test_no_pattern_makes_matching_go_back_without_end() -> None:
    """With plain backtracking each of these would take longer than the age of the universe."""
    assert not PathPattern("*a" * 120 + "b").matches(["a" * 250])
    assert not PathPattern("**/a/" * 50 + "b").matches(["a"] * 2000)
