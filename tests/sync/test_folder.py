"""A share in a folder whose owner is not trusted: what he reads, changes and takes away."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import cast

import msgspec
import pytest

from observer.core.errors import BadInput, NotFound, ShareUnavailable
from observer.core.value import decode_json
from observer.sync import carriers, keys
from observer.sync.folder import FolderCarrier
from observer.sync.record import NotMember
from observer.sync.segments import segment_named
from tests.sync.conftest import a_chain


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "share"


@pytest.fixture
def ana(folder: Path, tmp_path: Path) -> FolderCarrier:
    return carriers.create_share(str(folder), tmp_path / "ana", person="Ana Soto")


@pytest.fixture
def ben(ana: FolderCarrier, folder: Path, tmp_path: Path) -> FolderCarrier:
    return carriers.join_share(str(folder), tmp_path / "ben", ana.invite("Ben"))


def id_in(home: Path, share: str) -> str:
    return keys.identity_in(home, share).id


def segments(folder: Path) -> list[Path]:
    return sorted((folder / "segments").glob("*.segment"))


def whys(carrier: FolderCarrier) -> list[str]:
    return [one.why for one in carrier.pull({}, limit=100).refused]


def test_all_is_encrypted(ana: FolderCarrier, folder: Path, tmp_path: Path) -> None:
    ana.push(a_chain("a", 3, body='{"title": "settle_invoice"}'))
    ana.invite("Ben")
    held = b"".join(
        file.name.encode() + file.read_bytes() for file in folder.rglob("*") if file.is_file()
    )
    for word in (b"settle_invoice", b"shop", b"Soto", b"Ben"):
        assert word not in held
    secrets = [path for path in (tmp_path / "ana").rglob("*") if path.is_file()]
    assert [path.stat().st_mode & 0o077 for path in secrets] == [0] * len(secrets) != []


def test_a_segment_is_never_written_again_and_a_name_alone_does_not_count_as_sent(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path
) -> None:
    ana.push(a_chain("a", 2))
    before = {path: path.read_bytes() for path in segments(folder)}
    named = segment_named(segments(folder)[0].name)
    assert named
    fake = named._replace(first=3, last=900)
    (folder / "segments" / f"{fake.stem}.segment").write_bytes(b"nothing")
    ana.push(a_chain("a", 4))
    assert ben.pull({}, limit=10).records == a_chain("a", 4)
    assert {path: path.read_bytes() for path in segments(folder)}.items() > before.items()


def changed(path: Path) -> None:
    """Write a changed segment under the name that its hash gives it."""
    data = path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1])
    named = segment_named(path.name)
    assert named
    fake = named._replace(digest=keys.hashlib.sha256(data).hexdigest()[:32])
    path.with_name(f"{fake.stem}.segment").write_bytes(data)
    shutil.copy(path.with_suffix(".keys"), path.with_name(f"{fake.stem}.keys"))
    path.unlink()


def become_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def lose_its_key(path: Path) -> None:
    path.with_suffix(".keys").unlink()


HARMS = {
    "signature is wrong": changed,
    "not a plain file": become_a_pipe,
    "no key for this machine": lose_its_key,
}


@pytest.mark.parametrize("why", HARMS)
def test_a_segment_that_is_not_as_it_was_is_refused(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path, why: str
) -> None:
    ana.push(a_chain("a", 2))
    HARMS[why](segments(folder)[0])
    assert why in whys(ben)[0]


def test_a_segment_of_a_stranger_is_refused(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path, tmp_path: Path
) -> None:
    eve = carriers.create_share(str(tmp_path / "other"), tmp_path / "eve", person="Eve")
    eve.push(a_chain("a", 2))
    shutil.copytree(tmp_path / "other" / "members", folder / "members", dirs_exist_ok=True)
    shutil.copytree(tmp_path / "other" / "segments", folder / "segments", dirs_exist_ok=True)
    assert whys(ben) == ["it is signed by a machine that is not in the share"]


def test_a_member_does_not_go_on_with_the_chain_of_another(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path, tmp_path: Path
) -> None:
    ana.push(a_chain("a", 2))
    ana.pull({}, limit=10)
    mine = keys.identity_in(tmp_path / "ben", ben.share)
    keys.claim(folder, mine, "a")
    with pytest.raises(BadInput, match="not the origin"):
        ben.push(a_chain("a", 3))
    assert ana.pull({}, limit=10)[:2] == (a_chain("a", 2), [])


def test_who_lets_in_himself_is_one_person_whatever_name_he_takes(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path, tmp_path: Path
) -> None:
    further = carriers.join_share(str(folder), tmp_path / "b2", ben.invite("Ben"))
    assert further.pull({}, limit=1).me == "Ben"
    fake = carriers.join_share(str(folder), tmp_path / "fake", ben.invite("Ana Soto"))
    again = carriers.join_share(str(folder), tmp_path / "again", fake.invite("Ana Soto"))
    assert again.pull({}, limit=1).me == "Ana Soto, let in by Ben"


def test_fresh_keys_give_no_other_name(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path, tmp_path: Path
) -> None:
    mine = keys.identity_in(tmp_path / "ben", ben.share)
    keys.succeed(folder, tmp_path / "ben", mine, "Ana Soto", last=0)
    assert ben.pull({}, limit=1).me == "Ben"
    further = carriers.join_share(str(folder), tmp_path / "b2", ben.invite("Ana Soto"))
    assert [further.pull({}, limit=1).me, ana.pull({}, limit=1).me] == ["Ben", "Ana Soto"]


def test_the_segment_of_one_under_the_name_of_another_is_refused(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path, tmp_path: Path
) -> None:
    ana.push(a_chain("a", 1))
    ben.push(a_chain("b", 2))
    one, two = segments(folder)
    bens = one if one.name.startswith(id_in(tmp_path / "ben", ben.share)) else two
    named = segment_named(bens.name)
    assert named
    fake = named._replace(machine=id_in(tmp_path / "ana", ana.share), first=2)
    bens.rename(bens.with_name(f"{fake.stem}.segment"))
    assert "signature is wrong" in whys(ana)[0]


def test_a_conflict_copy_is_named(ana: FolderCarrier, folder: Path) -> None:
    ana.push(a_chain("a", 2))
    path = segments(folder)[0]
    path.with_name(f".{path.name}.tmp").write_bytes(b"half")
    assert ana.pull({}, limit=10)[:2] == (a_chain("a", 2), [])
    shutil.copy(path, path.with_name(f"{path.stem} (1).segment"))
    pulled = ana.pull({}, limit=10)
    assert pulled.records == a_chain("a", 2)
    assert [one.origin for one in pulled.refused] == [f"{path.stem} (1).segment"]


def test_what_comes_before_it_has_not_arrived_is_waited_for(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path
) -> None:
    ana.push(a_chain("a", 2))
    late = segments(folder)[0]
    ana.push(a_chain("a", 4))
    late.rename(folder / "late")
    assert whys(ben) == ["records 1 to 2 have not arrived"]
    (folder / "late").rename(late)
    assert ben.pull({}, limit=10)[:2] == (a_chain("a", 4), [])


def test_a_code_lets_in_one_machine(ana: FolderCarrier, folder: Path, tmp_path: Path) -> None:
    used = ana.invite("Ben")
    carriers.join_share(str(folder), tmp_path / "ben", used)
    other = carriers.create_share(str(tmp_path / "other"), tmp_path / "eve", person="Eve")
    none = dict.fromkeys(("", "abc", "eyJhIjoxfQ=="), "no code")
    for code, said in (none | {used: "was used", other.invite("Ben"): "another share"}).items():
        with pytest.raises(BadInput, match=said):
            carriers.join_share(str(folder), tmp_path / "third", code)


def test_an_invitation_that_has_not_arrived_is_said(
    ana: FolderCarrier, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "behind")
    code = ana.invite("Ben")
    with pytest.raises(ShareUnavailable, match="not arrived"):
        carriers.join_share(str(tmp_path / "behind"), tmp_path / "ben", code)


def test_a_removed_member_gets_and_adds_nothing_more_and_lets_nobody_in(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path, tmp_path: Path
) -> None:
    ana.push(a_chain("a", 1))
    ben.push(a_chain("b", 1))
    ana.pull({}, limit=10)
    stale = tmp_path / "as-ben-had-it"
    shutil.copytree(folder, stale)
    ana.remove(id_in(tmp_path / "ben", ben.share))
    ana.push(a_chain("a", 2))
    with pytest.raises(ShareUnavailable, match="no member of the share any more"):
        ben.pull({}, limit=10)
    for path in (folder / "segments").iterdir():  # he goes on with a copy that knows no end
        shutil.copy(path, stale / "segments")
    theirs = FolderCarrier(stale, tmp_path / "ben")
    pulled = theirs.pull({}, limit=10)
    assert pulled.records == a_chain("a", 1) + a_chain("b", 1)
    assert "no key for this machine" in pulled.refused[0].why
    theirs.push(a_chain("b", 2))
    code = theirs.invite("Eve")
    carriers.join_share(str(stale), tmp_path / "eve", code).push(a_chain("e", 1))
    end = max((folder / "members").glob("*.end"), key=lambda path: path.stat().st_mtime_ns)
    end.unlink()  # whoever holds the folder takes the statement away
    shutil.copytree(stale, folder, dirs_exist_ok=True)
    pulled = ana.pull({}, limit=10)
    assert pulled.records == a_chain("a", 2) + a_chain("b", 1)
    assert {one.why for one in pulled.refused} == {
        "its machine had left the share",
        "it is signed by a machine that is not in the share",
    }


def test_only_the_founder_removes(ana: FolderCarrier, ben: FolderCarrier, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="only the machine that founded"):
        ben.remove(id_in(tmp_path / "ana", ana.share))
    with pytest.raises(NotFound, match="no machine x"):
        ana.remove("x")


def test_what_was_withheld_has_neither_segment_nor_key(
    ana: FolderCarrier, ben: FolderCarrier, folder: Path
) -> None:
    ana.push(a_chain("a", 3))
    ben.pull({}, limit=10)  # who comes by wraps the keys for who was let in
    (old,) = segments(folder)
    ana.withhold(["a-2"])
    (new,) = segments(folder)
    keys_left = b"".join(path.read_bytes() for path in folder.rglob("*.keys"))
    assert (old.exists(), old.stem.encode() in keys_left, new.stem) != (True, True, old.stem)
    assert not old.with_suffix(".keys").exists()
    ana.withhold(["a-2"])
    assert segments(folder) == [new]


def test_who_leaves_has_no_key_any_more_though_the_leaving_was_killed(
    ana: FolderCarrier,
    ben: FolderCarrier,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ben.push(a_chain("b", 2))
    with monkeypatch.context() as killed:
        killed.setattr(keys, "forget", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ben.leave()
    ben.leave()
    assert not list((tmp_path / "ben").rglob("*.key"))
    with pytest.raises(NotMember, match="no key"):
        ben.pull({}, limit=1)
    assert ana.pull({}, limit=10)[:2] == (a_chain("b", 2), [])
    with pytest.raises(ShareUnavailable, match="no key to the share"):
        carriers.open_carrier(str(folder), tmp_path / "ben")


def test_a_chain_and_a_founder_go_on_under_fresh_keys(
    ana: FolderCarrier, ben: FolderCarrier, tmp_path: Path
) -> None:
    ana.push(a_chain("a", 2))
    ana.rotate()
    ana.push(a_chain("a", 4))
    ben.push(a_chain("b", 1))
    assert ben.pull({}, limit=10)[:2] == (a_chain("a", 4) + a_chain("b", 1), [])
    assert ana.pull({}, limit=10)[:2] == (a_chain("a", 4) + a_chain("b", 1), [])
    ana.remove(id_in(tmp_path / "ben", ben.share))
    assert [person for _, person in ana.members()] == ["Ana Soto"]


def test_records_are_split_by_size(ana: FolderCarrier, folder: Path) -> None:
    with pytest.raises(BadInput, match="personal"):
        ana.push([msgspec.structs.replace(a_chain("a", 1)[0], visibility="personal")])
    records = a_chain("a", 3, body=cast("str", '"' + "x" * (3 << 20) + '"'))
    ana.push(records)
    assert len(segments(folder)) == 3
    assert ana.pull({}, limit=10).records == records


def test_a_later_or_another_share_is_left(ana: FolderCarrier, folder: Path, tmp_path: Path) -> None:
    path = folder / keys.SHARE
    found = decode_json(path.read_bytes(), keys.ShareFile)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(found, format=9)))
    with pytest.raises(ShareUnavailable, match=r"format 9.*\(update observer\)"):
        carriers.open_carrier(str(folder), tmp_path / "ana")
    carriers.create_share(str(tmp_path / "other"), tmp_path / "eve", person="Eve")
    shutil.copy(tmp_path / "other" / keys.SHARE, path)
    with pytest.raises(ShareUnavailable, match="another share"):
        ana.pull({}, limit=1)


def test_a_folder_without_a_share_has_none_and_other_files_no_share(tmp_path: Path) -> None:
    for name, said in (("none", "there is no folder"), ("", "holds no share")):
        with pytest.raises(ShareUnavailable, match=said):
            carriers.open_carrier(str(tmp_path / name), tmp_path / "ana")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear Ben")
    with pytest.raises(BadInput, match="is not empty"):
        carriers.create_share(str(tmp_path / "mine"), tmp_path / "ana", person="Ana")
