"""What documents of other memories promise, over standard input and over HTTP, and scenes.

A row that says `differs` or `missing` expects what observer does instead: once the promise is kept
the row fails, and is written anew. A scene is what a person sees who works
through several tools on one memory; it has folders of its own, below which nobody else writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.tools.promises import (
    FACES,
    Answer,
    answers_of,
    called,
    connected,
    daemon_in,
    documents,
    rows,
    unmet,
)

pytestmark = pytest.mark.slow

ROWS = [(document, row) for document in documents() for row in rows(document)]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory):  # noqa: ANN201 - a cached function
    """Return what gives the answers of a document's rows over one face, asked once."""

    @cache
    def asked(document: str, face: str) -> dict[str, list[Answer]]:
        folder: Path = tmp_path_factory.mktemp("p")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(folder))
            patch.setenv("OBSERVER_HOME", str(folder / ".observer"))
            return answers_of(document, face, folder)

    return asked


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize(("document", "row"), ROWS, ids=[row["id"] for _, row in ROWS])
def test_a_promise_is_kept_or_its_deviation_is_as_told(document, row, face, answers) -> None:  # noqa: ANN001
    answer = answers(document, face)[row["id"]][-1]
    assert not unmet(row, answer), (answer.text[:600], answer.json, answer.is_error)


@pytest.mark.parametrize("document", documents())
def test_a_deviation_has_a_reason_and_only_a_deviation(document: str) -> None:
    wrong = [row["id"] for row in rows(document) if ("why" in row) == (row["status"] == "holds")]
    assert wrong == []


Say = Callable[..., Answer]
BM = "basic-memory"
NOTE_SEARCHES = {
    BM: "search_notes",
    "core": "search",
    "kiro": "search",
    "chatgpt": "search",
    "memex": "search_notes",
}
MEANT = "where are pending tasks kept"
EMPTY = [
    ("core", "search", {"query": "zebra"}, "nothing found"),
    ("core", "get_context", {}, "nothing recorded yet in "),
    ("kiro", "search", {"query": "zebra"}, '"observations":[]'),
    ("memory", "memory", {"action": "recall", "query": "zebra"}, "[]"),
    ("memory", "session", {}, "nothing recorded yet"),
    ("memory", "project", {}, "nothing recorded yet in "),
    ("memory", "code", {"query": "zebra.py"}, "nothing found"),
    ("mem0", "get_all_memories", {"user_id": "nobody"}, "Found 0 memories for user nobody"),
    ("chatgpt", "search", {"query": "zebra"}, '"results":[]'),
    ("memex", "search_notes", {"query": "zebra"}, "No notes found."),
    ("memex", "list_notes", {}, "No notes yet."),
    ("memex", "list_tags", {}, "No tags yet."),
    ("memex", "list_folders", {}, "No folders yet."),
    ("browse", "sessions", {}, "nothing recorded yet"),
    (BM, "list_memory_projects", {}, "There is no note folder yet."),
]


class Stage(NamedTuple):
    """A daemon that all scenes share: how a tool is called, and what the first calls answered."""

    ask: Callable[..., Answer]
    empty: list[Answer]
    environ: dict[str, str]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Yield a stage on which nothing was written yet when `EMPTY` was asked."""
    root = tmp_path_factory.mktemp("s")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(root))
        patch.setenv("OBSERVER_HOME", str(root / ".observer"))
        with daemon_in(root) as (home, port):

            async def one_call(at: Path, toolset: str, tool: str, given: dict[str, Any]) -> Answer:
                async with asyncio.timeout(60), connected(toolset, "http", home, port, at) as one:
                    return await called(one, tool, given)

            def ask(*asked: Any) -> Answer:
                return asyncio.run(one_call(*asked))

            empty = [ask(root, toolset, tool, given) for toolset, tool, given, _ in EMPTY]
            yield Stage(ask, empty, {"HOME": str(root), "OBSERVER_HOME": str(home.root)})


@pytest.fixture
def say(stage: Stage, tmp_path: Path) -> Say:
    """Return what calls a tool in the scene's own folder, or in one below it."""

    def said(toolset: str, tool: str, below: str = "", **given: Any) -> Answer:
        (at := tmp_path / below).mkdir(exist_ok=True)
        return stage.ask(at, toolset, tool, given)

    return said


@pytest.fixture
def quay(say: Say, tmp_path: Path) -> Iterator[Callable[..., Answer]]:
    """Yield what calls a tool on a note folder `quay` that is there as long as the scene is."""
    asked = {"project_name": "quay", "project_path": str(tmp_path / "quay")}
    say(BM, "create_memory_project", **asked)
    yield lambda tool, **given: say(BM, tool, **{"project": "quay", **given})
    say(BM, "delete_project", project_name="quay")


def write(quay: Callable[..., Answer], title: str, content: str) -> Answer:
    return quay("write_note", title=title, content=content, directory="d")


def test_a_new_note_is_found_at_once_by_other_words_in_every_toolset(say: Say, quay: Say) -> None:
    write(quay, "Queue", "We store waiting jobs in Redis")
    found = {tools: say(tools, tool, query=MEANT).text for tools, tool in NOTE_SEARCHES.items()}
    assert [tools for tools, text in found.items() if "Queue" not in text] == []


def test_what_an_edit_took_out_and_a_path_that_was_left_are_found_no_more(
    quay: Say, tmp_path: Path
) -> None:
    write(quay, "Queue", "jobs wait in Redis")
    quay("edit_note", identifier="Queue", operation="find_replace", find_text="Redis",
         content="Postgres")  # fmt: skip
    assert "no note holds every word" not in quay("search_notes", query="postgres").text
    redis = quay("search_notes", query="redis").text
    assert "no note holds every word" in redis or "No results" in redis
    quay("move_note", identifier="Queue", destination_path="e/Queue.md")
    found = quay("search_notes", query="jobs").json["results"]
    assert [hit["file_path"] for hit in found] == ["e/Queue.md"]
    assert [path.name for path in tmp_path.rglob("Queue.md")] == ["Queue.md"]
    after = quay("search_notes", query="jobs", page=99).text  # the last page
    assert "No results found" not in after
    assert "1 result" in after


def test_what_is_remembered_in_one_project_is_not_listed_in_another(say: Say) -> None:
    fact = {"action": "remember", "content": "We indent with tabs", "fact_type": "decision"}
    say("core", "memory", below="a", **fact)
    lists = [say("core", "get_context", below=below).text for below in ("a", "b")]
    assert ["We indent with tabs" in each for each in lists] == [True, False]


def test_a_note_that_is_written_again_can_be_had_back(
    quay: Say, observer: Any, stage: Stage
) -> None:
    write(quay, "Queue", "jobs wait in Redis")
    answer = write(quay, "Queue", "jobs wait in Kafka")
    assert "# Updated note" in answer.text
    command = answer.text.partition("To go back: observer ")[2].splitlines()[0]
    observer(*command.split(), **stage.environ)
    assert "Redis" in quay("read_note", identifier="Queue").text


def test_a_memory_of_nothing_says_so_and_is_no_error(stage: Stage, quay: Say) -> None:
    for (*_, said), answer in zip(EMPTY, stage.empty, strict=True):
        assert said in answer.text
        assert not answer.is_error
    for answer, said in (
        (quay("list_directory"), "No files found in directory '/'"),
        (quay("recent_activity"), "No recent activity"),
        (quay("search_notes", query="zebra"), "No results found for 'zebra'"),
    ):
        assert said in answer.text
        assert not answer.is_error


def test_nonsense_recalls_nothing(say: Say) -> None:
    """Where meanings are known too, to which everything is near."""
    say("memory", "memory", action="remember", content="We deploy on Fridays")
    assert say("memory", "memory", action="recall", query="wug blick dax").json["memories"] == []
    assert say("memory", "memory", action="recall", query="release days").json["memories"] != []


def test_a_path_that_is_refused_is_named(quay: Say) -> None:
    write(quay, "X", "x")
    for answer in (
        quay("write_note", title="X", content="x", directory="../../etc"),
        quay("read_content", path="../../etc/passwd"),
        quay("move_note", identifier="X", destination_path="../../etc/x.md"),
    ):
        assert answer.is_error
        assert "'../../etc" in answer.text
