"""The lines that a commit brought in, in real repositories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from observer.git.blame import added_lines

Git = Callable[..., str]


def test_lines_are_named_by_their_number_in_the_commit(tmp_path: Path, git: Git) -> None:
    root = tmp_path / "shop"
    git(root, "init", "-q")

    def commit(**texts: str) -> dict[str, dict[int, str]]:
        for name, text in texts.items():
            (root / f"{name} file.txt").write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "change")
        found = added_lines(str(root), "HEAD")
        return {path.split(" ")[0]: dict(lines) for path, lines in found.items()}

    assert commit(a="one\ntwo\nthree\n", b="--- x\n+++ y\n") == {
        "a": {1: "one", 2: "two", 3: "three"},
        "b": {1: "--- x", 2: "+++ y"},
    }
    assert commit(a="one\n2\n2b\nthree\n", b="@@ -1 +1 @@") == {
        "a": {2: "2", 3: "2b"},
        "b": {1: "@@ -1 +1 @@"},
    }
    assert commit(a="three\n") == {}
    git(root, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(b="side\n")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "side", "-m", "merge")
    assert added_lines(str(root), "HEAD") == {}
