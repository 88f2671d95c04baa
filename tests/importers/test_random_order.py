"""However a session comes to the memory, by hooks or by an import, it says the same in the end."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.conftest import Filled, filled, without_tokens
from tests.importers.played import RED, Played

STEPS = st.lists(
    st.sampled_from(
        [
            ("prompt", "why does the total differ?"),
            ("prompt", "then mend it"),
            ("shell", "pytest -q", RED, 1),
            ("shell", "pytest -q", "1 passed in 0.30s"),
            ("shell", "ls", "cart.py"),
            ("edit", "cart.py", "total = 1", "total = 2"),
            ("edit", "bill.py", "due = 1", "due = 2"),
            ("say", "Rounding each line lost a cent. Next: round the bill."),
        ]
    ),
    min_size=2,
    max_size=12,
)
TOOK = re.compile(r", took \d[\d.]* m?s| \(took \d[\d.]* m?s\)")
PARTS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=3)


def play(cwd: Path, steps: list[tuple[Any, ...]]) -> tuple[Played, list[tuple[int, int]]]:
    """Return a session, and how many hooks and records there were after each step."""
    played = Played(cwd)
    played.start()
    marks = [(len(played.hooks), len(played.records))]
    for name, *given_ in (("prompt", "look at the cart"), *steps):
        getattr(played, name)(*given_)
        marks.append((len(played.hooks), len(played.records)))
    return played, marks


def said(memory: Filled) -> list[Any]:
    """Return what the items and the sessions say, apart from numbers and times."""
    items = memory.items()
    titles = {item.id: item.title for item in items}
    with memory.store.read() as reader:
        sessions = [(one.external, one.first_prompt, one.prompts) for one in reader.sessions()]
        states = [reader.project_state(one.id) for one in reader.projects()]
    rows = [
        (
            one.type,
            one.title,
            TOOK.sub("", one.narrative) if one.kind != "summary" else "",
            without_tokens(one.facts),
            one.summary,
            sorted((link.kind, titles.get(link.target or 0, "")) for link in one.links),
        )
        for one in items
    ]
    is_green = [b'"failures":' not in state for state in states]
    return [sessions, is_green, sorted(rows, key=repr)]


@contextmanager
def memories() -> Iterator[tuple[Path, Filled, Filled]]:
    """Make a folder with two memories."""
    with tempfile.TemporaryDirectory() as name:
        whole, mixed = (filled(Path(name) / each) for each in ("whole", "mixed"))
        with closing(whole.store), closing(mixed.store):
            yield Path(name), whole, mixed


@settings(max_examples=20, deadline=None)
@given(steps=STEPS, parts=PARTS, order=st.randoms())
def test_a_session_in_parts_is_a_session(
    steps: list[tuple[Any, ...]], parts: list[tuple[float, bool]], order: Random
) -> None:
    with memories() as (folder, whole, mixed):
        shop = folder / "shop"
        shop.mkdir()
        (shop / "pyproject.toml").touch()
        played, marks = play(shop, steps)
        played.spool(whole.spool)
        whole.live()
        bring(mixed, played, pieces(marks, parts, order), folder)
        mixed.put_in_order()
        assert said(mixed) == said(whole)


def pieces(
    marks: list[tuple[int, int]], parts: list[tuple[float, bool]], order: Random
) -> list[tuple[tuple[int, int], tuple[int, int], bool]]:
    """Return parts of a session in any order: from, to, and whether hooks report them."""
    cuts = sorted({0, len(marks) - 1, *(int(at * (len(marks) - 1)) for at, _ in parts)})
    heard = [is_heard for _, is_heard in parts] + [True, False, True, False]
    found = [
        (marks[first], marks[last], is_heard)
        for first, last, is_heard in zip(cuts, cuts[1:], heard, strict=False)
    ]
    order.shuffle(found)
    return found


def bring(
    memory: Filled,
    played: Played,
    parts: list[tuple[tuple[int, int], tuple[int, int], bool]],
    folder: Path,
) -> None:
    for (hooks, records), (hooks_end, records_end), is_heard in parts:
        if is_heard:
            played.spool(memory.spool, hooks if records else 0, hooks_end)
            memory.live()
        else:
            part = Played(Path(played.cwd))
            part.records = played.records[records:records_end]
            memory.imported(part.write(folder / f"{records}"))
