"""The commands of Ctrl-R: found as if all were looked through anew, shown as they are stored."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from observer.core.events import Command, Event
from observer.core.model import Recorded
from observer.memory.api import Memory
from observer.serve.typed_commands import SLICE, CommandList, Question, TypedCommands
from observer.store.database import SqliteStore

TEXTS = ("git push", "git pull", "Git", "make", "MAKE test", "ls", "a git tag")


def ran(seq: int, text: str, *, failed: bool | None = False, at_ms: int = 0, **at: str) -> Recorded:
    """A command of a person's shell, by default in the order of the log."""
    fields = {"client": "bash", "author": "person", "session": "one", "cwd": "/a", **at}
    body = Command(command=text, failed=failed, exit_code=None if failed is None else int(failed))
    event = Event(id=f"e{seq}", at_ms=at_ms or 1_000 * seq, body=body, **fields)  # type: ignore[arg-type]  # texts all
    return Recorded(seq=seq, event=event, project_id=1, session_id=1, root="", branch="", commit="")


def looked_through(runs: Sequence[Recorded], asked: Question) -> dict[int, int]:
    """Return what `find` has to: by the newest run of each command, how many there are."""
    fits = [
        one
        for one in sorted(runs, key=lambda one: one.event.at_ms, reverse=True)
        if isinstance(one.event.body, Command)
        and one.event.at_ms >= asked.since_ms
        and asked.result in {None, one.event.body.failed}
        and (one.event.author != "person") in asked.agents
        and (asked.scope == "all" or one.event.cwd == asked.folder)
        and all(word in one.event.body.command.lower() for word in asked.words)
    ]
    times = Counter(_text(one) for one in fits)
    newest = {_text(one): one.seq for one in reversed(fits)}
    return {newest[text]: times[text] for text in dict.fromkeys(map(_text, fits))}


def _text(one: Recorded) -> str:
    assert isinstance(one.event.body, Command)
    return one.event.body.command


@pytest.mark.parametrize("seed", range(20))
def test_each_key_finds_what_looking_through_all_finds(seed: int) -> None:
    """While older runs are read and new ones come, in no order of time, and time goes on."""
    chance = random.Random(seed)
    log = [
        ran(
            seq,
            chance.choice(TEXTS),
            failed=chance.choice((True, False, None)),
            at_ms=1_000 * (seq + chance.choice((0, 0, -40, 3))),
            cwd=chance.choice(("/a", "/b")),
            author=chance.choice(("person", "agent")),
        )
        for seq in range(100, 400)
    ]
    older, fresh = log[:220][::-1], log[220:]
    commands, added, typed, filters, span_ms, now_ms = CommandList(), list[Recorded](), "", {}, 0, 0
    for step in range(120):
        if chance.random() < 0.3:
            source = chance.choice((older, older, fresh))
            part = source[: chance.randrange(12)]
            del source[: len(part)]
            commands.add(part)
            added += part
        elif chance.random() < 0.2:
            filters = {
                "scope": chance.choice(("all", "folder")),
                "folder": "/b",
                "result": chance.choice((None, 0, 1)),
                "agents": chance.choice(((False,), (False, True), (True,))),
            }
        elif chance.random() < 0.2:
            span_ms = chance.choice((0, 60_000, 200_000))
        typed = typed + chance.choice("git pushmake ") if chance.random() < 0.7 else typed[:-1]
        now_ms = 400_000 + 900 * step
        since_ms = now_ms - span_ms if span_ms else 0
        asked = Question(words=tuple(typed.split()), since_ms=since_ms, **filters)  # type: ignore[arg-type]  # as above
        expected = looked_through(added, asked)
        assert commands.find(asked, 5) == (len(expected), dict(list(expected.items())[:5]))
        if not expected:
            typed = ""


@pytest.fixture
def ask(store: SqliteStore, memory: Memory) -> Iterator[TypedCommands]:
    loop = asyncio.new_event_loop()
    yield TypedCommands(store, memory, loop)
    loop.close()


def rows(ask: TypedCommands) -> dict[str, str]:
    """Return the commands shown and what is beside them, the whole list read."""
    while True:
        _, is_loading, *fields = ask.answer(b"limit=3").decode().split("\0")
        if is_loading == "0":
            return dict(zip(fields[4::8], fields[6::8], strict=True))


def test_rows_follow_what_is_written_and_what_is_damaged_ends_no_reading(
    ask: TypedCommands, store: SqliteStore
) -> None:
    """A row is kept between keys, and not a moment longer than it holds."""
    with store.write() as writer:
        writer.append(ran(1, "the first"), stored_ms=1)
        for seq in range(2, SLICE + 2):
            writer.append(ran(seq, "ls"), stored_ms=1, data="{" if seq == SLICE else "")
        writer.append(ran(SLICE + 2, "git psuh", failed=True), stored_ms=1)
    assert rows(ask) == {"git psuh": "", "ls": "", "the first": ""}
    with store.write() as writer:
        writer.append(ran(SLICE + 3, "git push"), stored_ms=1)
    assert rows(ask) == {"git push": "", "git psuh": "then worked: git push", "ls": ""}
