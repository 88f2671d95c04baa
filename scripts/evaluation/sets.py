"""Sets of documents and queries in files, read strictly: what is wrong is named by file and line.

A folder holds `<repo>_<set>_docs.jsonl` and `<repo>_<set>_q.jsonl`, one JSON object a line. A set
of queries without documents of its own asks those of its repository: `<repo>_docs.jsonl`, or else
its `diff` documents. Members that are not named here are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from observer.core.errors import BadInput, NotFound
from observer.core.model import UNASSIGNED, Item, item_id, item_uuid
from observer.core.value import Value

_QUESTIONS, _DOCUMENTS = "_q.jsonl", "_docs.jsonl"
_STEP_MS = 8_640_000
"""Documents are dated newest first, ten a day."""

NOW_MS = 1_800_000_000_000
"""When a set is asked: every document is older."""

Row = TypeVar("Row", bound=Value)


class SetDocument(Value):
    """What is to be found: an observation of one commit, say."""

    id: str
    title: str
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Question(Value):
    """A query and the ids of the documents that it is about."""

    q: str
    rel: tuple[str, ...]


class QuestionSet(Value):
    """Queries, each about at least one of the documents, which lie in the file `source`."""

    name: str
    source: Path
    documents: tuple[SetDocument, ...]
    questions: tuple[Question, ...]


def find(folder: Path) -> list[Path]:
    """Return the files of queries in a folder, by name.

    Raises:
        NotFound: there is none.
    """
    found = sorted(folder.glob(f"*{_QUESTIONS}"))
    if not found:
        raise NotFound(
            f"no set in {folder}", hint=f"a set is a file named <repo>_<set>{_QUESTIONS}"
        )
    return found


def read(questions: Path) -> QuestionSet:
    """Return the set whose queries lie in a file.

    Raises:
        NotFound: a file is missing or cannot be read.
        BadInput: a line is not what it should be; there are no queries.
    """
    source = _documents_of(questions)
    documents: dict[str, SetDocument] = {}
    for line, document in _rows(source, SetDocument):
        if document.id in documents:
            raise _wrong(source, line, f"a second document {document.id!r}")
        documents[document.id] = document
    asked = []
    for line, question in _rows(questions, Question):
        if unknown := [name for name in question.rel if name not in documents]:
            raise _wrong(questions, line, f"no document {unknown[0]!r} in {source.name}")
        if not question.rel or not question.q.strip():
            raise _wrong(questions, line, "neither `q` nor `rel` may be empty")
        asked.append(question)
    if not asked:
        raise BadInput(f"{questions}: no queries", hint="give one JSON object a line")
    name = questions.name.removesuffix(_QUESTIONS)
    return QuestionSet(
        name=name, source=source, documents=tuple(documents.values()), questions=tuple(asked)
    )


def item(document: SetDocument, number: int) -> Item:
    """Return a document as the observation that a commit would have become.

    Args:
        document: what it says.
        number: its place in the set, from 1.
    """
    at_ms = NOW_MS - number * _STEP_MS
    return Item(
        id=item_id(number),
        uuid=item_uuid(document.id, at_ms),
        kind="observation",
        type="commit",
        title=document.title,
        narrative=document.narrative,
        facts=document.facts,
        concepts=document.concepts,
        files_modified=document.files,
        project_id=UNASSIGNED,
        created_ms=at_ms,
        updated_ms=at_ms,
    )


def _documents_of(questions: Path) -> Path:
    name = questions.name.removesuffix(_QUESTIONS)
    own = questions.with_name(name + _DOCUMENTS)
    repo = name.rpartition("_")[0]
    whole = questions.with_name(repo + _DOCUMENTS)
    shared = questions.with_name(f"{repo}_diff{_DOCUMENTS}")
    for path in (own, whole, shared):
        if path.exists():
            return path
    raise NotFound(f"no documents for {questions}", hint=f"put them into {own} or {shared}")


def _rows(path: Path, row: type[Row]) -> Iterator[tuple[int, Row]]:
    """Yield (line number from 1, row); blank lines are passed over."""
    decoder = msgspec.json.Decoder(row)
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _row(decoder, line, path=path, number=number)
    except OSError as error:
        raise NotFound(
            f"cannot read {path}: {error.strerror}", hint="name a readable file"
        ) from error


def _row(decoder: msgspec.json.Decoder[Row], line: bytes, *, path: Path, number: int) -> Row:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _wrong(path, number, str(error) or type(error).__name__) from error


def _wrong(path: Path, line: int, reason: str) -> BadInput:
    return BadInput(f"{path}:{line}: {reason}", hint="correct the line or leave it out")
