"""What anybody could keep without a rule: turns and commits as they were written, and files.

They are the baselines that search and start contexts are held against.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sessions.corpus import Repository
from sessions.history import git
from sessions.transcript import HookEvent, Transcript

REPLY_CHARS = 800
"""A final reply is cut after the paragraph that reaches so far."""
_RANKED = 10
"""The constant k of reciprocal ranks: a place counts 1 / (k + place)."""
_HALF_LIFE = 8
"""Turns after which what touched a file counts half."""
_EDITED, _TOUCHED = 1.0, 0.5
_EDITING = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_READING = frozenset({"Read"})
_WORD = re.compile(r"\w{2,}")
_SMALL_WORDS = "the a an and or of to in is it that this for on with as be are was we can do not"
_STOP = frozenset(_SMALL_WORDS.split())
_MOST_WORDS = 60


class Unit(NamedTuple):
    """A turn, or a commit: when it was over, its text, and the files that it changed and read.

    `session` is "" for a commit. `text` is the prompt and the final reply, or the whole message.
    """

    at_ms: int
    session: str
    text: str
    changed: frozenset[str]
    read: frozenset[str] = frozenset()


def units(repositories: Iterable[Repository]) -> list[Unit]:
    """Return the turns and commits of repositories by time."""
    found = [
        unit
        for repository in repositories
        for unit in (
            *(one for each in repository.transcripts for one in _turns(repository, each)),
            *_commits(repository),
        )
    ]
    return sorted(found, key=lambda unit: unit.at_ms)


def _turns(repository: Repository, transcript: Transcript) -> Iterator[Unit]:
    events: list[HookEvent] = []
    for event in transcript.events:
        if event.event == "UserPromptSubmit" and events:
            yield from _turn(repository, transcript.session, events)
            events = []
        events.append(event)
    yield from _turn(repository, transcript.session, events)


def _turn(repository: Repository, session: str, events: Sequence[HookEvent]) -> Iterator[Unit]:
    said = [each.payload.get("prompt") or "" for each in events[:1]]
    replies = [each.payload.get("last_assistant_message") or "" for each in events]
    said += [_paragraphs(reply) for reply in [*filter(None, replies)][-1:]]
    if any(said):
        changed, read = (_files(repository, events, tools) for tools in (_EDITING, _READING))
        yield Unit(events[-1].at_ms, session, "\n\n".join(said), changed, read)


def _paragraphs(reply: str) -> str:
    """Return the first whole paragraphs, up to the one that reaches `REPLY_CHARS`."""
    kept = ""
    for paragraph in reply.split("\n\n"):
        kept += f"\n\n{paragraph}" if kept else paragraph
        if len(kept) >= REPLY_CHARS:
            break
    return kept


def _files(
    repository: Repository, events: Iterable[HookEvent], tools: Collection[str]
) -> frozenset[str]:
    paths = (
        each.payload["tool_input"].get("file_path", "")
        for each in events
        if each.event == "PostToolUse" and each.payload["tool_name"] in tools
    )
    return frozenset(filter(None, map(repository.relative, paths)))


def _commits(repository: Repository) -> Iterator[Unit]:
    known = repository.history.commits
    written = git(repository.folder, "log", "--all", "--format=%x1e%H%x1f%B%x1f", "--name-only")
    for record in written.split("\x1e")[1:]:
        commit, message, names = record.split("\x1f")
        if made := known.get(commit):
            yield Unit(made.at_ms, "", message.strip(), frozenset(filter(None, names.split("\n"))))


class Words:
    """Plain BM25 over texts by their stemmed words."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            "CREATE VIRTUAL TABLE words USING fts5 (text, tokenize='porter unicode61')"
        )
        self._database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", texts.items())

    def search(self, text: str, *, before: int, limit: int) -> list[int]:
        """Return the best of the texts with a number below `before`, the best first."""
        said = (word for word in _WORD.findall(text.lower()) if word not in _STOP)
        words = list(dict.fromkeys(said))[:_MOST_WORDS]
        if not words:
            return []
        asked = " OR ".join(f'"{word}"' for word in words)
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE text MATCH ? AND rowid < ? ORDER BY bm25(words) LIMIT ?",
            (asked, before, limit),
        )
        return [row for (row,) in rows]


def fused(*ranked: Sequence[int]) -> list[int]:
    """Return what rankings hold by the sum of its reciprocal ranks, the best first."""
    scores: dict[int, float] = defaultdict(float)
    for ranking in ranked:
        for place, number in enumerate(ranking):
            scores[number] += 1 / (_RANKED + place)
    return sorted(scores, key=lambda number: -scores[number])


def likely_files(past: Sequence[Unit], most: int) -> list[str]:
    """Return the files that are likely worked on next, by what earlier turns and commits touched.

    An edit counts 1, a read or a commit .5, half of that every `_HALF_LIFE` turns.
    """
    weights: dict[str, float] = defaultdict(float)
    age = 0
    for unit in reversed(past):
        fading = 0.5 ** (age / _HALF_LIFE)
        for file in unit.changed:
            weights[file] += fading * (_EDITED if unit.session else _TOUCHED)
        for file in unit.read - unit.changed:
            weights[file] += fading * _TOUCHED
        age += bool(unit.session)
    return sorted(weights, key=lambda file: -weights[file])[:most]
