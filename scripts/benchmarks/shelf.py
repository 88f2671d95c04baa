"""A store of 100,000 items, made of real text without any hook: what recall is measured on."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from observer.cli.doctor.lab import ROOT
from observer.core.config import Settings
from observer.core.events import Event, Reply
from observer.core.model import Item, Project, Recorded, Session, SummaryFields, item_id, item_uuid
from observer.core.value import TokenUsage
from observer.index.embed.lazy_model import packed
from observer.index.embed.model import Joined, Model
from observer.index.embed.registry import find, load
from observer.store.database import SqliteStore

NOW_MS = 1_800_000_000_000
SPAN_MS = 2 * 365 * 86_400_000
PROJECTS = {"shop": 40, "billing": 25, "site": 20, "tools": 10, "notes": 5}
EVENTS_OF_A_SESSION = 40
BATCH = 2_000
MOST_TEXTS = 6_000
"""Titles, and narratives, that items are made of: each is embedded once, which takes 10 ms."""

_TYPES = {"file-write": 35, "command": 25, "file-read": 20, "search": 10, "commit": 6, "prompt": 4}
_TEXT_FILES = frozenset({".py", ".md", ".sh", ".toml", ".sql", ".txt", ".rst", ".js", ".ts"})
_LINE_CHARACTERS = range(12, 400)


class Document(msgspec.Struct):
    """An observation of an evaluation set."""

    title: str
    narrative: str = ""
    facts: list[str] = []
    concepts: list[str] = []
    files: list[str] = []


@dataclass(frozen=True, slots=True)
class Texts:
    """Pieces from which items are put together."""

    titles: list[str]
    narratives: list[str]
    facts: list[str]
    concepts: list[str]
    files: list[str]


def read(folder: Path) -> Texts:
    """Collect texts from the `*_docs.jsonl` of a folder, or else from its text files."""
    if sets := sorted(folder.glob("*_docs.jsonl")):
        lines = [line for path in sets for line in path.read_bytes().splitlines()]
        return _of_documents([msgspec.json.decode(line, type=Document) for line in lines])
    files = sorted(path for path in folder.rglob("*") if _is_text(path.relative_to(folder), path))
    return _of_files(folder, files)


def opened(texts: Path, work: Path, count: int, until_ms: int = NOW_MS) -> Path:
    """Return the database file of so many items; made once for a folder of texts and a schema.

    The newest of them, and the last session, are of the time `until_ms`.
    """
    folder = work / f"shelf-{count}-{until_ms}-{_digest(texts)}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=work, prefix="unfinished-") as unfinished:
            _fill(Path(unfinished) / "observer.db", read(texts), count, until_ms)
            shutil.copytree(unfinished, folder)
    return folder / "observer.db"


def _digest(texts: Path) -> str:
    """Tell stores apart that were made of other texts or by other code."""
    digest = hashlib.sha256(str(texts.resolve()).encode())
    for path in (Path(__file__), *sorted((ROOT / "observer" / "store").rglob("*.[ps][yq]*"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _fill(path: Path, texts: Texts, count: int, until_ms: int) -> None:
    store = SqliteStore(path)
    model = load(find(Settings().model, path.parent))
    meanings = _Meanings(model)
    texts = replace(texts, titles=_few(texts.titles), narratives=_few(texts.narratives))
    chance = random.Random(11)  # noqa: S311 - the same store each time
    with store.write() as writer:
        for number, name in enumerate(PROJECTS, start=2):
            uuid = item_uuid(name, number)
            writer.put_project(
                Project(id=number, uuid=uuid, name=name, roots=(f"/home/ana/{name}",))
            )
    for begin in range(1, count + 1, BATCH):
        numbers = range(begin, min(begin + BATCH, count + 1))
        with store.write() as writer:
            step_ms = SPAN_MS / count
            items = [
                _item(number, texts, chance, until_ms - int(step_ms * (count - number)))
                for number in numbers
            ]
            for first in items[::EVENTS_OF_A_SESSION]:
                session = _session(first, int(step_ms * EVENTS_OF_A_SESSION))
                writer.put_session(session)
                writer.append(_reply(session), stored_ms=session.last_ms)
            writer.put_items(items, model=model.id, vectors=partial(meanings.of, items))
    store.close()


def _few(texts: list[str]) -> list[str]:
    chance = random.Random(7)  # noqa: S311 - the same store each time
    return chance.sample(texts, min(MOST_TEXTS, len(texts)))


class _Meanings:
    """The vectors of items: an item means what its title and its narrative do together.

    To embed every item as the product does would take half an hour of 100,000.
    """

    def __init__(self, model: Model | Joined) -> None:
        self._model = model
        self._known: dict[str, NDArray[np.float32]] = {}

    def of(self, items: Sequence[Item]) -> dict[int, bytes]:
        """Return the packed vector of each item, by id."""
        pairs = [(item.title, item.narrative.rpartition(" (")[0]) for item in items]
        new = sorted({text for pair in pairs for text in pair} - self._known.keys())
        self._known |= zip(new, self._model.embed(new), strict=True)
        rows = packed(np.array([self._known[one] + self._known[other] for one, other in pairs]))
        return {item.id: row.tobytes() for item, row in zip(items, rows, strict=True)}


def _session(first: Item, length_ms: int) -> Session:
    """Return the session of which an item is the first."""
    return Session(
        id=first.session_id or 0, external=f"s{first.session_id}", client="claude-code",
        project_id=first.project_id or 0, status="ended", started_ms=first.created_ms,
        last_ms=first.created_ms + length_ms, prompts=1, events=EVENTS_OF_A_SESSION,
        first_prompt=first.title,
    )  # fmt: skip


def _reply(session: Session) -> Recorded:
    """Return what a session ended with, and what that used."""
    used = TokenUsage(input=900 + session.id % 1_000, output=400, cache_read=20_000)
    event = Event(
        id=f"e{session.id}", at_ms=session.last_ms, client=session.client,
        session=session.external, model="claude-opus-4", body=Reply(text="Done.", usage=used),
    )  # fmt: skip
    return Recorded(
        seq=session.id, event=event, project_id=session.project_id, session_id=session.id
    )


def _project(number: int) -> int:
    """Return the project of the session that an item belongs to."""
    chance = random.Random(number // EVENTS_OF_A_SESSION)  # noqa: S311 - follows from the number
    return chance.choices(range(2, 2 + len(PROJECTS)), list(PROJECTS.values()))[0]


def _item(number: int, texts: Texts, chance: random.Random, at_ms: int) -> Item:
    sort = number % EVENTS_OF_A_SESSION
    files = tuple(chance.sample(texts.files, chance.randint(1, 3)))
    made = Item(
        id=item_id(number),
        uuid=item_uuid(f"e{number}", at_ms),
        kind="observation",
        type=chance.choices(list(_TYPES), list(_TYPES.values()))[0],
        title=chance.choice(texts.titles)[:120],
        subtitle=f"edit {files[0]}",
        narrative=f"{chance.choice(texts.narratives)} ({chance.getrandbits(40):010x})",
        facts=tuple(chance.sample(texts.facts, chance.randint(1, 4))),
        concepts=tuple(chance.sample(texts.concepts, 4)),
        files_modified=files,
        project_id=_project(number),
        session_id=number - (number - 1) % EVENTS_OF_A_SESSION,
        discovery_tokens=chance.randint(50, 2000),
        created_ms=at_ms,
        updated_ms=at_ms,
    )
    if sort == 0:
        summary = SummaryFields(request=made.title, completed=made.narrative[:300])
        return msgspec.structs.replace(made, kind="summary", type="summary", summary=summary)
    if sort == EVENTS_OF_A_SESSION // 2:
        kind = "decision" if number % 3 else "fact"
        return msgspec.structs.replace(made, kind="note", type=kind, author="agent")
    return made


def _of_documents(documents: Sequence[Document]) -> Texts:
    return Texts(
        titles=[each.title for each in documents],
        narratives=[each.narrative for each in documents if each.narrative],
        facts=[fact for each in documents for fact in each.facts],
        concepts=sorted({concept for each in documents for concept in each.concepts}),
        files=sorted({name for each in documents for name in each.files}),
    )


def _of_files(folder: Path, files: Sequence[Path]) -> Texts:
    read_lines = {path: path.read_text(errors="replace").splitlines() for path in files}
    lines = [
        line.strip()
        for found in read_lines.values()
        for line in found
        if len(line.strip()) in _LINE_CHARACTERS
    ]
    return Texts(
        titles=lines[::3],
        narratives=[" ".join(lines[at : at + 2 + at % 7]) for at in range(0, len(lines), 2)],
        facts=lines[1::3],
        concepts=sorted(
            {word.lower() for line in lines for word in re.findall(r"[a-z]{5,12}", line)}
        ),
        files=[str(path.relative_to(folder)) for path in files],
    )


def _is_text(name: Path, path: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in name.parts)
    return path.suffix in _TEXT_FILES and not is_hidden and path.is_file()
