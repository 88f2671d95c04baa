"""What commits say of the agents that made them: trailers, git-ai notes, Entire checkpoints.

Notes of git-ai at `refs/notes/ai` say which lines of a commit an agent wrote, in which session.
Format 3.0.0: files with lines by key, `---`, and a JSON object that says what the keys stand for.
Its keys are `h_…` for people, `s_…::t_…` for a tool call of a session, or of a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

from observer.core import json_text
from observer.core.text import one_line
from observer.core.value import Value
from observer.git.blame import BlamedCommit
from observer.git.objects import BLOB_BYTES, Blobs, refs
from observer.git.patch import time_ms
from observer.git.process import git_at, git_output

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
                key=key,
                tool=_word(said, "tool"),
                id=_word(said, "id"),
                model=_word(said, "model"),
            )


def _word(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


# --- what commits say of the agents that made them -----------------------------------------------
#
# In trailers, notes of git-ai and Entire checkpoints. Anybody can write these: they are claims, and
# shown as such.

Link = Literal["commit", "change", "file", "text"]
Source = Literal["git-ai", "entire", "co-authored-by", "assisted-by"]
MOST_MARKS = 12
MOST_NOTED = 2_000
"""Commits with notes that are looked at for one that was rewritten, and of these"""
MOST_ALIKE = 40
"""so many, those written at about its time."""
_CHARS = 120
_CHECKPOINTS = (
    "refs/heads/entire/checkpoints/v1",
    "refs/remotes/*/entire/checkpoints/v1",
    "refs/entire/checkpoints/v2/full/*",
)
_CHECKPOINT = re.compile(r"[0-9a-f]{12}|[0-9A-Za-z]{26}")
_DATED = re.compile(r"\d{4}-\d\d-\d\d-")
MOST_SESSIONS = 5
_AGENT = re.compile(
    r"\b(claude|codex|copilot|cursor(?:agent)?|devin|gemini|aider|amp|opencode|qwen|droid|kiro"
    r"|windsurf|cline|junie|jules|kilo)\b",
    re.IGNORECASE,
)


class AgentMark(Value):
    """One claim that an agent made a commit, or lines of it.

    `lines` counts those of the lines asked about that it names, 0 where it names none. `of` is how
    it came to this commit: written for it, for one with the same `change` or `file` that was
    rewritten, or for one that has the same `text`.
    """

    source: Source
    tool: str = ""
    model: str = ""
    session: str = ""
    checkpoint: str = ""
    lines: int = 0
    of: Link = "commit"


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
    known = parse_note(note)
    marks = _noted(known, origin) if known.lines else _of_rewritten(root, origin)
    found = [*marks, *_of_trailers(root, trailers.split("\n"))]
    return tuple(dict.fromkeys(found))[:MOST_MARKS]


def _noted(note: AiNote, origin: BlamedCommit) -> list[AgentMark]:
    """Return the claims of a note about the lines of its commit that were asked about."""
    found: dict[str, int] = {}
    for one in note.lines:
        if one.path == origin.path:
            count = sum(one.first <= line <= one.last for line in origin.numbers)
            found[one.key] = found.get(one.key, 0) + count
    return list(_marks(note, found, of="commit"))


def _marks(note: AiNote, counts: Mapping[str, int], *, of: Link) -> Iterator[AgentMark]:
    for key, lines in counts.items():
        session = note.session_of(key)
        if session and lines:
            yield AgentMark(
                source="git-ai",
                tool=one_line(session.tool, _CHARS),
                model=one_line(session.model, _CHARS),
                session=one_line(session.id, _CHARS),
                lines=lines,
                of=of,
            )


def _of_rewritten(root: str, origin: BlamedCommit) -> list[AgentMark]:
    """Return what notes say of the commits that a rebase, an amend or a squash made this one of.

    Such a commit has the same change (by its patch id), or left the file as this one did (by its
    blob); of a squash only the last one did, and of the others their lines are left. All are known
    by their text.
    """
    rows = (git_output(root, "notes", f"--ref={REF}", "list") or "").splitlines()[:MOST_NOTED]
    noted = {commit: note for note, _, commit in (row.partition(" ") for row in rows)}
    if not noted or not any(text.strip() for text in origin.texts):
        return []
    words = ("--no-walk=unsorted", "--ignore-missing", "--format=%at %H", *noted, "--")
    made = (row.partition(" ") for row in (git_output(root, "log", *words) or "").splitlines())
    near = sorted((abs(time_ms(at_s) - origin.authored_ms), commit) for at_s, _, commit in made)
    patch = patch_id(root, origin.hash)
    alike: list[AgentMark] = []
    with Blobs(root, most_bytes=BLOB_BYTES) as blobs:
        own = blobs.get(f"{origin.hash}:{origin.path}")
        for _, commit in near[:MOST_ALIKE]:
            file = blobs.get(f"{commit}:{origin.path}")
            note = parse_note(blobs.text(noted.get(commit, "")))
            if file is None or origin.path not in {one.path for one in note.lines}:
                continue
            is_same_file = own is not None and own.id == file.id
            is_same_change = not is_same_file and bool(patch) and patch == patch_id(root, commit)
            of: Link = "file" if is_same_file else "change" if is_same_change else "text"
            marks = _by_text(file.text, note, origin, of=of)
            if marks and of != "text":
                return marks
            alike = alike or marks
    return alike


def _by_text(whole: str, note: AiNote, origin: BlamedCommit, *, of: Link) -> list[AgentMark]:
    lines = whole.split("\n")
    wanted = [text for text in origin.texts if text.strip()]
    held: dict[str, set[str]] = {}
    for one in note.lines:
        if one.path == origin.path:
            held.setdefault(one.key, set()).update(lines[one.first - 1 : one.last])
    counts = {key: sum(text in texts for text in wanted) for key, texts in held.items()}
    return list(_marks(note, counts, of=of))


def patch_id(root: str, commit: str) -> str:
    """Return what a commit's change is known by wherever it is applied; "" where it has none.

    Lines around it do not count, since a rebase may have changed them.

    Raises:
        NotFound: git is not installed or does not answer in time, or `root` cannot be a path.
    """
    git = git_at(root, in_all=True)
    words = ("diff-tree", "-p", "-U0", "--no-color", "--no-ext-diff", "--no-textconv", commit, "--")
    with (
        git.execute(("git", *words)) as diff,
        git.execute(("git", "patch-id", "--stable"), diff.stdout.fileno()) as running,
    ):
        return running.all().decode("ascii", "replace").partition(" ")[0]


def _of_trailers(root: str, trailers: Sequence[str]) -> Iterator[AgentMark]:
    for trailer in trailers:
        name, _, value = trailer.partition(":")
        value = value.strip()
        match name.strip().lower():
            case "entire-checkpoint" if _CHECKPOINT.fullmatch(value):
                sessions = list(_sessions_of(root, value))
                yield from (
                    AgentMark(source="entire", tool=tool, session=session, checkpoint=value)
                    for tool, session in sessions or [("", "")]
                )
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


def _sessions_of(root: str, checkpoint: str) -> Iterator[tuple[str, str]]:
    """Yield the agent and the id of each session of a checkpoint, as far as the clone has them."""
    folder = f"{checkpoint[:2]}/{checkpoint[2:]}"
    with Blobs(root) as blobs:
        for ref, number in product(refs(root, *_CHECKPOINTS), range(MOST_SESSIONS)):
            said = json_text.object_in(blobs.text(f"{ref}:{folder}/{number}/metadata.json"))
            if isinstance(said.get("session_id"), str):
                session = _DATED.sub("", said["session_id"], count=1)
                yield one_line(str(said.get("agent") or ""), _CHARS), one_line(session, _CHARS)
