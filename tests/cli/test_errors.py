"""What scripts can rely on when something is wrong: exit codes, stderr, JSON, what to type."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from observer.core.paths import Home
from observer.importers.source import sources
from observer.local import client
from tests.cli.conftest import Run
from tests.conftest import is_waking
from tests.support import Observer, Until, ended, put_file

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("words", [("status",), ("up",), ("config", "get")], ids=" ".join)
def test_a_home_with_a_tilde_that_no_shell_expanded_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OBSERVER_HOME", "~/memory")
    ran = run(*words)
    assert (ran.code, ran.err.partition("\n")[0]) == (2, "error: OBSERVER_HOME begins with ~")
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize(
    ("fault", "hint"),
    [(errno.ENOSPC, "free some disk space"), (errno.EROFS, "make its folder writable")],
)
def test_a_setting_that_cannot_be_kept_says_what_to_do(
    run: Run, home: Home, monkeypatch: pytest.MonkeyPatch, fault: int, hint: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr(Path, "write_text", refuse)
    ran = run("config", "set", "watch", "false")
    assert (ran.code, ran.err.splitlines()[1]) == (2, f"hint: {hint}")


def test_a_read_only_home_is_named(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refuse(path: str, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and str(path).startswith(str(home.root)):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refuse)
    ran = run("pause")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"error: the home {home.root} cannot be used: {home.root}/spool")
    assert ran.err.endswith("hint: make it yours and writable, or choose another OBSERVER_HOME\n")


def test_a_password_in_an_address_is_refused_before_it_is_kept(run: Run, home: Home) -> None:
    ran = run("config", "set", "llm_url", "http://ana:hunter2@127.0.0.1:9/v1")
    assert (ran.code, ran.err.partition("\n")[0]) == (2, "error: llm_url holds a name or password")
    assert not home.config.exists()
    assert run("config", "set", "llm_url", "http://127.0.0.1:9/v1").code == 0
    assert run("config", "set", "llm_url", "").code == 0


def test_a_settings_file_that_is_a_link_to_another_disk_is_changed_there(
    run: Run, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = put_file(tmp_path / "dotfiles" / "observer.toml")
    home.root.mkdir()
    home.config.symlink_to(elsewhere)
    move = os.replace

    def same_disk_only(source: Path, target: Path) -> None:
        if Path(source).parent != Path(target).parent:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        move(source, target)

    monkeypatch.setattr(os, "replace", same_disk_only)
    assert run("config", "set", "watch", "false").code == 0
    assert home.config.is_symlink()
    assert elsewhere.read_text(encoding="utf-8") == "watch = false\n"


def test_a_spool_that_cannot_be_read_is_said_as_well(run: Run, filled: Home, home: Home) -> None:
    shutil.rmtree(home.spool)
    home.spool.touch()
    ran = run("search", "login")
    assert (ran.code, "login" in ran.out) == (0, True)
    assert "the spool cannot be read: [Errno 20]" in ran.err


def test_doctor_goes_on_regardless(run: Run, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    look = Path.is_dir

    def refuse(path: Path) -> bool:
        if path == home.hooks:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(Path, "is_dir", refuse)
    ran = run("doctor", "--json")
    assert ran.code == 1
    assert ran.check("hooks")["found"] == f"{home.hooks}: Permission denied"


def test_a_folder_of_no_project_has_an_empty_context(
    run: Run, filled: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("context")
    assert (ran.code, ran.out) == (0, "")
    assert "an agent is given nothing yet" in ran.err
    assert run("context", "-p", ".").code == 3


def test_bytes_that_are_no_text_are_refused_as_such(run: Run, filled: Home) -> None:
    for words in (("show",), ("search", "x", "--session"), ("config", "set", "owner")):
        ran = run(*words, "caf\udce9 latin")
        assert (ran.code, ran.out, "not valid UTF-8" in ran.err) == (2, "", True), words


def test_an_output_that_lacks_a_script_shows_the_rest() -> None:
    environment = {**os.environ, "OBSERVER_OWNER": "ana \u65e5\u672c", "PYTHONIOENCODING": "latin1"}
    command = [sys.executable, "-P", "-m", "observer", "config", "get", "owner"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.stdout == b"ana ??\n"


def test_a_home_without_memory_or_daemon_is_an_error_of_its_own(run: Run, home: Home) -> None:
    ran = run("search", "x")
    assert ran.code == 5
    assert "observer up" in ran.err
    home.root.write_text("a file where the home should be")
    assert run("up").code == 4


def test_a_closed_pipe_is_no_error_message(filled: Home) -> None:
    command = f'"{sys.executable}" -m observer export | true; test ${{PIPESTATUS[0]}} != 1'
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = ended(["bash", "-c", command], env=env)
    assert (done.returncode, done.stderr) == (0, "")


FIFOS = ("log/daemon.log", "config.toml", "daemon.lock", "token", "hooks/post", "llm_key")
WITHOUT_SETTINGS = tuple(name for name in FIFOS if name != "config.toml")
"""Those that a command still meets, as it does not end at its settings."""


@pytest.fixture
def at_last() -> Iterator[None]:
    """Fail a test that waits for what never comes; such a one takes no processor time."""

    def stop(*_: object) -> None:
        raise AssertionError("waited 60 s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "names"),
    [
        *(pytest.param(("up",), (name,), id=f"up-{name}") for name in FIFOS),
        *(pytest.param(("remember", "x"), (name,), id=f"remember-{name}") for name in FIFOS),
        *(
            pytest.param(words, names, id=f"{words[0]}-{len(names)}")
            for words in (("status",), ("search", "x"), ("doctor",))
            for names in (("config.toml",), WITHOUT_SETTINGS)
        ),
    ],
)
def test_nobody_waits_for_a_fifo_in_the_place_of_a_file(
    within: Observer, at_last: None, home: Home, words: tuple[str, ...], names: tuple[str, ...]
) -> None:
    for name in names:
        (home.root / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(home.root / name, 0o600)
    llm = {"OBSERVER_LLM_URL": "http://127.0.0.1:1/v1", "OBSERVER_LLM_MODEL": "tiny"}
    ran = within(*words, OBSERVER_HTTP_PORT="1", **llm)
    assert "Traceback" not in ran.stdout + ran.stderr
    if ran.returncode and words[0] in {"up", "remember"}:
        assert f"{home.root / names[0]}" in ran.stderr
        assert "away" in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "spool", "spool/new"])
def test_a_file_in_the_place_of_a_folder_is_said(within: Observer, home: Home, name: str) -> None:
    put_file(home.root / name)
    ran = within("up")
    assert ran.returncode == 4
    assert f"{home.root / name}" in ran.stderr
    assert "Error:" not in ran.stderr
    assert "away" in ran.stderr or "remove it" in ran.stderr


@pytest.mark.parametrize("name", ["log/daemon.log", "daemon.lock"])
def test_a_link_to_nowhere_is_said(within: Observer, home: Home, tmp_path: Path, name: str) -> None:
    (home.root / name).parent.mkdir(parents=True)
    (home.root / name).symlink_to(tmp_path / "no" / "where")
    for words in (("up",), ("doctor",)):
        ran = within(*words)
        assert ran.returncode
        assert "move it away; it is made anew" in ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ["log/daemon.log", "daemon.lock"])
def test_doctor_names_a_folder_in_the_place_of_a_file(run: Run, home: Home, name: str) -> None:
    (home.root / name).mkdir(parents=True)
    files = run("doctor", "--json").check("home")
    assert files["found"] == f"{home.root / name}: Is a directory"
    assert files["hint"] == "move it away; it is made anew"


@pytest.mark.parametrize("place", ["index/index.json", "spool/shell/bash-999999999-1.stored"])
def test_nobody_waits_for_a_fifo_among_what_the_daemon_keeps(
    run: Run, at_last: None, filled: Home, home: Home, place: str
) -> None:
    fifo = home.root / place
    fifo.parent.mkdir(parents=True, exist_ok=True)
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    shell = home.spool / "shell"
    put_file(shell / "bash-999999999-1")
    assert "login" in run("search", "login").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("status <&-", 0),
        ("status >&-", 0),
        ("status <&- >&- 2>&-", 0),
        ("mcp <&-", 0),
        ("mcp <&- >&-", 0),
        ("remember - <&-", 2),
        ("post <&-", 2),
        ("search x 2>&-", 5),
        ("export >/dev/full", 1),
        ("status >/dev/full", 1),
    ],
)
def test_a_stream_that_is_closed_or_full_is_no_crash(
    within: Observer, home: Home, until: Until, words: str, code: int
) -> None:
    if words.startswith("export"):
        assert within("remember", "green").returncode == 0
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = ended(["sh", "-c", f"'{sys.executable}' -m observer {words}"], env=env, timeout=30)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    if words.startswith("mcp"):
        # The daemon that it woke ends with the test; who wakes one starts another until it answers.
        until(lambda: client.daemon_pid(home) and not is_waking(home.root))


def test_a_home_whose_path_is_no_text_is_refused(observer: Observer, tmp_path: Path) -> None:
    ran = observer("up", OBSERVER_HOME=f"{tmp_path}/\udcff")
    assert ran.returncode == 2
    assert "the path of the home is not valid UTF-8: b'" in ran.stderr


WRONG = [
    ("serch x", "no command", "did you mean search? see: observer --help"),
    ("stop", "no command", "did you mean down? see: observer --help"),
    ("frobnicate", "no command", "see: observer --help"),
    ("note histry", "no command", "history? see: observer note --help"),
    ("import svn", "", f"first: {', '.join(('git', *sources()))}"),
    ("search x --limt 4", "", "mean --limit? see: observer search --help"),
    ("export --vault", "", "see: observer export --help"),
    ("search x -p ap", "", "name one, such as app; observer status"),
    ("uninstall emacs", "no client 'emacs'", "one of: antigravity, "),
    ("why login.py:total", "no file", "login.py::total names code in it"),
    ("config set excldue /x", "no setting 'excldue'", "did you mean exclude? see"),
    (
        "config set context_tokens many",
        "setting 'context_tokens' cannot be 'many', in the command line: expected a whole number",
        "Token budget",
    ),
    (
        "config set retention_by_type foo=3",
        "cannot be 'foo=3', in the command line: expected text of another form",
        "such as `command=90`",
    ),
    ("timeline s1", "no item 's1'", "observer show s1"),
    ("context --client cursr", "no client 'cursr'", "did you mean cursor? see"),
    ("install cursr", "error: no client 'cursr'", "did you mean cursor?"),
    ("note --layer rul", "--layer cannot be 'rul'", "did you mean rule?"),
    ("search --type comit x", "error: nothing is of type 'comit'\n", "mean commit?\n"),
    ("note --type desicion", "of type 'desicion'", "mean decision?"),
    ("remember x --type desicion", "error: no type of notes 'desic", "decision?"),
    ("remember x --expires soon", "", "or a span: 30min, 12h, 7d"),
    ("install bash --project .", "bash has no settings for one rep", ""),
    ("mcp list core,chatgpt", "and 'chatgpt' both have a tool 'sea", ""),
    ("mcp list core,x", "no toolset 'x'", ""),
    *(
        (line, "{}: {} is not in the ran".format(*line.split()[-2:]), "")
        for line in (
            *("search x --limit 51", "timeline 1 --before 51", "today --days 400"),
            *("sessions --limit -1", "note --limit 0"),
        )
    ),
    ("note link 1 2 --kind amend", "no kind of link 'amend'", "mean amends?"),
    ("search x --since soon", "'soon' is not a time", "write 2026-11-21"),
    ("doctor speed hook", "no part 'hook'", "did you mean hooks?"),
    ("restore /nope", "error: File '/nope' does not exist", "restore"),
    ("import /nope", "'/nope' is no source and no file", "first: git"),
    ("import login.py", "'login.py' is of no source", "first: git"),
    ("post", "nothing came on stdin", "give a kind"),
    ("timeline", "Missing argument 'ID'", "timeline --help"),
    ("search x --all -p app", "--all", ""),
    ("config set http_port 70000", "70000", ""),
    ("post explosion", "explosion", ""),
    ("import claude-code /nonexistent", "/nonexistent", ""),
    ("show 999999", "999999", ""),
    ("context --project nowhere", "nowhere", ""),
]
"""A line, and what of the error and of the hint it is answered with."""


NOT_FOUND = {
    *("search x -p ap", "why login.py:total", "timeline s1", "context --client cursr"),
    *("search --type comit x", "note --type desicion", "show 999999", "context --project nowhere"),
}


@pytest.mark.parametrize(("line", "said", "hint"), WRONG, ids=[line for line, *_ in WRONG])
def test_an_error_is_in_the_words_of_what_was_typed(
    run: Run, filled: Home, app: Path, line: str, said: str, hint: str
) -> None:
    (app / "login.py").touch()
    ran = run(*line.split())
    assert (ran.code, ran.out) == (3 if line in NOT_FOUND else 2, "")
    assert ran.err.startswith("error: ")
    assert said in ran.err
    assert hint in ran.err.partition("hint: ")[2] != ""
