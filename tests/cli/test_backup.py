"""A home in one file: what is packed in one place is the same memory in another."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Event, Remember
from observer.core.paths import Home
from observer.store.database import SqliteStore
from tests.cli.conftest import Run, answered
from tests.support import pipeline_over, put_file


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Home]:
    """Go on as on another machine: with an empty home, of another path."""

    def go() -> Home:
        there = tmp_path / "mac" / "bob"
        monkeypatch.setenv("OBSERVER_HOME", str(there))
        return Home(there)

    return go


def held(home: Home) -> tuple[Any, ...]:
    """What a memory holds: its log, projects, items and sessions."""
    with closing(SqliteStore(home.database, read_only=True)) as store, store.read() as reader:
        sessions = [reader.session(one.session_id) for one in reader.log() if one.session_id]
        return reader.log(), list(reader.projects()), list(reader.all_items()), sessions


def remember(home: Home, folder: Path) -> None:
    """Store a personal note."""
    with closing(SqliteStore(home.database)) as store:
        pipeline = pipeline_over(store, home, 9)
        body = Remember(content="Totals are rounded once.", scope="personal", owner="ana")
        pipeline.ingest([Event(id="n1", at_ms=9, client="mcp", cwd=str(folder), body=body)])


@pytest.mark.parametrize(
    "words", [("backup", "--to", "{}"), ("backup", "{}"), ("export",)], ids=lambda words: words[0]
)
def test_what_is_written_is_restored_as_the_same_memory(
    run: Run,
    home: Home,
    filled: Home,
    tmp_path: Path,
    elsewhere: Callable[[], Home],
    words: tuple[str, ...],
) -> None:
    remember(home, tmp_path / "app")
    before = held(home)
    file = tmp_path / "file"
    ran = run(*(word.format(file) for word in words))
    assert ran.code == 0
    if not file.exists():
        file.write_text(ran.out)
    there = elsewhere()
    assert run("restore", str(file)).out.startswith("restored 4 events into ")
    assert held(there) == before
    assert "login page" in run("search", "login page").out


@pytest.mark.parametrize("client", ["", "claude-code", "zed"], ids=["none", "hooks", "MCP"])
def test_only_where_no_client_is_connected_it_says_so(
    run: Run, home: Home, filled: Home, tmp_path: Path, client: str
) -> None:
    run("backup", str(tmp_path / "copy.db"))
    assert not client or run("install", client).code == 0
    ran = run("restore", str(tmp_path / "copy.db"), "--replace")
    assert ran.code == 0
    assert ("connect your clients" in ran.err) == (not client)


def test_an_export_keeps_the_numbers_of_purged_events_from_being_given_again(
    run: Run, home: Home, filled: Home, tmp_path: Path, elsewhere: Callable[[], Home]
) -> None:
    remember(home, tmp_path / "app")
    assert run("purge", "--text", "rounded once", "--yes").code == 0
    file = tmp_path / "memory.jsonl"
    file.write_text(run("export").out)
    there = elsewhere()
    assert run("restore", str(file)).code == 0
    with closing(SqliteStore(there.database, read_only=True)) as store, store.read() as reader:
        assert (reader.newest_seq(), reader.next_seq()) == (3, 5)


def test_settings_and_the_owner_of_notes_come_along(
    run: Run, home: Home, filled: Home, tmp_path: Path, elsewhere: Callable[[], Home]
) -> None:
    home.config.write_text('# mine\nowner = "ana"\ncontext_tokens = 700\n')
    home.imports.write_text("{}")
    run("backup", "--to", str(tmp_path / "home.tar.gz"))
    assert run("backup", "--to", str(tmp_path / "home.tar.gz")).code == 2
    there = elsewhere()
    put_file(there.config, "context_tokens = 900\n")
    ran = run("restore", str(tmp_path / "home.tar.gz"))
    assert "setting owner = ana" in ran.out
    assert run("config", "get", "owner").out == "ana\n"
    assert run("config", "get", "context_tokens").out == "900\n"
    assert there.imports.read_text() == "{}"
    assert sorted(path.name for path in there.root.glob(".*")) == []


def test_a_memory_is_replaced_if_asked(run: Run, home: Home, filled: Home, tmp_path: Path) -> None:
    run("backup", str(tmp_path / "copy.db"))
    refused = run("restore", str(tmp_path / "copy.db"))
    assert (refused.code, "add --replace" in refused.err) == (2, True)
    ran = run("restore", str(tmp_path / "copy.db"), "--replace", "--json").json
    assert Path(ran["replaced"]).parent == home.backups
    assert ran["manifest"]["events"] == 3


def packed(**members: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as made:
        for name, data in members.items():
            entry = tarfile.TarInfo(name.replace("__", "/"))
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def linked() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as made:
        entry = tarfile.TarInfo("config.toml")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(entry)
    return file.getvalue()


def test_what_is_no_backup_is_refused(run: Run, home: Home, filled: Home, tmp_path: Path) -> None:
    before = held(home)
    for data, said in (
        (b"", "is no backup"),
        (b"PK\x03\x04", "is no backup"),
        (b"SQLite format 3\0" + bytes(999), "damaged"),
        (gzip.compress(b"not a tar"), "is damaged"),
        (packed(**{"manifest.json": b"{}"}), "holds no database"),
        (packed(**{"manifest.json": b"["}), "is damaged"),
        (packed(**{"..__x": b""}), "holds '../x'"),
        (linked(), "holds 'config.toml'"),
        (b'{"record": "event"}\n', "line 1"),
        (b'{"a": 1}\n', "line 1"),
    ):
        (tmp_path / "file").write_bytes(data)
        ran = run("restore", str(tmp_path / "file"), "--replace", "--json")
        assert ran.code
        assert said in json.loads(ran.err)["error"]["message"]
    assert held(home) == before


def test_a_cut_bundle_is_refused(run: Run, filled: Home, tmp_path: Path) -> None:
    run("backup", "--to", str(tmp_path / "whole"))
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    assert "is damaged" in run("restore", str(tmp_path / "cut"), "--replace").err


@pytest.mark.parametrize("words", [("backup", "{}"), ("backup", "--to", "{}")], ids=["db", "home"])
def test_a_folder_that_is_not_there_is_made_only_if_one_says_so(
    run: Run, filled: Home, tmp_path: Path, words: tuple[str, ...]
) -> None:
    target = tmp_path / "bakcups" / "copy"
    asked = [word.format(target) for word in words]
    ran = run(*asked)
    assert (ran.code, target.parent.exists()) == (2, False)
    assert f"there is no folder {target.parent}: there is no terminal to ask on" in ran.err
    assert ran.err.endswith("hint: make it, or add --yes\n")
    assert answered(b"n\n", *asked).returncode == 130
    assert not target.parent.exists()
    assert answered(b"y\n", *asked).returncode == 0
    assert target.is_file()
    assert (
        run(*(word.format(target.with_name("more") / "copy") for word in words), "--yes").code == 0
    )


def test_what_is_restored_is_counted_without_what_was_purged_since(
    run: Run, home: Home, filled: Home, tmp_path: Path
) -> None:
    assert run("backup", str(tmp_path / "copy")).code == 0
    assert run("purge", "--text", "login", "--yes").code == 0
    ran = run("restore", str(tmp_path / "copy"), "--replace")
    assert ran.out.startswith(
        f"restored 1 event into {home.root}; 2 events left out, purged since\n"
    )
    again = run("restore", str(tmp_path / "copy"), "--replace", "--json")
    assert again.json["manifest"]["events"] == 1
