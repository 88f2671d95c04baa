"""Exports of chats become sessions with their words and times."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from observer.core.config import Settings
from observer.core.events import Event, Prompt, Reply
from observer.importers.jsonl import Problems
from observer.importers.registry import sources
from observer.importers.shelf import chats
from tests.importers.conftest import Memories

AT_S = 1_780_000_000


def node(number: int, role: str, *parts: object, hidden: bool = False) -> dict[str, object]:
    message = {
        "author": {"role": role},
        "create_time": AT_S + number + 0.5,
        "content": {"content_type": "text", "parts": list(parts)},
        "metadata": {"is_visually_hidden_from_conversation": hidden},
    }
    return {"id": f"n{number}", "message": message, "parent": f"n{number - 1}"}


CHATGPT = {
    "title": "Rounding",
    "create_time": AT_S,
    "conversation_id": "chat-1",
    "current_node": "n4",
    "mapping": {
        "n0": {"id": "n0", "message": None, "parent": None},
        "n1": node(1, "system", "", hidden=True),
        "n2": node(2, "user", "why a cent?", {"content_type": "image"}),
        "n3": node(3, "assistant", "Lines are rounded."),
        "n4": node(4, "user", "and now?"),
        "n9": {**node(9, "assistant", "another try"), "parent": "n2"},
    },
}
CLAUDE = {
    "uuid": "chat-2",
    "name": "Rounding",
    "created_at": "2026-05-28T20:26:40.000000Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "why a cent?", "content": [],
         "created_at": "2026-05-28T20:26:42.500000Z"},
        {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "when?",
         "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Round."}]},
    ],
}  # fmt: skip
SAID = {
    "chatgpt": [
        (2500, Prompt(text="why a cent?")),
        (3500, Reply(text="Lines are rounded.")),
        (4500, Prompt(text="and now?")),
    ],
    "claude-ai": [(0, Reply(text="Round.")), (2500, Prompt(text="why a cent?"))],
}


def events_in(name: str, path: Path, problems: Problems | None = None) -> list[Event]:
    problems = problems or Problems()
    found = sources()[name].find([path], problems)
    return [event for one in found for event in sources()[name].read(one, Settings(), problems)]


@pytest.mark.parametrize("form", ["file", "folder", "zip"])
@pytest.mark.parametrize(("name", "chat"), [("chatgpt", CHATGPT), ("claude-ai", CLAUDE)])
def test_a_chat_is_a_session(
    memory: Memories, tmp_path: Path, name: str, chat: dict[str, object], form: str
) -> None:
    """Of ChatGPT the messages that lead to the last one; importing again adds nothing."""
    text = json.dumps([chat, {"mapping": 7}, "odd"])
    path = tmp_path / "export"
    if form == "zip":
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("data/conversations.json", text)
    elif form == "folder":
        path.mkdir()
        (path / "conversations.json").write_text(text)
    else:
        path.write_text(text)
    events = events_in(name, path)
    assert [(event.at_ms - 1000 * AT_S, event.body) for event in events] == SAID[name]
    assert {(event.client, event.session) for event in events} == {
        (name, chat.get("conversation_id") or chat["uuid"])
    }
    filled = memory(name)
    filled.imported(path, source=name)
    kinds = filled.kinds()
    filled.imported(path, source=name)
    assert filled.kinds() == kinds
    assert len(kinds) == len(events)


def test_a_file_that_grows_beyond_measure_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chats, "MOST_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b" " * (8 << 20))
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as packed:
        packed.writestr("readme.txt", "no chats")
    (tmp_path / "conversations.json").write_text("{}")
    (tmp_path / "broken.json").write_text("[{")
    problems = Problems()
    for name in ("bomb.zip", "other.zip", "conversations.json", "broken.json"):
        assert events_in("chatgpt", tmp_path / name, problems) == []
    assert sum(problems.counts.values()) == 4
    assert "unreadable export (larger than 1 MB)" in problems.counts
