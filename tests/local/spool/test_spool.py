"""The queue: nothing is lost, doubled, half read or waited for, and what is refused is counted."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.clients.envelope import parse
from observer.core.disk import AT_ONCE, LARGEST_BYTES, Deleter, SpoolEntry, envelope, read
from observer.core.paths import Home
from observer.local import refusals
from observer.local.refusals import Refusals
from observer.local.spool import Spool

FIELDS = {"client": "cursor", "event": "stop"}


def payloads(entries: list[SpoolEntry]) -> list[bytes]:
    return [parse(entry.id, entry.data, entry.at_ms).payload for entry in entries]


def age(path: Path, at_s: float) -> None:
    os.utime(path, (at_s, at_s))


def test_folders_and_files_are_for_their_owner_alone(spool: Spool, home: Home) -> None:
    spool.append(FIELDS)
    modes = {stat.filemode(path.stat().st_mode) for path in home.root.rglob("*")}
    assert modes == {"drwx------", "-rw-------"}


def test_a_claim_gives_the_oldest_first_and_stops_at_its_bytes_after_one(
    spool: Spool, home: Home
) -> None:
    for second in (3, 1, 2):
        age(home.spool / "new" / spool.append(FIELDS, b"%d" % second * 1000), second)
    entries = spool.claim(at_most=2)
    assert [payload[:1] for payload in payloads(entries)] == [b"1", b"2"]
    assert [entry.at_ms for entry in entries] == [1000, 2000]
    claimed = [len(spool.claim(at_most=9, at_most_bytes=size)) for size in (1, 2500, 9999)]
    assert claimed == [1, 2, 3]


def test_a_claim_comes_again_until_it_is_acknowledged(spool: Spool, home: Home) -> None:
    name = spool.append({**FIELDS, "cwd": "/a\nb"}, b"\0payload")
    first = spool.claim(at_most=5)
    assert [entry.id for entry in first] == [name]
    assert parse(first[0].id, first[0].data, first[0].at_ms).cwd == "/a\nb"
    assert payloads(first) == [b"\0payload"]
    assert spool.claim(at_most=5) == Spool(home.spool).claim(at_most=5) == first
    assert not spool.is_empty()
    for _ in range(2):
        spool.ack(first)
        assert (spool.claim(at_most=5), spool.depth(), spool.is_empty()) == ([], 0, True)


def test_what_another_process_took_is_skipped(spool: Spool, home: Home) -> None:
    for _ in range(2):
        spool.append(FIELDS)
    other = Spool(home.spool)
    other.claim(at_most=2)
    spool.ack(spool.claim(at_most=1))
    assert len(other.claim(at_most=2)) == 1


def test_a_crash_between_the_two_removals_leaves_no_event(spool: Spool, home: Home) -> None:
    name = spool.append(FIELDS)
    (home.spool / "new" / name).unlink()
    assert (spool.depth(), spool.claim(at_most=5)) == (0, [])
    assert spool.sweep(before_ms=int(time.time() * 1000) + 1000) == 1


def test_a_backlog_is_listed_once(spool: Spool, home: Home) -> None:
    for _ in range(10):
        spool.append(FIELDS)
    spool.ack(spool.claim(at_most=4))
    late = spool.append(FIELDS)
    age(home.spool / "new" / late, 1)
    assert late not in {entry.id for entry in spool.claim(at_most=6)}
    assert spool.claim(at_most=7)[0].id == late


@pytest.fixture
def backlog(monkeypatch: pytest.MonkeyPatch, home: Home) -> Spool:
    """A spool in which ten entries wait, more than are listed at once."""
    monkeypatch.setattr("observer.local.spool.LISTED", 4)
    spool = Spool(home.spool)
    spool.prepare()
    for second in (3, 9, 1, 5, 0, 7, 2, 8, 4, 6):
        age(home.spool / "new" / spool.append(FIELDS, b"%d" % second), second + 1)
    return spool


def test_a_long_backlog_is_listed_in_parts(backlog: Spool) -> None:
    assert payloads(list(backlog.backlog())) == [b"0", b"1", b"2", b"3"]
    claimed = []
    while batch := backlog.claim(at_most=3):
        assert backlog.left() <= 4
        claimed += payloads(batch)
        backlog.ack(batch)
    assert claimed == [b"%d" % second for second in range(10)]


def test_what_cannot_be_read_does_not_hide_what_is_younger(
    backlog: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: str) -> tuple[bytes, str]:
        data, fault = read(path)
        if parse("e1", data, 0).payload < b"7":
            raise OSError(errno.EIO, "medium")
        return data, fault

    monkeypatch.setattr("observer.local.spool.read", broken)
    found = [payloads(backlog.claim(at_most=3)) for _ in range(3)]
    assert found == [[], [b"7"], [b"7", b"8", b"9"]]
    assert backlog.depth() == 10


def test_what_stays_undone_does_not_hide_what_is_new(spool: Spool) -> None:
    spool.append(FIELDS)
    stuck = spool.claim(at_most=5)
    late = spool.append(FIELDS)
    assert [entry.id for entry in spool.claim(at_most=5)] == [stuck[0].id, late]


def test_a_file_that_holds_its_own_bytes_is_an_event(spool: Spool, home: Home) -> None:
    (home.spool / "new" / "e1").write_bytes(envelope(FIELDS, b"own"))
    entries = spool.claim(at_most=5)
    assert (entries[0].id, payloads(entries)) == ("e1", [b"own"])
    spool.ack(entries)
    assert spool.depth() == 0


def set_aside(spool: Spool, kept: bytes) -> SpoolEntry:
    spool.append(FIELDS, b"secret")
    (entry,) = spool.claim(at_most=5)
    for _ in range(2):
        spool.quarantine(entry, reason="no such client", kept=kept)
    return entry


def test_what_may_be_kept_is_set_aside_with_the_reason_and_read_again_at_its_own_time(
    spool: Spool, home: Home
) -> None:
    kept, bad = envelope(FIELDS, b"[redacted]"), home.spool / "bad"
    entry = set_aside(spool, kept)
    assert (spool.depth(), spool.bad()) == (0, 1)
    reason = bad / f"{entry.id}.reason"
    assert ((bad / entry.id).read_bytes(), reason.read_text()) == (kept, "no such client")
    assert set(bad.iterdir()) == {bad / entry.id, reason}
    assert spool.retry() == 1
    (again,) = spool.claim(at_most=5)
    assert (again.id, again.at_ms, payloads([again])) == (entry.id, entry.at_ms, [b"[redacted]"])
    assert (spool.bad(), list(bad.glob("*.reason"))) == (0, [])


def test_a_version_reads_once_what_was_set_aside(spool: Spool) -> None:
    set_aside(spool, envelope(FIELDS, b"x"))
    assert [spool.retry(reader=version) for version in ("1.0", "1.0")] == [1, 0]
    spool.quarantine(spool.claim(at_most=5)[0], reason="still not", kept=envelope(FIELDS, b"x"))
    assert spool.retry(reader="1.0") == 0
    assert (spool.bad(), spool.depth()) == (1, 0)
    assert spool.retry(reader="1.1") == 1
    assert (spool.bad(), spool.depth()) == (0, 1)


def test_what_no_hook_made_and_what_is_empty_stays_aside(spool: Spool, home: Home) -> None:
    set_aside(spool, b"")
    a_folder(home.spool / "new" / "folder")
    spool.claim(at_most=5)
    assert spool.bad() == 2
    assert spool.retry() == 0
    assert (spool.bad(), spool.depth()) == (2, 0)


def a_folder(path: Path) -> None:
    (path / "inside").mkdir(parents=True)


def a_socket(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


STRANGERS: list[tuple[str, Callable[[Path], object]]] = [
    ("folder", a_folder),
    ("link", lambda path: path.symlink_to("/etc/passwd")),
    ("dangling link", lambda path: path.symlink_to("/nowhere")),
    ("fifo", os.mkfifo),
    ("socket", a_socket),
    ("empty file", lambda path: path.touch()),
]


@pytest.mark.parametrize(("kind", "make"), STRANGERS, ids=[kind for kind, _ in STRANGERS])
def test_a_stranger_is_set_aside_unopened(
    spool: Spool, home: Home, kind: str, make: Callable[[Path], object]
) -> None:
    """In `new`, or in `tmp` for the bytes of a plain name: there an empty file is an event."""
    make(home.spool / "new" / kind)
    name = spool.append(FIELDS)
    assert [entry.id for entry in spool.claim(at_most=5)] == [name]
    assert (spool.depth(), spool.bad()) == (1, 1)
    (home.spool / "new" / "e1").touch()
    make(home.spool / "tmp" / "e1")
    assert len(spool.claim(at_most=5)) == 1 + (kind == "empty file")
    assert spool.bad() == 2 - (kind == "empty file")


@pytest.mark.parametrize("name", [b"new\nline", b"\xff\xfe", b"x" * 255, b"a@1", b"a.reason"])
def test_a_strange_name_becomes_a_tame_id(spool: Spool, home: Home, name: bytes) -> None:
    (home.spool / "new" / os.fsdecode(name)).write_bytes(envelope(FIELDS, b"x"))
    (entry,) = spool.claim(at_most=5)
    assert entry.id.startswith("foreign-")
    spool.quarantine(entry, reason="x", kept=b"")
    assert (spool.depth(), spool.bad()) == (0, 1)


def test_a_stranger_that_cannot_be_moved_stays_and_counts(spool: Spool, home: Home) -> None:
    (home.spool / "bad").rmdir()
    a_folder(home.spool / "new" / "folder")
    assert spool.claim(at_most=5) == []
    assert (spool.depth(), spool.bad()) == (1, 0)


def test_of_a_giant_only_the_head_is_read(spool: Spool, home: Home) -> None:
    giant = home.spool / "new" / "giant"
    giant.write_bytes(b"head")
    os.truncate(giant, LARGEST_BYTES + 1)
    (entry,) = spool.claim(at_most=5)
    assert entry.data.startswith(b"head")
    assert len(entry.data) < 100_000
    assert "67,108,865 bytes" in entry.fault


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_file_that_is_not_ours_to_read_is_set_aside(spool: Spool, home: Home) -> None:
    (home.spool / "new" / "e1").write_bytes(b"x")
    (home.spool / "new" / "e1").chmod(0)
    assert spool.claim(at_most=5) == []
    assert spool.bad() == 1


def test_the_age_of_the_oldest_is_known(spool: Spool, home: Home) -> None:
    assert spool.oldest_ms() is None
    age(home.spool / "new" / spool.append(FIELDS), 7.5)
    spool.append(FIELDS)
    (home.spool / "new" / ".DS_Store").write_bytes(b"x")  # hidden files are nobody's event
    age(home.spool / "new" / ".DS_Store", 1)
    assert (spool.oldest_ms(), spool.depth(), len(spool.claim(at_most=5))) == (7500, 2, 2)


def test_a_home_without_a_spool_is_an_empty_one(home: Home) -> None:
    spool = Spool(home.spool)
    assert (spool.depth(), spool.bad(), spool.claim(at_most=1)) == (0, 0, [])
    assert spool.oldest_ms() is None
    assert spool.sweep(before_ms=0) == 0


def test_sweeping_spares_the_young_the_named_and_folders(spool: Spool, home: Home) -> None:
    tmp = home.spool / "tmp"
    (tmp / "old").touch()
    (tmp / "young").touch()
    (tmp / "folder").mkdir()
    named = spool.append(FIELDS)
    for name in ("old", "folder", named):
        age(tmp / name, 1)
    assert spool.sweep(before_ms=2000) == 1
    assert {path.name for path in tmp.iterdir()} == {"young", "folder", named}


@pytest.mark.parametrize("fields", [{"": "x"}, {"a=b": "x"}, {"a\0": "x"}, {"a": "x\0"}])
def test_a_field_that_would_break_the_envelope_is_refused(
    spool: Spool, home: Home, fields: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match="cannot stand"):
        spool.append(fields)
    assert not list((home.spool / "tmp").iterdir())


@given(
    st.dictionaries(
        st.text(min_size=1).filter(lambda t: not set(t) & {"=", "\0"}),
        st.text().filter(lambda t: "\0" not in t),
    ),
    st.binary(),
)
def test_any_envelope_ends_where_its_payload_begins(fields: dict[str, str], payload: bytes) -> None:
    header, rest = envelope(fields, payload).split(b"\0\0", 1)
    assert header.count(b"\0") == len(fields)
    assert rest == payload


@pytest.mark.parametrize(("text", "stored"), [("\udcff", b"\xff"), ("\ud800", b"?")])
def test_bytes_of_file_names_survive(text: str, stored: bytes) -> None:
    assert envelope({"cwd": text}, b"") == b"OBS1\0cwd=" + stored + b"\0\0"


def test_a_name_that_cannot_be_made_takes_its_bytes_along(spool: Spool, home: Home) -> None:
    (home.spool / "new").rmdir()
    with pytest.raises(FileNotFoundError):
        spool.append(FIELDS)
    assert not list((home.spool / "tmp").iterdir())


def test_a_name_that_is_taken_is_never_written_to(
    spool: Spool, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = uuid.uuid4()
    monkeypatch.setattr(uuid, "uuid4", lambda: fixed)
    spool.append(FIELDS, b"first")
    with pytest.raises(FileExistsError):
        spool.append(FIELDS, b"second")
    assert payloads(spool.claim(at_most=5)) == [b"first"]


def test_an_entry_that_cannot_be_read_holds_up_no_other(
    spool: Spool, home: Home, unreadable: Callable[..., None]
) -> None:
    """It stays, and is counted: the medium may give it another day."""
    first, second = (spool.append({"client": "x", "event": "y"}) for _ in range(2))
    unreadable(home.spool / "tmp" / first)
    assert [entry.id for entry in spool.claim(at_most=9)] == [second]
    assert (spool.depth(), spool.bad()) == (2, 0)
    unreadable(home.spool / "tmp" / second, errno.EMFILE)  # which says nothing of the entry
    with pytest.raises(OSError, match="Too many open files"):
        spool.claim(at_most=9)


def files(folder: Path, count: int) -> list[str]:
    folder.mkdir()
    for number in range(count):
        (folder / str(number)).write_bytes(b"x")
    return [str(path) for path in folder.iterdir()]


@pytest.mark.parametrize("count", [1, 2 * AT_ONCE])
def test_what_is_gone_or_cannot_be_deleted_holds_up_nothing(
    tmp_path: Path, until: Callable[..., None], count: int
) -> None:
    there = files(tmp_path / "there", count)
    gone = [f"{tmp_path}/gone{number}" for number in range(count)]
    undeletable = [str(tmp_path)] * (count > AT_ONCE)
    Deleter().delete([*undeletable, *gone, *there])
    until(lambda: not list((tmp_path / "there").iterdir()))
    Deleter().delete(files(tmp_path / "few", AT_ONCE))
    assert not list((tmp_path / "few").iterdir())


def test_many_are_gone_soon_and_no_thread_is_left(
    tmp_path: Path, until: Callable[..., None]
) -> None:
    disposal = Deleter()
    for name in ("one", "two", "three"):
        disposal.delete(files(tmp_path / name, 10 * AT_ONCE))
    until(lambda: "spool-disposal" not in {thread.name for thread in threading.enumerate()})
    assert not list(tmp_path.glob("*/*"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "refused"


def test_what_is_counted_stays_until_it_is_reset(path: Path) -> None:
    assert refusals.read(path) is None
    refusals.prepare(path)
    assert refusals.read(path) is None
    assert (path.stat().st_size, path.stat().st_mode & 0o777) == (64, 0o600)
    path.write_text(f"{'40 1763877000 1763877060':63}\n")
    refusals.prepare(path)
    assert refusals.read(path) == Refusals(40, 1_763_877_000_000, 1_763_877_060_000)
    refusals.reset(path)
    assert refusals.read(path) is None


@pytest.mark.parametrize("content", ["", "x y z", "4", f"{'9' * 60} 1 1", "0 1 1"])
def test_what_no_hook_wrote_counts_nothing(path: Path, content: str) -> None:
    path.write_text(content)
    assert refusals.read(path) is None


def test_a_fifo_is_no_count(path: Path) -> None:
    os.mkfifo(path)
    for look in (refusals.read, refusals.prepare):
        with pytest.raises(OSError, match="not a plain file"):
            look(path)
