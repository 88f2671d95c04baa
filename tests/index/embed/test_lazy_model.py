from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from observer.core.model import Item, ItemKind
from observer.index.embed.lazy_model import FEW, LazyModel, packed, text_of
from observer.index.embed.model import Model
from observer.index.embed.registry import find, load

Folder = Callable[..., Path]


def an_item(number: int, title: str = "fix the login", kind: ItemKind = "observation") -> Item:
    return Item(id=number, uuid=str(number), kind=kind, type="fact", title=title)


@pytest.fixture
def late(tmp_path: Path) -> LazyModel:
    return LazyModel(find("instant", tmp_path))


def test_who_cannot_wait_does_without_until_the_model_is_there(
    late: LazyModel, until: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_load = threading.Event()
    monkeypatch.setattr(
        "observer.index.embed.lazy_model.load",
        lambda info: load(info) if may_load.wait(30) else None,
    )
    assert late.encode("login") is None
    may_load.set()
    until(lambda: late.encode("login") is not None)


def test_who_waits_gets_what_the_model_says(late: LazyModel) -> None:
    found = late.encode_patiently("fix the login")
    assert found is not None
    assert np.array_equal(found, load(late.info).embed(["fix the login"])[0])
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("more", [0, FEW], ids=["few", "many"])
def test_items_get_the_packed_vectors_of_their_texts(late: LazyModel, more: int) -> None:
    items = [an_item(4), an_item(8, "another thing"), an_item(12, "")]
    items += [an_item(16 + 4 * each, f"thing {each}") for each in range(more)]
    model = load(late.info)
    expected = {item.id: packed(model.embed([text_of(item)]))[0].tobytes() for item in items}
    assert late.made(items) == late.begin(items)() == expected
    assert expected[12] == bytes(model.dimensions)
    assert late.id == model.id


def test_a_slow_model_is_not_waited_for(tmp_path: Path) -> None:
    late = LazyModel(find("deep", tmp_path))
    assert late.begin([an_item(4)])() == {}
    assert list(late.made([an_item(4)])) == [4]


@pytest.mark.parametrize("name", ["deep", "instant+deep"])
def test_a_few_notes_are_embedded_wholly_at_once(tmp_path: Path, name: str) -> None:
    late = LazyModel(find(name, tmp_path))
    notes = [an_item(4 * n, f"rule {n}", kind="note") for n in range(1, FEW + 1)]
    assert late.begin(notes)() == late.made(notes)
    assert late.begin([*notes, an_item(40)])() != late.made([*notes, an_item(40)])


def test_of_joined_models_the_quick_one_makes_the_beginning_of_vectors(tmp_path: Path) -> None:
    late, quick = (LazyModel(find(name, tmp_path)) for name in ("instant+deep", "instant"))
    items = [an_item(4), an_item(8, "another thing")]
    assert late.begin(items)() == quick.begin(items)()
    assert {len(vector) for vector in late.made(items).values()} == {late.dimensions}


def test_what_keeps_a_model_from_being_loaded_is_shown(
    late: LazyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert late.encode_patiently("login") is None
    assert late.problem.startswith("model 'instant' cannot be used: import of onnxruntime")


def test_a_model_with_a_problem_is_never_there(copied: Folder, tmp_path: Path) -> None:
    folder = copied(card="dimensions = 'many'")
    late = LazyModel(find("mine", folder.parent))
    assert late.problem
    assert late.encode_patiently("login") is None
    assert (late.made([an_item(4)]), late.begin([an_item(4)])()) == ({}, {})


def test_a_model_that_turns_out_to_be_damaged_says_so(copied: Folder) -> None:
    folder = copied()
    late = LazyModel(find("mine", folder.parent))
    (folder / "model.onnx").write_bytes(b"no graph")
    assert late.problem == ""
    assert late.encode_patiently("login") is None
    assert "cannot be used" in late.problem


def test_a_model_is_loaded_once(late: LazyModel) -> None:
    for _ in range(3):
        late.start()
    assert late.encode_patiently("a") is not None


def test_what_nobody_used_for_a_while_is_let_go_and_comes_back(late: LazyModel) -> None:
    late.encode_patiently("login")
    assert not late.let_go(unused_s=60)
    assert late.let_go(unused_s=0)
    assert not late.let_go(unused_s=0)
    assert late.encode("login") is not None


def test_a_model_that_was_let_go_is_freed(late: LazyModel) -> None:
    earlier = set(map(id, models()))
    late.encode_patiently("login")
    (freed,) = (weakref.ref(one) for one in models() if id(one) not in earlier)
    late.let_go(unused_s=0)
    assert freed() is None


def models() -> list[Model]:
    return [each for each in gc.get_objects() if type(each) is Model]


def test_of_nothing_no_model_is_loaded(late: LazyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert (late.made([]), late.begin([])()) == ({}, {})
    assert late.problem == ""
