from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Event,
    FileWrite,
    Intent,
    Prompt,
    Remember,
    Reply,
    SessionEnd,
)
from observer.core.model import Item, Recorded, UsageEvent
from observer.search.usage import MOST_FILES, usage_events

Make = Callable[..., Item]
SESSION = 40
CART = {"title": "Round the cart total once", "files_modified": ("src/cart.py",)}


def used(item: Item, body: AnyBody, session: int | None = SESSION) -> list[tuple[str, int]]:
    event = Event(id="e", at_ms=7, client="c", body=body)
    recorded = Recorded(seq=50, event=event, project_id=2, session_id=session)
    return [(use.sort, use.item) for use in usage_events(recorded, [item])]


@pytest.mark.parametrize(
    ("body", "sort"),
    [
        pytest.param(FileWrite(path="/home/ana/app/src/cart.py"), "edited", id="its-file"),
        pytest.param(FileWrite(path="src/cart.py"), "edited", id="its-file-as-stated"),
        pytest.param(
            Intent(tool="Edit", of=FileWrite(path="/a/src/cart.py")), "edited", id="about-to-edit"
        ),
        pytest.param(Command(command="cd x && observer show 8 4"), "fetched", id="show"),
        pytest.param(Command(command="observer timeline #4"), "fetched", id="timeline"),
        pytest.param(Prompt(text="go on with #4, please"), "cited", id="id-in-a-prompt"),
        pytest.param(Reply(text="The cart TOTAL: I round it once now"), "cited", id="title-words"),
        pytest.param(Commit(hash="a", message="Fix\n\nAs decided in #4."), "cited", id="commit"),
        pytest.param(Remember(content="See #4 for why"), "cited", id="note"),
    ],
)
def test_what_counts_as_a_use(an_item: Make, body: AnyBody, sort: str) -> None:
    assert used(an_item(1, **CART), body) == [(sort, 4)]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(FileWrite(path="/home/ana/app/src/mycart.py"), id="another-file"),
        pytest.param(Command(command="observer show 41; cat '#4'"), id="another-id"),
        pytest.param(Command(command="git show 4"), id="another-program"),
        pytest.param(Prompt(text="see issue/#4 and &#4; and #4a and ##4"), id="no-id"),
        pytest.param(Prompt(text="the cart total is wrong"), id="part-of-the-title"),
        pytest.param(SessionEnd(), id="nothing-said"),
    ],
)
def test_what_does_not(an_item: Make, body: AnyBody) -> None:
    assert used(an_item(1, **CART), body) == []


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"title": "Modified auth"}, id="title-of-common-words"),
        pytest.param(
            {"files_modified": ("auth.py", *map(str, range(MOST_FILES)))}, id="of-too-many-files"
        ),
    ],
)
def test_what_is_about_everything_is_used_by_nothing(an_item: Make, fields: Any) -> None:
    item = an_item(1, **fields)
    assert used(item, Reply(text="Modified auth, and more")) == []
    assert used(item, FileWrite(path="/a/auth.py")) == []


def test_files_that_were_only_read_count_where_none_was_written(an_item: Make) -> None:
    item = an_item(1, files_read=("cart.py",))
    assert used(item, FileWrite(path="/app/cart.py")) == [("edited", 4)]


def test_a_use_says_when_and_where(an_item: Make) -> None:
    event = Event(id="e", at_ms=7, client="c", body=Prompt(text="#4"))
    recorded = Recorded(seq=50, event=event, project_id=2, session_id=SESSION)
    (use,) = usage_events(recorded, [an_item(1)])
    assert use == UsageEvent(item=4, session=SESSION, sort="cited", at_ms=7)


def test_what_happened_in_no_session_uses_nothing(an_item: Make) -> None:
    assert used(an_item(1), Prompt(text="#4"), session=None) == []


@given(st.text())
def test_no_text_is_too_strange(an_item: Make, text: str) -> None:
    item = an_item(1, title=text, files_modified=(text,))
    for body in (Prompt(text=text), Command(command=text), FileWrite(path=text)):
        assert len(used(item, body)) <= 1
