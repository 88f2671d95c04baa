"""bash, zsh and fish read the block, only what is ours comes and goes; what is typed in tmux."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.envelope import parse
from observer.clients.installers import install, perform, uninstall
from observer.clients.shelf.shells import read
from observer.core.errors import ConfigInvalid
from observer.core.events import Command
from observer.local.spool import Spool
from tests.clients.conftest import Run, Tmux
from tests.support import Until, ended

FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/conf.d/observer.fish"}
every_shell = pytest.mark.parametrize("shell", list(FILES))


def session_of(shell: str, context: InstallContext) -> str:
    """Return what an interactive shell of the user calls itself once its rc files are read."""
    program = shutil.which(shell) or pytest.skip(f"{shell} is not installed")
    argv = [program, "-ic", 'echo "<$OBSERVER_SESSION>"']
    env = {**context.environ, "HOME": str(context.user_home)}
    run = ended(argv, env=env, stdin=subprocess.DEVNULL, check=True, timeout=30)
    return run.stdout.partition("<")[2].partition(">")[0]


@every_shell
def test_the_shell_reads_the_recorder(shell: str, context: InstallContext, put: Run) -> None:
    put(shell)
    assert session_of(shell, context).startswith(f"{shell}-")


@every_shell
def test_the_shell_reads_it_from_a_quoted_home(shell: str, spaced: InstallContext) -> None:
    perform(install(shell, spaced), spaced.home, at_ms=1)
    elsewhere = {**spaced.environ, "OBSERVER_HOME": str(spaced.home.root)}
    assert session_of(shell, replace(spaced, environ=elsewhere)).startswith(f"{shell}-")


@every_shell
def test_a_recorder_gone_hurts_nobody(shell: str, context: InstallContext, put: Run) -> None:
    put(shell)
    (context.home.hooks / "shell" / f"observer.{shell}").unlink()
    assert session_of(shell, context) == ""


@every_shell
def test_uninstalled_is_silent(shell: str, context: InstallContext, put: Run, drop: Run) -> None:
    (context.user_home / ".zshrc").write_text("true\n")  # else zsh asks a new user questions
    put(shell)
    drop(shell)
    assert session_of(shell, context) == ""


def test_a_block_is_replaced_in_place_a_second_removed(context: InstallContext, put: Run) -> None:
    """A last line without an end gets one."""
    rc = context.user_home / ".bashrc"
    rc.write_text("alias x=y")
    put("bash")
    assert rc.read_text().startswith("alias x=y\n# >>> observer >>>\n")
    rc.write_text("one\n" + "# >>> observer >>>\nold\n# <<< observer <<<\ntwo\n" * 2)
    put("bash")
    assert rc.read_text().count(">>>") == 2
    lines = rc.read_text().splitlines()
    assert (lines[0], lines[1], lines[-2:]) == ("one", "# >>> observer >>>", ["two", "two"])
    assert "old" not in lines


def test_a_begun_block_never_swallows_what_follows(context: InstallContext) -> None:
    rc = context.user_home / ".bashrc"
    block = "# >>> observer >>>\nours\n# <<< observer <<<\n"
    rc.write_text("# >>> observer >>>\nmine\n" + block)
    with pytest.raises(ConfigInvalid, match="without its end"):
        install("bash", context)


def test_a_foreign_block_stays(context: InstallContext, spaced: InstallContext, put: Run) -> None:
    put("bash")
    plan = uninstall("bash", spaced)
    assert not plan.is_change
    assert "another home" in plan.notes[0]


@pytest.mark.parametrize(
    ("profiles", "warned"),
    [
        pytest.param({".bash_profile": "export A=1\n"}, ".bash_profile", id="without"),
        pytest.param({".bash_profile": ". ~/.bashrc\n"}, "", id="with"),
        pytest.param(
            {".bash_profile": ". ~/.profile\n", ".profile": ". ~/.bashrc\n"}, "", id="in-turn"
        ),
        pytest.param(
            {".bash_profile": "A=1\n", ".profile": ". ~/.bashrc\n"}, ".bash_profile", id="hidden"
        ),
        pytest.param({".profile": "export A=1\n"}, ".profile", id="another"),
        pytest.param({}, "", id="none"),
    ],
)
def test_a_profile_that_skips_the_rc_file_is_shown(
    context: InstallContext, profiles: dict[str, str], warned: str
) -> None:
    for name, text in profiles.items():
        (context.user_home / name).write_text(text)
    notes = " ".join(install("bash", context).notes)
    assert ("login shells will not record" in notes) == bool(warned)
    assert warned in notes


FAILS, WAITS = "sh -c 'exit 3'", "sleep 60"
PASTED = "echo 'a\nb' done"


def recorded(context: InstallContext) -> list[tuple[str, int | None]]:
    """Return the commands that wait in the spool, with their exit codes."""
    reports = (parse(*entry[:3]) for entry in Spool(context.home.spool).claim(at_most=100))
    bodies = [event.body for report in reports for event in read(report, {})]
    return [(body.command, body.exit_code) for body in bodies if isinstance(body, Command)]


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_is_typed_recalled_interrupted_and_pasted_is_recorded(
    shell: str, context: InstallContext, put: Callable[[str], object], tmux: Tmux, until: Until
) -> None:
    put(shell)
    program = shutil.which(shell) or pytest.skip(f"{shell} is not installed")
    tmux("new-session", "-d", "-x", "80", "-y", "24", program)
    tmux("send-keys", FAILS, "Enter")
    until(lambda: len(recorded(context)) == 1)
    tmux("send-keys", "Up", "Enter")
    until(lambda: len(recorded(context)) == 2)
    tmux("send-keys", WAITS, "Enter")
    until(lambda: tmux("display-message", "-p", "#{pane_current_command}") == "sleep")
    tmux("send-keys", "C-c")
    until(lambda: len(recorded(context)) == 3)
    tmux("set-buffer", PASTED)
    tmux("paste-buffer", "-p")  # as one text where the shell knows how to take that
    tmux("send-keys", "Enter")
    until(lambda: len(recorded(context)) == 4)
    assert recorded(context) == [(FAILS, 3), (FAILS, 3), (WAITS, 130), (PASTED, 0)]
