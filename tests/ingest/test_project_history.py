"""Arcs and links on their way into the store, and once more in a rebuild."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    Event,
    FileWrite,
    Prompt,
    Rewrite,
    ToolUse,
)
from observer.core.model import Item, Link, item_id
from observer.ingest.pipeline import Pipeline
from observer.store.interface import Store

OLD, NEW, NEWER = "a" * 40, "b" * 40, "c" * 40
RED = Command(command="pytest", output="FAILED a.py::x - KeyError\n1 failed in 0.1s", exit_code=1)
GREEN = Command(command="pytest", output="1 passed in 0.10s", exit_code=0)
EDIT = FileWrite(path="a.py", edits=(Edit(old="a = 1", new="a = 2"),))
BACK = FileWrite(path="a.py", edits=(Edit(old="a = 2", new="a = 1"),))


def happened(folder: Path, *shown: tuple[str, AnyBody]) -> list[Event]:
    return [
        Event(
            id=f"e{number}",
            at_ms=1_780_000_000_000 + 1000 * number,
            client="x",
            session=session,
            cwd=str(folder),
            body=body,
            dedup=f"commit:{body.hash}" if isinstance(body, Commit) else "",
        )
        for number, (session, body) in enumerate(shown, 1)
    ]


def everything(store: Store) -> list[Item]:
    with store.read() as reader:
        return list(reader.all_items())


def links_of(store: Store, seq: int) -> tuple[Link, ...]:
    with store.read() as reader:
        return reader.items([item_id(seq)])[0].links


@pytest.mark.parametrize("at_once", [1, 9])
def test_an_arc_spans_sessions_and_batches(
    pipeline: Pipeline, store: Store, folder: Path, at_once: int
) -> None:
    events = happened(folder, ("s1", RED), ("s1", EDIT), ("s2", GREEN))
    for start in range(0, len(events), at_once):
        pipeline.ingest(events[start : start + at_once])
    fix = next(item for item in everything(store) if item.type == "fix")
    assert [link.target for link in fix.links] == [item_id(1), item_id(2), item_id(3)]
    before = everything(store)
    pipeline.rebuild()
    assert everything(store) == before


HISTORY: Sequence[tuple[str, AnyBody]] = (
    ("", Commit(hash=OLD, subject="x")),
    ("", Rewrite(reason="amend", pairs=((OLD, NEW),))),
    ("", Commit(hash=NEWER, subject="y", message=f"This reverts commit {OLD}.")),
    ("", Commit(hash=NEW, subject="x")),
)


def test_a_turn_that_a_prompt_broke_off_is_a_record(
    pipeline: Pipeline, store: Store, folder: Path
) -> None:
    asked = ("Round the total up", "No, mend the cart first")
    for event in happened(folder, *(("s1", Prompt(text=one)) for one in asked)):
        pipeline.ingest([event])
    kinds = [item.kind for item in everything(store) if item.type == "turn"]
    assert kinds == ["record", "observation"]


def test_answers_to_a_procedure_are_records_from_the_first_on(
    pipeline: Pipeline, store: Store, folder: Path
) -> None:
    asked = '{"questions": [{"question": "Go on?", "options": ["Yes", "No"]}]}'
    output = '{"answers": {"Go on?": "Yes"}}'
    body = ToolUse(tool="AskUserQuestion", input=asked, output=output)
    for event in happened(folder, ("s1", body), ("s2", body)):
        pipeline.ingest([event])
    kinds = [item.kind for item in everything(store) if item.type == "decision"]
    assert kinds == ["record", "record"]


def test_links_lead_to_commits_by_their_hash(
    pipeline: Pipeline, store: Store, folder: Path
) -> None:
    pipeline.ingest(happened(folder, *HISTORY))
    assert links_of(store, 3) == (Link(kind="reverts", target=item_id(1), title=OLD),)


def test_what_came_later_is_unknown_in_a_rebuild_too(
    pipeline: Pipeline, store: Store, folder: Path
) -> None:
    pipeline.ingest(happened(folder, *HISTORY))
    replaced = (
        Link(kind="replaces", target=item_id(1), title=OLD),
        Link(kind="makes", title=NEW),
    )
    assert links_of(store, 2) == replaced
    pipeline.rebuild()
    assert links_of(store, 2) == replaced
