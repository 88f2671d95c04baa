"""A git history as a set: subjects are the queries, what the diffs alone say are the documents.

The documents are told as the product tells any commit, but for their messages, so a query finds
nothing by its own words. The same history gives the same set.
"""

from __future__ import annotations

from collections import Counter, deque

from msgspec.structs import replace

from observer.capture.repository import count, history
from observer.errors import BadInput
from observer.evaluation.asking import Advance
from observer.evaluation.subjects import query_of
from observer.events import Commit, Event, Value
from observer.git.configuration import is_partial
from observer.git.mirror import settings_of
from observer.git.process import ask, repository_at

MOST_DOCUMENTS = 5000
"""The newest commits that are read."""
MOST_QUERIES = 300
FEWEST_QUERIES = 20
"""With fewer, every interval would span half of what is possible."""

_ID = "eval-"


class Query(Value):
    """What is asked, and the place of the commit that it is about."""

    text: str
    at: int


class History(Value):
    """Commits as events without their messages, oldest first, and the queries about some of them.

    `subjects` are what the messages began with, in the order of `events`; `remarks` say why less
    was read than there is.
    """

    folder: str
    events: tuple[Event, ...]
    subjects: tuple[str, ...]
    queries: tuple[Query, ...]
    remarks: tuple[str, ...] = ()

    def hash(self, at: int) -> str:
        """Return the hash of a commit by its place."""
        return self.events[at].id.removeprefix(_ID)


def size(folder: str) -> int:
    """Return how many commits `read` looks at.

    Raises:
        NotFound: there is no repository, or no git.
    """
    return count(folder, since=_since(folder))


def read(folder: str, *, advance: Advance = int) -> History:
    """Return the newest commits of a repository and what can be asked about them.

    Args:
        folder: any folder of the repository.
        advance: told of each commit that was read.

    Raises:
        NotFound: there is no repository, or no git.
        BadInput: too few of its commits can be asked about.
        ObserverError: git found the repository damaged.
    """
    newest: deque[tuple[Event, str]] = deque(maxlen=MOST_DOCUMENTS)
    for at_ms, commit in history(folder, since=_since(folder)):
        advance(1)
        # A merge repeats what it merges, and without a diff there is nothing to find.
        if commit.files and len(commit.parents) < 2:
            newest.append((_untitled(commit, at_ms), commit.subject))
    events = tuple(event for event, _ in newest)
    subjects = tuple(subject for _, subject in newest)
    queries = _queries(events, subjects)
    if len(queries) < FEWEST_QUERIES:
        raise _too_few(folder, len(queries))
    return History(
        folder=folder,
        events=events,
        subjects=subjects,
        queries=queries,
        remarks=_remarks(folder),
    )


def _untitled(commit: Commit, at_ms: int) -> Event:
    """Return a commit as an event that says what its diff says.

    It names no folder: there the pipeline would read the message that is left out here.
    """
    body = replace(commit, subject="", message="", action="import")
    return Event(
        id=_ID + commit.hash,
        at_ms=at_ms,
        client="git",
        body=body,
        dedup=f"commit:{commit.hash}",
        author="person",
    )


def _queries(events: tuple[Event, ...], subjects: tuple[str, ...]) -> tuple[Query, ...]:
    """Return at most `MOST_QUERIES`, each about one commit alone, in the order of the commits."""
    texts = [query_of(subject) for subject in subjects]
    times = Counter(text.casefold() for text in texts)
    asked = [
        Query(text=text, at=at)
        for at, text in enumerate(texts)
        if text and times[text.casefold()] == 1
    ]
    # Hashes are as good as chance, and a history that grows keeps most of its queries.
    chosen = sorted(asked, key=lambda query: events[query.at].id)[:MOST_QUERIES]
    return tuple(sorted(chosen, key=lambda query: query.at))


def _since(folder: str) -> str:
    """Return the commit before the newest `MOST_DOCUMENTS`, "" if there are not so many."""
    return ask(folder, "rev-list", f"--skip={MOST_DOCUMENTS}", "--max-count=1", "HEAD") or ""


def _too_few(folder: str, found: int) -> BadInput:
    if _is_shallow(folder):
        hint = "fetch the rest of the history: git fetch --unshallow"
    else:
        hint = "name a repository with more commits whose subjects say what they do"
    return BadInput(
        f"{folder} has {found} commits to ask about, {FEWEST_QUERIES} are needed", hint=hint
    )


def _remarks(folder: str) -> tuple[str, ...]:
    found = []
    if _is_shallow(folder):
        found.append("the clone is shallow: only part of the history was read")
    if is_partial(settings_of(repository_at(folder))):
        found.append("the clone is partial: only names of files were read, not what changed")
    return tuple(found)


def _is_shallow(folder: str) -> bool:
    return ask(folder, "rev-parse", "--is-shallow-repository") == "true"
