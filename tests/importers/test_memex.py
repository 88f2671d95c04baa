"""The notes of memex's database are imported with their layers, folders, tags, links and times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from observer.core.config import Settings, owner
from observer.importers.jsonl import Problems
from tests.importers.conftest import Memories
from tests.importers.test_peers import AT_MS, database, events_in

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
    auth, plan, tabs = events_in("memex", database(tmp_path / "memex.db", notes=NOTES))
    assert (auth.body.layer, auth.body.category, auth.body.tags) == ("past", "work", ("security",))
    assert (auth.at_ms, auth.author, auth.body.key) == (AT_MS, "person", "memex:3")
    assert (plan.at_ms, plan.author, plan.body.tags) == (AT_MS - 1, "agent", ())
    assert (tabs.body.layer, tabs.author) == ("rule", "agent")
    assert {one.body.owner for one in (auth, plan, tabs)} == {owner(Settings())}


def test_a_note_without_a_time_is_counted(tmp_path: Path) -> None:
    problems = Problems()
    path = database(tmp_path / "memex.db", notes=[{**NOTE, "created_at": None}])
    assert events_in("memex", path, problems) == []
    assert problems.counts == {"note without a time": 1}


def test_backups_in_a_folder_are_found_and_other_files_are_not(tmp_path: Path) -> None:
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
