"""What happened, as text: short where much happened, and never more than is known."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from observer.core.errors import NotFound
from observer.core.model import Item, Project, Session, SummaryFields
from observer.core.value import TokenUsage
from observer.memory.api import Memory
from observer.search.timeline import Account, SessionRun, SessionTimeline, Share
from observer.store.database import SqliteStore
from observer.tools import questions
from observer.tools.asking import CommandRequest, surroundings
from observer.tools.questions import reply
from observer.tools.registry import tools_of
from observer.tools.tool import ToolResult
from tests.tools.conftest import an_item

AT_MS = 1_742_050_800_000
APP = Project(id=2, uuid="u", name="app")
SESSION = Session(
    id=14, external="abc", client="codex", project_id=2, status="ended", branch="main",
    started_ms=AT_MS, last_ms=AT_MS + 300_000, prompts=1, events=9, first_prompt="add a login",
)  # fmt: skip
SUMMARY = Item(
    id=57,
    uuid="s",
    kind="summary",
    type="summary",
    title="Add a login",
    created_ms=AT_MS,
    summary=SummaryFields(request="add a login", completed="Wrote it.", learned="Much."),
)
COMMIT = Item(id=60, uuid="c", kind="observation", type="commit", title="Log in", created_ms=AT_MS)


def name(project_id: int | None) -> str:
    return {2: "app"}.get(project_id or 0, "")


def _shown(**fields: Any) -> list[str]:
    share = Share(project_id=2, sessions=(), commits=(), fixes=(), noted=(), failed=0, files=())
    said = Account(since_ms=AT_MS, shares=(replace(share, **fields),))
    return questions.since(said, name).splitlines()[2:]


def test_a_session_says_what_came_of_it_or_what_was_asked_and_that_it_goes_on() -> None:
    runs = (
        SessionRun(session=SESSION, summary=SUMMARY),
        SessionRun(session=replace(SESSION, status="active")),
        SessionRun(session=replace(SESSION, first_prompt="")),
    )
    assert _shown(sessions=runs) == [
        "app · sessions: 3",
        "  s14 codex · Add a login · 2025-03-15 15:00 to 15:05Z",
        "      completed: Wrote it.",
        "  s14 codex · add a login · 2025-03-15 15:00 to 15:05Z, goes on",
    ]


def test_of_each_sort_ten_are_shown_and_the_others_counted() -> None:
    lines = _shown(commits=(COMMIT,) * 12, sessions=(SessionRun(session=SESSION),) * 11)
    assert lines[0] == "app · sessions: 11, commits: 12"
    assert lines[-1] == "  (commits: 2 more)"
    assert lines[11] == "  (sessions: 1 more)"
    files = tuple(f"{number}.py" for number in range(7))
    assert _shown(files=files)[1] == "  changed 0.py, 1.py, 2.py, 3.py, 4.py and 2 more"


def test_what_belongs_to_no_project_and_what_is_not_whole_says_so() -> None:
    note = replace(COMMIT, kind="note", type="preference", title="Use tabs")
    said = _shown(project_id=None, noted=(note,))
    assert said == ["in no project", "  #60 preference · Use tabs · 2025-03-15 15:00Z"]
    part = questions.since(Account(since_ms=AT_MS, shares=(), is_partial=True), name)
    assert "the oldest of it is left out" in part.splitlines()[1]


def test_a_session_is_shown_with_its_summary_and_its_items() -> None:
    ran = SessionRun(session=replace(SESSION, parent="mother"), summary=SUMMARY)
    text = questions.of_session(SessionTimeline(ran=ran, items=(COMMIT,), left_out=0), name)
    assert text.splitlines() == [
        "s14 · codex abc · app · branch main · ended · of session mother",
        "2025-03-15 15:00 to 15:05Z · prompts: 1, events: 9",
        "",
        "#57 summary · Add a login · 2025-03-15 15:00Z",
        "request: add a login",
        "learned: Much.",
        "completed: Wrote it.",
        "",
        "#60 commit · Log in · 2025-03-15 15:00Z",
    ]


def test_the_work_of_a_sub_agent_stands_under_its_delegation() -> None:
    """In its own session and in that of its delegation."""

    def did(number: int, session: int = 14, kind: str = "command", subtitle: str = "") -> Item:
        at_ms = AT_MS + number
        return replace(
            COMMIT, id=number, type=kind, title="did it", subtitle=subtitle, created_ms=at_ms,
            session_id=session,
        )  # fmt: skip

    child = replace(SESSION, id=21, external="c21", started_ms=AT_MS + 3, parent="abc")
    said = SessionTimeline(
        ran=SessionRun(session=SESSION),
        items=(
            did(1, kind="delegation", subtitle="to Explore, by sub-agent Explore/a1"),
            did(2, kind="delegation"),
            did(3, subtitle="by sub-agent Explore/a1"),
            did(4, session=21),
            did(5),
        ),
        left_out=0,
        children=(child,),
    )
    lines = questions.of_session(said, name).splitlines()
    assert "sub-agents in sessions s21" in lines
    shown = [line.partition(" · ")[0] for line in lines if line.lstrip()[:1] == "#"]
    assert shown == [
        "#1 delegation", "  #3 command", "#2 delegation", "  #4 command", "#5 command",
    ]  # fmt: skip
    rows = questions.session_rows(said, name)["children"]
    assert rows == [{"id": 21, "session": "c21", "parent": "abc", "items": [4]}]


def test_the_tokens_of_a_session_are_shown_where_they_are_known() -> None:
    usage = TokenUsage(input=1200, output=34, cache_read=56_000)
    said = SessionTimeline(ran=SessionRun(session=SESSION), items=(), left_out=0, usage=usage)
    lines = questions.of_session(said, name).splitlines()
    assert lines[2:] == [
        "resume: codex resume abc",
        "tokens: 1,200 input, 34 output, 56,000 cache read",
    ]
    row = {"input": 1200, "output": 34, "cache_read": 56_000, "cache_write": 0}
    assert questions.session_rows(said, name)["usage"] == row
    assert questions.session_rows(replace(said, usage=None), name)["usage"] is None
    ran = SessionRun(session=replace(SESSION, client="cline"))
    bare = SessionTimeline(ran=ran, items=(), left_out=0)
    assert len(questions.of_session(bare, name).splitlines()) == 2


USES = '{"relations": [{"source": "auth.ts", "relation": "uses", "destination": "jose"}]}'


@pytest.fixture
def related(memory: Memory, store: SqliteStore) -> Any:
    shared = {"kind": "note", "type": "decision", "person": "bea"}
    with store.write() as writer:
        writer.put_items([an_item(30, "auth.ts checks the issuer", metadata=USES, **shared)])
    tool = tools_of(("core",), memory, str)["related"]
    return lambda name, **asked: tool.call({"name": name, **asked})


def test_an_answer_names_files_people_and_items_by_id(related: Any) -> None:
    found: ToolResult[Any] = related("auth.ts")
    lines = found.text.splitlines()
    assert lines[0].startswith("auth.ts · file and entity · 3 items, last ")
    assert "files: src/auth.ts 2" in lines
    assert any(line.startswith("people: you 2, ") and "; bea 1, " in line for line in lines)
    assert any(line.startswith("  #120 decision · auth.ts checks the issuer") for line in lines)
    assert "  #120 auth.ts -uses-> jose" in lines
    result = found.result
    assert [(one["name"], one["count"]) for one in result["people"]] == [("you", 2), ("bea", 1)]
    assert [one["sort"] for one in result["groups"]][:2] == ["decisions", "edits"]
    assert result["relations"][0]["destination"] == "jose"


def test_more_than_is_shown_is_counted_and_nothing_is_an_error(related: Any) -> None:
    assert "edits (3, the newest 1):" in related("jwt", limit=1).text
    with pytest.raises(NotFound, match="nothing names 'zebra'"):
        related("zebra")


@pytest.mark.parametrize(
    ("name", "next_one"), [("auth.ts", "auth.ts --type commit"), ("bea", "--by bea")]
)
@pytest.mark.usefixtures("related")
def test_the_command_says_what_to_call_next(memory: Memory, name: str, next_one: str) -> None:
    asked = CommandRequest(
        question="related",
        arguments={"name": name, "project": None, "everywhere": True, "limit": 3},
        folder="/",
        is_json=False,
        is_local=False,
        surroundings=surroundings(),
    )
    text = reply(memory, asked).text or ""
    assert text.splitlines()[-1] == f"more: observer show ID, or observer search {next_one}"
