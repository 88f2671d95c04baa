"""What a replay leaves behind, for the scorers and for whoever wants to look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from observer.core.model import Item, Recorded
from observer.core.value import Value
from sessions.corpus import Repository, sources
from sessions.product import events_of, items_of
from sessions.timeline import Step, steps


class Start(Value):
    """A session's start: what its hook printed, and where the repository stood.

    `number` counts the sessions of the repository from 1. `recent` are the files of the last
    commits, newest first, `dirty` those changed and not committed.
    """

    repository: str
    session: str
    number: int
    at_ms: int
    context: str
    head: str
    branch: str
    recent: tuple[str, ...] = ()
    dirty: tuple[str, ...] = ()


class Asked(Value):
    """A prompt before it was sent, what search found for it, and the id that no item had yet."""

    repository: str
    session: str
    number: int
    place: int
    at_ms: int
    prompt: str
    hits: tuple[int, ...]
    next_item: int


class Recalled(Value):
    """What `hooks/recall` was asked about, and what it printed.

    `call` is the id of the tool call that it was about, if any.
    """

    repository: str
    session: str
    place: int
    at_ms: int
    event: str
    printed: str
    call: str = ""


class Finished(Value):
    """A session after its end: which files git then had uncommitted."""

    repository: str
    session: str
    at_ms: int
    dirty: tuple[str, ...] = ()


class Counts(Value):
    """How many hook calls were put in, and how many could not be decoded."""

    sent: int
    bad: int
    seconds: float = 0.0


class Log(Value):
    """Everything that was noted during a replay."""

    corpus: str
    counts: Counts
    starts: tuple[Start, ...]
    ends: tuple[Finished, ...] = ()
    prompts: tuple[Asked, ...] = ()
    recalls: tuple[Recalled, ...] = ()


class Kept:
    """The folder of a replay: clones, the home with its store, and the log.

    Args:
        folder: the folder of the replay.
        corpus: what was replayed.
        questions: the file of what to ask of it; its own `questions.jsonl` unless it is given.
    """

    def __init__(self, folder: Path, corpus: Path, questions: Path | None = None) -> None:
        self.folder = folder
        self.corpus = corpus
        self.questions = questions or corpus / "questions.jsonl"

    @property
    def home(self) -> Path:
        """The product's home."""
        return self.folder / "home"

    @property
    def database(self) -> Path:
        """The product's store."""
        return self.home / "observer.db"

    @cached_property
    def repositories(self) -> Sequence[Repository]:
        """The repositories of the corpus, cloned here."""
        return [Repository(self.corpus, each, self.folder) for each in sources(self.corpus)]

    @cached_property
    def steps(self) -> Sequence[Step]:
        """All that happened, in order."""
        return steps(self.repositories)

    @cached_property
    def log(self) -> Log:
        """What was noted during the replay."""
        return msgspec.json.decode((self.folder / "log.json").read_bytes(), type=Log)

    def write(self, log: Log) -> None:
        """Keep what was noted."""
        self.__dict__["log"] = log
        (self.folder / "log.json").write_bytes(msgspec.json.encode(log))

    @cached_property
    def events(self) -> Sequence[Recorded]:
        """All stored events in the order of the log."""
        return events_of(self.database)

    @cached_property
    def items(self) -> Sequence[Item]:
        """All living items by id."""
        return items_of(self.database)

    @cached_property
    def event_of(self) -> dict[str, Recorded]:
        """The stored events by their key, see `call_key`."""
        return {each.event.dedup: each for each in self.events if each.event.dedup}

    def calls(self, *tools: str) -> Iterable[Step]:
        """Yield the hook calls that report how a call of one of these tools ended."""
        for step in self.steps:
            payload = getattr(step.happened, "payload", {})
            if payload.get("tool_name") in tools:
                yield step


def call_key(session: str, call: str) -> str:
    """Return the key under which the log has a tool call."""
    return f"tool:{session}:{call}:after"
