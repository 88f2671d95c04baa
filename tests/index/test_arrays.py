from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from observer.core.value import Value
from observer.index.arrays import MARK, CorruptFile, load, release, save


class Facts(Value):
    name: str
    number: int


FACTS = Facts(name="é", number=7)


TYPES = ("uint8", "int8", "bool", "uint16", "uint32", "int64", "uint64", "float32")
ARRAYS = st.sampled_from(TYPES).flatmap(
    lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(max_dims=2, min_side=0))
)


@given(st.dictionaries(st.text(max_size=3), ARRAYS, max_size=4))
def test_what_is_saved_is_loaded(tmp_path: Path, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
    save(tmp_path / "a", FACTS, arrays)
    saved = load(tmp_path / "a")
    assert saved.facts == b'{"name":"\xc3\xa9","number":7}'
    assert list(saved.arrays) == list(arrays)
    for name, array in arrays.items():
        mapped = saved.arrays[name]
        assert (mapped.dtype, mapped.shape) == (array.dtype, array.shape)
        assert mapped.tobytes() == array.tobytes()
        assert not mapped.flags.writeable


def test_an_array_that_is_not_in_one_piece_is_saved_as_it_reads(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.int64).reshape(3, 4).T[::2]
    save(tmp_path / "a", FACTS, {"t": table})
    assert load(tmp_path / "a").arrays["t"].tolist() == table.tolist()


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    save(tmp_path / "a", FACTS, {"x": np.arange(20, dtype=np.int64), "y": np.zeros(0, np.uint8)})
    return (tmp_path / "a").read_bytes()


def test_a_file_cut_anywhere_is_torn(tmp_path: Path, whole: bytes) -> None:
    for length in range(len(whole)):
        (tmp_path / "a").write_bytes(whole[:length])
        with pytest.raises(CorruptFile):
            load(tmp_path / "a")


def test_a_file_with_more_behind_it_is_torn(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "a").write_bytes(whole + b"\0")
    with pytest.raises(CorruptFile):
        load(tmp_path / "a")


def test_a_header_with_one_wrong_byte_is_torn(tmp_path: Path, whole: bytes) -> None:
    end = whole.index(b"]", whole.index(b"slots")) + len(b',"size_bytes":160}')
    for place in range(end):
        changed = bytearray(whole)
        changed[place] ^= 1
        (tmp_path / "a").write_bytes(changed)
        with pytest.raises(CorruptFile):
            load(tmp_path / "a")


def test_an_array_with_one_wrong_byte_is_torn(tmp_path: Path, whole: bytes) -> None:
    begin = whole.index(np.arange(20, dtype=np.int64).tobytes())
    for place in range(begin, begin + 160):
        changed = bytearray(whole)
        changed[place] ^= 1
        (tmp_path / "a").write_bytes(changed)
        with pytest.raises(CorruptFile, match="x is damaged"):
            load(tmp_path / "a")


@pytest.mark.parametrize("content", [b"", b"something else", MARK, MARK + b"\xff" * 8, b"\0" * 999])
def test_a_foreign_file_is_torn(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(CorruptFile):
        load(tmp_path / "a")


def test_a_missing_file_and_a_folder_are_torn(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(CorruptFile):
            load(path)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os if step == "fsync" else Path, step, full)
    with pytest.raises(OSError, match="No space"):
        save(tmp_path / "a", FACTS, {"x": np.arange(9)})
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == []


def test_what_was_there_stays_when_a_save_fails(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        save(tmp_path / "a", FACTS, {})
    assert (tmp_path / "a").read_bytes() == whole


def test_a_file_is_its_owners_only(tmp_path: Path, whole: bytes) -> None:
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def _mapped_kib(path: Path) -> int:
    """Return how much of a file is in this process's memory (Linux)."""
    at_file = Path("/proc/self/smaps").read_text(errors="replace").partition(str(path))[2]
    return int(re.findall(r"^Rss: +(\d+) kB", at_file, re.MULTILINE)[0])


def test_what_is_released_is_read_again_and_no_memory_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    count = 1_000_000
    save(path, FACTS, {"first": np.arange(9), "all": np.arange(count)})
    arrays = load(path).arrays
    assert arrays["all"].sum() == sum(range(count))
    before = _mapped_kib(path)
    release(arrays["all"])
    assert _mapped_kib(path) < before / 10
    assert arrays["all"].sum() == sum(range(count))
    assert arrays["first"].tolist() == list(range(9))


def test_what_is_not_mapped_stays_when_it_is_released() -> None:
    array = np.arange(9)
    release(array[2:])
    assert array.tolist() == list(range(9))
