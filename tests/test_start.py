"""`scripts/start`, with an interpreter that makes environments of nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from contextvars import copy_context
from pathlib import Path

import click
import pytest

from observer.cli.app import observer

SCRIPTS = Path(__file__).parent.parent / "scripts"
PYTHON = """#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
[ "$*" != install ] || pwd >>"$LOG"
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/observer" ;;
    "search "*) exit "$SEARCH_RC" ;;
esac
"""


class Checkout:
    """A checkout with the scripts and one module, and what is run by them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self._log = folder / "log"
        self._home = folder / "memory"
        self._python = folder / "python3"
        self._python.write_text(PYTHON)
        self._python.chmod(0o755)
        for name in ("observer", "hooks", "scripts", "requirements"):
            (self.root / name).mkdir(parents=True)
        for name in ("start", "environment"):
            shutil.copy(SCRIPTS / name, self.root / "scripts")
        (self.root / "pyproject.toml").touch()

    def start(self, *words: str, search_rc: int = 0, stdin: int | None = None) -> list[str]:
        """Run the script; return what it ran, by first words."""
        self._log.write_text("")
        environment = {
            "PATH": "/usr/bin:/bin",
            "PYTHON": str(self._python),
            "LOG": str(self._log),
            "SEARCH_RC": str(search_rc),
            "OBSERVER_HOME": str(self._home),
        }
        script = self.root / "scripts" / "start"
        self.said = subprocess.run(
            [script, *words],
            stdin=stdin,
            env=environment,
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        self.ran = self._log.read_text().splitlines()
        return [" ".join(line.split()[:4]) for line in self.ran]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_start_installs_and_a_second_one_does_not(checkout: Checkout) -> None:
    first = checkout.start()
    assert "python -m pip install" in first
    assert first[-1] == "observer up --explain", "what is recorded from now on"
    again = checkout.start()
    assert "python -m pip install" not in again
    assert "observer up" in again
    assert "observer down" not in again


def test_a_repository_without_commits_is_the_only_silence(checkout: Checkout) -> None:
    checkout.start(search_rc=3)
    assert "Nothing yet" in checkout.said
    assert "Read the sessions" in checkout.said
    with pytest.raises(subprocess.CalledProcessError):
        checkout.start(search_rc=2)


def test_clients_are_connected_from_the_repository_that_was_named(
    checkout: Checkout, tmp_path: Path
) -> None:
    (tmp_path / "shop").mkdir()
    ours, theirs = os.openpty()
    ran = checkout.start("../shop", stdin=theirs)
    os.close(ours)
    os.close(theirs)
    assert ran[ran.index("observer install") + 1] == str(tmp_path / "shop")


def test_it_runs_commands_that_there_are(checkout: Checkout) -> None:
    checkout.start()
    asked = [shlex.split(line)[1:] for line in checkout.ran if line.startswith("observer ")]
    assert len(asked) == 5
    for name, *words in asked:
        command = observer.get_command(click.Context(observer), name)
        assert command
        # Parsing `--utc` decides how times are shown: elsewhere, not in the tests that follow.
        assert copy_context().run(command.make_context, name, words)


@pytest.mark.parametrize("changed", ["observer/new.py", "requirements/runtime.txt"])
def test_changed_code_or_locks_are_installed_and_run(checkout: Checkout, changed: str) -> None:
    checkout.start()
    (checkout.root / changed).write_text("click==8.5.1\n")
    steps = ("python -m pip install", "observer down", "observer up")
    places = list(map(checkout.start().index, steps))
    assert places == sorted(places)


def test_what_the_lock_pins_is_installed_by_its_hash_and_nothing_beside_it(
    checkout: Checkout,
) -> None:
    checkout.start()
    dependencies, own = (line.split() for line in checkout.ran if "pip install" in line)
    assert {"--require-hashes", "--no-deps"} <= set(dependencies)  # a lock is complete
    assert {"requirements/runtime.txt", "requirements/build.txt"} <= set(dependencies)
    assert {"--no-deps", "--no-build-isolation"} <= set(own)
