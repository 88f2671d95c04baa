"""A repository that a daemon watches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import Git


@pytest.fixture
def app(tmp_path: Path, git: Git) -> Path:
    """A repository of three files."""
    root = tmp_path / "app"
    git(root, "init")
    for name in ("a.py", "b.py", "c.py"):
        (root / name).write_text("def run():\n    return 1\n")
    (root / ".gitignore").write_text("*.log\n")
    git(root, "add", ".")
    git(root, "commit", "-m", "First")
    return root
