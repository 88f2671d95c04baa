"""What was purged is recognised by keyed hashes, and shown by nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.core.errors import StoreUnavailable
from observer.core.model import Place, Project
from observer.store.tombstones import DIGEST_BYTES, KEY_BYTES, MARK_BYTES, Tombstones, places_of

SHOP = ("example.com/ana/shop", "/home/ana/shop")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "tombstones"


@pytest.mark.parametrize(
    ("event_id", "dedup", "places", "is_named"),
    [
        pytest.param("a", "", (), True, id="the same event"),
        pytest.param("z", "commit:1", SHOP, True, id="another report of it"),
        pytest.param("z", "commit:1", SHOP[:1], True, id="in another clone"),
        pytest.param("z", "commit:1", ("/home/ana/fork",), False, id="in another project"),
        pytest.param("z", "commit:2", SHOP, False, id="another happening"),
        pytest.param("z", "", SHOP, False, id="without identity"),
        pytest.param("z", "turn:1", (), True, id="in no folder"),
    ],
)
def test_a_tombstone_names_an_event_and_its_other_reports(
    file: Path, event_id: str, dedup: str, places: tuple[str, ...], is_named: bool
) -> None:
    Tombstones(file).add([("a", "commit:1", SHOP), ("b", "turn:1", ())])
    assert Tombstones(file).names(event_id, dedup, places) is is_named


def test_the_file_holds_a_key_and_hashes_of_its_own_and_is_private(file: Path) -> None:
    known = Tombstones(file)
    assert not known.names("a", "commit:1", SHOP)
    assert not file.exists()
    assert known.add([("canary", "commit:canary", SHOP)]) == 3
    held = file.read_bytes()
    assert len(held) == KEY_BYTES + 3 * MARK_BYTES + DIGEST_BYTES
    assert b"canary" not in held
    assert file.stat().st_mode & 0o777 == 0o600
    assert known.add([("canary", "commit:canary", SHOP), ("b", "", ())]) == 1
    assert len(Tombstones(file)) == len(known) == 4
    other = file.with_name("other")
    Tombstones(other).add([("canary", "commit:canary", SHOP)])
    assert other.read_bytes()[KEY_BYTES:] != held[KEY_BYTES:]


def test_a_project_and_its_place_are_known_by_the_same() -> None:
    place = Place(root="/home/ana/shop", common_dir="/home/ana/shop/.git", remotes=("h/a/s",))
    project = Project(
        id=2, uuid="u", name="shop", roots=(place.root,), common_dirs=(place.common_dir,),
        remotes=place.remotes,
    )  # fmt: skip
    assert places_of(place) == places_of(project)
    assert places_of(Place(root="")) == ()


def test_a_flipped_bit_is_noticed_and_the_copy_serves(file: Path) -> None:
    Tombstones(file).add([("one", "", ())])
    whole = file.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 16
        file.write_bytes(damaged)
        assert Tombstones(file).names("one", "", ())
    copy = file.with_name(f"{file.name}.copy")
    copy.write_bytes(damaged)
    with pytest.raises(StoreUnavailable, match="damaged"):
        Tombstones(file)
    file.unlink()
    with pytest.raises(StoreUnavailable, match="damaged"):
        Tombstones(file)
    copy.write_bytes(whole)
    assert Tombstones(file).names("one", "", ())


def test_a_file_of_an_older_observer_is_read_and_a_damaged_one_refused(file: Path) -> None:
    Tombstones(file).add([("one", "", ())])
    file.write_bytes(file.read_bytes()[:-8])
    file.with_name(f"{file.name}.copy").unlink()
    assert Tombstones(file).names("one", "", ())
    for size in (1, 16, KEY_BYTES + 1):
        file.write_bytes(bytes(size))
        with pytest.raises(StoreUnavailable, match="damaged"):
            Tombstones(file)
    file.unlink()
    file.mkdir()
    with pytest.raises(StoreUnavailable, match=r"plain file|directory"):
        Tombstones(file)
