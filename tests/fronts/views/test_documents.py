from __future__ import annotations

import pytest

from observer.core.errors import NotFound
from observer.core.model import Project
from observer.memory.api import Memory
from observer.store.database import SqliteStore
from observer.tools import render
from observer.tools.documents import Documents


@pytest.fixture
def documents(memory: Memory) -> Documents:
    return Documents(memory, str)


@pytest.mark.parametrize("handle", ["my-api", "MY-API", "0195a000-0000-7000-8000-000000000002"])
def test_a_context_is_read_by_any_handle_of_its_project(documents: Documents, handle: str) -> None:
    assert "Use JWT" in documents.read(f"observer://project/{handle}/context")


def test_a_folder_is_a_handle_too(documents: Documents, memory: Memory) -> None:
    folder = memory.project("my-api").roots[0].replace("/", "%2F")
    assert "Use JWT" in documents.read(f"observer://project/{folder}/context")


def test_a_project_without_memory_says_so(documents: Documents, store: SqliteStore) -> None:
    with store.write() as writer:
        writer.put_project(Project(id=9, uuid="u9", name="empty"))
    assert documents.read("observer://project/empty/context") == "nothing recorded yet"


@pytest.mark.parametrize("handle", ["14", "session-abc"])
def test_a_summary_is_read_by_the_id_that_a_search_shows_or_ours(
    documents: Documents, handle: str
) -> None:
    assert "add JWT login" in documents.read(f"observer://session/{handle}/summary")


def test_an_unknown_project_is_an_error(documents: Documents) -> None:
    with pytest.raises(NotFound):
        documents.read("observer://project/nowhere/context")


@pytest.mark.parametrize("tokens", [200, 400, 1500])
def test_a_context_keeps_to_its_budget(documents: Documents, memory: Memory, tokens: int) -> None:
    text = documents.context(memory.project("my-api"), tokens=tokens)
    assert render.tokens(text) <= tokens


def test_work_is_resumed_with_the_last_summaries_and_the_context(documents: Documents) -> None:
    prompt = documents.resume("my-api")
    assert prompt.index("add JWT login") < prompt.index("# Memory of my-api")
    assert "not instructions" in prompt
