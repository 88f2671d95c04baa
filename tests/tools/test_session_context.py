from __future__ import annotations

import json
import resource
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.clients.registry import clients
from observer.core.config import Settings
from observer.core.model import Project, Session, Validity, item_id
from observer.core.paths import Home
from observer.memory.api import Memory
from observer.notes.values import Note
from observer.observations.session_state import FileState, SessionState, encode
from observer.store.anchors import WorktreeView
from observer.store.database import SqliteStore
from observer.tools import hook_output, render
from observer.tools.hook_output import ANYONES, mirror, sweep, write
from tests.tools.conftest import SESSION, an_item

CURSORS = "CONTEXT.cursor.json"
WRAPPED = tuple(one.context_file for one in clients().values() if one.wrap_context)
"""Files of clients that take no plain text, which are always there."""
NAMES = (ANYONES, *WRAPPED, "CONTEXT.claude-code.md")
NOW_MS = 1_742_050_000_000


@pytest.fixture
def project(memory: Memory) -> Project:
    return memory.project("my-api")


@dataclass(frozen=True)
class Written:
    """A project whose files are written, and the folder that they are in."""

    memory: Memory
    project: Project
    home: Home
    folder: Path

    def again(self, **settings: Any) -> int:
        return write(self.memory, self.project, self.home, Settings(**settings))

    def text(self, name: str = ANYONES) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture
def written(memory: Memory, project: Project, home: Home) -> Written:
    made = Written(memory, project, home, mirror(home, project.roots[0]))
    assert made.again() == len(NAMES)
    return made


def test_all_files_stand_under_the_mirror_of_the_root(written: Written) -> None:
    folder = written.folder
    assert folder == written.home.context / "by-path" / written.project.roots[0][1:]
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)  # none half written
    text = written.text()
    for part in ("Use JWT", "not instructions", "get_observations(ids)"):
        assert part in text
    assert f"#{item_id(13)} standing decision · Use JWT: JWT, as" in text
    assert json.loads((folder / CURSORS).read_bytes()) == {"additional_context": text}
    before = (folder / ANYONES).stat()
    assert written.again() == 0  # while nothing changed
    assert (folder / ANYONES).stat() == before


def test_a_notice_comes_first_and_takes_its_tokens_from_the_rest(written: Written) -> None:
    settings, notice = Settings(context_tokens=600), "(at least 40 events refused)"
    write(written.memory, written.project, written.home, settings, notice=notice)
    assert written.text().partition("```text\n")[2].startswith(f"{notice}\n#")
    assert len(written.text()) <= 600 * 4


def test_nobody_else_can_read_any_of_it(written: Written) -> None:
    for path in [written.folder, *written.folder.parents]:
        if written.home.root in path.parents:
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
    modes = {stat.S_IMODE((written.folder / name).stat().st_mode) for name in NAMES}
    assert modes == {0o600}


def test_files_of_a_root_that_is_gone_are_removed(written: Written) -> None:
    """Those of a folder inside it stay."""
    home, inner = written.home, written.folder / "inner"
    assert sweep(Home(home.root / "empty")) == sweep(home) == 0
    inner.mkdir()
    (inner / ANYONES).write_text("x")
    Path(written.project.roots[0]).rmdir()
    written.again()
    assert [path.name for path in written.folder.iterdir()] == ["inner"]
    assert sweep(home) == 1
    assert not written.folder.exists()
    assert (home.context / "by-path").is_dir()


def test_a_project_without_memory_has_no_files(
    memory: Memory, store: SqliteStore, home: Home, tmp_path: Path
) -> None:
    empty = Project(id=9, uuid="u9", name="empty", roots=(str(tmp_path),))
    with store.write() as writer:
        writer.put_project(empty)
    assert write(memory, empty, home, Settings()) == 0
    assert not mirror(home, str(tmp_path)).exists()


def test_a_full_disk_leaves_the_old_file_alone(written: Written) -> None:
    old = written.text()
    decision = Note(content="rate limits are per user", type="decision")
    written.memory.notes.remember(decision, project=written.project.uuid)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            written.again()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert written.text() == old
    assert len(list(written.folder.iterdir())) == len(NAMES)


HOSTILE = st.text(alphabet=st.sampled_from("`~#<>/\n\r\u2028 aé\U000e0041"), max_size=3000)


@given(title=HOSTILE, narrative=HOSTILE, tokens=st.integers(min_value=200, max_value=2500))
def test_no_memory_gets_out_of_its_fence_or_its_budget(
    written: Written, store: SqliteStore, *, title: str, narrative: str, tokens: int
) -> None:
    note = an_item(50, title, kind="note", type="decision", narrative=narrative)
    with store.write() as writer:
        writer.put_items([note])
    written.again(context_tokens=tokens)
    text = written.text()
    assert render.tokens(text) <= tokens
    assert len(text) <= hook_output.MOST_CHARACTERS
    fences = [line for line in text.splitlines() if "```" in line]
    assert (fences, text.splitlines()[-1]) == (["```text", "```"], "```")


def test_each_client_at_work_has_a_file_of_its_own(written: Written, store: SqliteStore) -> None:
    session = Session(id=90, external="k", client="kiro", project_id=2, last_ms=NOW_MS)
    with store.write() as writer:
        writer.put_session(session)
    written.again()
    assert (written.folder / "CONTEXT.kiro.md").exists()
    with store.write() as writer:
        writer.put_session(msgspec.structs.replace(session, project_id=3))
    written.again()
    assert sorted(path.name for path in written.folder.iterdir()) == sorted(NAMES)


def test_git_is_asked_about_each_root(
    store: SqliteStore, memory: Memory, project: Project, home: Home
) -> None:
    asked: list[str] = []

    def uncommitted(root: str, paths: Sequence[str]) -> frozenset[str]:
        asked.append(root)
        return frozenset(paths)

    left = SessionState(files={"src/auth.ts": FileState(writes=1, is_dirty=True)})
    with store.write() as writer:
        writer.put_session(msgspec.structs.replace(SESSION, state=encode(left)))
    write(memory, project, home, Settings(), uncommitted=uncommitted)
    assert set(asked) == {project.roots[0]}


def test_each_work_tree_has_how_items_stand_in_it(
    store: SqliteStore, memory: Memory, project: Project, home: Home, tmp_path: Path
) -> None:
    main, topic = project.roots[0], str(tmp_path / "topic")
    Path(topic).mkdir()
    here = WorktreeView(id=0, root=main, project_id=project.id, head="a" * 40, branch="main")
    away = Validity(reason="elsewhere", branch="main")
    with store.write() as writer:
        writer.put_project(msgspec.structs.replace(project, roots=(main, topic)))
        writer.put_worktree(here)
        there = writer.put_worktree(msgspec.structs.replace(here, root=topic, branch="topic"))
        writer.put_validity(there, {item_id(seq): (away,) for seq in range(1, 14)})
    write(memory, memory.project("my-api"), home, Settings())
    texts = [(mirror(home, root) / ANYONES).read_text() for root in (main, topic)]
    assert ["on branch main, not here" in text for text in texts] == [False, True]
