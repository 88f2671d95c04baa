"""The sessions of `scripts/record`, as clients kept them: they say what the hooks have said."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observer.core.clock import LAST_MS
from observer.core.config import Settings
from observer.core.events import Command, Event, Prompt, SessionEnd, SessionStart
from observer.importers.jsonl import Problems
from observer.importers.source import events_of, sources
from tests.importers.conftest import Filled, Memories
from tests.importers.recorded import SAMPLES, keep, reports
from tests.support import SCALARS, json_of

BETTER_KNOWN: Mapping[str, Collection[str]] = {
    "cline": {"prompt", "turn", "summary"},
    "copilot": {"reply", "turn", "summary"},
    "droid": {"prompt", "turn", "command", "file-write", "fix", "reply", "summary"},
}
"""Kinds of events and items of which files know more than hooks: words, how commands ended."""
REPEATED: Mapping[str, Collection[str]] = {"copilot": ["reply"], "droid": ["reply"]}
"""What a client's hooks report without words, and is imported with them."""

Kept = Callable[[str], Path]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Put the files of a client's session where an importer looks for them."""
    return lambda client: keep(client, tmp_path / "kept" / client)


def play(filled: Filled, client: str, first: int = 0, last: int | None = None) -> None:
    """Let hooks report a session, or a part of it, at its times."""
    filled.hear(client, reports(client)[first:last])


def said(filled: Filled, client: str) -> list[tuple[str, str, str]]:
    """Return what items say of what hooks and files both know: of a run not how long it took."""
    unsure = re.compile(
        r", took \d[\d.]* m?s| \(took \d[\d.]* m?s\)|(?<=commands) in \d[\d.]* m?s"
        # Of a folder that is gone only the transcript says which branch was checked out.
        r"|\nNext: No commit known .*"
    )
    codes = re.compile(r" \((?:exit \d+|failed)\)" if client == "codex" else r"(?!)")
    found = (
        (kind, title, codes.sub("", unsure.sub("", text))) for kind, title, text in filled.said()
    )
    return [one for one in found if one[0] not in BETTER_KNOWN.get(client, ())]


@pytest.mark.parametrize("client", SAMPLES)
def test_an_import_says_what_the_hooks_said(client: str, memory: Memories, kept: Kept) -> None:
    """And adds what none of them reported, once."""
    live, imported = memory("live"), memory("imported")
    play(live, client)
    heard = Counter(live.kinds())
    imported.imported(kept(client), source=client)
    assert "fix" in {kind for kind, *_ in imported.said()}
    assert said(imported, client) == said(live, client)
    once = imported.kinds()
    assert once[0] == "session-start"
    assert not any(receipt.seq for receipt in imported.imported(kept(client), source=client))
    assert imported.kinds() == once
    live.imported(kept(client), source=client)
    more = Counter(live.kinds()) - heard
    assert more == Counter(once) - heard + Counter(REPEATED.get(client, ()))
    assert set(more) <= {"session-end", *BETTER_KNOWN.get(client, ())}


@pytest.mark.parametrize("client", SAMPLES)
def test_what_hooks_report_late_is_known_from_the_import(
    client: str, memory: Memories, kept: Kept
) -> None:
    """No daemon ran for a while: the import goes on beside what waited for it."""
    live, late = memory("live"), memory("late")
    play(live, client)
    live.imported(kept(client), source=client)
    late.imported(kept(client), source=client)
    play(late, client)
    assert Counter(late.kinds()) - Counter(live.kinds()) <= Counter(["session-end"])
    live.pipeline.rebuild()
    late.pipeline.rebuild()
    assert said(late, client) == said(live, client)


@pytest.mark.parametrize("client", SAMPLES)
def test_half_a_session_is_a_part_of_the_whole(client: str, kept: Kept) -> None:
    """A client may be writing, or have been killed: what it has written is imported."""
    folder = kept(client)
    whole = {event.id: event for event in events_in(client, folder)}
    (path,) = (
        path
        for path in folder.rglob("*")
        if path.name.endswith((".jsonl", ".messages.json", ".db"))
    )
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(
                "DELETE FROM message WHERE rowid > (SELECT max(rowid) / 2 FROM message)"
            )
    else:
        text = path.read_bytes()
        path.write_bytes(text[: len(text) // 2])
    problems = Problems()
    half = events_in(client, folder, problems=problems)
    kinds = [type(event.body) for event in half]
    if path.suffix == ".json":  # one object: nothing of it can be read before it is whole
        assert (kinds, problems.counts) == ([], {"corrupt line": 1})
        return
    assert kinds[0] is SessionStart
    assert Prompt in kinds
    assert Command in kinds
    assert kinds[-1] is SessionEnd
    assert all(whole[event.id] == event for event in half[:-1])
    assert set(problems.counts) <= {"unfinished last line"}


@pytest.mark.parametrize("client", SAMPLES)
def test_secrets_are_redacted(client: str, memory: Memories, kept: Kept) -> None:
    folder, imported = kept(client), memory("imported")
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for path in folder.rglob("*"):
        if path.suffix == ".db":
            with closing(sqlite3.connect(path)) as database, database:
                database.execute("UPDATE part SET data = replace(data, 'one too low', ?)", (key,))
        elif path.is_file():
            path.write_bytes(path.read_bytes().replace(b"one too low", key.encode()))
    imported.imported(folder, source=client)
    with imported.store.read() as reader:
        stored = repr(list(reader.log()))
    assert "[redacted:github-token]" in stored
    assert key not in stored


def events_in(client: str, *paths: Path, problems: Problems | None = None) -> list[Event]:
    problems = problems or Problems()
    source = sources()[client]
    return events_of(source, source.find(paths, problems), Settings(), problems)


_JSON = json_of(SCALARS | st.just("0001-01-01T00:00Z"))


def _with_another_value(value: Any, data: st.DataObject) -> Any:
    """Return JSON with something else in one place."""
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value) if isinstance(value, list) else 0)
    )
    if not keys or data.draw(st.integers(0, 5)) == 0:
        return data.draw(_JSON)
    key = data.draw(st.sampled_from(keys))
    value[key] = _with_another_value(value[key], data)
    return value


def _damaged(text: bytes, data: st.DataObject) -> bytes:
    """Return lines with other values, noise between them, some twice, and the end cut off."""
    lines = text.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        kind = data.draw(st.sampled_from(["value", "value", "noise", "again"]))
        if kind == "noise":
            lines.insert(at, data.draw(st.binary(max_size=40)))
        elif kind == "again":
            lines.insert(at, data.draw(st.sampled_from(lines)))
        else:
            with suppress(ValueError):
                changed = _with_another_value(json.loads(lines[at]), data)
                lines[at] = json.dumps(changed).encode() + b"\n"
    whole = b"".join(lines)
    return whole[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))]


def _damage(path: Path, data: st.DataObject) -> None:
    if path.suffix != ".db":
        path.write_bytes(_damaged(path.read_bytes(), data))
        return
    with closing(sqlite3.connect(path)) as database, database:
        for table in ("session", "message", "part"):
            rows = database.execute(f"SELECT rowid, * FROM {table}").fetchall()
            row = data.draw(st.sampled_from(rows))
            names = [column[1] for column in database.execute(f"PRAGMA table_info({table})")]
            name = data.draw(st.sampled_from(names))
            value = data.draw(
                st.integers(-(2**63), 2**63 - 1) | st.binary(max_size=9) | st.text(max_size=9)
            )
            if name == "data" and data.draw(st.booleans()):
                value = _damaged(row[1 + names.index(name)].encode(), data)
            with suppress(sqlite3.DatabaseError):  # an index over JSON refuses what is none
                database.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (value, row[0]))
    if data.draw(st.booleans()):
        whole = path.read_bytes()
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])


@pytest.mark.slow
@pytest.mark.parametrize("client", SAMPLES)
@settings(max_examples=20)
@given(data=st.data())
def test_no_damage_ends_an_import(
    client: str, kept: Kept, tmp_path: Path, data: st.DataObject
) -> None:
    shutil.rmtree(tmp_path / "kept", ignore_errors=True)
    folder = kept(client)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    _damage(data.draw(st.sampled_from(files)), data)
    assert all(0 <= event.at_ms <= LAST_MS for event in events_in(client, folder))
