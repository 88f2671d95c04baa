"""The recorders, driven through a terminal as a person would."""

from __future__ import annotations

import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.clients.envelope import parse
from observer.core.disk import SpoolEntry
from observer.core.paths import Home
from observer.local.spool import Spool
from tests.support import put_file

from .conftest import HOOKS, PLAIN, drive, found

Records = list[dict[str, str]]
Person = Callable[..., Records]
Terminal = Callable[..., str]

SHELLS = ["bash", "zsh", "fish"]


def interactive(shell: str) -> list[str]:
    return [found(shell), *PLAIN[shell]]


every_shell = pytest.mark.parametrize("shell", SHELLS)


def text(record: dict[str, str]) -> str:
    """What was typed, out of bash's history line or as it is."""
    if "history" in record:
        return re.sub(r"\A *\d+[* ] ", "", record["history"]).removesuffix("\n")
    return record.get("text", record.get("unseen", ""))


def record_of(entry: SpoolEntry) -> dict[str, str]:
    lines = parse(*entry[:3]).payload.decode().split("\0")[:-1]
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def texts(records: Records) -> list[str]:
    """All that was typed but the line that loaded the recorder."""
    return [text(record) for record in records if "source" not in text(record)]


@every_shell
def test_a_command_is_shown_with_its_outcome(person: Person, tmp_path: Path, shell: str) -> None:
    (tmp_path / "a b").mkdir()
    records = person(shell, f"cd '{tmp_path}/a b'", "sleep 0.1; sh -c 'exit 3'")
    moved, failed = records[-2:]
    assert (moved["cwd"], moved["cwd_after"]) == (str(Path.cwd()), f"{tmp_path}/a b")
    assert failed["cwd"] == failed["cwd_after"] == f"{tmp_path}/a b"
    assert (text(failed), failed["exit"]) == ("sleep 0.1; sh -c 'exit 3'", "3")
    assert 100 <= int(failed["duration_ms"]) < 10_000


@every_shell
def test_private_stays_private(person: Person, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HISTCONTROL", "ignoreboth")
    records = person(shell, "echo before", " echo hidden", "echo after")
    answered = texts(records)
    assert answered in (
        ["echo before", "echo after"],
        ["echo before", "repeat-or-private", "echo after"],
    )
    assert "hidden" not in repr(records)


@every_shell
@pytest.mark.parametrize("variable", ["CLAUDECODE", "CURSOR_AGENT", "GEMINI_CLI", "AI_AGENT"])
def test_an_agents_shell_records_nothing(
    person: Person, spool: Spool, home: Home, shell: str, variable: str
) -> None:
    assert person(shell, "echo one", **{variable: "1"}) == []
    assert not home.spool.exists()


@every_shell
def test_sourcing_twice_records_once(person: Person, shell: str) -> None:
    again = f" source {HOOKS}/shell/observer.{shell}"
    assert texts(person(shell, again, "echo one", again, "echo two")) == ["echo one", "echo two"]


@every_shell
def test_a_script_records_nothing(home: Home, tmp_path: Path, shell: str) -> None:
    script = tmp_path / "script"
    script.write_text(f"source {HOOKS}/shell/observer.{shell}\necho done\n")
    assert "done" in drive([found(shell), str(script)])
    assert not home.spool.exists()


@every_shell
def test_each_command_is_recorded(person: Person, home: Home, tmp_path: Path, shell: str) -> None:
    exported = f"printenv OBSERVER_SESSION >{tmp_path}/session"
    records = person(shell, exported, "", "echo 'a", "b' c", "", "no-such-program")
    assert texts(records) == [exported, "echo 'a\nb' c", "no-such-program"]
    assert records[-1]["exit"] == "127"
    (log,) = (home.spool / "shell").iterdir()
    assert (tmp_path / "session").read_text().strip() == log.name
    modes = {stat.filemode(path.stat().st_mode) for path in home.root.rglob("*")}
    assert modes == {"drwx------", "-rw-------"}


@every_shell
def test_a_deleted_folder_is_no_obstacle(person: Person, tmp_path: Path, shell: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    answered = person(shell, f"cd {gone}", f"rmdir {gone}", "echo still here")[-1]
    assert (text(answered), answered["cwd"]) == ("echo still here", str(gone))


@every_shell
def test_a_log_taken_away_is_followed_by_another(person: Person, home: Home, shell: str) -> None:
    records = person(shell, "echo one", "command rm $__observer_log", "echo two")
    assert texts(records)[-1] == "echo two"
    modes = {path.stat().st_mode & 0o777 for path in (home.spool / "shell").iterdir()}
    assert modes == {0o600}


@every_shell
def test_a_home_that_cannot_be_written_is_borne_in_silence(shell: str) -> None:
    source = f" source {HOOKS}/shell/observer.{shell}"
    given = {"OBSERVER_HOME": "/proc/nowhere"}
    shown = drive(interactive(shell), source, "echo o''ne", " exit", **given)
    assert "one" in shown
    assert not re.search(r"(?i)no such|denied|error|cannot", shown)


@every_shell
def test_an_installed_recorder_knows_its_home(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OBSERVER_HOME")
    argv = interactive(shell)
    Spool(tmp_path / "h" / "spool").prepare()
    shutil.copytree(HOOKS, tmp_path / "h" / "hooks")
    drive(argv, f" source {tmp_path}/h/hooks/shell/observer.{shell}", "echo one", " exit")
    assert len(list((tmp_path / "h" / "spool" / "shell").iterdir())) == 1


HARDENED = {
    "bash": ["set -u -o noclobber -o noglob", "IFS=0123456789abc", "LC_ALL=C", "set -o posix"],
    "zsh": [
        "setopt no_unset no_clobber no_glob ksh_arrays sh_word_split warn_create_global",
        "IFS=0123456789abc",
        "setopt err_return",
    ],
    "fish": ["set -g IFS 0123456789", "set -g LC_ALL C"],
}


@every_shell
def test_options_of_the_person_change_nothing(person: Person, shell: str) -> None:
    answered = person(shell, *HARDENED[shell], "echo one", "sh -c 'exit 9'")
    assert [(text(record), record["exit"]) for record in answered[-2:]] == [
        ("echo one", "0"),
        ("sh -c 'exit 9'", "9"),
    ]


@every_shell
def test_the_prompt_sees_the_persons_status(shell: str) -> None:
    prompt = {
        "bash": " PROMPT_COMMAND+=('echo \"<$?,${PIPESTATUS[*]}>\"')",
        "zsh": ' tell() { echo "<$?,$pipestatus>" }; precmd_functions+=(tell)',
        "fish": ' function fish_prompt; echo "<$status,$pipestatus>"; end',
    }
    argv = interactive(shell)
    source = f" source {HOOKS}/shell/observer.{shell}"
    shown = drive(argv, source, prompt[shell], "sh -c 'exit 4' | sh -c 'exit 5'", " exit")
    assert "<5,4 5>" in shown


@pytest.mark.parametrize(
    ("rules", "answered"),
    [
        pytest.param({"HISTCONTROL": ""}, "echo x", id="no-rule"),
        pytest.param({"HISTCONTROL": "ignoredups"}, "echo x", id="surely-a-repeat"),
        pytest.param({"HISTCONTROL": "erasedups"}, "echo x", id="erased-and-added"),
        pytest.param({"HISTCONTROL": "ignoreboth"}, "echo x", id="as-in-debian"),
        pytest.param({"HISTCONTROL": "ignoredups:ignorespace"}, "echo x", id="the-same"),
        pytest.param({"HISTCONTROL": "ignoreboth:erasedups"}, "repeat-or-private", id="who-knows"),
        pytest.param({"HISTIGNORE": "echo x"}, "repeat-or-private", id="a-pattern"),
    ],
)
def test_bash_tells_a_repeat_apart(person: Person, rules: dict[str, str], answered: str) -> None:
    assert texts(person("bash", "echo x", "echo x", **rules))[-1] == answered


DEBIAN = """
case $- in *i*) ;; *) return ;; esac
HISTCONTROL=ignoreboth
shopt -s histappend
HISTSIZE=1000
HISTFILESIZE=2000
"""


def test_red_is_green_again_in_debians_bash(spool: Spool, tmp_path: Path) -> None:
    """A repeated command is recorded, a private one is not, and the history is the person's."""
    rc, check, kept = tmp_path / "rc", tmp_path / "check", tmp_path / "history"
    rc.write_text(f"{DEBIAN}HISTFILE={kept}\nsource {HOOKS}/shell/observer.bash\n")
    put_file(check, f"#!/bin/sh\ntest -e {tmp_path}/fixed\n")
    argv = [found("bash"), "--rcfile", str(rc), "-i"]
    lines = (f" touch {tmp_path}/fixed", str(check), f" {check}", "echo 'a", "b'", "echo 'a", "b'")
    drive(argv, str(check), *lines, 'echo "<$HISTCONTROL>"', "exit")
    said = [
        (text(fields), fields["exit"])
        for entry in spool.claim(at_most=100)
        for fields in [record_of(entry)]
    ]
    hidden = ("repeat-or-private", "0")
    again = ("echo 'a\nb'", "0")
    typed = (str(check), "1"), hidden, (str(check), "0"), hidden, again, again
    assert tuple(said[:6]) == typed
    assert kept.read_text() == f"{check}\necho 'a\nb'\necho \"<$HISTCONTROL>\"\nexit\n"


@pytest.mark.parametrize(
    "rules", ["ignoreboth", "ignoredups", "ignorespace", "ignoredups:erasedups"]
)
def test_bash_keeps_the_history_and_its_rules_as_they_are(tmp_path: Path, rules: str) -> None:
    """With and without the recorder, the history holds the same lines."""
    argv = interactive("bash")
    lines = (
        *("echo x", "echo x", " echo y", "echo z", "echo x", " echo x", "HISTCONTROL=", "ls"),
        "ls",
    )
    held = []
    for number, start in enumerate((" :", f" source {HOOKS}/shell/observer.bash")):
        kept = tmp_path / str(number)
        drive(argv, start, *lines, " exit", HISTCONTROL=rules, HISTFILE=str(kept))
        held.append([line for line in kept.read_text().splitlines() if "source" not in line])
    assert held[1] == [line for line in held[0] if line != " :"]


def test_bash_bears_what_is_read_only_or_unset() -> None:
    argv, source = interactive("bash"), f" source {HOOKS}/shell/observer.bash"
    shown = drive(argv, "readonly HISTCONTROL=ignoreboth", source, "echo x", "echo x", " exit")
    assert "readonly variable" not in shown
    lines = ("unset PS0 PROMPT_COMMAND", "set -eu", source[1:])
    shown = drive(argv, *lines, 'echo "<${OBSERVER_SESSION-}>"', "exit")
    assert "unbound" not in shown
    assert "<bash-" in shown


def test_zsh_and_fish_record_repeats_and_zsh_respects_a_history_pattern(person: Person) -> None:
    for shell, rule in (("zsh", "setopt HIST_IGNORE_DUPS HIST_IGNORE_ALL_DUPS"), ("fish", "true")):
        assert texts(person(shell, rule, "echo x", "echo x"))[-2:] == ["echo x", "echo x"]
    rule = "HISTORY_IGNORE='(ls|echo x*)'"
    assert texts(person("zsh", rule, "echo xyz", "echo y"))[-1] == "echo y"
    assert "xyz" not in repr(person("zsh", "HISTORY_IGNORE='echo x*'", "echo xyz"))


def test_bash_is_not_fooled_by_history_off_or_foreign(person: Person, tmp_path: Path) -> None:
    """Reading another shell's history at the prompt must not look like a command typed here."""
    (tmp_path / "other").write_text("echo from elsewhere\n")
    without = texts(person("bash", "echo kept", "set +o history", "echo lost"))
    assert without[-1] == "repeat-or-private"
    lines = (
        "HISTCONTROL=ignorespace",
        f"PROMPT_COMMAND=(__observer_record 'history -r {tmp_path}/other' __observer_ready)",
        " echo secret",
        "echo mine",
    )
    assert texts(person("bash", *lines))[-2:] == ["repeat-or-private", "echo mine"]


@pytest.mark.parametrize("begun", ["unset PROMPT_COMMAND", "PROMPT_COMMAND=(tell other)"])
def test_what_an_rc_file_does_is_done_once_when_read_again(tmp_path: Path, begun: str) -> None:
    rc = tmp_path / "rc"
    rc.write_text(
        f"tell() {{ echo shown; }}\nPROMPT_COMMAND=tell\nsource {HOOKS}/shell/observer.bash\n"
    )
    argv = interactive("bash")
    lines = (f" {begun}", *[f" source {rc}"] * 3, ' echo "<${PROMPT_COMMAND[@]}>"', " exit")
    shown = drive(argv, *lines)
    others = " other" * ("other" in begun)
    assert f"<__observer_record tell{others} __observer_ready>" in shown


@pytest.mark.parametrize(
    "obstacle", ["readonly PROMPT_COMMAND=x", "readonly PS0=", "shopt -u promptvars"]
)
def test_bash_keeps_out_where_it_cannot_hook_in(home: Home, obstacle: str) -> None:
    argv = interactive("bash")
    shown = drive(argv, obstacle, f"source {HOOKS}/shell/observer.bash", "echo one", "exit")
    assert not home.spool.exists()
    assert "__observer" not in shown


def test_before_bash_5_1_the_prompt_command_is_one_text(spool: Spool, tmp_path: Path) -> None:
    recorder = tmp_path / "observer.bash"
    text = (HOOKS / "shell" / "observer.bash").read_text()
    recorder.write_text(text.replace("BASH_VERSINFO[1] >= 1", "BASH_VERSINFO[1] >= 99"))
    argv = interactive("bash")
    shown = drive(
        argv, " PROMPT_COMMAND='echo \"<$?>\";'", f" source {recorder}", "sh -c 'exit 7'", " exit"
    )
    assert "<7>" in shown
    assert [entry.data.count(b"exit=7") for entry in spool.claim(at_most=9)] == [1]


def test_fish_does_not_tell_the_status_of_the_command_before(person: Person) -> None:
    answered = person(
        "fish", "sh -c 'exit 7'", "set -g x 1", "sleep 0.1 &", "wait", "set -q nosuch"
    )
    assert [record["exit"] for record in answered] == ["7", "0", "0", "0", "1"]


def test_fish_in_private_records_nothing(spool: Spool) -> None:
    source = f" source {HOOKS}/shell/observer.fish"
    drive([found("fish"), "--private", "-i"], source, "echo secret", " exit")
    assert spool.claim(at_most=9) == []
