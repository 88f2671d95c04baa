"""Commits that made lines of a file or touched it, what they were before, and claims of agents.

Earlier forms of a commit are those that history has no more: a rebase, an amend or a pick keeps
author and time, a squash the lines only. A note of git-ai (3.0.0) has files with lines by key,
`---`, and a JSON object that says what the keys stand for: `h_…` for people, `s_…::t_…` for a tool
call of a session, or of a prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from observer.core import json_text
from observer.core.errors import NotFound
from observer.core.text import one_line
from observer.core.value import Value
from observer.git.patch import RECORD, time_ms, unquote_path
from observer.git.process import git_output, stream_lines

UNCOMMITTED = ""
"""Hash of what no commit has taken in yet."""

_LINE = re.compile(r"([0-9a-f]{40,64}) (\d+) \d+")
_FILE = "filename "
_MOST_BEFORE = 12
"""Commits of a file that are looked at for the last one before another."""
_MOST_MOVES = 300
_SUBJECT_CHARS = 1_000
_REWRITTEN_MS = 2_000
"""git commits within this time of when it takes down the author's, unless it rewrites."""
_WORD = re.compile(r"\w{2}")
_HUNK = re.compile(r"@@ -\d+(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_PLAIN = ("--no-mailmap", "--no-show-signature", "--no-color", "--encoding=UTF-8")
_LOG = ("--literal-pathspecs", "log", "--format=%H%x00%an%x00%at%x00%ct%x00%s", *_PLAIN)


class BlamedCommit(Value):
    """A commit that made part of a file. Times are its own; 0 where it is not committed.

    `path` is what the file was called then, `earlier_path` before, where the commit renamed it.
    `lines` counts those that it made of the ones asked about, `texts` is what they say, `numbers`
    where they stood; `similar` counts lines that only look like its own. `before_ms` is when the
    file was committed last before it, 0 for never. `forms` are commits beside HEAD's history that
    had some of its lines, the oldest first; `brought` is all that it added to the file.
    """

    hash: str
    path: str = ""
    earlier_path: str = ""
    subject: str = ""
    author: str = ""
    authored_ms: int = 0
    committed_ms: int = 0
    before_ms: int = 0
    lines: int = 0
    similar: int = 0
    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    forms: tuple[BlamedCommit, ...] = ()
    brought: tuple[str, ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        """What the file was called while the commit was worked on, as far as it is known."""
        return frozenset(filter(None, (self.path, self.earlier_path)))

    @property
    def is_rewritten(self) -> bool:
        """Whether git made it of an older commit, such as by a rebase: its order is not of work."""
        return bool(self.forms) or self.committed_ms > self.authored_ms + _REWRITTEN_MS

    def is_form_of(self, other: BlamedCommit) -> bool:
        """Return True if one of the two was made of the other, which keeps its author and time."""
        return (self.author, self.authored_ms) == (other.author, other.authored_ms)


class _Line(NamedTuple):
    commit: str
    path: str
    text: str
    number: int


def blame_lines(root: str, path: str, *, first: int, last: int) -> list[BlamedCommit]:
    """Return the commits behind some lines of a file as it is on the disk, newest first.

    Behind them stand those that lines only look like. Lines count from 1; the last is included.
    Raises: NotFound (git does not know the file or such a line, or does not answer).
    """
    made = _lines(root, path, first, last, "-w")
    if made is None:
        raise NotFound(
            f"git knows no line {first} of {path}", hint="name a committed file and a line of it"
        )
    alike = _lines(root, path, first, last, "-w", "-M", "-C") or made
    if len(alike) != len(made):  # the file was written between the two
        alike = made
    own = {line.commit for line in made}
    earlier = [
        was for was, now in zip(alike, made, strict=True) if was.commit not in {*own, now.commit}
    ]
    return _origins(root, made) + [
        replace(one, lines=0, similar=one.lines, texts=(), numbers=())
        for one in _origins(root, earlier)
    ]


def _lines(root: str, path: str, first: int, last: int, *options: str) -> list[_Line] | None:
    words = ("blame", "--porcelain", *options, f"-L{first},{last}", "--", path)
    answer = git_output(root, *words)
    if answer is None:
        return None
    found: list[_Line] = []
    paths: dict[str, str] = {}
    commit, number = "", 0
    for line in answer.split("\n"):
        if line.startswith("\t"):
            found.append(_Line(commit, paths[commit], line[1:], number))
        elif header := _LINE.match(line):
            # What no commit has taken in bears a hash of zeros.
            commit = header[1] if header[1].strip("0") else UNCOMMITTED
            number = int(header[2])
        elif line.startswith(_FILE):
            paths.setdefault(commit, unquote_path(line.removeprefix(_FILE).encode()))
    return found


def _origins(root: str, lines: Sequence[_Line]) -> list[BlamedCommit]:
    made: dict[str, list[_Line]] = {}
    paths = {line.commit: line.path for line in reversed(lines)}
    for line in lines:
        made.setdefault(line.commit, []).append(line)
    hashes = [commit for commit in made if commit]
    answer = git_output(root, *_LOG, "--no-walk=unsorted", *hashes, "--") if hashes else ""
    commits = [commit_of(line) for line in (answer or "").split("\n") if line]
    commits.sort(key=lambda one: -one.committed_ms)
    if UNCOMMITTED in made:
        commits.insert(0, BlamedCommit(hash=UNCOMMITTED))
    return [
        replace(
            one,
            path=paths[one.hash],
            lines=len(made[one.hash]),
            texts=tuple(line.text for line in made[one.hash]),
            numbers=tuple(line.number for line in made[one.hash]),
        )
        for one in commits
    ]


def with_previous_time(root: str, origin: BlamedCommit, own: Collection[str] = ()) -> BlamedCommit:
    """Return one of `blame_lines` with its `before_ms` and `earlier_path`.

    `own` are authors of commits that were made here: another's, which a rebase put before this one,
    does not say when this one was begun.
    """
    path = ("--", origin.path)
    commits = _followed(root, f"-{_MOST_BEFORE}", origin.hash or "HEAD", *path)
    own = {*own, origin.author}
    times = [
        # A rebase commits anew, but keeps when something was written.
        time
        for one in commits
        if one.hash != origin.hash and (one.author in own or not origin.hash)
        # What stands before it now may have been written later.
        if (time := min(one.authored_ms, one.committed_ms)) <= origin.authored_ms or not origin.hash
    ]
    earlier = next((one.earlier_path for one in commits if one.hash == origin.hash), "")
    return replace(origin, before_ms=times[0] if times else 0, earlier_path=earlier)


def local_authors(root: str) -> frozenset[str]:
    """Return whose commits were made here, as far as the reflog goes back. Raises: NotFound."""
    made = ("--extended-regexp", r"--grep-reflog=^commit( \((initial|amend|merge)\))?:")
    words = ("log", "-g", f"-{_MOST_MOVES}", *_PLAIN, "--all", "--format=%an", *made)
    return frozenset(filter(None, (git_output(root, *words) or "").split("\n")))


def file_commits(root: str, path: str, *, limit: int) -> list[BlamedCommit]:
    """Return the last commits that touched a file, by its name then, newest first; or NotFound."""
    found = _followed(root, f"-{limit}", "HEAD", "--", path)
    if not found:
        raise NotFound(f"git knows no file {path}", hint="name a committed file")
    return found[:limit]


def last_commits(root: str, paths: Collection[str]) -> dict[str, str]:
    """Return the newest commit of each file, of folders all. Raises: NotFound, ObserverError."""
    words = ("log", "--format=tformat:%x00%H%x00", "--name-only", "--no-renames", *_PLAIN)
    asked = ("--literal-pathspecs", *words, "--diff-merges=combined", "--", *paths)
    found: dict[str, str] = {}
    waiting, commit = set(paths), ""
    for line in stream_lines(root, asked, record=RECORD, fields=1):
        if line.startswith(RECORD):
            commit = line.strip(RECORD + b"\n").decode()
        elif name := line.rstrip(b"\n"):
            path = unquote_path(name)
            found.setdefault(path, commit)
            waiting.discard(path)
            if not waiting:
                break
    return found


def trunk_times(root: str, *, at_most: int) -> list[tuple[int, str]]:
    """Return the newest first parents of HEAD, each behind when it was made. Raises: NotFound."""
    words = ("log", "--first-parent", f"--max-count={at_most}", "--format=%ct %H", *_PLAIN)
    lines = (git_output(root, *words) or "").splitlines()
    return [
        (time_ms(made_s), commit) for made_s, _, commit in (line.partition(" ") for line in lines)
    ]


def has_words(text: str) -> bool:
    """Return True unless a line is only brackets and the like, which anybody writes."""
    return _WORD.search(text) is not None


def lines_of(patch: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the lines that a patch without context adds, by path and number."""
    found: dict[str, dict[int, str]] = {}
    path, number, old, new = "", 0, 0, 0
    for line in patch:
        if old and line.startswith("-"):
            old -= 1
        elif new and line.startswith("+"):
            found.setdefault(path, {})[number] = line[1:]
            number, new = number + 1, new - 1
        elif hunk := _HUNK.match(line):
            old, number, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        elif line.startswith("+++ "):
            path = unquote_path(line[4:].rstrip("\t").encode()).removeprefix("b/")
    return found


def _followed(root: str, *words: str) -> list[BlamedCommit]:
    """Return commits of one file, followed over renamings, each with its names of the file."""
    answer = git_output(root, *_LOG, "--follow", "--name-status", *words)
    found: list[BlamedCommit] = []
    for line in answer.split("\n") if answer else ():
        if "\0" in line:
            found.append(commit_of(line))
        elif line and found:
            *earlier, path = (unquote_path(name.encode()) for name in line.split("\t")[1:])
            found[-1] = replace(found[-1], path=path, earlier_path="".join(earlier))
    return found


def commit_of(line: str) -> BlamedCommit:
    """Return the commit of a line of git's log, its fields parted by NUL."""
    commit, author, authored_s, committed_s, subject = line.split("\0", 4)
    return BlamedCommit(
        hash=commit,
        subject=subject[:_SUBJECT_CHARS],
        author=author,
        authored_ms=time_ms(authored_s),
        committed_ms=time_ms(committed_s),
    )


_MOST = 40
"""Newest commits beside history that are looked at."""
_BESIDE = ("--reflog", "--branches", f"--max-count={_MOST}", "^HEAD")
"""Which commits HEAD's history lacks."""
_PATCH = (
    *("-p", "-U0", "--diff-merges=off", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


def with_earlier_forms(
    root: str, origins: Sequence[BlamedCommit], own: Collection[str]
) -> list[BlamedCommit]:
    """Return the commits with `before_ms`, `forms` and `brought`. Raises: NotFound."""
    names = sorted({name for one in origins for name in one.paths})
    asked = [one.hash for one in origins if one.hash]
    beside = list(_patches(root, names, *_BESIDE)) if names else []
    made = list(_patches(root, names, "--no-walk", *asked)) if names and asked else []
    return [
        replace(
            with_previous_time(root, one, own),
            brought=tuple(text for each in made if each.hash == one.hash for text in each.texts),
            forms=tuple(with_previous_time(root, form, own) for form in _forms(one, beside)),
        )
        for one in origins
    ]


def _patches(root: str, names: Sequence[str], *which: str) -> Iterator[BlamedCommit]:
    """Yield each of some commits and of these files, with the lines that it brought into it."""
    answer = git_output(root, *_LOG, *_PATCH, *which, "--", *names) or ""
    commit, patch = BlamedCommit(hash=""), list[str]()
    for line in (*answer.split("\n"), "\0"):
        if "\0" not in line:
            patch.append(line)
            continue
        for path, lines in lines_of(patch).items():
            yield replace(commit, path=path, texts=tuple(lines.values()))
        patch.clear()
        commit = commit_of(line) if line != "\0" else commit


def _forms(origin: BlamedCommit, beside: Sequence[BlamedCommit]) -> Iterator[BlamedCommit]:
    """Yield the forms that a commit had, and others with lines of it: each line's first of each."""
    wanted = {text.strip() for text in origin.texts if has_words(text)}
    found: dict[tuple[str, int], set[str]] = {}
    for one in sorted(beside, key=lambda each: each.committed_ms):
        is_later = bool(origin.hash) and one.committed_ms > origin.committed_ms
        if is_later or one.path not in origin.paths or one.hash == origin.hash:
            continue
        lineage = one.author, one.authored_ms
        known = found.get(lineage, set())
        brought = wanted.intersection(text.strip() for text in one.texts) - known
        if brought or (one.is_form_of(origin) and lineage not in found):
            found[lineage] = known | brought
            yield one


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
            said = agent.items() if isinstance(agent, dict) else ()
            named = {"tool", "id", "model"}
            words = {name: word for name, word in said if name in named and isinstance(word, str)}
            yield AiSession(key=key, **words)


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
