"""Notes of git-ai at `refs/notes/ai`: which lines of a commit an agent wrote, in which session.

Format 3.0.0: files with lines by key, `---`, and a JSON object that says what the keys stand for.
Its keys are `h_…` for people, `s_…::t_…` for a tool call of a session, or of a prompt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from observer.core import json_text
from observer.core.value import Value
from observer.git.objects import contents
from observer.git.process import git_output

REF = "refs/notes/ai"
MOST_RANGES = 100_000
"""Of lines in one note."""

SCHEMA = "authorship/3.0.0"
_SPACE = re.compile(r"\s")
_ROW = re.compile(r"[ \t]+(\S+) ([\d,-]+)\Z")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?\Z")
_END = "---"


class AiSession(Value):
    """A session of an agent: its client and id as the note names them; "" for what it leaves out.

    `messages` are the words of it, where they are in the note: (role, text, time).
    """

    key: str
    tool: str = ""
    id: str = ""
    model: str = ""
    author: str = ""
    messages: tuple[tuple[str, str, str], ...] = ()


class AiLines(NamedTuple):
    """Lines of a file as its commit has it, both ends included, and the key of who wrote them."""

    path: str
    key: str
    first: int
    last: int


class AiNote(Value):
    """What a note says: the lines of agents, and the sessions in which they were written."""

    lines: tuple[AiLines, ...] = ()
    sessions: tuple[AiSession, ...] = ()

    def session_of(self, key: str) -> AiSession | None:
        """Return the session that a key of some lines stands for."""
        return next((one for one in self.sessions if one.key == key), None)


def parse_note(note: str) -> AiNote:
    """Return what a note says; what of it cannot be read is left out."""
    head, _, foot = f"\n{note}".partition(f"\n{_END}\n")
    said = json_text.object_in(foot)
    known = [*_sessions(said.get("sessions")), *_sessions(said.get("prompts"))]
    keys = {one.key for one in known}
    lines = tuple(row for row in _lines(head) if row.key in keys)
    return AiNote(lines=lines[:MOST_RANGES], sessions=tuple(known))


def ai_notes(root: str) -> Iterator[tuple[str, AiNote]]:
    """Yield the commits of a repository that have notes, with those.

    Raises:
        NotFound, NoRepository, GitTimeout: as `contents`.
    """
    listed = git_output(root, "notes", f"--ref={REF}", "list") or ""
    pairs = [pair for line in listed.splitlines() if len(pair := line.split()) == _PAIR]
    notes = contents(root, [blob for blob, _ in pairs])
    for (_, commit), (_, data) in zip(pairs, notes, strict=True):
        yield commit, parse_note((data or b"").decode("utf-8", "replace"))


_PAIR = 2
"""Words of a line of `git notes list`: note and commit."""


def _lines(head: str) -> Iterator[AiLines]:
    path = ""
    for line in head.splitlines():
        row = _ROW.match(line)
        if row is None:
            path = line.strip().strip('"')
            continue
        for part in row[2].split(","):
            if path and (found := _RANGE.match(part)):
                key = row[1].partition("::")[0]
                yield AiLines(path, key, int(found[1]), int(found[2] or found[1]))


def _sessions(given: object) -> Iterator[AiSession]:
    for key, one in given.items() if isinstance(given, dict) else ():
        if isinstance(one, dict):
            agent = one.get("agent_id")
            said = agent if isinstance(agent, dict) else {}
            yield AiSession(
                key=key,
                tool=_word(said, "tool"),
                id=_word(said, "id"),
                model=_word(said, "model"),
                author=_word(one, "human_author"),
                messages=tuple(_messages(one.get("messages"))),
            )


def _messages(given: object) -> Iterator[tuple[str, str, str]]:
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and (said := _word(one, "text")):
            yield _word(one, "type"), said, _word(one, "timestamp")


def _word(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


class Contribution(Value):
    """What a session brought into a commit: lines that are attested, and those of its edits.

    How many of its lines a person changed before the commit is not known.
    """

    session: AiSession
    accepted: int
    added: int
    removed: int


def session_key(tool: str, session: str) -> str:
    """Return the key of a session, the same in every note."""
    return hashlib.sha256(f"{tool}:{session}".encode(errors="replace")).hexdigest()[:16]


def format_note(commit: str, lines: Iterable[AiLines], made: Iterable[Contribution]) -> str:
    """Return the note of a commit; conversations stay out of it.

    Args:
        commit: its full hash.
        lines: those of agents, by file, in order.
        made: one for each session that wrote some of them.
    """
    ranges: dict[str, dict[str, list[str]]] = {}
    for one in lines:
        span = str(one.first) if one.first == one.last else f"{one.first}-{one.last}"
        ranges.setdefault(one.path, {}).setdefault(one.key, []).append(span)
    rows: list[str] = []
    for path, found in ranges.items():
        rows.append(f'"{path}"' if _SPACE.search(path) else path)
        rows += [f"  {key} {','.join(spans)}" for key, spans in found.items()]
    said = {
        "schema_version": SCHEMA,
        "base_commit_sha": commit,
        "prompts": {one.session.key: _record(one) for one in made},
    }
    return "\n".join([*rows, _END, msgspec.json.format(msgspec.json.encode(said)).decode()]) + "\n"


def _record(made: Contribution) -> dict[str, Any]:
    session = made.session
    return {
        "agent_id": {"tool": session.tool, "id": session.id, "model": session.model},
        "human_author": session.author,
        "messages": [],
        "total_additions": made.added,
        "total_deletions": made.removed,
        "accepted_lines": made.accepted,
        "overriden_lines": 0,  # so spelt by git-ai
    }
