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
    newest, times = dict[str, int](), Counter[str]()
    for one in sorted(runs, key=lambda one: one.event.at_ms, reverse=True):
        event, body = one.event, one.event.body
        assert isinstance(body, Command)
        if (
            event.at_ms >= asked.since_ms
            and asked.result in {None, body.failed}
            and (event.author != "person") in asked.agents
            and (asked.scope == "all" or event.cwd == asked.folder)
            and all(word in body.command.lower() for word in asked.words)
        ):
            newest.setdefault(body.command, one.seq)
            times[body.command] += 1
    return {seq: times[text] for text, seq in newest.items()}


@pytest.mark.parametrize("seed", range(20))
def test_each_key_finds_what_looking_through_all_finds(seed: int) -> None:
    """While older runs are read and new ones come, in no order of time, and time goes on."""
    chance = random.Random(seed)
    pick = chance.choice
    log = [
        ran(
            seq,
            pick(TEXTS),
            failed=pick((True, False, None)),
            at_ms=1_000 * (seq + pick((0, 0, -40, 3))),
            cwd=pick("ab"),
            author=pick(("person", "agent")),
        )
        for seq in range(100, 400)
    ]
    older, fresh, added, asked = log[:220][::-1], log[220:], list[Recorded](), Question()
    commands, typed, span_ms = CommandList(), "", 0
    for now_ms in range(400_000, 500_000, 900):
        if chance.random() < 0.3:
            source = pick((older, older, fresh))
            part = [source.pop(0) for _ in source[: chance.randrange(12)]]
            commands.add(part)
            added += part
        elif chance.random() < 0.2:
            agents, scope = pick(((False,), (False, True))), pick(("all", "folder"))
            asked = asked._replace(
                scope=scope, folder="b", result=pick((None, 0, 1)), agents=agents
            )
        elif chance.random() < 0.2:
            span_ms = pick((0, 60_000, 200_000))
        typed = typed + pick("git pushmake ") if chance.random() < 0.7 else typed[:-1]
        since_ms = now_ms - span_ms if span_ms else 0
        asked = asked._replace(words=tuple(typed.split()), since_ms=since_ms)
        expected = looked_through(added, asked)
        assert commands.find(asked, 5) == (len(expected), dict(list(expected.items())[:5]))
        typed = typed if expected else ""


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
