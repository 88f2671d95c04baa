"""Exports of chats: `conversations.json` of ChatGPT and of Claude, plain or in the zip file."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from observer.clients.envelope import Object
from observer.clients.payload import inner, rows, text, words
from observer.core import json_text
from observer.core.config import Settings
from observer.core.disk import UnexpectedFile, open_plain
from observer.core.events import Event, Prompt, Reply
from observer.importers.jsonl import Problems
from observer.importers.source import (
    FoundSession,
    Origin,
    SessionSource,
    event_of,
    files_matching,
    moment_ms,
)

MOST_BYTES = 512 << 20
"""A larger list of chats, or one that grows to more, is not read."""

_FILES = "conversations*.json"
_PEOPLE = frozenset({"user", "human"})


class _Said(NamedTuple):
    """One message: its time, whether a person said it, its id and words."""

    at_ms: int
    is_prompt: bool
    key: str
    words: str


def _find(name: str, paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the chats in files, in zip files, and in folders; each once."""
    found: dict[str, FoundSession] = {}
    for path in dict.fromkeys(file for one in paths for file in files_matching(one, _FILES)):
        for chat in _chats(path, problems):
            said = [one.at_ms for one in _said(name, chat)]
            chat_id = text(chat, "conversation_id", "id", "uuid")
            if chat_id and said:
                size = sum(len(one.words) for one in _said(name, chat))
                state = f"{len(said)}:{max(said)}"
                one = FoundSession(chat_id, (path,), "", min(said), max(said), size, state=state)
                found[chat_id] = max(found.get(chat_id, one), one, key=lambda each: each.last_ms)
    return list(found.values())


def _read(name: str, found: FoundSession, _: Settings, _problems: Problems) -> Iterator[Event]:
    origin = Origin(name, session=found.id)
    for chat in _chats(found.paths[0], Problems()):
        if text(chat, "conversation_id", "id", "uuid") == found.id:
            for one in _said(name, chat):
                body = Prompt(text=one.words) if one.is_prompt else Reply(text=one.words)
                yield event_of(origin, body, one.at_ms, one.key)


def _chats(path: Path, problems: Problems) -> list[Object]:
    """Return the chats of a file; they are kept while it is the one that is read."""
    try:
        status = path.stat()
        return _parsed(path, status.st_size, status.st_mtime_ns)
    except (OSError, UnexpectedFile, ValueError, RecursionError, zipfile.BadZipFile) as error:
        problems.add(f"unreadable export ({error})", path)
        return []


@lru_cache(maxsize=1)
def _parsed(path: Path, _size: int, _written: int) -> list[Object]:
    handle, _ = open_plain(path.resolve())
    with os.fdopen(handle, "rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            return _rows(json_text.load(_limited(file)))
        with zipfile.ZipFile(file) as packed:
            names = [name for name in packed.namelist() if Path(name).match(_FILES)]
            if not names:
                raise ValueError("no conversations.json in it")
            found = []
            for name in names:
                with packed.open(name) as member:
                    found += _rows(json_text.load(_limited(member)))
            return found


def _limited(file: Any) -> bytes:  # noqa: ANN401 - a file, or a member of a zip file
    # What a packed file says of its size need not be true.
    data: bytes = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES >> 20} MB")
    return data


def _rows(value: object) -> list[Object]:
    if not isinstance(value, list):
        raise ValueError("it is not a list of chats")  # noqa: TRY004 - of a file, as all else
    return [one for one in value if isinstance(one, dict)]


def _said(name: str, chat: Object) -> list[_Said]:
    messages = _of_chatgpt(chat) if name == "chatgpt" else _of_claude(chat)
    return sorted(one for one in messages if one.words.strip())


def _of_chatgpt(chat: Object) -> Iterator[_Said]:
    """Yield the messages that lead to the last one; what was tried beside them is left out."""
    nodes, seen = inner(chat, "mapping"), set[str]()
    begun_ms = moment_ms(chat.get("create_time"))
    name = text(chat, "current_node")
    while name in nodes and name not in seen:
        seen.add(name)
        node = inner(nodes, name)
        message = inner(node, "message")
        role = text(inner(message, "author"), "role")
        content = inner(message, "content")
        at_ms = moment_ms(message.get("create_time")) or begun_ms
        is_shown = not inner(message, "metadata").get("is_visually_hidden_from_conversation")
        if at_ms is not None and role in {"user", "assistant"} and is_shown:
            said = "\n".join(words(content, "parts")) or text(content, "text")
            yield _Said(at_ms, role in _PEOPLE, name, said)
        name = text(node, "parent")


def _of_claude(chat: Object) -> Iterator[_Said]:
    begun_ms = moment_ms(chat.get("created_at"))
    for message in rows(chat, "chat_messages"):
        at_ms = moment_ms(message.get("created_at")) or begun_ms
        if at_ms is not None:
            parts = rows(message, "content")
            texts = [text(each, "text") for each in parts if text(each, "type") == "text"]
            said = "\n".join(filter(None, texts)) or text(message, "text")
            yield _Said(at_ms, text(message, "sender") in _PEOPLE, text(message, "uuid"), said)


SOURCES = tuple(
    SessionSource(name, "", "", "", find=partial(_find, name), read=partial(_read, name))
    for name in ("chatgpt", "claude-ai")
)
