"""The digest of a session: its requests and its title.

Pure functions of the session's state, so that they also work for a session that was cut off. A
session whose prompts are too short to name anything is titled by what it changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from observer.code.languages import language_of
from observer.core import text
from observer.core.model import Session
from observer.core.text import listed, one_line
from observer.observations import session_commits, session_state, turns
from observer.observations.drafts import TITLE
from observer.observations.session_state import FileState, SessionState

_SHOWN = 10
"""Most requests that are shown: the first and the last ones."""
_CHARS = 700
_FILES_SHOWN = 3
_SYMBOLS_SHOWN = 3
_SYMBOL_CHARS = 60
_WORD = re.compile(r"[^\W\d_]{4,}")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_STEM = 5
_IN_COMMON = 2
"""Stems of a request that what was done must repeat, for the request to name it."""


def request_of(session: Session, known: SessionState) -> str:
    """Return the requests in order, else the subject of a commit or the branch."""
    if known.asks:
        return "; ".join(_shortened(known.asks))
    if known.commits:
        return session_commits.subject_of(known.commits[0])
    is_named = session.branch not in ("", "main", "master", "HEAD")
    return f"Work on {text.named(session.branch)}" if is_named else ""


def title_of(session: Session, known: SessionState) -> str:
    """Return the first request that work took up, else what was committed, planned or asked."""
    asked = turns.title_of(known.turn) if known.turn else ""
    did = _stems(*_work(known))
    named = (one for one in known.asks if len(_stems(one) & did) >= _IN_COMMON)
    # The subject of a commit or plan is shorter than a long request, and says what came of it.
    taken_up = [one for one in named if not (one.endswith("\u2026") and _made(known))][:1]
    said = (*taken_up, _made(known), *known.asks[:1], known.sole_commit, _changed(known), asked)
    return one_line(next(filter(None, (*said, request_of(session, known))), ""), TITLE)


def _work(known: SessionState) -> Iterator[str]:
    """Yield the texts of what a session did and said last, which need not repeat a request."""
    yield from (*known.commits, *known.later_commits, known.plan, known.begun_plan)
    yield session_state.last_reply(known)
    for path, file in known.files.items():
        if file.writes:
            yield from (path, *file.symbols)


def _stems(*texts: str) -> set[str]:
    """Return the beginnings of the longer words of texts, of names in code their parts."""
    words = (word for text in texts for word in _WORD.findall(_HUMP.sub(" ", text)))
    return {word[:_STEM].casefold() for word in words}


def file_text(path: str, file: FileState) -> str:
    """Return a file with what was changed in it."""
    symbols = [one_line(symbol, _SYMBOL_CHARS) for symbol in file.symbols]
    inside = f" ({listed(symbols, _SYMBOLS_SHOWN)})" if symbols and language_of(path) else ""
    lines = f" +{file.added} -{file.removed}" if file.added or file.removed else ""
    return f"{path}{inside}{lines}"


def is_changed(file: FileState) -> bool:
    """Return True if a file was changed, and the change not reverted."""
    return file.writes > 0 and not file.is_undone


def _made(known: SessionState) -> str:
    """Return what a session committed, in a word of its requests, or planned; "" for neither."""
    subject = session_commits.subject_of(known.commits[0]) if known.commits else ""
    if subject and (not known.asks or _stems(subject) & _stems(*known.asks)):
        more = f" and {len(known.commits) - 1} more" if known.commits[1:] else ""
        return f"{subject}{more}"
    if plan := known.plan or known.begun_plan:
        return f"Plan: {plan}"
    return ""


def _changed(known: SessionState) -> str:
    """Return which files a session changed; "" for none."""
    changed = [path for path, file in known.files.items() if is_changed(file)][::-1]
    if not changed:
        return ""
    shown = [file_text(path, known.files[path]) for path in changed[:_FILES_SHOWN]]
    verb = "Changed" if known.files[changed[0]].fate != "created" else "Created"
    return f"{verb} {listed([*shown, *changed[_FILES_SHOWN:]], _FILES_SHOWN)}"


def _shortened(asks: Sequence[str]) -> list[str]:
    """Return requests, cut to equal lengths; those in the middle are only counted."""
    half = _SHOWN // 2
    left_out = len(asks) - 2 * half
    named = [*asks[:half], *asks[-half:]] if left_out > 0 else asks
    room = max(_CHARS // len(named), 60)
    said = [one_line(one, room) for one in named]
    return [*said[:half], f"({left_out} more)", *said[half:]] if left_out > 0 else said


def is_trivial(session: Session) -> bool:
    """Return True if a session has nothing to resume: at most one question was asked.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild makes it anew.
    """
    return bool(session.state) and did_nothing(session_state.decode(session.state))


def did_nothing(known: SessionState) -> bool:
    """Return True if nothing was done in a session but to ask one question."""
    did = (
        known.commits,
        known.later_commits,
        known.remembered,
        known.customs,
        known.plan,
        known.lists,
        any(file.writes for file in known.files.values()),
        any(ran.is_check for ran in known.commands.values()),
    )
    return len(known.asks) <= 1 and not any(did)
