"""Whose lines they are, by real git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.errors import NotFound
from observer.git.blame import UNCOMMITTED, blame_lines, commit_at, last_commits

Git = Callable[..., str]


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_each_line_leads_to_its_commit_or_to_none(tmp_path: Path, git: Git, kind: str) -> None:
    git(tmp_path, "init", f"--object-format={kind}")
    file = tmp_path / "auth.py"
    file.write_text("def login():\n    return 1\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "Let people sign in")
    file.write_text("def login():\n    return 2\n")
    found = blame_lines(str(tmp_path), "auth.py", first=1, last=2)
    assert [each.hash for each in found] == [UNCOMMITTED, git(tmp_path, "rev-parse", "HEAD")]


def test_a_commit_that_is_not_in_the_clone_is_named(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(NotFound, match=f"no commit {'f' * 40}"):
        commit_at(str(tmp_path), "f" * 40)


def test_the_last_commit_of_each_file_is_found(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q")
    hashes = []
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("x = 1\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-m", f"Add {name}")
        hashes.append(git(tmp_path, "rev-parse", "HEAD"))
    found = last_commits(str(tmp_path), ["b.py", "c.py"])
    assert found == {"b.py": hashes[1], "c.py": hashes[2]}
    assert last_commits(str(tmp_path), ["a.py", "no.py"]) == {"a.py": hashes[0]}
