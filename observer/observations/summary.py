"""The summary of a session: six fields made from the session's state, without a model.

It is made anew, under the same id, whenever the session has changed, and works for one that was cut
off. A session whose prompts are too short to name anything is titled by what it changed.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from observer.core import text
from observer.core.model import Item, Session, SummaryFields, iso, item_id, item_uuid
from observer.core.text import ENDS, WIDE_ENDS, distinct, listed, one_line, quoted
from observer.observations import quoting, session_commits, session_state, todos, turns
from observer.observations.drafts import QUESTION, SUBTITLE, TITLE, concepts_of, content_hash
from observer.observations.prompt_injection import clean, suspicion
from observer.observations.quoting import Form, names
from observer.observations.session_state import FileState, SessionState
from observer.observations.turns import IN_COMMON, stems

_UNNAMED = ("", "main", "master", "HEAD")
_BEHIND, _REQUEST = " \u00b7 ", 50
"""What stands before what names a session's work, and characters left for the request."""
_SHOWN = 10
"""Most requests that are shown: the first and the last ones."""
_CHARS = 700
_SHOWN_OF_EACH = 3
"""Files, symbols of a file and failures that are named."""
_SYMBOL_CHARS = 60


def request_of(session: Session, known: SessionState) -> str:
    """Return the requests in order, cut alike, else the subject of a commit or the branch."""
    if asks := [*known.asks]:  # those in the middle are only counted
        left_out = len(asks) - _SHOWN
        named = [*asks[: _SHOWN // 2], *asks[-_SHOWN // 2 :]] if left_out > 0 else asks
        said = [one_line(one, max(_CHARS // len(named), 60)) for one in named]
        if left_out > 0:
            said.insert(_SHOWN // 2, f"({left_out} more)")
        return "; ".join(said)
    if known.commits:
        return session_commits.subject_of(known.commits[0])
    is_named = session.branch not in _UNNAMED
    return f"Work on {text.named(session.branch)}" if is_named else ""


def title_of(session: Session, known: SessionState) -> str:
    """Return the request that names what was done; of one that does not, with what names it behind.

    What a session that changed nothing did is what it read, or else replied.
    """
    read = [path for path, file in known.files.items() if file.reads]
    about = (known.pull,) if known.pull else read or (session_state.last_reply(known),)
    made = _made(known)
    did = stems(*known.commits, *known.later_commits, known.plan, known.begun_plan)
    for path, file in known.files.items():
        did |= stems(path, *file.symbols) if file.writes else set()
    did = did or stems(*about)
    asks = {ask: form for ask, form in known.asks.items() if form != "paste"}
    named = next((ask for ask, form in asks.items() if _names_work(ask, form, did, made)), "")
    if named:
        return one_line(named, TITLE)
    said = text.first_line(known.turn.asked, TITLE) if known.turn else ""
    first = next(iter(asks), said if said.startswith("/") else "")
    if not stems(first) & did:  # a greeting, or another matter
        turn = known.turn
        idle = "" if turn is None or turn.files or turn.commits or turn.reports else turn.title
        of_work = [ask for ask in asks if ask != idle]
        first = max(of_work, key=lambda ask: len(stems(ask) & did), default=first)
    if act := _act(session, known, first):  # it says more, and is cut less
        act = f"{_BEHIND}{one_line(act, TITLE - _REQUEST)}" if first else one_line(act, TITLE)
        return f"{one_line(first, TITLE - len(act))}{act}" if first else act
    asked = next((ask for ask in asks if asks[ask] == "document" or names(ask)), first)
    last = turns.title_of(known.turn) if known.turn else ""
    return one_line(asked or last or request_of(session, known), TITLE)


def _names_work(ask: str, form: Form, did: set[str], made: str) -> bool:
    """Return True if a request names what was done, and no worse than what was `made` of it.

    The subject of a commit or plan is shorter than a long request, and says what came of it; a
    request in sentences names it if it has more than half of its words.
    """
    own, subject = stems(ask), stems(made)
    is_said = form == "document" or 2 * len(own & subject) > len(subject)
    is_better = not made or (is_said and not ask.endswith("\u2026"))
    return is_better and len(own & did) >= IN_COMMON


def _act(session: Session, known: SessionState, asked: str) -> str:
    """Return what names a session's work best where no request does; `asked` stands before it."""
    changed = [
        path for path in session_commits.written_files(known) if is_changed(known.files[path])
    ]
    most = max(changed, key=lambda path: known.files[path].writes, default="")
    answer = quoting.naming_sentence(session_state.last_reply(known))
    place = stems(*changed, *known.files[most].symbols) if most else set()
    acts = [act for act in (_made(known), known.pull) if act]
    if named := next((act for act in acts if not place or stems(act) & place), ""):
        return named
    if acts:  # of what says nothing of any file, the pull request's title says most
        return known.pull or f"{acts[0]} ({text.base_name(most)})"
    if changed and asked:
        symbols = listed([one_line(one, _SYMBOL_CHARS) for one in known.files[most].symbols], 1)
        return f"{text.base_name(most)} ({symbols})" if symbols else text.base_name(most)
    if changed:
        return answer or _changed(known)
    branch = "" if session.branch in _UNNAMED else text.named(session.branch)
    return branch if asked else answer


def is_changed(file: FileState) -> bool:
    """Return True if a file was changed, and the change not reverted."""
    return file.writes > 0 and not file.is_undone


def _made(known: SessionState) -> str:
    """Return what a session committed, or planned; "" for neither."""
    subject = session_commits.subject_of(known.commits[0]) if known.commits else ""
    if subject:
        more = f" and {len(known.commits) - 1} more" if known.commits[1:] else ""
        return f"{subject}{more}"
    if plan := known.plan or known.begun_plan:
        return f"Plan: {plan}"
    return ""


def _changed(known: SessionState) -> str:
    """Return the files of the project that a session changed, newest first, and what in them."""
    said = []
    for path in session_commits.written_files(known):
        symbols = [one_line(symbol, _SYMBOL_CHARS) for symbol in known.files[path].symbols]
        inside = f" ({listed(symbols, _SHOWN_OF_EACH)})" if symbols else ""
        said += [f"{path}{inside}"] if is_changed(known.files[path]) else []
    return f"Changed {listed(said, _SHOWN_OF_EACH)}" if said else ""


def is_trivial(session: Session) -> bool:
    """Return True if a session has nothing to resume: at most one question was asked.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild makes it anew.
    """
    return bool(session.state) and did_nothing(session_state.decode(session.state))


def did_nothing(known: SessionState) -> bool:
    """Return True if nothing was done in a session but to ask one question."""
    kept = (known.commits, known.later_commits, known.remembered, known.customs, known.plan)
    has_worked = any(file.writes for file in known.files.values()) or any(
        ran.is_check for ran in known.commands.values()
    )
    return len(known.asks) <= 1 and not (has_worked or known.lists or any(kept))


FIELD_CHARS = 900
_SENTENCE_END = re.compile(r"\.(?: |$)")
_ENDED = f"{ENDS}{WIDE_ENDS}…:"
_STATUS = {"active": "open", "ended": "ended", "idle": "ended idle"}


def summarize(session: Session) -> Item | None:
    """Return the summary of a session so far; None while nothing of substance happened.

    Raises:
        StoreUnavailable: the session's state is of another version; a rebuild recreates it.
    """
    known = session_state.decode(session.state)
    if not _has_substance(known):
        return None
    # Without requests and paths that imitate markup.
    asks = {ask: form for ask, form in known.asks.items() if not suspicion(ask)}
    files = {path: file for path, file in known.files.items() if not suspicion(path)}
    known = replace(known, asks=asks, files=files)
    only_read = [path for path, file in files.items() if not file.writes]
    fields = SummaryFields(
        request=clean(request_of(session, known)),
        investigated=_field([f"Read {listed(only_read[::-1], 8)}"] if only_read else []),
        learned=_field([*known.remembered[-6:], *known.decided[-4:]]),
        completed=_completed(known),
        next_steps=next_steps(session, known),
    )
    narrative = fields.text
    only_asks = known.turn is not None and turns.only_asks(known.turn)
    written = [path for path, file in files.items() if file.writes]
    return Item(
        id=item_id(session.id, "summary"),
        uuid=item_uuid(f"session-{session.id}-{session.external}", session.started_ms, "summary"),
        kind="summary",
        type="summary",
        title=clean(title_of(session, known)) or _first(session, fields),
        subtitle=one_line(f"{session.client} session, {_STATUS[session.status]}", SUBTITLE),
        narrative=narrative,
        concepts=concepts_of(written[-3:]),
        files_read=tuple(path for path, file in files.items() if file.reads),
        files_modified=tuple(written),
        summary=fields,
        category=QUESTION if only_asks and session.prompts == 1 else "",
        project_id=session.project_id,
        session_id=session.id,
        branch=session.branch,
        content_hash=content_hash(session.external, narrative),
        discovery_tokens=-(-len(narrative) // 4),
        folded=max(session.events, 1),
        created_ms=session.last_ms,
        updated_ms=session.last_ms,
    )


def _first(session: Session, fields: SummaryFields) -> str:
    did = _SENTENCE_END.split(fields.completed or fields.investigated, 1)[0]
    return one_line(did or f"{session.client} session", TITLE)


def _has_substance(known: SessionState) -> bool:
    said = (known.asks, known.plan, known.begun_plan, known.pull, known.decided, known.remembered)
    done = (known.files, known.commands, known.commits, known.has_searched, known.customs)
    return any((*said, *done, known.lists, known.turn and known.turn.reports))


def _completed(known: SessionState) -> str:
    said = [f"Committed {listed(known.commits[-5:], 5)}"] if known.commits else []
    said += filter(None, [_changed(known)])
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
    # What was committed though it was red was accepted.
    red = [one for one in known.failing[::-1] if not one.is_rewritten]
    red = [one for one in red if one.item not in known.accepted][:_SHOWN_OF_EACH]
    said = [
        f"{one.head} failed at {_minute(one.last_ms)}{f': {one.said}' if one.said else ''}"
        f"{f' - {quoted(one.error)}' if one.error else ''}"
        for one in red
    ]
    left = session_commits.left_open(known)
    if left and (session.branch or known.commits):
        what = "Not committed" if known.is_git_asked else "No commit known"
        at = _minute(session.last_ms)
        when = f"at {at}" if session.status == "active" else f"when the session ended ({at})"
        said.append(f"{what} {when}: {listed(left, 8)}")
    return _field([*said, *todos.steps_of(known)])


def _minute(at_ms: int) -> str:
    at = iso(at_ms)
    return f"{at[:10]} {at[11:16]} UTC"


def _field(parts: list[str]) -> str:
    """Return sentences, each with a full stop, as a field of at most `FIELD_CHARS`.

    Those that imitate the markup of a model are left out, as a summary is trusted, and those for
    which there is no place.
    """
    said = ""
    for part in distinct(map(clean, parts), 20):
        ended = f"{said} {part}{'' if part[-1] in _ENDED else '.'}".lstrip()
        said = ended if len(ended) <= FIELD_CHARS else said
    return one_line(said, FIELD_CHARS)
