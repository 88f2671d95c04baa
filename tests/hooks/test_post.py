"""`hooks/post`: one whole envelope or none, in every kind of trouble, and none while paused."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from observer.clients.envelope import Envelope
from observer.core.paths import Home
from observer.local import refusals
from observer.local.pauses import EVERYWHERE, UNENDING_MS
from observer.local.spool import Spool
from tests.support import Until, put_file

from .conftest import HOOKS, drive

Post = Callable[..., None]
Posted = Callable[[], list[Envelope]]

PAYLOADS = [
    pytest.param(b"", id="empty"),
    pytest.param(b'{"hook_event_name":"Stop"}\n', id="json"),
    pytest.param(bytes(range(256)) * 9, id="binary"),
    pytest.param(b"\0\0OBS1\0client=x\0\0", id="like-an-envelope"),
    pytest.param(b"x" * 8_000_000, id="huge"),
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_payload_arrives_to_the_byte(post: Post, posted: Posted, payload: bytes) -> None:
    post("claude-code", "Stop", payload=payload)
    assert [(e.client, e.event, e.payload) for e in posted()] == [("claude-code", "Stop", payload)]


def test_arguments_keep_their_order_and_the_hook_tells_for_whom(post: Post, posted: Posted) -> None:
    post("git", "post-merge", "a b", "", "*", "c\nd", cwd="/")
    (shown,) = posted()
    assert shown.args == ("a b", "", "*", "c\nd")
    assert (shown.ppid, shown.host) == (str(os.getpid()), os.uname().nodename)
    assert abs(shown.at_ms - time.time() * 1000) < 5_000


@pytest.mark.parametrize("name", ["a b", "new\nline", "quo'te\"s", "$(touch x)", "-n", "ü"])
def test_a_folder_is_shown_as_it_is(post: Post, posted: Posted, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    post("cursor", "stop", cwd=tmp_path / name, env={**os.environ, "PWD": str(tmp_path / name)})
    assert posted()[0].cwd == str(tmp_path / name)


@pytest.mark.parametrize("terminal", ["vscode", "kiro"])
def test_only_the_variables_of_agents_that_are_set_travel(
    post: Post, posted: Posted, monkeypatch: pytest.MonkeyPatch, terminal: str
) -> None:
    shown = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "a b\n'c", "OBSERVER_SESSION": "bash-1-2"}
    for name, value in {**shown, "AGENT": "", "TERM_PROGRAM": terminal, "SECRET": "x"}.items():
        monkeypatch.setenv(name, value)
    post("claude-code", "Stop")
    assert posted()[0].env == shown | ({"TERM_PROGRAM": "kiro"} if terminal == "kiro" else {})


def test_files_are_for_their_owner_alone(post: Post, home: Home) -> None:
    post()
    assert not home.spool.exists()
    post("cursor", "stop", umask=0)
    modes = {stat.filemode(path.stat().st_mode) for path in (home.root, *home.root.rglob("*"))}
    assert modes == {"drwx------", "-rw-------"}


def test_an_installed_hook_knows_its_home_and_any_other_takes_the_users(
    post: Post, posted: Posted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OBSERVER_HOME")
    elsewhere = Spool(tmp_path / "my home" / "spool")
    elsewhere.prepare()
    installed = shutil.copytree(HOOKS, tmp_path / "my home" / "hooks") / "post"
    post("cursor", "stop", script=installed)
    assert elsewhere.depth() == 1
    post("cursor", "stop")
    assert len(posted()) == 1


def test_neither_folder_nor_stdin_is_needed(sh: list[str], posted: Posted, tmp_path: Path) -> None:
    gone, command = tmp_path / "gone", [*sh, str(HOOKS / "post"), "cursor", "stop"]
    for before in ("", "exec <&-;", f"mkdir {gone}; cd {gone}; rmdir {gone};"):
        argv = ["sh", "-c", f'{before} exec "$@"', "sh", *command]
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    assert drive(command) == ""
    assert [(event.event, event.payload) for event in posted()] == [("stop", b"")] * 4


def test_fifty_at_once_lose_nothing(sh: list[str], posted: Posted) -> None:
    started = []
    for number in range(50):
        argv = [*sh, str(HOOKS / "post"), "cursor", f"e{number}"]
        started.append(subprocess.Popen(argv, stdin=subprocess.PIPE))
    for number, process in enumerate(started):
        process.communicate(b"%d" % number)
        assert process.returncode == 0
    assert {(e.event, e.payload) for e in posted()} == {
        (f"e{number}", b"%d" % number) for number in range(50)
    }


@pytest.mark.parametrize("victim", ["group", "shell"])
def test_a_hook_killed_while_it_writes_leaves_no_event(
    sh: list[str], home: Home, spool: Spool, victim: str, until: Until
) -> None:
    spool.prepare()
    process = subprocess.Popen(
        [*sh, str(HOOKS / "post"), "cursor", "stop"], stdin=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin
    process.stdin.write(b"half of")
    process.stdin.flush()
    until(lambda: any(b"half of" in f.read_bytes() for f in (home.spool / "tmp").iterdir()))
    (os.killpg if victim == "group" else os.kill)(process.pid, signal.SIGKILL)
    process.communicate()
    assert spool.depth() == 0
    until(lambda: not alive_in_group(process.pid))
    assert spool.sweep(before_ms=int(time.time() * 1000) + 60_000) == 1


def alive_in_group(group: int) -> bool:
    return any(
        process.info["status"] != psutil.STATUS_ZOMBIE and _group(process.pid) == group
        for process in psutil.process_iter(["status"])
    )


def _group(pid: int) -> int | None:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


@pytest.mark.parametrize("read_only", ["/proc/observer", "/sys/observer", "/dev/null/observer"])
def test_a_readonly_home_is_ok(post: Post, monkeypatch: pytest.MonkeyPatch, read_only: str) -> None:
    monkeypatch.setenv("OBSERVER_HOME", read_only)
    post("cursor", "stop", payload=b"x")
    assert not Path(read_only).exists()


@pytest.fixture
def small_disk(home: Home, spool: Spool) -> Iterator[Path]:
    """The home on a file system of 64 KiB."""
    home.root.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(home.root)]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        spool.prepare()
        yield home.root
    finally:
        subprocess.run(["umount", str(home.root)], check=True)


@pytest.mark.parametrize("is_fifo", [False, True], ids=["", "a fifo in the place of the log"])
def test_a_payload_too_big_for_the_disk_makes_no_event_and_one_line(
    post: Post, spool: Spool, small_disk: Path, *, is_fifo: bool
) -> None:
    """No hook waits for a FIFO."""
    if is_fifo:
        (small_disk / "log").mkdir()
        os.mkfifo(small_disk / "log" / "hooks.log")
    post("cursor", "stop", payload=b"x" * 200_000)
    assert spool.depth() == 0
    assert not list((small_disk / "spool" / "tmp").iterdir())
    if not is_fifo:
        assert len((small_disk / "log" / "hooks.log").read_text().splitlines()) == 1


def fill(disk: Path) -> None:
    with (
        pytest.raises(OSError, match="No space"),
        (disk / "ballast").open("wb", buffering=0) as file,
    ):
        while True:
            file.write(b"x" * 4096)
            os.fsync(file.fileno())


def test_what_a_full_disk_refuses_is_counted(post: Post, spool: Spool, small_disk: Path) -> None:
    """It makes no event: what is stored is whole."""
    refused = small_disk / "log" / "refused"
    refused.parent.mkdir()
    refusals.prepare(refused)
    fill(small_disk)
    while spool.depth() < 30:  # what still fits is stored
        before = spool.depth()
        post("cursor", "stop", payload=b"x" * 4000)
        if spool.depth() == before:
            break
    known = refusals.read(refused)
    assert known
    post("cursor", "stop", payload=b"x" * 4000)
    post("claude-code", "Stop", payload=b"x" * 4000)
    now = refusals.read(refused)
    assert now
    assert (now.events, now.first_ms) == (known.events + 2, known.first_ms)
    assert 0 <= now.last_ms - now.first_ms < 60_000
    assert refused.stat().st_size == 64
    whole = b"\0\0" + b"x" * 4000
    assert all(entry.data.endswith(whole) for entry in spool.claim(at_most=99))


@pytest.mark.parametrize(
    "count", ["", "$(touch pwned) x\n" + " " * 60, None], ids=["ours", "none", "a fifo"]
)
def test_what_a_file_as_spool_refuses_is_counted(post: Post, home: Home, count: str | None) -> None:
    """A count that is none begins anew; no hook waits for a FIFO."""
    home.logs.mkdir(parents=True)
    home.spool.write_text("in the way")
    if count is None:
        os.mkfifo(home.refused)
    else:
        refusals.prepare(home.refused)
        home.refused.write_text(count or home.refused.read_text())
    post("cursor", "stop", payload=b"x")
    if count is None:
        assert (home.logs / "hooks.log").exists()
    else:
        found = refusals.read(home.refused)
        assert found is not None
        assert found.events == 1


def test_a_read_only_mount_is_borne(post: Post, spool: Spool, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    post("cursor", "stop", payload=b"x")
    assert spool.depth() == 0


@pytest.mark.parametrize(("before", "after"), [(0, 1), (98, 99), (100, 1)])
def test_the_log_of_failures_stays_small(
    post: Post, home: Home, tmp_path: Path, before: int, after: int
) -> None:
    log = put_file(home.logs / "hooks.log", "earlier\n" * before)
    with fd_of(tmp_path) as folder:
        post("cursor", "stop", stdin=folder)
    assert len(log.read_text().splitlines()) == after
    assert "cursor stop" in log.read_text()


@contextlib.contextmanager
def fd_of(folder: Path) -> Iterator[int]:
    """A descriptor that no payload can be read from."""
    handle = os.open(folder, os.O_RDONLY)
    yield handle
    os.close(handle)


def test_without_proc_a_name_is_made_too(sh: list[str], posted: Posted, tmp_path: Path) -> None:
    script = tmp_path / "post"
    script.write_text((HOOKS / "post").read_text().replace("/proc/sys", "/nowhere"))
    for _ in range(2):
        subprocess.run([*sh, script, "cursor", "stop"], check=True, stdin=subprocess.DEVNULL)
    found = posted()
    assert len({event.id for event in found}) == 2
    assert {event.host for event in found} == {os.uname().nodename}


Person = Callable[..., list[dict[str, str]]]

NOW_MS = int(time.time() * 1000)
HOUR_MS = 3_600_000
every_shell = pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])


def pause(spool: Spool, *scopes: str, until_ms: int = UNENDING_MS) -> None:
    spool.pauses.begin(scopes, from_ms=NOW_MS - 2 * HOUR_MS, until_ms=until_ms)


def files(home: Home) -> list[str]:
    kept = {"paused", "pauses"}
    return [file.name for file in home.root.rglob("*") if file.is_file() and file.name not in kept]


@pytest.mark.parametrize("until_ms", [UNENDING_MS, NOW_MS + HOUR_MS], ids=["for ever", "an hour"])
def test_nothing_is_written_and_git_asked_nothing_while_paused_everywhere(
    post: Post, home: Home, spool: Spool, tmp_path: Path, until_ms: int
) -> None:
    asks = script_that_marks(tmp_path / "bin" / "git", tmp_path / "asked").parent
    pause(spool, EVERYWHERE, until_ms=until_ms)
    post("claude-code", "Stop", payload=b"{}")
    post("git", "post-commit", env={**os.environ, "PATH": f"{asks}:{os.environ['PATH']}"})
    assert not (tmp_path / "asked").exists()
    assert files(home) == []


def test_only_what_happens_in_the_folder_or_in_the_one_that_the_client_names_is_left_out(
    post: Post, posted: Posted, spool: Spool, tmp_path: Path
) -> None:
    for name in ("a b", "a b/deep", "a b beside"):
        (tmp_path / name).mkdir()
    pause(spool, str(tmp_path / "a b"))
    for name in ("a b", "a b/deep", "a b beside"):
        where = tmp_path / name
        post("claude-code", "Stop", cwd=where, env={**os.environ, "PWD": str(where)})
    for variable in ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"):
        post(
            "cursor", "stop", cwd="/", env={**os.environ, variable: str(tmp_path / "a b" / "shop")}
        )
    assert [one.cwd for one in posted()] == [str(tmp_path / "a b beside")]


OVER = f"{NOW_MS // 1000 - 5} *\n"
NO_PAUSES = ("", "x *\n", "* *\n", "99999999999\n", "99999999999 x\n", "\0", OVER, None)


@pytest.mark.parametrize(
    "text",
    NO_PAUSES,
    ids=["empty", "no time", "no number", "no scope", "no path", "NUL", "over", "a pipe"],
)
def test_no_pause_stops_nothing(post: Post, home: Home, posted: Posted, text: str | None) -> None:
    """A pause that is over ends without a daemon."""
    home.spool.mkdir(parents=True)
    if text is None:
        os.mkfifo(home.spool / "paused")
    else:
        (home.spool / "paused").write_text(text)
    post("cursor", "stop")
    assert len(posted()) == 1


@pytest.mark.parametrize(("value", "count"), [("1", 0), ("yes", 0), ("0", 1), ("", 1)])
def test_private_is_silent(post: Post, home: Home, posted: Posted, value: str, count: int) -> None:
    post("claude-code", "Stop", payload=b"{}", env={**os.environ, "OBSERVER_PRIVATE": value})
    assert len(posted()) == count
    assert bool(files(home)) == bool(count)


def script_that_marks(path: Path, mark: Path) -> Path:
    """Write a program that leaves a file when it runs."""
    return put_file(path, f"#!/bin/sh\ntouch '{mark}'\n")


@every_shell
@pytest.mark.parametrize("is_everywhere", [True, False], ids=["everywhere", "a folder"])
def test_a_shell_records_nothing_while_paused_and_notices_that_a_pause_is_over(
    person: Person, spool: Spool, home: Home, tmp_path: Path, shell: str, *, is_everywhere: bool
) -> None:
    (tmp_path / "shop").mkdir()
    pause(spool, EVERYWHERE if is_everywhere else str(tmp_path / "shop"))
    over = f"printf '{NOW_MS // 1000 - 5} *\\nx *\\n' >'{home.spool}/paused'"
    lines = (
        ("echo hidden", over) if is_everywhere else (f"cd {tmp_path}/shop", "echo hidden", "cd ..")
    )
    shown = str(person(shell, *lines, "echo after"))
    assert "after" in shown
    assert "hidden" not in shown


@every_shell
def test_a_shell_is_private_from_one_line_to_another(person: Person, shell: str) -> None:
    on, off = "export OBSERVER_PRIVATE=1", "export OBSERVER_PRIVATE=0"
    shown = str(person(shell, "echo before", on, "echo hidden", off, "echo after"))
    assert "before" in shown
    assert "after" in shown
    assert "hidden" not in shown


def test_a_private_session_asks_for_no_reminder(home: Home, tmp_path: Path) -> None:
    script_that_marks(home.root / "run" / "python3", tmp_path / "asked")
    for value, is_asked in [("1", False), ("0", True)]:
        argv = ["sh", HOOKS / "recall", "claude-code", "UserPromptSubmit"]
        given = {**os.environ, "OBSERVER_PRIVATE": value, "OBSERVER_HOME": str(home.root)}
        subprocess.run(argv, input=b"{}", check=True, env=given)
        assert (tmp_path / "asked").exists() == is_asked
