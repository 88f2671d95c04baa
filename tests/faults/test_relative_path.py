"""A relative entry in PATH does not let hooks run what lies in the folder they are called in."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from observer.clients.config_files.context import current_context
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home

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


def test_a_hook_of_git_runs_no_cat_of_the_folder(folder: Path, trap: Trap, tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    hook = tmp_path / "hooks/post-rewrite"
    text = (HOOKS / "git/hook").read_text().replace("@EVENT@", "post-rewrite")
    hook.write_text(text.replace("@POST@", "/nonexistent/post"))
    before = tmp_path / "hooks/post-rewrite.observer-orig"
    before.write_text(f'#!/bin/sh\n/bin/cat >"{tmp_path}/lines"\n')
    before.chmod(0o755)
    environ = {**os.environ, "PATH": f".:{os.environ['PATH']}"}
    subprocess.run(["/bin/sh", hook], cwd=folder, env=environ, input=b"a b\n", check=True)
    assert ((tmp_path / "lines").read_bytes(), trap.ran()) == (b"a b\n", [])


@pytest.mark.parametrize(
    "words", ["bash --norc -i -c source", "zsh -f -i -c source", "fish -N -i -c source"]
)
def test_a_recorder_runs_no_mkdir_of_the_folder(
    folder: Path, trap: Trap, home: Home, words: str
) -> None:
    shell, *options, source = words.split()
    program = shutil.which(shell) or pytest.skip(f"{shell} is not installed")
    plain = ("HOME", "LANG", "OBSERVER_HOME", "TERM")
    kept = {name: os.environ[name] for name in plain if name in os.environ}
    shutil.copy(trap.command("date"), folder / "date")
    shutil.rmtree(home.spool / "shell", ignore_errors=True)
    subprocess.run(
        [program, *options, f"{source} {HOOKS}/shell/observer.{shell}"],
        cwd=folder,
        env={**kept, "PATH": ".:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (trap.ran(), (home.spool / "shell").is_dir()) == ([], True)


def test_no_observer_of_the_folder_is_put_into_configurations(
    folder: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "observer").write_text("#!/bin/sh\n")
    (folder / "observer").chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", ".:")
    monkeypatch.setattr("sys.executable", "/nonexistent/python3")
    with pytest.raises(ConfigInvalid):
        current_context(home)


def test_the_traps_work(folder: Path, trap: Trap) -> None:
    environ = {**os.environ, "PATH": ".:/bin"}
    subprocess.run(["sh", "-c", "cat"], cwd=folder, env=environ, input=b"", check=False)
    assert trap.ran() == ["cat"]
