"""What commits say of the agents that made them: trailers, git-ai notes, Entire checkpoints.

Notes of git-ai at `refs/notes/ai` say which lines of a commit an agent wrote, in which session.
Format 3.0.0: files with lines by key, `---`, and a JSON object that says what the keys stand for.
Its keys are `h_…` for people, `s_…::t_…` for a tool call of a session, or of a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from observer.core import json_text
from observer.core.text import one_line
from observer.core.value import Value
from observer.git.blame import BlamedCommit
from observer.git.process import git_output

REF = "refs/notes/ai"
MOST_RANGES = 100_000
"""Of lines in one note."""

_ROW = re.compile(r"[ \t]+(\S+) ([\d,-]+)\Z")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?\Z")
_END = "---"


class AiSession(Value):
    """A session of an agent as a note names it; "" for what it leaves out."""

    key: str
    tool: str = ""
    id: str = ""
    model: str = ""


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
                key=key, tool=_word(said, "tool"), id=_word(said, "id"), model=_word(said, "model")
            )


def _word(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


# --- what commits say of the agents that made them -----------------------------------------------
#
# In trailers, notes of git-ai and Entire checkpoints. Anybody can write these: they are claims, and
# shown as such.

Source = Literal["git-ai", "entire", "co-authored-by", "assisted-by"]
MOST_MARKS = 12
_CHARS = 120
_CHECKPOINT = re.compile(r"[0-9a-f]{12}|[0-9A-Za-z]{26}")
_AGENT = re.compile(
    r"\b(claude|codex|copilot|cursor(?:agent)?|devin|gemini|aider|amp|opencode|qwen|droid|kiro"
    r"|windsurf|cline|junie|jules|kilo)\b",
    re.IGNORECASE,
)


class AgentMark(Value):
    """One claim that an agent made a commit, or lines of it.

    `lines` counts those of the lines asked about that it names, 0 where it names none.
    """

    source: Source
    tool: str = ""
    model: str = ""
    session: str = ""
    checkpoint: str = ""
    lines: int = 0


def agent_marks(root: str, origin: BlamedCommit) -> tuple[AgentMark, ...]:
    """Return the claims about a commit of which `blame_lines` found lines, the strongest first.

    Raises:
        NotFound: git is not installed, or does not answer in time.
    """
    if not origin.hash:
        return ()
    words = ("--no-show-signature", f"--notes={REF}", "--format=%(trailers:only,unfold)%x00%N")
    said = git_output(root, "log", "-1", *words, origin.hash, "--") or ""
    trailers, _, note = said.partition("\0")
    marks = _noted(parse_note(note), origin)
    found = [*marks, *_of_trailers(trailers.split("\n"))]
    return tuple(dict.fromkeys(found))[:MOST_MARKS]


def _noted(note: AiNote, origin: BlamedCommit) -> list[AgentMark]:
    """Return the claims of a note about the lines of its commit that were asked about."""
    found: dict[str, int] = {}
    for one in note.lines:
        if one.path == origin.path:
            count = sum(one.first <= line <= one.last for line in origin.numbers)
            found[one.key] = found.get(one.key, 0) + count
    return list(_marks(note, found))


def _marks(note: AiNote, counts: Mapping[str, int]) -> Iterator[AgentMark]:
    for key, lines in counts.items():
        session = note.session_of(key)
        if session and lines:
            yield AgentMark(
                source="git-ai",
                tool=one_line(session.tool, _CHARS),
                model=one_line(session.model, _CHARS),
                session=one_line(session.id, _CHARS),
                lines=lines,
            )


def _of_trailers(trailers: Sequence[str]) -> Iterator[AgentMark]:
    for trailer in trailers:
        name, _, value = trailer.partition(":")
        value = value.strip()
        match name.strip().lower():
            case "entire-checkpoint" if _CHECKPOINT.fullmatch(value):
                yield AgentMark(source="entire", checkpoint=value)
            case "co-authored-by" if _AGENT.search(value):
                yield AgentMark(
                    source="co-authored-by", tool=one_line(value.partition("<")[0], _CHARS)
                )
            case "assisted-by" if value:
                tool, _, model = value.partition(" ")[0].partition(":")
                yield AgentMark(
                    source="assisted-by",
                    tool=one_line(tool if model else value, _CHARS),
                    model=one_line(model, _CHARS),
                )
