"""Which events go: those asked for, however written, what an item was made of, and no others."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.errors import BadInput, NotFound
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    FileChange,
    FileWrite,
    Forget,
    Intent,
    Outcome,
    Prompt,
    Remember,
    Revise,
    Undo,
)
from observer.core.model import item_id
from observer.upkeep.choose import Criteria, chosen, on_branch, reasons
from observer.upkeep.shred import SHORTEST, finder
from tests.upkeep.purge.conftest import START_MS, World

WRITE = FileWrite(path="/x/src/cart.py", edits=(Edit(old="a", new="b"),), tool="Edit")


def goes(world: World, **asked: object) -> list[int]:
    with world.store.read() as reader:
        return sorted(chosen(reader, Criteria(**asked)))  # type: ignore[arg-type]  # a test's


def why(world: World, **asked: object) -> dict[int, str]:
    with world.store.read() as reader:
        return reasons(reader, Criteria(**asked))  # type: ignore[arg-type]  # a test's


def test_what_was_asked_for_goes_and_says_why(world: World) -> None:
    world.tell(Prompt(text="why is the zebra striped?"))
    world.tell(Command(command="make", output="a b\n c", exit_code=2))
    world.tell(Prompt(text="the badger has a den"), session="s2")
    world.tell(Prompt(text="go on with the badger"), session="s2", client="d")
    world.tell(WRITE)
    world.tell(Commit(hash="c0ffee", subject="Mend", files=(FileChange(path="src/cart.py"),)))
    for asked, expected, reason in (
        ({"text": "zebra"}, [1], "holds it in text"),
        ({"text": "b\nc"}, [2], "holds it in output"),
        ({"query": "badger den"}, [3], "holds the words"),
        ({"ids": (item_id(1),)}, [1], "named by its id"),
        ({"session": "s2"}, [3, 4], "of the session"),
        ({"client": "d"}, [4], "from d"),
        ({"file": "src/cart.py"}, [5, 6], "about the file"),
        ({"until_ms": START_MS + 120_000}, [1], "of that time"),
        ({"since_ms": START_MS + 360_000}, [6], "of that time"),
        ({"session": "s2", "client": "d"}, [4], "of the session; from d"),
    ):
        assert why(world, **asked) == dict.fromkeys(expected, reason), asked  # type: ignore[arg-type]


def test_a_text_that_is_a_branchs_name_takes_what_speaks_of_it(world: World) -> None:
    world.tell(Prompt(text="mend the cart"), WRITE, branch="fix/zebra")
    world.tell(Command(command="git switch fix/zebra"), branch="fix/zebra")
    assert why(world, text="fix/zebra") == {3: "holds it in command"}
    assert why(world, text="zebra")[1] == "holds it in branch"
    with world.store.read() as reader:
        assert on_branch(reader, Criteria(text="fix/zebra")) == 2


def test_what_goes_with_another_says_so(world: World) -> None:
    world.tell(Remember(content="the zebra is striped"))
    world.tell(Forget(item=item_id(1)))
    assert why(world, text="zebra") == {1: "holds it in content", 2: "about what goes"}


MAKE = Intent(tool="Bash", of=Command(command="make zebra"))
MADE = Outcome(tool="Bash", output="error: no zebra", exit_code=2, failed=True)
MEND = Prompt(text="mend the cart")


@pytest.mark.parametrize(
    ("bodies", "item", "expected"),
    [
        pytest.param((MEND, WRITE, WRITE, WRITE), item_id(2), [2, 3, 4], id="folded"),
        pytest.param((MAKE, MADE), item_id(2), [1, 2], id="of two reports"),
        pytest.param((MEND, WRITE), item_id(1, "summary"), [1, 2], id="a summary"),
    ],
)
def test_an_item_goes_with_every_event_it_was_made_of(
    world: World, bodies: tuple[AnyBody, ...], item: int, expected: list[int]
) -> None:
    world.tell(*bodies)
    world.tell(Prompt(text="elsewhere"), session="s2")
    assert goes(world, ids=(item,)) == expected


def test_a_note_goes_with_all_that_was_done_to_it(world: World) -> None:
    world.tell(Remember(content="use zebras"), Prompt(text="go on"))
    world.tell(Revise(item=item_id(1), content="use badgers"), Forget(item=item_id(1)))
    assert goes(world, text="zebras") == [1, 3, 4]


def test_a_change_that_goes_takes_along_what_took_it_back(world: World) -> None:
    """Left alone, it would take back another change."""
    note = item_id(1)
    world.tell(Remember(content="use tabs"), Revise(item=note, content="use blanks"))
    world.tell(Revise(item=note, content="use zebras"), Undo(item=note))
    assert goes(world, text="zebras") == [3, 4]


def test_what_is_left_of_a_forgotten_item_goes_too(world: World) -> None:
    """Its other events would make it again, and nobody would have forgotten that one."""
    world.tell(Prompt(text="mend"), WRITE, WRITE, Forget(item=item_id(2)))
    assert goes(world, until_ms=START_MS + 180_000, file="cart.py") == [2, 3, 4]


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        pytest.param({}, BadInput, id="nothing"),
        pytest.param({"text": "ab"}, BadInput, id="short"),
        pytest.param({"ids": (99,)}, NotFound, id="no such item"),
        pytest.param({"session": "nosuch"}, NotFound, id="no such session"),
    ],
)
def test_a_purge_that_cannot_be_meant_is_refused(
    world: World, asked: dict[str, object], error: type[Exception]
) -> None:
    world.tell(Prompt(text="hello there"))
    with pytest.raises(error):
        goes(world, **asked)


TEXTS = st.text(min_size=SHORTEST, max_size=30).filter(lambda text: len(text.strip()) >= SHORTEST)


@given(text=TEXTS, depth=st.integers(0, 3), is_ascii=st.booleans())
def test_a_text_is_found_however_often_it_was_escaped(
    text: str, depth: int, is_ascii: bool
) -> None:
    written = text
    for _ in range(depth):
        written = json.dumps(written, ensure_ascii=is_ascii)
    looked = finder([text])
    assert looked
    if "\ud800" <= max(text) <= "\udfff":
        return
    assert looked.search(b"..." + written.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    ("text", "held", "is_there"),
    [
        pytest.param("a b c", b"x a\\n b\\t c", True, id="blanks"),
        pytest.param("a/b.py", b'{"p":"a\\/b.py"}', True, id="slash"),
        pytest.param(
            "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9").encode(), True, id="nfd"
        ),
        pytest.param("a.b", b"a,b", False, id="no pattern"),
        pytest.param("zebra", b"Zebra", False, id="case"),
    ],
)
def test_what_counts_as_the_text(text: str, held: bytes, is_there: bool) -> None:
    looked = finder([text])
    assert looked
    assert bool(looked.search(held)) is is_there
    assert finder([]) is None
