"""No damage to what other programs keep ends an import, and none of it makes up an event."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observer.core.clock import LAST_MS
from tests.importers.conftest import events_in
from tests.importers.recorded import SAMPLES, keep
from tests.importers.test_peers import MEM0, MEMORY, NOTES, claude_mem, database, kiro_memory
from tests.importers.test_records import CURSOR_CALL, cursor
from tests.importers.test_shells import AT_S, atuin
from tests.support import SCALARS, json_of

AT_NS = AT_S * 10**9


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


WHOLE: dict[str, Callable[[Path], object]] = {
    "bash": text(f"ls\n#{AT_S}\nmake\nall\n#{AT_S + 1}\nls\n"),
    "zsh": text(f": {AT_S}:3;echo a\\\nb\nls\n"),
    "fish": text(f"- cmd: echo a\\nb\n  when: {AT_S}\n- cmd: ls\n"),
    "atuin": lambda path: atuin(path, (AT_NS, 1, 0, "make", "/srv", "s1", "here:ana", None)),
    "claude-mem": claude_mem,
    "cursor": lambda path: cursor(path, {"type": 1, "text": "why?"}, CURSOR_CALL),
    "kiro-memory": kiro_memory,
    "mem0": text(json.dumps(MEM0)),
    "agentmemory": text(json.dumps({"memories": [MEMORY]})),
    "memex": lambda path: database(path, notes=NOTES),
}
"""One file of each source that `scripts/record` has no session of."""
_JSON = json_of(SCALARS | st.floats() | st.just("0001-01-01T00:00Z"))


def _with_another_value(value: Any, data: st.DataObject) -> Any:
    """Return JSON with something else in one place."""
    is_list = isinstance(value, list)
    keys = list(value) if isinstance(value, dict) else range(len(value) if is_list else 0)
    if not keys or data.draw(st.integers(0, 5)) == 0:
        return data.draw(_JSON)
    key = data.draw(st.sampled_from(keys))
    value[key] = _with_another_value(value[key], data)
    return value


def _damaged(text: bytes, data: st.DataObject) -> bytes:
    """Return lines with other values or bytes, noise between them, some twice, the end cut off."""
    lines = text.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        noise = data.draw(st.binary(max_size=40))
        match data.draw(st.sampled_from(["value", "value", "bytes", "noise", "again"])):
            case "noise":
                lines.insert(at, noise)
            case "again":
                lines.insert(at, data.draw(st.sampled_from(lines)))
            case "bytes":
                place = data.draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:place] + noise + lines[at][place + len(noise) :]
            case _:
                with suppress(ValueError, RecursionError):
                    changed = _with_another_value(json.loads(lines[at]), data)
                    lines[at] = json.dumps(changed).encode() + b"\n"
    whole = b"".join(lines)
    return whole[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))] or b"\0"


def _damage(path: Path, data: st.DataObject) -> None:
    """Damage a file: of a database a row of each table, and perhaps its end."""
    if not path.read_bytes().startswith(b"SQLite format 3"):
        path.write_bytes(_damaged(path.read_bytes(), data))
        return
    with closing(sqlite3.connect(path)) as found, found:
        tables = found.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (table,) in tables:
            names = [column[1] for column in found.execute(f"PRAGMA table_info({table})")]
            rows = found.execute(f"SELECT rowid, * FROM {table}").fetchall()
            if not rows:
                continue
            number, *row = data.draw(st.sampled_from(rows))
            name, known = data.draw(st.sampled_from(list(zip(names, row, strict=True))))
            values = st.integers(-(2**63), 2**63 - 1) | st.binary(max_size=9) | st.text(max_size=9)
            value = data.draw(values)
            known = known.encode() if isinstance(known, str) else known
            if isinstance(known, bytes) and known[:1] in b"{[" and data.draw(st.booleans()):
                value = _damaged(known or b"{}", data)
            with suppress(sqlite3.Error):  # an index over JSON refuses what is none
                found.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = ?", (value, number))
    if data.draw(st.booleans()):
        whole = path.read_bytes()
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))] or b"\0")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WHOLE, *SAMPLES])
@settings(max_examples=25)
@given(data=st.data())
def test_no_damage_ends_an_import(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """What is read is the same whenever it is read."""
    shutil.rmtree(tmp_path / "kept", ignore_errors=True)
    (tmp_path / "kept").mkdir()
    path = tmp_path / "kept/store"
    if name in WHOLE:
        WHOLE[name](path)
    else:
        path = keep(name, tmp_path / "kept")
    files = sorted(each for each in (tmp_path / "kept").rglob("*") if each.is_file())
    _damage(data.draw(st.sampled_from(files)), data)
    read = events_in(name, path)
    assert events_in(name, path) == read
    assert all(0 <= event.at_ms <= LAST_MS for event in read)
    assert name in SAMPLES or len({event.id for event in read}) == len(read)
