"""Notes of git-ai at `refs/notes/ai`: which lines of a commit an agent wrote, in which session.

Format 3.0.0: files with lines by key, `---`, and a JSON object that says what the keys stand for.
Its keys are `h_…` for people, `s_…::t_…` for a tool call of a session, or of a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from observer.core import json_text
from observer.core.value import Value
from observer.git.objects import contents
from observer.git.process import git_output

REF = "refs/notes/ai"
MOST_RANGES = 100_000
"""Of lines in one note."""

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
        if data is not None:
            yield commit, parse_note(data.decode("utf-8", "replace"))


def ai_note(root: str, commit: str) -> AiNote | None:
    """Return the note of a commit; None without one."""
    note = git_output(root, "notes", f"--ref={REF}", "show", commit)
    return None if note is None else parse_note(note)


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
