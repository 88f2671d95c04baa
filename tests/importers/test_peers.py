"""What other memories keep is imported with its times, projects and kinds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from observer.core.config import Settings, owner
from observer.core.events import Custom, Prompt, Remember
from observer.core.paths import Home
from observer.importers.run import Choice, FinishedImports, placed, plan_import
from observer.importers.source import FoundSession, Problems, sources
from tests.importers.conftest import Memories, events_in
from tests.importers.played import fixed_bug

AT = "2026-05-28T20:26:40.000Z"
AT_MS = 1_780_000_000_000

Rows = Sequence[Mapping[str, object]]


def database(path: Path, **tables: Rows) -> Path:
    """Write a database whose tables have the columns of their rows."""
    with closing(sqlite3.connect(path)) as connection:
        for table, rows in tables.items():
            names = list(dict.fromkeys(name for row in rows for name in row))
            connection.execute(f"CREATE TABLE {table} ({', '.join(names)})")
            marks = ", ".join(f":{name}" for name in names)
            many = [dict.fromkeys(names) | dict(row) for row in rows]
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", many)
        connection.commit()
    return path


def claude_mem(path: Path) -> Path:
    at = {"created_at": AT, "created_at_epoch": AT_MS}
    return database(
        path,
        sdk_sessions=[
            {"content_session_id": "s1", "memory_session_id": "m1", "project": "shop",
             "platform_source": "claude"},
        ],
        user_prompts=[
            {"content_session_id": "s1", "prompt_text": "why a cent?", **at},
            {"content_session_id": "s1", "prompt_text": " ", **at},
        ],
        observations=[
            {"memory_session_id": "m1", "project": "shop", "type": "discovery",
             "title": "Cart rounds once", "subtitle": "in cart.py", "narrative": "Lines lost it.",
             "facts": '["one", 2]', "concepts": '["money"]', "files_read": '["cart.py"]',
             "files_modified": "[]", "text": None, **at},
            {"memory_session_id": "m1", "project": "api", "type": "change", "title": "Other",
             "facts": "[" * 100_000, **at},
            {"memory_session_id": "m1", "project": "shop", "type": "x", "title": "When?"},
        ],
        session_summaries=[
            {"memory_session_id": "m1", "project": "shop", "request": "the cent",
             "next_steps": "invoices", "notes": "", **at},
            {"memory_session_id": "m1", "project": "shop", **at},
        ],
    )  # fmt: skip


def kiro_memory(path: Path) -> Path:
    at = {"created_at": AT, "created_at_epoch": AT_MS, "project": "shop"}
    return database(
        path,
        sessions=[{"content_session_id": "k1", "memory_session_id": "sdk-1", "project": "shop"}],
        prompts=[{"content_session_id": "k1", "prompt_text": "why?", **at}],
        observations=[
            {"memory_session_id": "sdk-1", "type": "decision", "title": "Sum in Decimal",
             "text": "Floats lose cents.", "concepts": "money, cart", "files_read": "cart.py",
             "facts": '{"knowledgeType":"decision","reason":"money"}', **at},
        ],
        summaries=[{"session_id": "sdk-1", "learned": "It rounds.", **at}],
    )  # fmt: skip


def test_sessions_of_claude_mem_are_those_of_its_client(tmp_path: Path) -> None:
    problems = Problems()
    path = claude_mem(tmp_path / "claude-mem.db")
    prompt, seen, summary, other = events_in("claude-mem", path, problems=problems)
    assert problems.counts.popitem() == ("row of observations without a time", 1)
    assert prompt.body == Prompt(text="why a cent?")
    assert seen.body == Custom(
        name="discovery",
        text="Cart rounds once\nin cart.py\nLines lost it.\n- one",
        files=("cart.py",),
    )
    assert summary.body == Custom(
        name="session-summary", text="request: the cent\nnext steps: invoices"
    )
    assert other.body == Custom(name="change", text="Other")
    assert {(event.client, event.session, event.at_ms) for event in (prompt, seen)} == {
        ("claude-code", "s1", AT_MS)
    }


def test_what_was_entered_on_purpose_is_a_note(tmp_path: Path) -> None:
    events = events_in("kiro-memory", kiro_memory(tmp_path / "kiro-memory.db"))
    (note,) = [event.body for event in events if isinstance(event.body, Remember)]
    assert note == Remember(
        content="Floats lose cents.\nreason: money",
        title="Sum in Decimal",
        type="decision",
        tags=("money", "cart"),
    )
    assert {event.session for event in events} == {"k1"}


MEM0 = {
    "results": [
        {"id": "a", "memory": "Likes tabs.", "categories": ["style"], "created_at": AT},
        {"id": "b", "memory": " ", "created_at": AT},
        {"id": "c", "memory": "When?"},
    ]
}
HISTORY = [
    {"memory_id": "a", "new_memory": "Likes spaces.", "event": "ADD", "created_at": AT},
    {"memory_id": "a", "new_memory": "Likes tabs.", "event": "UPDATE", "updated_at": AT},
    {"memory_id": "b", "new_memory": "gone", "event": "ADD", "created_at": AT},
    {"memory_id": "b", "event": "DELETE", "created_at": AT, "is_deleted": 1},
]
MEMORY = {
    "id": "a", "type": "preference", "title": "Likes tabs.", "content": "Likes tabs.",
    "concepts": ["style"], "updatedAt": AT, "isLatest": True,
}  # fmt: skip
STALE = {**MEMORY, "id": "b", "isLatest": False}


@pytest.mark.parametrize(
    ("name", "file", "content", "expected"),
    [
        pytest.param(
            "mem0", "export.json", MEM0, ("fact", "Likes tabs.", ("style",), "personal"), id="mem0"
        ),
        pytest.param(
            "mem0", "list.json", MEM0["results"], ("fact", "Likes tabs.", ("style",), "personal"),
            id="mem0, a list",
        ),
        pytest.param(
            "mem0", "history.db", {"history": HISTORY}, ("fact", "Likes tabs.", (), "personal"),
            id="mem0, its history",
        ),
        pytest.param(
            "agentmemory", "standalone.json", {"mem:memories": {"a": MEMORY, "b": STALE}},
            ("preference", "Likes tabs.", ("style",), "personal"), id="agentmemory",
        ),
        pytest.param(
            "agentmemory", "export.json", {"memories": [MEMORY, STALE], "sessions": []},
            ("preference", "Likes tabs.", ("style",), "personal"), id="agentmemory, export",
        ),
    ],
)  # fmt: skip
def test_a_memory_is_a_note_under_its_id(
    memory: Memories, tmp_path: Path, name: str, file: str, content: object,
    expected: tuple[str, str, tuple[str, ...], str],
) -> None:  # fmt: skip
    """With the time of its last change; importing again adds nothing."""
    path = tmp_path / file
    if path.suffix == ".db":
        assert isinstance(content, dict)
        database(path, **content)
    else:
        path.write_text(json.dumps(content))
    (event,) = events_in(name, path)
    assert isinstance(event.body, Remember)
    assert (event.body.type, event.body.content, event.body.tags, event.body.scope) == expected
    assert event.at_ms == AT_MS
    assert event.body.owner == (owner(Settings()) if expected[3] == "personal" else "")
    filled = memory(name)
    for _ in range(2):
        filled.imported(path, source=name)
        assert filled.kinds() == ["remember"]


EXPORT = {
    "results": [
        {"id": "a", "memory": "Bob likes tabs.", "user_id": "bob", "agent_id": "coder",
         "run_id": "r1", "hash": "0f", "metadata": {"source": "chat"}, "created_at": AT,
         "updated_at": "2026-05-29T20:26:40Z"},
        {"id": "b", "memory": "Answers are short.", "agent_id": "coder", "created_at": AT},
        {"id": "c", "payload": {"data": "Eve likes tea.", "user_id": "eve", "role": "user",
                                "created_at": AT}},
        {"id": "d", "memory": "Of nobody here.", "user_id": "a\nb", "created_at": AT},
    ],
    "relations": [
        {"source": "bob", "relationship": "works_at", "target": "acme", "user_id": "bob"},
        {"source": "bob", "relationship": "", "target": "acme"},
    ],
}  # fmt: skip


def test_memories_of_an_export_stay_their_owners(tmp_path: Path, memory: Memories) -> None:
    path, problems = tmp_path / "export.json", Problems()
    path.write_text(json.dumps(EXPORT))
    events_in("mem0", path, problems=problems)
    assert [what for what in problems.counts if "cannot own notes" in what]
    filled = memory("mem0")
    filled.imported(path, source="mem0")
    shown = {item.narrative: item for item in filled.items()}
    assert {said: item.owner for said, item in shown.items()} == {
        "Bob likes tabs.": "bob",
        "Answers are short.": "agent:coder",
        "Eve likes tea.": "eve",
        "bob works_at acme": "bob",
    }
    bobs = shown["Bob likes tabs."]
    assert (bobs.created_ms, bobs.updated_ms) == (AT_MS, AT_MS + 86_400_000)
    assert json.loads(bobs.metadata) == {"run_id": "r1", "source": "chat", "agent_id": "coder"}
    assert bobs.tags == ("agent:coder",)
    related = shown["bob works_at acme"]
    assert (related.type, related.created_ms) == ("relation", AT_MS)
    assert json.loads(related.metadata)["relationship"] == "works_at"


def test_what_an_export_or_a_history_does_not_say_or_keep_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    related = [{"source": "x", "relationship": "y", "destination": "z"}]
    path.write_text(json.dumps({"results": EXPORT["results"][1:2], "relations": related}))
    said = {event.body.content: event.body.owner for event in events_in("mem0", path)}  # type: ignore[union-attr]  # notes
    assert said == {"Answers are short.": "agent:coder", "x y z": "agent:coder"}
    path, problems = tmp_path / "export.json", Problems()
    secret = {"token": "AKIA" + "ABCDEFGHIJKLMNOP"}
    row = {**EXPORT["results"][0], "metadata": secret}
    path.write_text(json.dumps([row]))
    (first, _) = events_in("mem0", path, problems=problems)
    assert isinstance(first.body, Remember)
    assert first.body.metadata == '{"agent_id":"coder"}'
    assert any("metadata" in what for what in problems.counts)
    path, problems = database(tmp_path / "history.db", history=HISTORY), Problems()
    (event,) = events_in("mem0", path, problems=problems)
    assert isinstance(event.body, Remember)
    assert event.body.owner == owner(Settings())
    assert any("whose memories" in what for what in problems.counts)


def test_a_memory_that_changed_is_the_same_note(memory: Memories, tmp_path: Path) -> None:
    path = tmp_path / "standalone.json"
    filled = memory("changed")
    for said, at in (("Likes tabs.", AT), ("Likes spaces.", "2026-05-29T20:26:40Z")):
        changed = {**MEMORY, "title": "", "content": said, "updatedAt": at}
        path.write_text(json.dumps({"memories": [changed]}))
        filled.imported(path, source="agentmemory")
    assert [item.narrative for item in filled.items()] == ["Likes spaces."]


@pytest.mark.parametrize(
    ("roots", "folder"),
    [
        pytest.param(["/home/ana/shop", "/home/ana/api"], "/home/ana/shop", id="one"),
        pytest.param(["/home/ana/shop", "/srv/shop"], "", id="two"),
        pytest.param([], "", id="none"),
    ],
)
def test_a_project_is_the_one_of_its_name_here(roots: list[str], folder: str) -> None:
    found = FoundSession("x", (), "shop", 0, 0, 0)
    assert placed(found, roots).folder == folder
    absolute = found._replace(folder="/srv/other")
    assert placed(absolute, roots) == absolute


def test_on_day_one_the_folders_of_sessions_are_looked_at(shop: Path) -> None:
    """A memory that names a project means the one in which a session was found just now."""
    person = Path.home()
    fixed_bug(shop).write(person / ".claude/projects/-shop")
    (shop / "CLAUDE.md").write_text("Use tabs.")
    (person / ".claude-mem").mkdir()
    path = claude_mem(person / ".claude-mem/claude-mem.db")
    home = Home(person / ".observer")
    home.root.mkdir()
    finished = FinishedImports(home.imports)
    plans = plan_import(home, sources().values(), Choice(), finished, {})
    assert {one.id: one.folder for plan in plans for one in plan.new} == {
        "s1": str(shop),
        f"{path}#shop": str(shop),
        f"{path}#api": "",
        str(shop / "CLAUDE.md"): str(shop),
    }


NOTE: dict[str, Any] = {
    "id": 3, "title": "Auth", "content": "We use cookies.", "file_path": "work/auth.md",
    "category": "work", "tags": '["security"]', "source": "claude-code", "layer": "past",
    "author": "person", "authored_at": None, "rule_status": None, "created_at": AT_MS,
    "updated_at": AT_MS,
}  # fmt: skip
NOTES = [
    NOTE,
    {**NOTE, "id": 4, "title": "Plan", "content": "after [[auth]]", "layer": "state",
     "author": "agent", "authored_at": AT_MS - 1, "tags": "broken", "category": None},
    {**NOTE, "id": 5, "title": "Tabs", "content": "Never tabs.", "layer": "rule",
     "rule_status": "canonical"},
    {**NOTE, "id": 6, "title": "Theirs", "layer": "external"},
    {**NOTE, "id": 7, "title": "Empty", "content": " "},
]  # fmt: skip


def test_notes_keep_what_they_are(tmp_path: Path) -> None:
    plan, auth, tabs = events_in("memex", database(tmp_path / "memex.db", notes=NOTES))
    assert (auth.body.layer, auth.body.category, auth.body.tags) == ("past", "work", ("security",))
    assert (auth.at_ms, auth.author, auth.body.key) == (AT_MS, "person", "memex:3")
    assert (plan.at_ms, plan.author, plan.body.tags) == (AT_MS - 1, "agent", ())
    assert (tabs.body.layer, tabs.author) == ("rule", "agent")
    assert {one.body.owner for one in (auth, plan, tabs)} == {owner(Settings())}


def test_backups_in_a_folder_are_found_and_notes_without_a_time_counted(tmp_path: Path) -> None:
    problems = Problems()
    path = database(tmp_path / "timeless.db", notes=[{**NOTE, "created_at": None}])
    assert events_in("memex", path, problems=problems) == []
    assert problems.counts == {"note without a time": 1}
    database(tmp_path / "backup.db", notes=NOTES)
    (tmp_path / "config.json").write_text("{}")
    assert len(events_in("memex", tmp_path)) == 3


def test_imported_notes_are_linked_and_no_rule_holds_yet(memory: Memories, tmp_path: Path) -> None:
    filled = memory("memex")
    for _ in range(2):
        filled.imported(database(tmp_path / f"{_}.db", notes=NOTES), source="memex")
    by_title = {item.title: item for item in filled.items()}
    assert sorted(by_title) == ["Auth", "Plan", "Tabs"]
    assert [link.title for link in by_title["Plan"].links] == ["auth"]
    assert by_title["Tabs"].approval == "provisional"
    assert (by_title["Auth"].created_ms, by_title["Auth"].layer) == (AT_MS, "past")
