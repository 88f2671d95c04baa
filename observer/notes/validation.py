"""Validation of note changes: malformed values, secrets, and changes not the author's to make.

Pure. Every check raises with what is wrong and what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from observer.core.clock import LAST_MS
from observer.core.errors import (
    BadInput,
    CapturedUserOnly,
    PastImmutable,
    RuleUserOnly,
    SecretRefused,
)
from observer.core.filters import RECORDED_KINDS
from observer.core.json_text import dump
from observer.core.model import Item
from observer.notes.values import Author, Changes, Note
from observer.observations.note_reducer import CONTENT_CHARS, LINKS, METADATA_CHARS, TAGS, note_type
from observer.redaction.redact import redact_text, secret_class

NAME_CHARS = 2_000
"""Most of a title, key, category or tag; what is shown of it is shorter."""


def check(note: Note | Changes) -> None:
    """Refuse what cannot be kept as it is.

    Raises:
        BadInput: no content, or more than is kept; a confidence outside 0 to 1; an end that no
            calendar has; no Unicode text; the type of what only a person's yes makes.
        SecretRefused: it holds a secret; the message names the class.
    """
    if note.content is not None and not any(map(_shows, note.content)):
        raise BadInput("content is empty", hint="say what to remember")
    if len(note.content or "") > CONTENT_CHARS:
        raise BadInput(f"content is longer than {CONTENT_CHARS:,} characters", hint="part it")
    _check_figures(note)
    if len(note.tags or ()) > TAGS:
        raise BadInput(f"more than {TAGS} tags", hint="keep those that group notes")
    if isinstance(note, Note) and len(note.links) > LINKS:
        raise BadInput(f"more than {LINKS} links", hint="keep those that matter")
    _check_type(note.type)
    metadata, names = metadata_text(note.metadata), list(_names(note))
    check_texts((note.content, metadata, *names))
    _check_lengths(names)
    # A span that is taken out on the way would leave no JSON, and a key that nobody knows.
    for text in (metadata, note.key if isinstance(note, Note) else ""):
        if redact_text(text) != text:
            raise BadInput("metadata or key holds a private span", hint="leave it out")


def metadata_text(metadata: dict[str, object] | None) -> str:
    """Return metadata as it is kept: JSON, empty for none.

    Raises:
        BadInput: it is no JSON, or too large.
    """
    if not metadata:
        return ""
    try:
        text = dump(metadata).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"metadata is no JSON: {error}", hint="use plain values") from error
    if len(text) > METADATA_CHARS:
        raise BadInput(f"metadata is longer than {METADATA_CHARS:,} characters", hint="keep less")
    return text


def check_kept_here(item: Item) -> None:
    """Refuse to change or delete in the store alone what is kept as a file.

    Raises:
        BadInput: it is; the hint names the file.
    """
    if item.file:
        raise BadInput(
            f"note {item.id} is kept as a file, which decides what it says",
            hint=f"edit, move or delete {item.file}",
        )


def check_change(item: Item, author: Author) -> None:
    """Refuse an agent what only a person may change, and what happened.

    Raises:
        BadInput: it is an inference, which is kept as the person approved it.
        PastImmutable: the note is of the past; the hint is to amend it.
        RuleUserOnly: a person stands for this rule.
    """
    check_rule(item, author)
    if author == "agent" and item.kind == "inference":
        raise BadInput(
            f"{item.id} is an inference, kept as the user approved it",
            hint="mint another one, and delete this one",
        )
    if author == "agent" and item.layer == "past":
        raise PastImmutable(
            f"note {item.id} records what happened, and cannot be changed",
            hint=f"remember a note titled '[Amendment] {item.title}' that amends {item.id}",
        )


def check_rule(item: Item, author: Author) -> None:
    """Refuse an agent any change of a rule that a person stands for.

    Raises:
        RuleUserOnly: it is one.
    """
    if author == "agent" and item.layer == "rule" and item.approval == "approved":
        raise RuleUserOnly(
            f"note {item.id} is a rule that a person approved",
            hint="propose the change to the person in words",
        )


def check_forget(item: Item, author: Author) -> None:
    """Refuse an agent the deletion of anything but notes and inferences, or its reversal.

    Raises:
        CapturedUserOnly: the item was captured: a commit, an edit, a summary.
        RuleUserOnly: a person stands for this rule.
    """
    check_rule(item, author)
    if author == "agent" and item.kind not in RECORDED_KINDS:
        raise CapturedUserOnly(
            f"{item.id} is a {item.type} that was captured, not a note",
            hint=f"ask the person to run: observer forget {item.id}",
        )


def _names(note: Note | Changes) -> Iterable[str | None]:
    yield from (note.title, note.category, *(note.tags or ()))
    if isinstance(note, Note):
        yield note.key


def _check_figures(note: Note | Changes) -> None:
    if note.confidence is not None and not 0.0 <= note.confidence <= 1.0:
        raise BadInput("confidence must be 0.0 to 1.0", hint="leave it out for 0.5")
    if not 0 <= (note.expires_ms or 0) <= LAST_MS:
        raise BadInput("it would expire on no day that has a date", hint="leave it out for never")


def _check_type(name: str | None) -> None:
    if note_type(name or "") == "inference":
        raise BadInput(
            "an inference rests on notes, so it is minted, not remembered", hint="use another type"
        )


def _check_lengths(names: Iterable[str | None]) -> None:
    if any(len(name) > NAME_CHARS for name in filter(None, names)):
        raise BadInput(
            f"a title, key, category or tag is longer than {NAME_CHARS:,} characters",
            hint="say it in the content",
        )


def check_texts(texts: Iterable[str | None]) -> None:
    """Refuse what no note may say, wherever it is kept.

    Raises:
        BadInput: a text is no Unicode.
        SecretRefused: one holds a secret; the hint says how to keep it on purpose.
    """
    for text in filter(None, texts):
        if not _is_text(text):
            raise BadInput("a text holds half a character", hint="send it as UTF-8")
        if found := secret_class(text):
            raise SecretRefused(
                f"content looks like it holds a secret ({found})",
                hint="to keep it on purpose, put it where secrets belong (a password manager, or a"
                " file that only you read), and remember that place",
            )


def _shows(sign: str) -> bool:
    return sign.isprintable() and not sign.isspace()


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
