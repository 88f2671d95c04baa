"""A git history as a set: subjects are the queries, what the diffs alone say are the documents.

The documents are stored as the product stores any commit, without their messages, so a query finds
nothing by its own words. The same history gives the same set.

Subjects of commits as queries: which of them say something, and what of them is said. Pure.
"""

from __future__ import annotations

import re
from collections import Counter, deque

from msgspec.structs import replace

from evaluation.runner import Advance
from observer.core.errors import BadInput
from observer.core.events import Commit, Event
from observer.core.value import Value
from observer.git.log import commit_history, count_commits, is_partial
from observer.git.process import git_output

_MOST = 300
"""Characters of a subject that are looked at."""

_PREFIX = re.compile(r"(?:\[[^\]]{1,40}\]|[a-zA-Z]{2,12}(?:\([^)]{1,60}\))?!?:)\s+")
"""`feat(cart):` or `[cart]`: how a commit is filed, not what it does."""
_SUFFIX = re.compile(r"\s*\((?:#|GH-)\d{1,9}\)$")
_SILENT = re.compile(
    r"(?:(?:fixup|squash|amend)!|(?:merged?|revert(?:ed|s)?|bump(?:ed|s)?|releas(?:e|ed|es|ing)"
    r"|version|prepare (?:for )?(?:release|version)|v?\d+\.\d)\b)",
    re.IGNORECASE,
)
"""How a subject begins that repeats another one, or names a version."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_EMPTY_WORDS = (
    "a add added adding adds address after again all also an and another are as at be bit bug bugs"
    " bugfix bugfixes build by change changelog changed changes chore ci clean cleaned cleaning"
    " cleanup code comment comments commit correct corrected do doc docs documentation error errors"
    " few file files final first fix fixed fixes fixing for format formatting from further hotfix"
    " improve improved improvement improvements in initial into is issue issues it last lint linter"
    " linting little make merge minor misc more move new nit nits no not now of off old on one oops"
    " or out refactor refactored refactoring remove removed removes rename review small some sort"
    " still stuff style temp test testing tests that the them things this tidy tmp to try tweak"
    " tweaks typo typos up update updated updates use various warning warnings wip with work"
    " working"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
"""Words that do not distinguish one commit from another."""


def query_of(subject: str) -> str:
    """Return what a subject asks for: without its prefix and number; empty if it says too little.

    It says enough with two words that distinguish commits, or with four letters of a script other
    than Latin, which may stand without spaces.
    """
    text = _SUFFIX.sub("", subject[:_MOST].strip())
    text = _PREFIX.sub("", text, count=1) if _PREFIX.match(text) else text
    if _SILENT.match(text):
        return ""
    words = {word.casefold() for word in _WORD.findall(text)} - _EMPTY
    has_other_script = any(len(word) >= 4 and not word.isascii() for word in words)
    return text if len(words) > 1 or has_other_script else ""


MOST_DOCUMENTS = 5000
"""The newest commits that are read."""
MOST_QUERIES = 300
FEWEST_QUERIES = 20
"""With fewer, every interval would span half of what is possible."""

_ID = "eval-"


class CommitQuery(Value):
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
    queries: tuple[CommitQuery, ...]
    remarks: tuple[str, ...] = ()

    def hash(self, at: int) -> str:
        """Return the hash of a commit by its place."""
        return self.events[at].id.removeprefix(_ID)


def size(folder: str) -> int:
    """Return how many commits `read` looks at.

    Raises:
        NotFound: there is no repository, or no git.
    """
    return count_commits(folder, since=_since(folder))


def read(folder: str, *, advance: Advance = int) -> History:
    """Return the newest commits of a repository and what can be asked about them.

    Args:
        folder: any folder of the repository.
        advance: called for each commit that was read.

    Raises:
        NotFound: there is no repository, or no git.
        BadInput: too few of its commits can be asked about.
        ObserverError: git found the repository damaged.
    """
    newest: deque[tuple[Event, str]] = deque(maxlen=MOST_DOCUMENTS)
    for at_ms, commit in commit_history(folder, since=_since(folder)):
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


def _queries(events: tuple[Event, ...], subjects: tuple[str, ...]) -> tuple[CommitQuery, ...]:
    """Return at most `MOST_QUERIES`, each about one commit alone, in the order of the commits."""
    texts = [query_of(subject) for subject in subjects]
    times = Counter(text.casefold() for text in texts)
    asked = [
        CommitQuery(text=text, at=at)
        for at, text in enumerate(texts)
        if text and times[text.casefold()] == 1
    ]
    # Hashes are as good as chance, and a history that grows keeps most of its queries.
    chosen = sorted(asked, key=lambda query: events[query.at].id)[:MOST_QUERIES]
    return tuple(sorted(chosen, key=lambda query: query.at))


def _since(folder: str) -> str:
    """Return the commit before the newest `MOST_DOCUMENTS`, "" if there are not so many."""
    return git_output(folder, "rev-list", f"--skip={MOST_DOCUMENTS}", "--max-count=1", "HEAD") or ""


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
    if is_partial(folder):
        found.append("the clone is partial: only names of files were read, not what changed")
    return tuple(found)


def _is_shallow(folder: str) -> bool:
    return git_output(folder, "rev-parse", "--is-shallow-repository") == "true"
