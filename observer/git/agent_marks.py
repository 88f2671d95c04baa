"""What commits say of the agents that made them: trailers, git-ai notes, Entire checkpoints.

Anybody can write these claims. Format 3.0.0 of git-ai's notes: files with lines by key, `---`, and
a JSON object that says what the keys stand for: `h_…` for people, `s_…::t_…` for a tool call of a
session, or of a prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
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
    """Lines of a file as its commit has it, both ends included, and who wrote them."""

    path: str
    session: AiSession
    first: int
    last: int


def parse_note(note: str) -> list[AiLines]:
    """Return the lines that a note says agents wrote; what of it cannot be read is left out."""
    head, _, foot = f"\n{note}".partition(f"\n{_END}\n")
    said = json_text.object_in(foot)
    known = {one.key: one for sort in ("prompts", "sessions") for one in _sessions(said.get(sort))}
    found: list[AiLines] = []
    path = ""
    for line in head.splitlines():
        row = _ROW.match(line)
        if row is None:
            path = line.strip().strip('"')
        elif path and (session := known.get(row[1].partition("::")[0])):
            ranges = filter(None, map(_RANGE.match, row[2].split(",")))
            found += (AiLines(path, session, int(one[1]), int(one[2] or one[1])) for one in ranges)
    return found[:MOST_RANGES]


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
    """One claim that an agent made a commit, or how many of the `lines` asked about."""

    source: Source
    tool: str = ""
    model: str = ""
    session: str = ""
    checkpoint: str = ""
    lines: int = 0


def agent_marks(root: str, origin: BlamedCommit) -> tuple[AgentMark, ...]:
    """Return the claims about a commit with blamed lines, the strongest first. Raises: NotFound."""
    if not origin.hash:
        return ()
    words = ("--no-show-signature", f"--notes={REF}", "--format=%(trailers:only,unfold)%x00%N")
    said = git_output(root, "log", "-1", *words, origin.hash, "--") or ""
    trailers, _, note = said.partition("\0")
    counts = Counter[AiSession]()
    for one in parse_note(note):
        if one.path == origin.path:
            counts[one.session] += sum(one.first <= line <= one.last for line in origin.numbers)
    found = [
        AgentMark(
            source="git-ai",
            tool=one_line(session.tool, _CHARS),
            model=one_line(session.model, _CHARS),
            session=one_line(session.id, _CHARS),
            lines=lines,
        )
        for session, lines in counts.items()
        if lines
    ]
    for trailer in trailers.split("\n"):
        name, _, value = trailer.partition(":")
        value = value.strip()
        match name.strip().lower():
            case "entire-checkpoint" if _CHECKPOINT.fullmatch(value):
                found.append(AgentMark(source="entire", checkpoint=value))
            case "co-authored-by" if _AGENT.search(value):
                author = one_line(value.partition("<")[0], _CHARS)
                found.append(AgentMark(source="co-authored-by", tool=author))
            case "assisted-by" if value:
                tool, _, model = value.partition(" ")[0].partition(":")
                tool = one_line(tool if model else value, _CHARS)
                model = one_line(model, _CHARS)
                found.append(AgentMark(source="assisted-by", tool=tool, model=model))
    return tuple(dict.fromkeys(found))[:MOST_MARKS]
