"""The index follows its feed whatever happens to its files, its process or its neighbours."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.core.model import ItemChange
from observer.index import Index
from observer.index.arrays import CorruptFile, load, save
from observer.index.index import FORMAT, Files
from observer.index.segment import FileFacts, Segment, merged, segment

from .conftest import WORDS, Shown, a_vector, an_index, an_item, answers, codes, found

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


class Scene:
    """A feed, a folder, and what an index of them is asked."""

    def __init__(self, folder: Path, shown: Shown) -> None:
        self.folder, self.shown = folder, shown

    def fill(self, count: int, *, seed: int = 5) -> None:
        """Put new items, changed items and deletions, in no order but always the same."""
        chance = random.Random(seed)
        for _ in range(count):
            seq = chance.randint(1, 60)
            if chance.random() < 0.1:
                self.shown.delete(4 * seq)
                continue
            title = " ".join(chance.choices(WORDS, k=3))
            vector = a_vector(chance.randint(0, 99)) if chance.random() < 0.7 else None
            self.shown.put(an_item(seq, title), vector=vector)

    def fresh(self, shown: Shown) -> Any:
        """Return what an index answers that is made of a whole feed at once."""
        return answers(an_index(), shown)

    def agrees(self, index: Index) -> bool:
        return bool(answers(index, self.shown) == self.fresh(self.shown))


@pytest.fixture
def scene(folder: Path, shown: Shown) -> Scene:
    return Scene(folder, shown)


STEPS = st.lists(
    st.tuples(st.integers(1, 9), st.lists(st.sampled_from(WORDS), max_size=3), st.booleans()),
    max_size=40,
)


@given(STEPS, st.integers(1, 7))
def test_changes_one_by_one_or_in_bulk_give_the_same_answers(
    steps: list[tuple[int, list[str], bool]], pause: int
) -> None:
    shown, index = Shown(), an_index()
    for number, (seq, words, has_vector) in enumerate(steps):
        if words:
            shown.put(an_item(seq, " ".join(words)), vector=a_vector(seq) if has_vector else None)
        else:
            shown.delete(4 * seq)
        if number % pause == 0:
            index.refresh(shown)
    found = answers(index, shown)
    assert found == answers(an_index(), shown)
    for word in WORDS:
        holding = {i for i, item in shown.living().items() if word in item.title.split()}
        assert found["words"][word] == holding


def test_segments_stay_few(scene: Scene) -> None:
    index = an_index()
    for seed in range(300):
        scene.fill(1, seed=seed)
        index.refresh(scene.shown)
        # Those of the largest size, and fewer than three of each smaller one.
        assert len(index._segments) <= 300 // 27 + 3 * 2


def test_what_is_new_is_not_merged_into_what_is_large(scene: Scene) -> None:
    index = an_index()
    scene.fill(20)
    index.refresh(scene.shown)
    large = index._segments[0]
    for seed in range(4):
        scene.fill(1, seed=seed)
        index.refresh(scene.shown)
        assert index._segments[0] is large


def test_in_quiet_segments_become_fewer(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    index = _of_two_parts(an_index(scene.folder), scene)

    def fail() -> None:
        raise MemoryError

    _while_merging(monkeypatch, fail)
    with pytest.raises(MemoryError):
        index.tidy()
    assert len(index._segments) > 1
    index.tidy()
    assert len(index._segments) == 1
    assert scene.agrees(index)
    assert scene.agrees(an_index(scene.folder))


def _of_two_parts(index: Index, scene: Scene) -> Index:
    """Return the index with a large segment and one that is merged in times of quiet."""
    for count in (15, 8):
        scene.fill(count, seed=count)
        index.refresh(scene.shown)
    return index


def _while_merging(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Have something happen during the next merger, between its reading and its end."""
    todo = [act]

    def merging(*args: Any, **options: Any) -> Segment:
        one = merged(*args, **options)
        if todo:
            todo.pop()()
        return one

    monkeypatch.setattr("observer.index.index.merged", merging)


def test_what_changes_during_a_merger_is_changed_after_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = an_index()
    scene.fill(20)
    index.refresh(scene.shown)
    seen = []

    def change() -> None:
        scene.shown.delete(scene.shown.newest()[0].id)
        scene.fill(5, seed=3)
        with index.view(scene.shown) as view:
            seen.append(view.is_complete)

    scene.fill(20, seed=2)
    _while_merging(monkeypatch, change)
    index.tidy()
    assert scene.agrees(index)
    assert seen == [True]


def test_a_merger_of_what_is_no_longer_there_is_dropped(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = an_index()
    scene.fill(20)

    def change() -> None:
        scene.shown.begin_anew("second")
        scene.fill(7, seed=5)
        with index.view(scene.shown):
            pass

    _while_merging(monkeypatch, change)
    index.refresh(scene.shown)
    assert scene.agrees(index)


def test_an_index_that_was_closed_goes_on_and_is_whole_on_the_disk(scene: Scene) -> None:
    index = an_index(scene.folder)
    for count in (2, 60, 5, 12, 25):
        scene.fill(count, seed=count)
        index.refresh(scene.shown)
        index.close()
        assert scene.agrees(an_index(scene.folder, is_owner=False))
    scene.shown.asked_after.clear()
    found = answers(an_index(scene.folder), scene.shown)
    assert scene.shown.asked_after == []
    assert found == scene.fresh(scene.shown)


def test_an_empty_index_closes_and_who_asks_does_not_wait_for_files(scene: Scene) -> None:
    index = an_index(scene.folder)
    for _ in range(2):
        index.close()
        index.refresh(scene.shown)
    scene.fill(8)
    with index.view(scene.shown) as view:
        assert view.size == 8
    assert not scene.folder.exists()


def test_nothing_but_the_index_stays_in_its_folder(scene: Scene) -> None:
    scene.folder.mkdir()
    (scene.folder / "000000000001-1.segment").write_bytes(b"left over")
    (scene.folder / ".half").touch()
    (scene.folder / "sub").mkdir()
    for round_ in range(4):
        index = an_index(scene.folder)
        scene.fill(60, seed=round_)
        index.refresh(scene.shown)
        index.close()
    listed = msgspec.json.decode((scene.folder / "index.json").read_bytes())["segments"]
    assert {entry.name for entry in scene.folder.iterdir()} == {"index.json", "sub", *listed}


@pytest.fixture
def settled(scene: Scene) -> Path:
    scene.fill(120)
    index = an_index(scene.folder)
    index.refresh(scene.shown)
    index.close()
    return scene.folder


def test_files_that_can_be_read_are_not_damaged(settled: Path) -> None:
    assert Files(settled).damaged() == []


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[30] ^= 0xFF
    path.write_bytes(data)


def foreign(path: Path) -> None:
    path.write_bytes(b"\0\xff not ours" * 9)


def garble(path: Path) -> None:
    """Make no text of it, from its sixth byte on."""
    data = bytearray(path.read_bytes())
    data[5] = 0xB0
    path.write_bytes(data)


HARMS = [cut, flip, foreign, garble, Path.unlink]


@pytest.mark.measured
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
@pytest.mark.parametrize("kind", ["*.segment", "index.json"])
def test_torn_or_foreign_files_are_made_again(
    scene: Scene, settled: Path, harm: Callable[[Path], None], kind: str
) -> None:
    for path in settled.glob(kind):
        before = path.read_bytes()
        harm(path)
        assert scene.agrees(an_index(settled, is_owner=False))
        path.write_bytes(before)
    for path in settled.glob(kind):
        harm(path)
    owner = an_index(settled)
    assert scene.agrees(owner)
    owner.close()
    scene.shown.asked_after.clear()
    an_index(settled, is_owner=False).refresh(scene.shown)
    assert scene.shown.asked_after == []


@pytest.mark.parametrize("change", [{"format": FORMAT + 1}, {"format": 0}, {"epoch": "second"}])
def test_files_of_another_format_or_numbering_are_made_again(
    scene: Scene, settled: Path, change: dict[str, Any]
) -> None:
    listed = msgspec.json.decode((settled / "index.json").read_bytes())
    (settled / "index.json").write_bytes(msgspec.json.encode(listed | change))
    scene.shown.asked_after.clear()
    assert scene.agrees(an_index(settled))
    assert scene.shown.asked_after[0] == 0


def test_files_that_are_incomplete_or_ahead_are_made_again(scene: Scene, settled: Path) -> None:
    earlier = scene.shown.upto(scene.shown.newest_change() - 1)
    assert answers(an_index(settled), earlier) == scene.fresh(earlier)
    path = next(settled.glob("*.segment"))
    saved = load(path)
    save(path, FileFacts(last_change=1, model=""), {"ids": saved.arrays["ids"]})
    assert scene.agrees(an_index(settled))


def test_a_numbering_that_begins_anew_begins_the_index_anew(scene: Scene, settled: Path) -> None:
    index = an_index(settled)
    index.refresh(scene.shown)
    scene.shown.begin_anew("second")
    scene.shown.put(an_item(1, "aa"))
    found = answers(index, scene.shown)
    assert found == scene.fresh(scene.shown)
    assert found["words"]["aa"] == {4}
    scene.fill(80, seed=9)
    index.refresh(scene.shown)
    index.close()
    assert scene.agrees(an_index(settled))


def test_who_only_reads_writes_nothing(scene: Scene, settled: Path) -> None:
    def stamps() -> dict[str, int]:
        return {entry.name: entry.stat().st_mtime_ns for entry in settled.iterdir()}

    before = stamps()
    scene.fill(100, seed=8)
    reader = an_index(settled, is_owner=False)
    assert scene.agrees(reader)
    reader.close()
    assert stamps() == before
    nowhere = settled.parent / "nowhere"
    other = an_index(nowhere, is_owner=False)
    assert scene.agrees(other)
    other.close()
    assert not nowhere.exists()


def test_a_folder_that_cannot_be_written_does_no_harm(
    scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    scene.fill(100)
    index = an_index(tmp_path / "file" / "index")
    assert scene.agrees(index)
    index.close()
    assert "cannot write the index" in caplog.text


@pytest.mark.parametrize("more", [0, 5, 100])
def test_vectors_count_for_their_own_model_alone(scene: Scene, more: int) -> None:
    scene.fill(100)
    index = an_index(scene.folder)
    assert answers(index, scene.shown)["near"][1]
    index.use("other", 64)
    scene.fill(more, seed=9)
    assert answers(index, scene.shown)["near"] == {1: {}, 2: {}}
    index.close()
    other = answers(an_index(scene.folder, model="other"), scene.shown)
    assert other["near"] == {1: {}, 2: {}}
    assert scene.agrees(an_index(scene.folder))
    index.use("0123456789ab", 64)
    assert scene.agrees(index)


def test_a_view_of_very_much_says_what_it_lacks_or_a_reader_waits(scene: Scene) -> None:
    scene.shown.put(*(an_item(n, "aa") for n in range(1, 31)))
    index = an_index(scene.folder)
    with index.view(scene.shown) as view:
        assert not view.is_complete
        assert set(found(view, "aa")) == {4 * n for n in range(1, 9)}
    index.refresh(scene.shown)
    for one in (index, an_index()):
        with one.view(scene.shown) as view:
            assert view.is_complete
            assert len(found(view, "aa")) == 30


def test_what_has_a_vector_of_the_model_is_counted_and_a_record_needs_none(scene: Scene) -> None:
    with an_index().view(scene.shown) as view:
        assert view.embedded == 1, "of no items all have one"
    scene.shown.put(*(an_item(n) for n in range(1, 6)), an_item(9, kind="record"))
    scene.shown.put(*(an_item(n) for n in range(3, 9)), vector=a_vector(1))
    scene.shown.delete(4 * 8)
    index = an_index(scene.folder)
    index.refresh(scene.shown)
    assert (index.embedded(), index.to_embed()) == (5, 7)
    with index.view(scene.shown) as view:
        assert view.embedded == 5 / 7
    index.use("other", 64)
    assert index.embedded() == 0


def test_a_view_stays_as_it_is_while_others_take_up_what_is_new(scene: Scene) -> None:
    """Nobody who asks waits until somebody else has been answered."""
    scene.shown.put(an_item(1, "aa"), an_item(2, "aa bb"))
    index = an_index()
    with index.view(scene.shown) as view:
        scene.shown.put(an_item(1, "bb"), an_item(3, "aa"))
        newer: list[set[int]] = []

        def ask() -> None:
            with index.view(scene.shown) as other:
                newer.append(set(found(other, "aa")))

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(timeout=10)
        assert set(found(view, "aa")) == {4, 8}
        assert newer == [{8, 12}]


def test_threads_take_turns(scene: Scene) -> None:
    scene.fill(60)
    index, failed, done = an_index(), [], threading.Event()
    expected = answers(an_index(), scene.shown)

    def ask() -> None:
        while not done.is_set():
            try:
                assert answers(index, scene.shown) == expected
            except BaseException as error:  # noqa: BLE001 - a thread tells nobody else
                failed.append(error)
                return

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        index.refresh(scene.shown)
        index.use("0123456789ab", 64)
    done.set()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_name_is_of_one_segment_only(folder: Path) -> None:
    """Whatever stands at an address in memory where another segment stood."""

    def rows(number: int) -> Any:
        change = ItemChange(change=number, id=4 * number, item=an_item(number))
        return segment([change], codes, model="m", dimensions=8, mean_length=1.0)

    files = Files(folder)
    number = 1
    files.settle("e", [rows(number)])
    for number in range(2, 30):
        files.settle("e", [rows(number)])
        assert [one.last_change for one in Files(folder).load("e")] == [number]


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_an_index_that_can_be_used(scene: Scene) -> None:
    scene.fill(800)
    moments = random.Random(20261122)
    for round_ in range(20):
        portions = [scene.shown.upto(number) for number in range(40 * round_ + 1, 40 * round_ + 41)]
        child = os.fork()
        if not child:
            _write_for_ever(an_index(scene.folder), portions)
        time.sleep(moments.uniform(0.005, 0.06))  # the random moment itself, not a wait
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert answers(an_index(scene.folder, is_owner=False), portions[-1]) == scene.fresh(
            portions[-1]
        )
    owner = an_index(scene.folder)
    assert scene.agrees(owner)


def _write_for_ever(index: Index, portions: Sequence[Any]) -> None:
    try:
        while True:
            for portion in portions:
                index.refresh(portion)
                index.close()
            index._epoch = ""  # as after a restart: everything from the disk again
    finally:
        os._exit(1)


def test_what_is_settled_need_not_be_in_memory(scene: Scene) -> None:
    index = an_index(scene.folder)
    scene.fill(80)
    index.refresh(scene.shown)
    scene.shown.delete(scene.shown.newest()[0].id)
    index.refresh(scene.shown)
    index.close()
    assert all(not each.ids.flags.writeable for each in index._segments)
    assert scene.agrees(index)
    index.rest()
    at_files = Path("/proc/self/smaps").read_text(errors="replace").split(str(scene.folder))[1:]
    assert at_files
    assert all("Rss:                   0 kB" in mapped.partition("Pss:")[0] for mapped in at_files)
    assert scene.agrees(index)


def test_what_cannot_be_mapped_again_stays_in_memory(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(path: Path) -> None:
        raise CorruptFile(path.name)

    monkeypatch.setattr("observer.index.index.load", torn)
    index = an_index(scene.folder)
    scene.fill(80)
    index.refresh(scene.shown)
    index.close()
    assert scene.agrees(index)


@pytest.fixture
def prepared(scene: Scene) -> tuple[Index, Callable[..., Callable[[], None]]]:
    """Return an index of two items, and how it prepares what a change of them brings."""
    scene.shown.put(an_item(1, "aa"), an_item(2, "bb"))
    index = an_index()
    index.refresh(scene.shown)

    def prepare(**options: Any) -> Callable[[], None]:
        scene.shown.put(an_item(1, "bb"), an_item(3, "aa"))
        take_up: Callable[[], None] = index.prepare(scene.shown, **options)
        return take_up

    return index, prepare


@pytest.mark.parametrize("is_taken_up_before", [False, True])
def test_nobody_waits_for_what_was_prepared_and_it_is_taken_up_once(
    scene: Scene, prepared: Any, *, is_taken_up_before: bool
) -> None:
    index, prepare = prepared
    pauses: list[None] = []
    take_up = prepare(pause=lambda: pauses.append(None))
    assert len(pauses) == 2
    if is_taken_up_before:
        index.refresh(scene.shown)
    take_up()
    scene.shown.asked_after.clear()
    with index.view(scene.shown) as view:
        assert (view.size, set(found(view, "aa")), set(found(view, "bb"))) == (4, {12}, {4, 8})
    assert scene.shown.asked_after == []
    assert scene.agrees(index)


def test_what_was_prepared_and_not_committed_leaves_no_trace(prepared: Any, shown: Shown) -> None:
    index, prepare = prepared
    before = shown.upto(2)
    prepare()
    with index.view(before) as view:
        assert set(found(view, "aa")) == {4}


@pytest.mark.parametrize("how", ["nothing new", "very much new", "begun anew", "not begun"])
def test_what_is_not_for_one_batch_is_not_prepared(scene: Scene, how: str) -> None:
    scene.shown.put(an_item(1, "aa"))
    index = an_index()
    if how != "not begun":
        index.refresh(scene.shown)
    if how == "very much new":
        scene.shown.put(*(an_item(n, "bb") for n in range(2, 60)))
    if how == "begun anew":
        scene.shown.begin_anew("second")
        scene.shown.put(an_item(7, "cc"))
    pauses: list[None] = []
    index.prepare(scene.shown, pause=lambda: pauses.append(None))()
    assert pauses == []
    assert scene.agrees(index)
