"""Notes of git-ai: which agent wrote which lines of a commit, and its words where they are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from observer.core.config import Settings
from observer.core.errors import ObserverError
from observer.core.events import Custom, Event, Prompt, Reply
from observer.core.routes import repository_route
from observer.core.text import counted, listed
from observer.git.agent_marks import REF, AiNote, AiSession, ai_notes
from observer.git.launch import GitTimeout
from observer.git.objects import committed_ms, contents
from observer.git.process import git_output
from observer.importers.jsonl import Problems, time_of
from observer.importers.source import FoundSession, SessionSource

NAME = "git-ai"
_CLIENTS = {"claude": "claude-code", "gemini-cli": "gemini", "github-copilot": "copilot"}
"""What observer calls the clients that git-ai calls otherwise."""
_MOST_FILES = 20


def find(paths: Sequence[Path], problems: Problems) -> list[FoundSession]:
    """Return the repositories that have such notes, each given by its `.git`."""
    found = []
    for path in dict.fromkeys(paths):
        root = str(path.parent if path.name == ".git" else path)
        try:
            times = list(_times(root, [commit for commit, _ in ai_notes(root)]).values())
            state = git_output(root, "rev-parse", "--verify", "--quiet", REF) or ""
        except (ObserverError, GitTimeout, OSError) as error:
            problems.add(f"unreadable notes ({error})", path)
            continue
        if times:
            found.append(FoundSession(root, (path,), root, min(times), max(times), 0, state=state))
    return found


def read(found: FoundSession, _: Settings, problems: Problems) -> Iterator[Event]:
    """Yield what was said and written, of sessions, by commit; of commits that are gone nothing."""
    notes = dict(ai_notes(found.folder))
    times = _times(found.folder, notes)
    for commit, note in notes.items():
        if commit not in times:
            problems.add("note of a commit that is gone", found.paths[0])
            continue
        for session in note.sessions:
            yield from _events(found.folder, commit, times[commit], note, session)


def _times(root: str, commits: Iterable[str]) -> dict[str, int]:
    made = ((name, committed_ms(data or b"")) for name, data in contents(root, commits))
    return {name: at_ms for name, at_ms in made if at_ms is not None}


def _events(
    root: str, commit: str, at_ms: int, note: AiNote, session: AiSession
) -> Iterator[Event]:
    client = _CLIENTS.get(session.tool, session.tool) or NAME

    def event(body: Custom | Prompt | Reply, when_ms: int, *name: str) -> Event:
        identity = "\0".join((NAME, commit, session.key, *name)).encode(errors="replace")
        return Event(
            id=f"import-{blake2b(identity, digest_size=16).hexdigest()}",
            at_ms=when_ms,
            client=client,
            body=body,
            session=session.id,
            cwd=root,
            route=repository_route(client),
            author="person" if isinstance(body, Prompt) else "agent",
            branch="",
            model=session.model,
        )

    for number, (role, words, when) in enumerate(session.messages):
        said_ms = time_of({"timestamp": when})
        if role in {"user", "assistant"}:
            body = Prompt(text=words) if role == "user" else Reply(text=words)
            yield event(body, at_ms if said_ms is None else said_ms, str(number))
    written = Counter[str]()
    for row in note.lines:
        if row.key == session.key:
            written[row.path] += max(0, row.last - row.first + 1)
    if written:
        of_files = [f"{counted(lines, 'line')} of {path}" for path, lines in written.items()]
        who = f"{session.tool or 'an agent'} ({session.model})".removesuffix(" ()")
        text = f"{who} wrote {listed(of_files, _MOST_FILES)} in commit {commit[:10]}"
        yield event(Custom(name="attribution", text=text, files=tuple(written)), at_ms)


SOURCES = (
    SessionSource(
        NAME, ".git", "", "", find=find, read=read, inside=(".git",), is_of_sessions=False
    ),
)
