"""No damage to what other programs keep ends an import, and none of it makes up an event."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.importers.conftest import events_in
from tests.importers.test_peers import MEM0, MEMORY, NOTES, claude_mem, database, kiro_memory
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
    "kiro-memory": kiro_memory,
    "mem0": text(json.dumps(MEM0)),
    "agentmemory": text(json.dumps({"memories": [MEMORY]})),
    "memex": lambda path: database(path, notes=NOTES),
}


@pytest.mark.parametrize("name", WHOLE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_no_damage_ends_an_import(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """Bytes are changed, put in and cut off; what is read is the same whenever it is read."""
    path = tmp_path / "store"
    path.unlink(missing_ok=True)
    WHOLE[name](path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] or b"\0")
    read = events_in(name, path)
    assert events_in(name, path) == read
    assert len({event.id for event in read}) == len(read)


JSON = json_of(SCALARS | st.floats(), most=6)


@pytest.mark.parametrize(("name", "whole"), [("mem0", MEM0["results"]), ("agentmemory", [MEMORY])])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_no_value_of_a_field_ends_an_import(
    tmp_path: Path, name: str, whole: list[dict[str, object]], data: st.DataObject
) -> None:
    rows = json.loads(json.dumps(whole))
    for row in rows:
        for _ in range(3):
            row[data.draw(st.sampled_from(sorted(row)))] = data.draw(JSON)
    path = tmp_path / "store"
    written = json.dumps(rows)
    path.write_text(written)
    read = events_in(name, path)
    assert len(read) <= len(written)
    assert all(event.at_ms >= 0 for event in read)
