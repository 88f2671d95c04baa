"""A removal gives back what was there, unless somebody else has changed the file since."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.config_files.file_edits import FileEdit, apply, as_it_was

OURS = (b"/observer",)
MINE = b"/home/ana/observer/post\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config"


def change(path: Path, after: bytes, at_ms: int) -> None:
    before = path.read_bytes() if path.exists() else None
    apply([FileEdit(path=path, before=before, after=after)], path.with_name("backups"), at_ms=at_ms)


def removed(path: Path, after: bytes | None) -> bytes | None:
    edit = FileEdit(path=path, before=path.read_bytes(), after=after)
    return as_it_was(edit, path.with_name("backups"), ours=OURS).after


@pytest.mark.parametrize("before", [b"", b"{ }\n", b"list: [ ]\n"])
def test_what_was_there_comes_back(path: Path, before: bytes) -> None:
    path.write_bytes(before)
    change(path, before + MINE, 1)
    for left in (None, b"", b"other blanks"):
        assert removed(path, left) == before


def test_what_was_not_there_goes(path: Path) -> None:
    change(path, MINE, 1)
    assert removed(path, None) is None


def test_an_update_in_between_is_followed_back(path: Path) -> None:
    path.write_bytes(b"{ }\n")
    change(path, b"{ }\n" + MINE, 1)
    change(path, b"{ }\n" + MINE + MINE, 2)
    assert removed(path, b"{}") == b"{ }\n"


def test_what_a_person_has_added_stays(path: Path) -> None:
    path.write_bytes(b"{ }\n")
    change(path, b"{ }\n" + MINE, 1)
    path.write_bytes(path.read_bytes() + b"# mine\n")
    assert removed(path, b"{}\n# mine\n") == b"{}\n# mine\n"


def test_entries_for_another_client_stay(path: Path) -> None:
    other = b"/home/ana/observer/other\n"
    path.write_bytes(b"{ }\n")
    change(path, b"{ }\n" + MINE, 1)
    change(path, b"{ }\n" + MINE + other, 2)
    assert removed(path, b"{}\n" + other) == b"{}\n" + other


def test_a_file_of_a_name_with_signs_of_patterns_has_its_own_copies(tmp_path: Path) -> None:
    for name in ("a[1]*", "a1x"):
        (tmp_path / name).write_bytes(name.encode())
        change(tmp_path / name, MINE, 1)
    assert removed(tmp_path / "a[1]*", None) == b"a[1]*"


def test_a_copy_in_which_secrets_were_redacted_is_not_used(path: Path) -> None:
    path.write_bytes(b"key: hunter2\n")
    change(path, b"key: hunter2\n" + MINE, 1)
    (copy,) = path.with_name("backups").iterdir()
    copy.write_bytes(b"key: [REDACTED]\n")
    assert removed(path, b"key: hunter2") == b"key: hunter2"
