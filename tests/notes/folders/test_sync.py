"""What becomes of notes when their files, or the code that they name, change and come back."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.core.filters import Filters
from observer.core.paths import Home
from observer.notes.folders import NoteFolder, folders
from observer.notes.folders.sync import FolderSync
from observer.notes.values import check_kept_here
from observer.store.tombstones import Tombstones
from observer.upkeep.redact import secrets_in
from observer.upkeep.take_out import Removal, clean
from tests.notes.folders.conftest import Vault
from tests.support import Git

MINE = "---\npermalink: keeps/this\n---\nMine\n"


CHANGES = {
    "mv A.md sub.md": {"sub.md": "A", "B.md": "B", "P.md": "P"},
    "mv P.md Q.md; echo and more >> Q.md": {"A.md": "A", "B.md": "B", "Q.md": "P"},
    "mv A.md x; mv B.md A.md; mv x B.md": {"A.md": "B", "B.md": "A", "P.md": "P"},
    "mv A.md B.md": {"B.md": "A", "P.md": "P"},
    "echo saved > .A.swp; mv .A.swp A.md": {"A.md": "A", "B.md": "B", "P.md": "P"},
    "cp P.md Copy.md": {"A.md": "A", "B.md": "B", "P.md": "P", "Copy.md": "new"},
}
"""What a shell does to the files, and which note each is then."""


@pytest.mark.parametrize("change", CHANGES)
def test_a_note_is_recognised(vault: Vault, change: str) -> None:
    for name, text in (("A", "alpha"), ("B", "beta"), ("P", MINE)):
        vault.put(f"{name}.md", text)
    vault.scan()
    names = {item: path.removesuffix(".md") for path, item in vault.paths().items()}
    permalinks = {file.item: file.permalink for file in vault.files.list(vault.folder)}
    subprocess.run(change, shell=True, check=True, cwd=vault.root)
    vault.scan()
    assert {path: names.get(item, "new") for path, item in vault.paths().items()} == CHANGES[change]
    for file in vault.files.list(vault.folder):
        assert permalinks.get(file.item, "keeps/this-1") == file.permalink
    assert vault.scan().changed == 0


def test_a_checkout_and_its_return_keep_the_notes(vault: Vault) -> None:
    for number in range(450):
        vault.put(f"d{number % 7}/n{number}.md", f"note {number} about zebras")
    assert vault.scan().changed == 450
    before = vault.paths()
    for path in list(before)[::2]:
        (vault.root / path).unlink()
    for path in list(before)[1::2]:
        vault.put(path, f"{path} of another branch")
    done = vault.scan()
    assert (done.changed, done.gone) == (225, 225)
    for path, item in before.items():
        number = path.rpartition("n")[2].removesuffix(".md")
        vault.put(path, f"note {number} about zebras")
        assert item
    vault.scan()
    assert vault.paths() == before
    with vault.store.read() as reader:
        assert len(reader.match("zebras", Filters(), limit=1000)) == 450


def test_what_is_no_note_is_left_alone_or_named(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    vault.put("ok.md", "fine")
    vault.put("build/ok.md", "named as not ignored")
    for path in (".obsidian/x.md", ".hidden.md", "picture.png", "build/out.md"):
        vault.put(path, "x")
    vault.put(".gitignore", "/build/*\n!/build/ok.md\n")
    vault.put("latin.md", "caf\xe9".encode("latin-1"))
    vault.put("large.md", "x" * (2 << 20) + "y")
    (vault.root / "link.md").symlink_to(outside / "secret.md")
    (vault.root / "folder").symlink_to(outside)
    os.mkfifo(vault.root / "pipe.md")
    report = vault.scan()
    assert sorted(vault.paths()) == ["build/ok.md", "ok.md"]
    assert dict(report.skipped).keys() == {"latin.md", "large.md", "link.md"}
    for path in ("link.md", "folder/secret.md", "latin.md", "large.md"):
        with pytest.raises((BadInput, NotFound)):
            vault.files.read(vault.folder, path)
    with pytest.raises(BadInput, match="link"):
        vault.files.write(vault.folder, "link.md", "x", expected="")
    assert (outside / "secret.md").read_text() == "secret"


def test_no_secret_of_a_file_is_stored(vault: Vault) -> None:
    token = "ghp_" + "a1B2" * 9
    text = f"---\ntoken: {token}\ntitle: Keys\n---\n- [key] it is {token} #x\n- uses [[{token}]]\n"
    vault.put("Keys.md", text)
    vault.put(f"by/{token}.md", "alpha")
    skipped = dict(vault.scan().skipped)
    assert skipped == {"by/[redacted:github-token].md": "its name holds a secret"}
    with pytest.raises(BadInput, match="the name of that note holds a secret"):
        vault.files.write(vault.folder, f"{token}.md", "beta", expected="")
    vault.store.checkpoint()
    database = vault.store._path
    for file in database.parent.glob(f"{database.name}*"):
        assert token.encode() not in file.read_bytes()
    assert (vault.root / "Keys.md").read_text() == text
    assert vault.item("Keys.md").title == "Keys"


def test_what_older_rules_let_through_is_read_again_after_a_redaction(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "ghp_" + "a1B2" * 9
    vault.put("Keys.md", f"- [key] it is {token}")
    vault.put("Other.md", "beta")
    with monkeypatch.context() as older:
        older.setattr("observer.notes.folders.items.redact_text", str)
        vault.scan()
    other = vault.item("Other.md").id
    with vault.store.read() as reader:
        found = secrets_in(reader)
        assert found.kinds == {"github-token": 2}  # of the claim and of the whole text
        assert found.events == 0
    tombstones = Tombstones(vault.home.tombstones)
    assert clean(vault.store, Removal(tombstones, redacts=True)).redacted.kinds == found.kinds
    assert token.encode() not in vault.store._path.read_bytes()
    vault.scan()
    assert "[redacted:github-token]" in vault.item("Keys.md").narrative
    assert vault.item("Other.md").id == other
    assert not clean(vault.store, Removal(tombstones, redacts=True)).redacted


def test_a_policy_keeps_files_out(home: Home, tmp_path: Path, git: Callable[..., str]) -> None:
    git(tmp_path / "shop", "init")
    (tmp_path / "shop/.observer.toml").write_text('exclude = ["docs/private/"]\n')
    vault = Vault(home, tmp_path / "shop/docs")
    vault.put("private/a.md", "alpha")
    vault.put("b.md", "beta names `queue.py`")
    assert dict(vault.scan().skipped).keys() == {"private/a.md"}
    item = vault.item("b.md")
    with vault.store.read() as reader:
        assert [p.name for p in reader.projects() if p.id == item.project_id] == ["shop"]
    vault.store.close()


def test_a_note_outlives_a_rebuild_and_its_folder_as_its_file_says(vault: Vault) -> None:
    vault.put("A.md", "alpha [[B]]")
    vault.scan()
    before = vault.item("A.md")
    with vault.store.write() as writer:
        writer.clear_projection()
    assert vault.scan().changed == 1
    assert vault.item("A.md") == before
    with pytest.raises(BadInput, match="kept as a file") as refused:
        check_kept_here(vault.item("A.md"))
    assert str(vault.root / "A.md") in refused.value.hint
    vault.root.rename(vault.root.with_name("unmounted"))
    with pytest.raises(NotFound, match="cannot be read"):
        vault.scan()
    assert list(vault.paths()) == ["A.md"]


def test_a_scan_of_another_thread_is_waited_for(vault: Vault) -> None:
    """As long as it goes on, what it has left is said."""
    for number in range(201):
        vault.put(f"n{number:03}.md", "zebra")
    at_work, may_go_on = threading.Event(), threading.Event()

    def go_on(_: float) -> bool:
        at_work.set()
        return may_go_on.wait(60)

    with ThreadPoolExecutor(1) as others:
        scan = others.submit(lambda: vault.sync.scan(go_on=go_on))
        assert at_work.wait(60)
        seen = vault.sync.catch_up(within_s=0.001, is_over=lambda: False)
        assert (seen.is_late, seen.files, seen.left) == (True, 201, ("n200.md",))
        may_go_on.set()
        assert not vault.sync.catch_up(within_s=60, is_over=lambda: False).is_late
        assert scan.result().left == ()


def test_a_folder_that_is_removed_while_it_is_read_stays_removed(vault: Vault) -> None:
    for number in range(201):  # one more than a batch
        vault.put(f"n{number:03}.md", "zebra")
    vault.sync.scan(go_on=lambda _: bool(vault.sync.drop()) or True)
    assert vault.paths() == {}


def test_files_that_are_as_they_were_are_not_compared_again(vault: Vault) -> None:
    """Only a scan sees what was changed in the store; a young file may change unseen."""
    vault.put("Zebra.md", "zebra")
    for later_ms, compared in ((0, 1), (10_000, 0)):
        vault.later_ms = later_ms
        vault.sync.catch_up(within_s=60, is_over=lambda: False)
        FolderSync(vault.store, vault._write, vault.folder, exclude=(), now_ms=now_ms).drop()
        assert vault.sync.catch_up(within_s=60, is_over=lambda: False).changed == compared
    assert vault.sync.scan().changed == 1


def test_a_note_that_was_written_and_removed_between_two_looks_is_gone(vault: Vault) -> None:
    vault.put("Zebra.md", "zebra")
    vault.later_ms = 10_000
    vault.sync.catch_up(within_s=60, is_over=lambda: False)
    vault.put("Horse.md", "horse")
    vault.sync.sync(["Horse.md"])
    (vault.root / "Horse.md").unlink()
    assert vault.sync.catch_up(within_s=60, is_over=lambda: False).gone == 1
    assert list(vault.paths()) == ["Zebra.md"]


def test_what_is_not_stored_stays_named_until_it_is_mended(vault: Vault) -> None:
    vault.put("Zebra.md", b"\xff")
    (vault.root / "Link.md").symlink_to(vault.root / "Zebra.md")
    vault.later_ms = 10_000
    for _ in range(2):
        seen = vault.sync.catch_up(within_s=60, is_over=lambda: False)
        assert [path for path, _ in seen.skipped] == ["Link.md", "Zebra.md"]
    vault.put("Zebra.md", "zebra")
    (vault.root / "Link.md").unlink()
    assert vault.sync.catch_up(within_s=60, is_over=lambda: False).skipped == ()


NOTE = "Jobs live in `queue.py`, see `take`\n"
DAY_S = 86_400


class Repository:
    """A repository with a note folder `docs`; each commit is a day after the one before."""

    def __init__(self, home: Home, root: Path, git: Git) -> None:
        self.root, self._git = root, git
        self._at_s = int(time.time()) - 30 * DAY_S
        git(root, "init")
        self.vault = Vault(home, root / "docs")

    def commit(self, **texts: str) -> str:
        for name, text in texts.items():
            self.put(name.replace("__", "/"), text)
        self._at_s += DAY_S
        when = f"{self._at_s} +0000"
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        self._git(self.root, "add", "-A")
        self._git(self.root, "commit", "-m", "Work", **dates)
        return self._git(self.root, "rev-parse", "HEAD").strip()

    def put(self, name: str, text: str, *, later_s: int | None = None) -> None:
        """Write a file, so many seconds after the last commit; now without."""
        path = self.root / (name if "." in name else f"{name}.md")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        if later_s is not None:
            os.utime(path, (self._at_s + later_s,) * 2)


@pytest.fixture
def repository(home: Home, tmp_path: Path, git: Git) -> Iterator[Repository]:
    made = Repository(home, tmp_path / "shop", git)
    yield made
    made.vault.store.close()


@pytest.mark.parametrize("many", [1, 20], ids=["one by one", "all of the folder"])
def test_a_note_holds_as_of_the_commit_that_has_it(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(folders, "MANY", many)
    repository.put(".gitignore", "/docs/ignored.md\n")
    first = repository.commit(docs__old=NOTE, docs__edited=NOTE, docs__späte=NOTE)
    second = repository.commit(docs__new=NOTE, docs__späte=f"{NOTE} more")
    head = repository.commit(docs__plain="of nothing")
    repository.put("docs/edited", f"{NOTE} again")
    repository.put("docs/draft", NOTE, later_s=60 - DAY_S)
    repository.put("docs/ignored", NOTE, later_s=60 - 2 * DAY_S)
    repository.put("docs/ancient", NOTE, later_s=-100 * DAY_S)
    repository.vault.scan()
    names = {first: "first", second: "second", head: "head"}
    found = {path: names[repository.vault.item(path).commit] for path in repository.vault.paths()}
    assert found == {
        "ancient.md": "first",
        "draft.md": "second",
        "edited.md": "head",
        "ignored.md": "first",
        "new.md": "second",
        "old.md": "first",
        "plain.md": "head",
        "späte.md": "second",
    }


def test_a_note_beside_its_repository_holds_by_its_time(
    repository: Repository, tmp_path: Path
) -> None:
    store, outside = repository.vault.store, tmp_path / "vault"
    first, _ = repository.commit(docs__a="words"), repository.commit(queue="b")
    repository.vault.scan()
    with store.read() as reader:
        [project] = [each for each in reader.projects() if each.name == "shop"]
    repository.put("../vault/Jobs.md", NOTE, later_s=60 - DAY_S)
    beside = NoteFolder(name="beside", path=str(outside), project=project.uuid)
    FolderSync(store, repository.vault._write, beside, exclude=(), now_ms=now_ms).scan()
    with store.read() as reader:
        [file] = reader.note_files(str(outside))
        item = reader.item(file.item)
    assert item
    assert (item.commit, item.project_id) == (first, project.id)


def test_without_commits_a_note_is_of_none(repository: Repository) -> None:
    repository.put("docs/old", NOTE)
    repository.vault.scan()
    assert repository.vault.item("old.md").commit == ""
