"""The summary of a session: six fields made from the session's state, without a model.

It is made anew, under the same id, whenever the session has changed.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.core.model import Item, Session, SummaryFields, iso, item_id, item_uuid
from observer.core.text import (
    ENDS,
    WIDE_ENDS,
    counted,
    distinct,
    duration_text,
    listed,
    one_line,
    quoted,
)
from observer.observations import (
    concepts,
    planning,
    session_commits,
    session_digest,
    session_state,
    turns,
)
from observer.observations.drafts import QUESTION, SUBTITLE, TITLE, content_hash
from observer.observations.open_failures import OpenFailure
from observer.observations.prompt_injection import clean, suspicion
from observer.observations.session_state import SessionState

FIELD_CHARS = 900
_FAILURES_SHOWN = 3
_FILES_SHOWN = 5
_WORTH_SAYING_MS = 1000
_SENTENCE_END = re.compile(r"\.(?: |$)")
_ENDED = f"{ENDS}{WIDE_ENDS}…:"
_WORDS_OF_STATUS = {"active": "open", "ended": "ended", "idle": "ended idle"}
_NOUNS = {
    "prompt": "prompt",
    "file-write": "edit",
    "file-read": "file read",
    "command": "command",
    "search": "lookup",
    "commit": "commit",
    "tool-use": "other tool use",
}


def summarize(session: Session) -> Item | None:
    """Return the summary of a session so far; None while nothing of substance happened.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild recreates it.
    """
    known = session_state.decode(session.state)
    if not _has_substance(known):
        return None
    known = _trusted(known)
    fields = SummaryFields(
        request=clean(session_digest.request_of(session, known)),
        investigated=_investigated(known),
        learned=_field([*known.remembered[-6:], *known.decided[-4:]]),
        completed=_completed(known),
        next_steps=next_steps(session, known),
        notes=_notes(session, known),
    )
    narrative = _narrative(fields)
    written = [path for path, file in known.files.items() if file.writes]
    return Item(
        id=item_id(session.id, "summary"),
        uuid=item_uuid(f"session-{session.id}-{session.external}", session.started_ms, "summary"),
        kind="summary",
        type="summary",
        title=_title(session, known, fields),
        subtitle=one_line(
            f"{session.client} session, {_WORDS_OF_STATUS[session.status]}", SUBTITLE
        ),
        narrative=narrative,
        concepts=concepts.of_files(written[-3:]),
        files_read=tuple(path for path, file in known.files.items() if file.reads),
        files_modified=tuple(written),
        summary=fields,
        category=QUESTION if _only_asked(known) else "",
        project_id=session.project_id,
        session_id=session.id,
        branch=session.branch,
        content_hash=content_hash(session.external, narrative),
        discovery_tokens=-(-len(narrative) // 4),
        folded=max(session.events, 1),
        created_ms=session.last_ms,
        updated_ms=session.last_ms,
    )


def _trusted(known: SessionState) -> SessionState:
    """Return the state without requests and paths that imitate markup."""
    asks = tuple(ask for ask in known.asks if not suspicion(ask))
    files = {path: file for path, file in known.files.items() if not suspicion(path)}
    return replace(known, asks=asks, files=files)


def _only_asked(known: SessionState) -> bool:
    """Return True if a session only asked what is remembered."""
    is_one = known.counts.get("prompt") == 1
    return is_one and known.turn is not None and turns.only_asks(known.turn)


def _has_substance(known: SessionState) -> bool:
    return any(
        (
            known.asks,
            known.plan,
            known.begun_plan,
            known.decided,
            known.files,
            known.commands,
            known.commits,
            known.has_searched,
            known.counts.get("delegation"),
            known.customs,
            known.remembered,
            known.lists,
        )
    )


def _title(session: Session, known: SessionState, fields: SummaryFields) -> str:
    """Return what was asked or changed, else what was done or investigated first."""
    did = fields.completed or fields.investigated
    return (
        clean(session_digest.title_of(session, known))
        or one_line(_SENTENCE_END.split(did, 1)[0], TITLE)
        or one_line(f"{session.client} session", TITLE)
    )


def _narrative(fields: SummaryFields) -> str:
    """Return all fields but the request, which is the title, as one searchable text."""
    named = (
        ("Completed", fields.completed),
        ("Learned", fields.learned),
        ("Next", fields.next_steps),
        ("Investigated", fields.investigated),
    )
    return "\n".join(f"{name}: {text}" for name, text in named if text)


def _investigated(known: SessionState) -> str:
    only_read = [path for path, file in known.files.items() if not file.writes]
    return _field([f"Read {listed(only_read[::-1], 8)}"] if only_read else [])


def _completed(known: SessionState) -> str:
    said = [f"Committed {listed(known.commits[-5:], 5)}"] if known.commits else []
    for verb in ("changed", "created", "deleted"):
        written = [
            path
            for path, file in known.files.items()
            if session_digest.is_changed(file)
            and (file.fate or "changed") == verb
            and not path.startswith(("/", "~"))
        ][::-1]
        shown = [
            session_digest.file_text(path, known.files[path]) for path in written[:_FILES_SHOWN]
        ]
        if written:
            said.append(
                f"{verb.capitalize()} {listed([*shown, *written[_FILES_SHOWN:]], _FILES_SHOWN)}"
            )
    if known.later_commits:
        said.append(f"Taken in by later commits: {listed(known.later_commits[-3:], 3)}")
    if known.plan:
        said.append(f"Planned: {known.plan}")
    if known.begun_plan:
        said.append(f"Planned: {known.begun_plan} (begun in a later session)")
    said += [*known.customs[-3:], *filter(None, [session_state.last_reply(known)])]
    return _field(said)


def next_steps(session: Session, known: SessionState) -> str:
    """Return what a session left open: red checks, work that is not committed, planned steps."""
    red = [one for one in known.failing[::-1] if not one.is_rewritten]
    said = [_failing_text(one) for one in red[:_FAILURES_SHOWN]]
    said += _uncommitted(session, known)
    return _field([*said, *planning.steps_of(known)])


def _uncommitted(session: Session, known: SessionState) -> list[str]:
    """Return the files that are not committed, and those in git's stash."""
    if not session.branch and not known.commits:
        return []
    dirty = session_commits.open_files(known)
    aside = [path for path in dirty if known.files[path].is_stashed]
    there = [path for path in dirty if path not in aside]
    what = "Not committed" if known.is_git_asked else "No commit known"
    said = [f"{what} {_as_of(session)}: {listed(there, 8)}"] if there else []
    return [*said, f"In git's stash: {listed(aside, 8)}"] if aside else said


def _as_of(session: Session) -> str:
    """Return as of when a statement about a session's work tree holds."""
    minute = _minute(session.last_ms)
    return f"at {minute}" if session.status == "active" else f"when the session ended ({minute})"


def _notes(session: Session, known: SessionState) -> str:
    counts = [
        counted(known.counts[kind], noun) for kind, noun in _NOUNS.items() if known.counts.get(kind)
    ]
    length_ms = session.last_ms - session.started_ms
    length = f" in {duration_text(length_ms)}" if length_ms >= _WORTH_SAYING_MS else ""
    said = [f"{', '.join(counts)}{length}"] if counts else []
    if known.models:
        said.append(f"Models: {listed(known.models, 4)}")
    return _field(said)


def _failing_text(one: OpenFailure) -> str:
    said = f": {one.said}" if one.said else ""
    error = f" - {quoted(one.error)}" if one.error else ""
    return f"{one.head} failed at {_minute(one.last_ms)}{said}{error}"


def _minute(at_ms: int) -> str:
    at = iso(at_ms)
    return f"{at[:10]} {at[11:16]} UTC"


def _field(parts: list[str]) -> str:
    """Return sentences, each with a full stop, as a field of at most `FIELD_CHARS`.

    Those that imitate the markup of a model are left out, as a summary is trusted.
    """
    trusted = map(clean, parts)
    said = [part if part[-1] in _ENDED else f"{part}." for part in distinct(trusted, 20)]
    return one_line(" ".join(said), FIELD_CHARS)
