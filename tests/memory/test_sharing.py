"""A project that is not shared is found where it is named or asked from, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.events import Event, Remember
from observer.core.paths import Home
from observer.index import Index
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.projects import PlaceCache
from observer.store.database import SqliteStore
from observer.store.stemmer import stemmer
from observer.tools.registry import tools_of

NOW_MS = 1_790_000_000_000


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two projects, `open` and `apart`."""
    made = [tmp_path / name for name in ("open", "apart")]
    for folder in made:
        folder.mkdir()
        (folder / "pyproject.toml").touch()
    return made


@pytest.fixture
def memory(home: Home, folders: list[Path]) -> Iterator[Memory]:
    home.root.mkdir(exist_ok=True)
    store = SqliteStore(home.database)
    spool = Spool(home.spool)
    pipeline = Pipeline(
        store, spool, settings=Settings(), places=PlaceCache(), now_ms=lambda: NOW_MS
    )
    pipeline.ingest(
        [
            Event(
                id=folder.name,
                at_ms=NOW_MS,
                client="x",
                cwd=str(folder),
                body=Remember(content=f"The till rounds in {folder.name}.", type="decision"),
            )
            for folder in folders
        ]
    )
    yield Memory(
        store,
        owner="ana",
        now_ms=lambda: NOW_MS,
        index=Index(home.index, stem=stemmer(), is_owner=True),
        encode=lambda *_: None,
        record=pipeline.ingest,
    )
    store.close()


def found(memory: Memory, query: str = "till", *, project: str | None = None) -> str:
    return str(sorted(hit.item.narrative for hit in memory.search(query, project=project).hits))


def keep_apart(folders: list[Path], text: str = 'sharing = "none"') -> None:
    (folders[1] / ".observer.toml").write_text(text)


@pytest.mark.parametrize("query", ["till", ""])
def test_shared_projects_are_found_from_everywhere(memory: Memory, query: str) -> None:
    assert "open" in found(memory, query)
    assert "apart" in found(memory, query)


@pytest.mark.parametrize("query", ["till", ""])
@pytest.mark.parametrize("policy", ['sharing = "none"', "sharing = 1"])
def test_one_that_is_not_is_left_out_elsewhere(
    memory: Memory, folders: list[Path], query: str, policy: str
) -> None:
    keep_apart(folders, policy)
    for asked in (memory, memory.at(str(folders[0]))):
        assert "open" in found(asked, query)
        assert "apart" not in found(asked, query)
        assert "apart" not in str(asked.recall("till").hits)


def test_it_is_found_where_it_is_named_and_from_its_own_folder(
    memory: Memory, folders: list[Path]
) -> None:
    keep_apart(folders)
    assert "apart" in found(memory, project="apart")
    assert "apart" in found(memory.at(f"{folders[1]}/src"))


def test_agents_get_the_same_answers(memory: Memory, folders: list[Path]) -> None:
    keep_apart(folders)
    for folder, is_shown in zip(folders, (False, True), strict=True):
        tool = tools_of(("core",), memory, lambda folder=folder: str(folder))["search"]  # type: ignore[misc]
        assert ("rounds in apart" in tool.call({"query": "till"}).text) == is_shown


def test_an_empty_answer_says_what_was_left_out(memory: Memory, folders: list[Path]) -> None:
    keep_apart(folders)
    answer = memory.search("rounds AND apart")
    assert answer.hits == ()
    assert 'projects with sharing = "none" were left out' in answer.notice
