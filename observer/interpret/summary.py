"""The summary of a session: six answers made from what the session remembers, with no model.

Part of interpretation (step 6). It is made anew whenever the session has changed, under one id, and
is final once the session is over.
"""

from __future__ import annotations

import re

from observer.interpret import committed, concepts, state
from observer.interpret.classify import content_hash
from observer.interpret.state import Ran, State, Touched
from observer.interpret.told import SUBTITLE, TITLE
from observer.interpret.wording import (
    ENDS,
    WIDE_ENDS,
    counted,
    distinct,
    lasted,
    listed,
    one_line,
    word_set,
)
from observer.languages import language_of
from observer.model import Item, Session, SummaryFields, item_id, item_uuid

FIELD_CHARS = 900
_FILES_SAID = 6
_WORTH_SAYING_MS = 1000
_SENTENCE_END = re.compile(r"\.(?: |$)")
_ENDED = f"{ENDS}{WIDE_ENDS}…:"
_ASSENT_CHARS = 40
_ASSENTS = word_set(
    """
    yes y ok okay no continue go thanks thank you please proceed sure next do it again retry resume
    good great ahead keep going stop commit push
    """
)
_WORDS_OF_STATUS = {"active": "open", "ended": "ended", "idle": "ended idle"}
_NOUNS = {
    "prompt": "prompt",
    "file-write": "edit",
    "file-read": "file read",
    "command": "command",
    "search": "search",
    "commit": "commit",
    "tool-use": "other tool use",
}
_PLURALS = {"search": "searches"}


def summarise(session: Session) -> Item | None:
    """Return the summary of a session so far, or None while nothing of substance happened."""
    known = state.decode(session.state)
    if not _has_substance(known):
        return None
    fields = SummaryFields(
        request=request_of(session, known),
        investigated=_investigated(known),
        learned=_learned(known),
        completed=_completed(known),
        next_steps=_next_steps(session, known),
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
        concepts=concepts.together(
            concepts.of_text(fields.request, 5), concepts.of_files(written[-3:])
        ),
        files_read=tuple(path for path, file in known.files.items() if file.reads),
        files_modified=tuple(written),
        summary=fields,
        project_id=session.project_id,
        session_id=session.id,
        branch=session.branch,
        content_hash=content_hash(session.external, narrative),
        discovery_tokens=-(-len(narrative) // 4),
        folded=max(session.events, 1),
        created_ms=session.started_ms,
        updated_ms=session.last_ms,
    )


def _has_substance(known: State) -> bool:
    return any(
        (
            known.prompts,
            known.files,
            known.commands,
            known.commits,
            known.searches,
            known.delegations,
            known.customs,
            known.remembered,
            known.todos,
        )
    )


def _title(session: Session, known: State, fields: SummaryFields) -> str:
    """Return what was asked first; without a request, what was done or looked at first."""
    asked = next(iter(_real(known.prompts)), fields.request)
    did = fields.completed or fields.investigated
    return (
        one_line(asked.removesuffix("."), TITLE)
        or one_line(_SENTENCE_END.split(did, 1)[0], TITLE)
        or one_line(f"{session.client} session", TITLE)
    )


def _narrative(fields: SummaryFields) -> str:
    """Put everything but the request, which is the title, into one searchable text."""
    named = (
        ("Completed", fields.completed),
        ("Learned", fields.learned),
        ("Next", fields.next_steps),
        ("Investigated", fields.investigated),
    )
    return "\n".join(f"{name}: {text}" for name, text in named if text)


def request_of(session: Session, known: State) -> str:
    """Return the first real prompts, else what the work was called in commits or the branch."""
    if asked := _real(known.prompts):
        later = [f"Then: {'; '.join(asked[1:4])}"] if len(asked) > 1 else []
        return _field([asked[0], *later])
    if known.commits:
        return _field([committed.subject_of(known.commits[0])])
    is_named = session.branch not in ("", "main", "master", "HEAD")
    return f"Work on {session.branch}" if is_named else ""


def _real(prompts: tuple[str, ...]) -> list[str]:
    """Return the prompts that ask for something: no bare assent, no bare slash command."""
    return [text for text in prompts if not _is_assent(text)]


def _is_assent(prompt: str) -> bool:
    if len(prompt) > _ASSENT_CHARS:
        return False
    words = prompt.lower().replace(",", " ").rstrip(".!").split()
    return all(word in _ASSENTS for word in words) or (len(words) == 1 and words[0][0] == "/")


def _investigated(known: State) -> str:
    only_read = [path for path, file in known.files.items() if not file.writes]
    said = [f"Read {listed(only_read[::-1], 8)}"] if only_read else []
    if known.searches:
        said.append(f"Looked up {listed(known.searches[::-1], 5)}")
    if known.delegations:
        said.append(f"Delegated {listed(known.delegations, 4)}")
    return _field(said)


def _learned(known: State) -> str:
    lessons = known.lessons[-5:] or (known.last_reply,)
    return _field([*known.fixed[-4:], *known.remembered[-6:], *lessons, *known.compactions[-1:]])


def _completed(known: State) -> str:
    said = [f"Committed {listed(known.commits[-5:], 5)}"] if known.commits else []
    for verb in ("changed", "created", "deleted"):
        written = [
            path
            for path, file in known.files.items()
            if _lasts(file) and (file.fate or "changed") == verb
        ][::-1]
        shown = [_file_said(path, known.files[path]) for path in written[:_FILES_SAID]]
        if written:
            said.append(
                f"{verb.capitalize()} {listed([*shown, *written[_FILES_SAID:]], _FILES_SAID)}"
            )
    passing = [f"{head}: {ran.said}" for head, ran in known.commands.items() if _passes(head, ran)]
    said += passing[-3:]
    said += known.customs[-3:]
    return _field(said)


def _next_steps(session: Session, known: State) -> str:
    failing = [(head, ran) for head, ran in known.commands.items() if ran.ok is False]
    said = [_failing_said(head, ran) for head, ran in failing[::-1] if ran.is_check][:3]
    dirty = [path for path, file in known.files.items() if file.is_dirty]
    if dirty and (session.branch or known.commits):
        said.append(f"Not committed: {listed(dirty[::-1], 8)}")
    return _field([*said, *known.plans, *known.todos])


def _notes(session: Session, known: State) -> str:
    counts = [
        f"{known.counts[kind]:,} {_PLURALS[noun]}"
        if noun in _PLURALS and known.counts[kind] > 1
        else counted(known.counts[kind], noun)
        for kind, noun in _NOUNS.items()
        if known.counts.get(kind)
    ]
    length_ms = session.last_ms - session.started_ms
    length = f" in {lasted(length_ms)}" if length_ms >= _WORTH_SAYING_MS else ""
    said = [f"{', '.join(counts)}{length}"] if counts else []
    if known.agents:
        said.append(f"Sub-agents: {listed(known.agents, 5)}")
    if known.models:
        said.append(f"Models: {listed(known.models, 4)}")
    return _field(said)


def _lasts(file: Touched) -> bool:
    """Say whether a file was changed, and not taken back to what it was."""
    return file.writes > 0 and not file.is_undone


def _file_said(path: str, file: Touched) -> str:
    inside = f" ({listed(file.symbols, 4)})" if file.symbols and language_of(path) else ""
    lines = f" +{file.added} -{file.removed}" if file.added or file.removed else ""
    return f"{path}{inside}{lines}"


def _passes(head: str, ran: Ran) -> bool:
    """Say whether a success is worth telling; of git only a push is, commits tell themselves."""
    is_bookkeeping = ran.tool == "git" and "git push" not in head
    return ran.ok is True and ran.is_check and bool(ran.said) and not is_bookkeeping


def _failing_said(head: str, ran: Ran) -> str:
    said = f": {ran.said}" if ran.said else ""
    error = f" - {ran.first_error}" if ran.first_error else ""
    return f"{head} fails{said}{error}"


def _field(parts: list[str]) -> str:
    """Join sentences, each with its full stop, to a field of bounded length."""
    said = [part if part[-1] in _ENDED else f"{part}." for part in distinct(parts, 20)]
    return one_line(" ".join(said), FIELD_CHARS)
