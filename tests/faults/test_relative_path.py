"""A relative entry in PATH does not let hooks run what lies in the folder they are called in."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from observer.paths import Home

from .conftest import Trap

HOOKS = Path(__file__).parents[2] / "hooks"
PROGRAMS = ("cat", "git", "mkdir", "od", "python3", "rm", "sleep", "uuidgen")


@pytest.fixture
def folder(plain: Path, trap: Trap) -> Path:
    """A repository with programs that are named like those that hooks use."""
    for name in PROGRAMS:
        shutil.copy(trap.command(name, then="exit 0"), plain / name)
    return plain


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox"])
@pytest.mark.parametrize("path", [".:{}", ":{}", "{}:.", "bin:.:{}", ".", ""])
@pytest.mark.parametrize(
    "words", ["post claude-code Stop", "post git post-commit", "context kiro", "recall kiro prompt"]
)
def test_only_programs_in_absolute_folders_run(
    folder: Path, trap: Trap, home: Home, shell: str, path: str, words: str
) -> None:
    program = shutil.which(shell) or pytest.skip(f"{shell} is not installed")
    hook, *arguments = words.split()
    file = home.context / "by-path" / str(folder)[1:] / "CONTEXT.md"
    file.parent.mkdir(parents=True)
    file.write_text("known\n")
    done = subprocess.run(
        [program, *(["ash"] if shell == "busybox" else []), str(HOOKS / hook), *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path.format("/usr/bin:/bin")},
        input=b"{}",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, trap.ran()) == (0, [])
    if hook == "post":
        assert len(list((home.spool / "new").iterdir())) == 1
    elif hook == "context":
        assert done.stdout == b"known\n"


def test_the_traps_work(folder: Path, trap: Trap) -> None:
    subprocess.run(["sh", "-c", "cat"], cwd=folder, env={"PATH": ".:/bin"}, input=b"", check=False)
    assert trap.ran() == ["cat"]
