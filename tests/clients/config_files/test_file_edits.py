"""Files change all together or not at all, and never without a copy."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from observer.clients.config_files.context import FileEdit, apply, as_it_was, diff, read_file
from observer.core.errors import ConfigInvalid
from tests.support import put_file


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def an_edit(path: Path, after: bytes | None, **options: object) -> FileEdit:
    return FileEdit(path=path, before=read_file(path), after=after, **options)  # type: ignore[arg-type]


def test_a_new_file_gets_its_folders_a_changed_one_keeps_its_mode_and_leaves_a_private_copy(
    tmp_path: Path, backups: Path
) -> None:
    path = tmp_path / "a" / "b" / "c.json"
    assert apply([an_edit(path, b"old")], backups, at_ms=1) == []
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"old", 0o644)
    path.chmod(0o640)
    (copy,) = apply([an_edit(path, b"new")], backups, at_ms=1)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert (copy.read_bytes(), copy.stat().st_mode & 0o777) == (b"old", 0o600)
    assert copy.parent == backups


def test_a_symbolic_link_stays_one(tmp_path: Path, backups: Path) -> None:
    real = put_file(tmp_path / "dotfiles" / "bashrc", b"old")
    link = tmp_path / ".bashrc"
    link.symlink_to("dotfiles/bashrc")
    apply([an_edit(link, b"new")], backups, at_ms=1)
    assert real.read_bytes() == b"new"
    apply([an_edit(link, None)], backups, at_ms=1)
    assert link.is_symlink()
    assert not real.exists()


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path, backups: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    edits = [an_edit(first, b"x"), an_edit(second, b"x")]
    second.write_bytes(b"theirs")
    with pytest.raises(ConfigInvalid, match="changed meanwhile"):
        apply(edits, backups, at_ms=1)
    assert not first.exists()
    assert second.read_bytes() == b"theirs"


@contextmanager
def a_nearly_full_disk(limit_bytes: int) -> Iterator[None]:
    """Let the kernel refuse what is longer, as a full disk would."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_failed_write_takes_back_the_ones_before(tmp_path: Path, backups: Path) -> None:
    kept, made, failed = tmp_path / "kept", tmp_path / "made", tmp_path / "failed"
    kept.write_bytes(b"old")
    kept.chmod(0o600)
    edits = [an_edit(kept, b"new", mode=0o644), an_edit(made, b"new"), an_edit(failed, b"x" * 99)]
    with a_nearly_full_disk(10), pytest.raises(ConfigInvalid, match="failed cannot be written"):
        apply(edits, backups, at_ms=1)
    assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (b"old", 0o600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backups", "home", "kept"]


def test_a_folder_or_a_backup_that_fails_stops_everything(tmp_path: Path, backups: Path) -> None:
    path = Path("/proc/no-such-folder/settings.json")
    with pytest.raises(ConfigInvalid, match="cannot be written"):
        apply([an_edit(path, b"x")], backups, at_ms=1)
    path = tmp_path / "a"
    path.write_bytes(b"x" * 99)
    with a_nearly_full_disk(10), pytest.raises(ConfigInvalid, match="cannot be written"):
        apply([an_edit(path, b"new")], backups, at_ms=1)
    assert path.read_bytes() == b"x" * 99


def test_an_edit_without_a_change_writes_nothing(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    before = path.stat()
    assert apply([an_edit(path, b"x")], backups, at_ms=1) == []
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert not backups.exists()


def test_a_mode_alone_is_a_change(tmp_path: Path, backups: Path) -> None:
    path = tmp_path / "post"
    path.write_bytes(b"x")
    edit = an_edit(path, b"x", mode=0o755)
    assert diff([edit]) == f"chmod 755 {path}\n"
    apply([edit], backups, at_ms=1)
    assert path.stat().st_mode & 0o777 == 0o755


def test_the_diff_names_files_and_lines_what_is_made_and_what_goes(tmp_path: Path) -> None:
    """Of our own files only name and size."""
    path = tmp_path / "a"
    assert diff([an_edit(path, b"x\n")]).startswith(f"--- /dev/null\n+++ {path}\n")
    path.write_bytes(b"one\ntwo")
    assert diff([an_edit(path, b"one\n2\n")]) == (
        f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n"
    )
    assert f"--- {path}\n+++ /dev/null\n" in diff([an_edit(path, None)])
    edit = an_edit(tmp_path / "post", b"x" * 4210, is_ours=True)
    assert diff([edit]) == f"write {tmp_path / 'post'} (4,210 bytes)\n"


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        read_file(tmp_path)


# --- a removal gives back what was there, unless somebody else has changed the file since ---------

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


def test_what_was_not_there_goes_and_an_update_in_between_is_followed_back(path: Path) -> None:
    change(path, MINE, 1)
    assert removed(path, None) is None
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
