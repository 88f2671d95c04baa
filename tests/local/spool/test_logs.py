"""Shells' logs: whole records only, each once; and pauses, believed only if they are such."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.clients.envelope import parse
from observer.core.disk import SpoolEntry
from observer.core.paths import Home
from observer.local import logs
from observer.local.logs import Log, ShellLogs, _retire
from observer.local.pauses import EVERYWHERE, MOST, UNENDING_MS, Pause, Pauses
from observer.local.spool import Spool

END_MS = 1_795_309_890_073
DEAD = 4_000_000_000


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is alive and is not the test."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process


def record(text: str, end_ms: int = END_MS) -> bytes:
    return b"\0\0exit=0\0end_ms=%d\0text=%s\0.\0\0" % (end_ms, text.encode())


def log(home: Home, data: bytes, *, pid: int, start: int = 1, shell: str = "zsh") -> Path:
    path = home.spool / "shell" / f"{shell}-{pid}-{start}"
    with path.open("ab") as file:
        file.write(data)
    return path


def texts(entries: list[SpoolEntry]) -> list[str]:
    shown = (parse(entry.id, entry.data, entry.at_ms).payload for entry in entries)
    return [payload.split(b"text=")[1].removesuffix(b"\0.").decode() for payload in shown]


def test_a_record_is_an_envelope(spool: Spool, home: Home) -> None:
    log(home, record("ls"), pid=os.getpid(), start=17)
    (entry,) = spool.claim(at_most=5)
    shown = parse(entry.id, entry.data, entry.at_ms)
    assert (shown.client, shown.event, shown.at_ms) == ("zsh", "command", END_MS)
    assert (shown.ppid, shown.host) == (str(os.getpid()), os.uname().nodename)
    assert shown.payload == b"exit=0\0end_ms=%d\0text=ls\0." % END_MS
    assert shown.id == f"zsh-{os.getpid()}-17@2"


def test_half_a_record_waits_for_its_other_half(spool: Spool, home: Home) -> None:
    whole = record("one", 5000) + record("two", 4000)
    log(home, whole[:-1], pid=os.getpid())
    assert texts(spool.claim(at_most=5)) == ["one"]
    log(home, whole[-1:], pid=os.getpid())
    assert texts(spool.claim(at_most=5)) == ["one", "two"]
    assert (spool.depth(), spool.oldest_ms(), spool.is_empty()) == (2, 5000, False)


def test_what_is_stored_stands_in_no_log_and_does_not_come_again(spool: Spool, home: Home) -> None:
    """A shell's log lasts as long as the shell, and holds lines as they were typed."""
    path = log(home, record("one") + record("two"), pid=os.getpid())
    size = path.stat().st_size
    _, second = spool.claim(at_most=5)
    spool.ack(spool.claim(at_most=1))
    assert b"one" not in path.read_bytes()
    for reader in (spool, Spool(home.spool)):
        again = reader.claim(at_most=5)
        assert (texts(again), [entry.id for entry in again]) == (["two"], [second.id])
    log(home, record("three"), pid=os.getpid())
    spool.ack(spool.claim(at_most=5))
    assert path.read_bytes() == bytes(size + len(record("three")))


def test_what_a_killed_process_left_in_a_log_is_overwritten(spool: Spool, home: Home) -> None:
    path = log(home, record("one") + record("two"), pid=os.getpid())
    path.with_name(f"{path.name}.stored").write_text(str(len(record("one"))))
    ShellLogs(path.parent).blank()
    assert path.read_bytes() == bytes(len(record("one"))) + record("two")


def test_logs_and_files_come_in_one_order(spool: Spool, home: Home) -> None:
    for end_s, pid in ((1, 1), (3, 1), (2, 2)):
        log(home, record(f"at {end_s}", end_s * 1000), pid=pid)
    name = spool.append({"client": "x", "event": "y"}, b"text=file")
    os.utime(home.spool / "new" / name, (2.5, 2.5))
    assert texts(spool.claim(at_most=9)) == ["at 1", "at 2", "file", "at 3"]


@pytest.mark.parametrize("finish", ["ack", "quarantine"])
def test_a_gap_holds_the_offset_back(spool: Spool, home: Home, finish: str) -> None:
    log(home, record("one") + record("two") + record("three"), pid=os.getpid())
    one, two, three = spool.claim(at_most=5)
    if finish == "ack":
        spool.ack([two])
    else:
        spool.quarantine(two, reason="x", kept=b"")
    assert texts(Spool(home.spool).claim(at_most=5)) == ["one", "two", "three"]
    spool.ack([one, three])
    assert Spool(home.spool).claim(at_most=5) == []


def test_what_was_not_handed_out_is_not_acknowledged(spool: Spool, home: Home) -> None:
    log(home, record("one"), pid=os.getpid())
    entries = Spool(home.spool).claim(at_most=5)
    spool.ack(entries)
    assert texts(spool.claim(at_most=5)) == ["one"]


TORN = [
    pytest.param(b"\0\0exit=0\0te", id="in-a-field"),
    pytest.param(b"\0\0exit=0\0", id="after-a-field"),
    pytest.param(b"\0\0exit=0\0text=a\0.", id="in-the-end"),
    pytest.param(b"\0", id="in-the-beginning"),
]


@pytest.mark.parametrize("torn", TORN)
def test_a_torn_record_does_not_spoil_the_next(spool: Spool, home: Home, torn: bytes) -> None:
    log(home, torn + record("next"), pid=os.getpid())
    assert spool.claim(at_most=5)[-1].data.endswith(b"\0text=next\0.")


def test_the_torn_end_of_a_dead_shells_log_is_handed_out(spool: Spool, home: Home) -> None:
    path = log(home, record("one") + b"\0\0exit=0\0te", pid=DEAD)
    entries = spool.claim(at_most=5)
    assert entries[1].data.endswith(b"\0\0exit=0\0te")
    spool.ack(entries)
    assert spool.claim(at_most=5) == []
    assert not path.exists()


def test_the_log_of_a_living_shell_stays(
    spool: Spool, home: Home, shell: subprocess.Popen[bytes]
) -> None:
    path = log(home, record("one"), pid=shell.pid)
    spool.ack(spool.claim(at_most=5))
    assert (path.exists(), spool.sweep(before_ms=0)) == (True, 0)
    shell.communicate()
    (path.parent / "zsh-1-1.stored").write_text("5")  # an offset without its log
    assert (spool.sweep(before_ms=0), list(path.parent.iterdir())) == (1, [])


@pytest.mark.parametrize("text", ["", "x", "-3", "9" * 5000])
def test_an_offset_that_makes_no_sense_means_from_the_start(
    spool: Spool, home: Home, text: str
) -> None:
    path = log(home, record("one"), pid=os.getpid())
    path.with_name(f"{path.name}.stored").write_text(text)
    assert texts(spool.claim(at_most=5)) == ["one"]


def test_strangers_beside_the_logs_are_left_alone(spool: Spool, home: Home) -> None:
    folder = home.spool / "shell"
    (folder / "notes.txt").write_text("x")
    (folder / "bash-1-1").symlink_to("/etc/passwd")
    os.mkfifo(folder / "fish-1-1")
    assert (spool.claim(at_most=5), spool.depth(), spool.oldest_ms()) == ([], 0, None)
    assert spool.is_empty()


@pytest.mark.parametrize(
    ("fields", "at_ms"),
    [
        pytest.param(b"end_ms=123", 123, id="ms"),
        pytest.param(b"end_s=77", 77_500, id="the-logs-own-time-within-the-second"),
        pytest.param(b"end_s=76", 76_000, id="an-earlier-second"),
        pytest.param(b"end_ms=x", 77_500, id="no-number"),
        pytest.param(b"end_ms=" + b"9" * 5000, 77_500, id="no-time"),
        pytest.param(b"text=a\nend_ms=1", 77_500, id="not-in-a-text"),
    ],
)
def test_a_record_tells_when_it_ended(spool: Spool, home: Home, fields: bytes, at_ms: int) -> None:
    path = log(home, b"\0\0" + fields + b"\0.\0\0", pid=os.getpid())
    os.utime(path, (77.5, 77.5))
    assert spool.claim(at_most=5)[0].at_ms == at_ms


def test_a_record_without_an_end_in_sight_is_cut(
    spool: Spool, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "LARGEST_BYTES", 100)
    log(home, b"\0\0text=" + b"x" * 150 + b"\0.\0\0" + record("next"), pid=os.getpid())
    while entries := spool.claim(at_most=5):
        last = entries[-1]
        spool.ack(entries)
    assert texts([last]) == ["next"]


@pytest.mark.parametrize("pid", [os.getpid(), DEAD], ids=["alive", "dead"])
def test_a_log_that_vanishes_while_it_is_read_is_no_error(
    spool: Spool, home: Home, pid: int
) -> None:
    for start in (1, 2):
        log(home, record(f"{start}"), pid=pid, start=start)
    found = ShellLogs(home.spool / "shell").waiting()
    (home.spool / "shell" / f"zsh-{pid}-2").unlink()
    assert [texts(list(entries)) for entries in found] == [["1"], []]
    assert not _retire(Log(home.spool / "shell" / f"zsh-{pid}-2", "zsh", DEAD, is_dead=True))


VALUE = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=9)


@given(st.lists(VALUE, max_size=5), st.binary(max_size=30), st.data())
def test_whatever_was_torn_before_whole_records_survive(
    tmp_path_factory: pytest.TempPathFactory, values: list[str], torn: bytes, data: st.DataObject
) -> None:
    """However often reading is interrupted, each record comes once and in order."""
    home = Home(tmp_path_factory.mktemp("h"))
    spool = Spool(home.spool)
    spool.prepare()
    whole = torn.replace(b"\0\0", b"") + b"".join(record(value) for value in values)
    cut = data.draw(st.integers(0, len(whole)))
    seen: list[SpoolEntry] = []
    for part in (whole[:cut], whole[cut:]):
        log(home, part, pid=os.getpid())
        entries = spool.claim(at_most=99)
        spool.ack(entries)
        seen += entries
    ours = [entry for entry in seen if entry.data.endswith(b"\0.") and b"\0text=" in entry.data]
    assert texts(ours)[-len(values) :] == values[-len(values) :]


def test_the_offset_is_on_the_disk_before_what_it_covers_is_blanked(
    spool: Spool, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power failure leaves half of a record, which would be taken for another one."""
    (home.spool / "shell" / f"bash-{DEAD}-1").write_bytes(record("make one") + record("make two"))
    done: list[str] = []

    def noting(name: str) -> None:
        call = getattr(os, name)

        def noted(descriptor: int, *given: Any) -> Any:
            done.append(f"{name} {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
            return call(descriptor, *given)

        monkeypatch.setattr(os, name, noted)

    noting("fsync")
    noting("pwrite")
    spool.ack(spool.claim(at_most=1))
    assert done[-2:] == ["fsync shell", f"pwrite bash-{DEAD}-1"]


def test_a_log_that_cannot_be_read_holds_up_no_other(
    spool: Spool, home: Home, unreadable: Callable[..., None]
) -> None:
    for number in (1, 2):
        log = home.spool / "shell" / f"bash-{DEAD}-{number}"
        log.write_bytes(record("make one"))
        (log.parent / f"{log.name}.stored").write_text("0")
    unreadable(home.spool / "shell" / f"bash-{DEAD}-1.stored")
    assert [entry.id for entry in spool.claim(at_most=9)] == [f"bash-{DEAD}-2@2"]
    unreadable(home.spool / "shell" / f"bash-{DEAD}-2", errno.EMFILE)  # which says nothing of it
    with pytest.raises(OSError, match="Too many open files"):
        spool.claim(at_most=9)


@pytest.fixture
def pauses(tmp_path: Path) -> Pauses:
    return Pauses(tmp_path / "spool")


def active(tmp_path: Path) -> str:
    file = tmp_path / "spool" / "paused"
    return file.read_text() if file.exists() else ""


def test_a_pause_covers_its_time_and_is_remembered_once_it_is_over(
    pauses: Pauses, tmp_path: Path
) -> None:
    """Another process sees it at once, and hooks are spared one that is over."""
    other = Pauses(tmp_path / "spool")
    assert not other
    assert (pauses.covers(1, []), pauses.end(None, now_ms=1), active(tmp_path)) == (False, [], "")
    pauses.begin([EVERYWHERE], from_ms=1_000, until_ms=UNENDING_MS)
    assert active(tmp_path) == "9999999999 *\n"
    (ended,) = pauses.end(None, now_ms=5_500)
    assert ended.is_unending
    assert active(tmp_path) == ""
    shown = [at_ms for at_ms in (999, 1_000, 5_499, 5_500) if pauses.covers(at_ms, [])]
    assert shown == [1_000, 5_499]
    pauses.begin(["/shop"], from_ms=6_000, until_ms=9_001)
    assert other.now(9_000) == [Pause(6_000, 9_001, "/shop")]
    pauses.tidy(9_000)
    assert active(tmp_path) == "10 /shop\n"
    pauses.tidy(9_001)
    assert (active(tmp_path), other.now(9_001), other.covers(9_000, ["/shop"])) == ("", [], True)


@pytest.mark.parametrize(
    ("scope", "folder", "session", "is_covered"),
    [
        (EVERYWHERE, "/x", "", True),
        ("/shop", "/shop", "", True),
        ("/shop", "/shop/src", "s", True),
        ("/shop", "/shop2", "", False),
        ("session=s", "/x", "s", True),
        ("session=s", "/x", "t", False),
        ("session=", "/x", "", False),
    ],
)
def test_a_scope_covers_what_it_names(
    scope: str, folder: str, session: str, is_covered: bool
) -> None:
    assert Pause(0, 9, scope).covers(5, [folder], session) == is_covered


def test_a_scope_is_paused_anew_or_resumed_and_the_others_stay(
    pauses: Pauses, tmp_path: Path
) -> None:
    pauses.begin(["/a", "/b"], from_ms=1_000, until_ms=UNENDING_MS)
    pauses.begin(["/a"], from_ms=2_000, until_ms=60_000)
    assert active(tmp_path) == "9999999999 /b\n60 /a\n"
    assert pauses.covers(1_500, ["/a"])
    assert not pauses.covers(60_000, ["/a"])
    assert [one.scope for one in pauses.end(["/a", "/c"], now_ms=3_000)] == ["/a"]
    assert active(tmp_path) == "9999999999 /b\n"


def test_the_oldest_go_first(pauses: Pauses) -> None:
    pauses.begin([f"/{number}" for number in range(MOST + 1)], from_ms=1, until_ms=2)
    assert [one.scope for one in pauses.all()] == [f"/{number}" for number in range(1, MOST + 1)]


@pytest.mark.parametrize("text", ["", "x", "1 2", "1 x *", "-1 2 *", "1 2 ", "\0\n\n"])
def test_a_line_that_is_none_is_passed_over(pauses: Pauses, tmp_path: Path, text: str) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "pauses").write_text(f"{text}\n1 9 /shop\n")
    assert pauses.all() == (Pause(1, 9, "/shop"),)


def test_a_pipe_is_no_pause(pauses: Pauses, tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    os.mkfifo(tmp_path / "spool" / "pauses")
    assert not pauses


def test_writes_that_were_left_out_are_remembered_by_their_time(pauses: Pauses) -> None:
    pauses.withhold("/shop/a", 5)
    pauses.withhold("/shop/b", 9)
    assert pauses.withheld(from_ms=4, to_ms=8) == [("/shop/a", 5)]
