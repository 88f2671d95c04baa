"""The digest of a session: its requests, its title, and what it left open.

Pure functions of the session's state, so that they also work for a session that was cut off. A
session whose requests name nothing ("fix them", a pasted log) is titled by what it changed.

What a session left open: the work that the next one may take up.

"""

from __future__ import annotations

from observer.code.languages import language_of
from observer.core import text
from observer.core.model import Session
from observer.core.text import ENDS, WIDE_ENDS, listed, one_line
from observer.core.value import Value
from observer.observations import planning, prompts, replies, session_commits, session_state
from observer.observations.drafts import TITLE
from observer.observations.prompts import Ask
from observer.observations.session_state import FileState, SessionState

_LATER = 10
"""Most later requests that are shown: the first and the last ones."""
_LATER_CHARS = 600
_FILES_SHOWN = 3
_SYMBOLS_SHOWN = 3
_SYMBOL_CHARS = 60


def request_of(session: Session, known: SessionState, *, first_chars: int = prompts.SAID) -> str:
    """Return what was asked, else the subject of a commit or the branch.

    The first request is cut to `first_chars`, so that later ones are shown too.
    """
    if known.asks:
        first, *later = known.asks
        said = [_ended(one_line(first.said, first_chars))]
        if later:
            said.append(f"Then: {_ended('; '.join(_shortened(later)))}")
        return " ".join(said)
    if known.commits:
        return _ended(session_commits.subject_of(known.commits[0]))
    is_named = session.branch not in ("", "main", "master", "HEAD")
    return f"Work on {text.named(session.branch)}." if is_named else ""


def title_of(session: Session, known: SessionState) -> str:
    """Return the first request that names something, else what was changed; "" if unknown."""
    named = (one.title for one in known.asks if one.title and not prompts.is_vague(one.title))
    title, done = next(named, ""), _changed(known)
    # A commit's subject is shorter than a long request, and says what came of a complaint.
    is_wordy = title.endswith("\u2026") or prompts.is_statement(title)
    if title and not (is_wordy and (known.commits or _planned(known))):
        return title
    if done:
        return one_line(done, TITLE)
    asked = next((one.title or one.said for one in known.asks), "")
    return one_line((asked or request_of(session, known)).rstrip("."), TITLE)


def file_text(path: str, file: FileState) -> str:
    """Return a file with what was changed in it."""
    symbols = [one_line(symbol, _SYMBOL_CHARS) for symbol in file.symbols]
    inside = f" ({listed(symbols, _SYMBOLS_SHOWN)})" if symbols and language_of(path) else ""
    lines = f" +{file.added} -{file.removed}" if file.added or file.removed else ""
    return f"{path}{inside}{lines}"


def is_changed(file: FileState) -> bool:
    """Return True if a file was changed, and the change not reverted."""
    return file.writes > 0 and not file.is_undone


def _planned(known: SessionState) -> str:
    """Return the heading of a session's plan, whether or not another session has begun it."""
    begun = (one for one in known.achieved if one.startswith(planning.PLANNED))
    return known.plan or next(begun, "").removeprefix(planning.PLANNED).removesuffix(planning.BEGUN)


def _changed(known: SessionState) -> str:
    """Return what a session did, according to its commits, its plan, the agent or its files."""
    if known.commits:
        more = f" and {len(known.commits) - 1} more" if known.commits[1:] else ""
        return f"{session_commits.subject_of(known.commits[0])}{more}"
    if plan := _planned(known):
        return f"Plan: {plan}"
    if known.achieved:
        return replies.unlabelled(known.achieved[0]).rstrip(".")
    if known.later_commits:
        return session_commits.subject_of(known.later_commits[0])
    changed = [path for path, file in known.files.items() if is_changed(file)][::-1]
    if not changed:
        return ""
    shown = [file_text(path, known.files[path]) for path in changed[:_FILES_SHOWN]]
    verb = "Changed" if known.files[changed[0]].fate != "created" else "Created"
    return f"{verb} {listed([*shown, *changed[_FILES_SHOWN:]], _FILES_SHOWN)}"


def _shortened(asks: list[Ask]) -> list[str]:
    """Return later requests, cut to equal lengths; those in the middle are only counted."""
    half = _LATER // 2
    left_out = len(asks) - 2 * half
    named = [*asks[:half], *asks[-half:]] if left_out > 0 else asks
    room = max(_LATER_CHARS // len(named), 60)
    said = [one_line(one.said.rstrip(f"{ENDS}{WIDE_ENDS}"), room) for one in named]
    return [*said[:half], f"({left_out} more)", *said[half:]] if left_out > 0 else said


def _ended(sentence: str) -> str:
    return sentence if sentence[-1:] in f"{ENDS}{WIDE_ENDS}\u2026:" else f"{sentence}."


REQUEST_CHARS = 160
"""Length of the first request, so that the later ones are shown too."""


class Unfinished(Value):
    """What a session left open; every field may be empty.

    `request` is what was asked; `written` are the files that it wrote, newest first, and `dirty`
    those of them that no commit is known to have; `steps` are what the agent said or listed as
    still to do, `rejected` what was tried and did not help. `is_trivial` if the session was only a
    question or a greeting. Failing checks are in the project's state.
    """

    request: str = ""
    written: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    is_trivial: bool = False

    def __bool__(self) -> bool:
        """Return True if anything was left open: changes, or a plan."""
        return bool(self.dirty or self.steps)


def unfinished(session: Session) -> Unfinished:
    """Return what a session left open.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild makes it anew.
    """
    known = session_state.decode(session.state)
    return Unfinished(
        request=request_of(session, known, first_chars=REQUEST_CHARS),
        written=session_commits.written_files(known),
        dirty=session_commits.open_files(known),
        steps=planning.steps_of(known),
        rejected=known.rejected,
        is_trivial=_is_trivial(known),
    )


def is_trivial(session: Session) -> bool:
    """Return True if a session has nothing to resume: at most one question was asked.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild makes it anew.
    """
    return bool(session.state) and _is_trivial(session_state.decode(session.state))


def _is_trivial(known: SessionState) -> bool:
    did = (
        known.commits,
        known.later_commits,
        known.remembered,
        known.customs,
        known.plan,
        known.steps,
        known.lists,
        any(file.writes for file in known.files.values()),
        any(ran.is_check for ran in known.commands.values()),
    )
    return len(known.asks) <= 1 and not any(did)
