"""Histories that SpecStory writes into projects: one Markdown file a session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from observer.core.config import Settings
from observer.core.events import Event, Prompt, Reply
from observer.importers.jsonl import Problems, lines
from observer.importers.source import (
    FoundSession,
    Origin,
    SessionSource,
    event_of,
    files_matching,
    moment_ms,
)
from observer.projects import work_tree_of

NAME = "specstory"
_FILES = "**/*.md"

_SESSION = re.compile(
    r"<!-- (?P<client>[\w .-]{1,40}?) (?i:session) (?P<id>[\w-]{8,64})"
    r" \((?P<at>\d{4}-\d\d-\d\d[ T][\d:]{4,8}Z?)\) -->"
)
_NAMED = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)(?:-(\d\d))?(Z|[+-]\d{4})?")
_SPEAKER = re.compile(r"_\*\*(User|Assistant|Agent)(?: \(([^)]*)\))?\*\*_\Z")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?Z?")
_RULE = "---"
_TOOL = re.compile(r"(?s)<tool-use\b.*?</tool-use>|<details>.*?</details>")
_CLIENTS = {
    "claude code": "claude-code", "codex cli": "codex", "cursor": "cursor",
    "cursor cli": "cursor", "gemini cli": "gemini", "copilot": "vscode",
}  # fmt: skip


class _Head(NamedTuple):
    """What a file says of its session; "" for what it does not."""

    client: str
    id: str
    at_ms: int


class _Turn(NamedTuple):
    """Words of one speaker; the time is that of the turn before where it has none."""

    at_ms: int
    is_prompt: bool
    words: str


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the sessions in files, and in all Markdown files of folders.

    One of which Claude Code still has the transcript is left to that, which says more.
    """
    found = []
    for path in dict.fromkeys(file for one in paths for file in files_matching(one, _FILES)):
        head = _head(path, problems)
        if head is None:
            problems.add("file without a session", path)
        elif not _has_transcript(head):
            times = [head.at_ms, *(turn.at_ms for turn in _turns(path, head, Problems()))]
            root = work_tree_of(path.name, str(path.parent)) or str(path.parent)
            size = path.stat().st_size
            found.append(FoundSession(head.id, (path,), root, min(times), max(times), size))
    return found


def read(found: FoundSession, _: Settings, problems: Problems) -> Iterator[Event]:
    """Yield what was said in a session; what its tools did is left out."""
    path = found.paths[0]
    head = _head(path, problems)
    if head is None:
        return
    client = _CLIENTS.get(head.client.lower(), NAME)
    origin = Origin(NAME, client, session=found.id, cwd=found.folder, is_shared=True)
    for number, turn in enumerate(_turns(path, head, problems)):
        body = Prompt(text=turn.words) if turn.is_prompt else Reply(text=turn.words)
        # Times are of minutes: what was said later comes later.
        yield event_of(origin, body, turn.at_ms + number)


def _has_transcript(head: _Head) -> bool:
    is_claude = _CLIENTS.get(head.client.lower()) == "claude-code"
    projects = Path.home() / ".claude/projects"
    return is_claude and any(projects.glob(f"*/{head.id}.jsonl"))


def _head(path: Path, problems: Problems) -> _Head | None:
    named = _NAMED.match(path.name)
    of_name = ""
    if named:
        zone = named[5] or ""
        of_name = f"{named[1]} {named[2]}:{named[3]}:{named[4] or '00'}{zone}"
    for line in lines(path, problems):
        if found := _SESSION.search(line.data.decode("utf-8", "replace")):
            at_ms = moment_ms(found["at"]) or moment_ms(of_name)
            return None if at_ms is None else _Head(found["client"], found["id"], at_ms)
    at_ms = moment_ms(of_name)
    return None if at_ms is None else _Head("", f"{NAME}/{path.name}", at_ms)


def _turns(path: Path, head: _Head, problems: Problems) -> Iterator[_Turn]:
    at_ms, speaker = head.at_ms, ""
    said: list[str] = []
    for line in lines(path, problems, with_empty=True):
        row = line.data.decode("utf-8", "replace").rstrip("\r\n")
        if found := _SPEAKER.match(row):
            yield from _turn(at_ms, speaker, said)
            when = _TIME.search(found[2] or "")
            at_ms = (moment_ms(when[0]) if when else None) or at_ms
            speaker, said = found[1], []
        else:
            said.append(row)
    yield from _turn(at_ms, speaker, said)


def _turn(at_ms: int, speaker: str, said: Sequence[str]) -> Iterator[_Turn]:
    words = _TOOL.sub("", "\n".join(said)).strip().removesuffix(_RULE).strip()
    if speaker and words:
        yield _Turn(at_ms, speaker == "User", words)


SOURCES = (
    SessionSource(
        NAME, ".specstory", "", "history", find=find, read=read, inside=(".specstory/history",)
    ),
)
