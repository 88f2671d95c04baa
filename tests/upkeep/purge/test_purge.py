"""What was purged stands nowhere any more but in the files of note folders, and stays away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.clock import now_ms
from observer.core.events import Command, Prompt
from observer.core.model import item_id
from observer.core.paths import Home
from observer.local import client
from observer.notes.folders import NoteFolder
from observer.notes.folders.note_files import NoteVersions
from observer.store.tombstones import Tombstones
from observer.upkeep.carry_out import PurgeOrder, begin
from observer.upkeep.shred import finder
from observer.upkeep.take_out import Removal, clean, marks_of
from tests.support import Observer, Until
from tests.upkeep.purge.conftest import World, holding

pytestmark = pytest.mark.slow

Tell = Callable[..., None]
Found = Callable[[], list[str]]
WORD = "zebrafink"


def purge(within: Observer, *words: str) -> Any:
    ran = within("purge", *words, "--yes", "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def purge_the_word(within: Observer) -> Any:
    """Purge both spellings; the second finds what the first left."""
    return [purge(within, "--text", word) for word in ("Zebrafink-Café 77", WORD)]


def test_a_purged_word_stands_in_no_byte_of_the_home(
    shown: Home, within: Observer, found: Found, until: Until
) -> None:
    within("backup")
    shown.workshop.mkdir()  # as a backup leaves it that was killed
    (shown.workshop / "observer.db").write_bytes(next(shown.backups.glob("*.db")).read_bytes())
    shown.imports.write_text(json.dumps({"memory-files": {f"/home/ana/{WORD}/AGENTS.md": "1:2"}}))
    program = shown.root / "venv" / "notes.py"
    program.parent.mkdir()
    program.write_text(f"WORDS = {WORD!r}")
    for name in ("observer.db", "spool/bad/", "backups/", "context/", "log/"):
        until(lambda name=name: name in " ".join(found()))  # context files come a second later
    receipts = purge_the_word(within)
    assert receipts[0]["events"] >= 10
    assert receipts[0]["files"]["spool/bad"] >= 1
    assert len(receipts[0]["backups"]) == 1
    assert receipts[1]["left"] == []
    assert receipts[1]["files"]["imports.json"] == 1
    assert found() == ["venv/notes.py"]
    assert client.is_running(shown)
    assert "login page" in within("search", "login").stdout


def test_what_was_purged_does_not_come_back(
    shown: Home, within: Observer, found: Found, app: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    within("backup", str(copy))
    purge_the_word(within)
    within("doctor", "--rebuild")
    assert found() == []
    assert json.loads(within("import", "git", str(app), "--json").stdout)["purged"] == 1
    within("down")
    shutil.copyfile(copy, shown.database)
    within("up")
    assert within("search", WORD, "--json").returncode == 0
    within("down")
    assert found() == []


def test_a_purge_that_was_killed_is_not_shown_as_done(shown: Home, within: Observer) -> None:
    within("down")
    begin(shown, PurgeOrder(seqs=()))
    for command in ("export", "backup"):
        ran = within(command)
        assert (ran.returncode, ran.stdout) == (5, "")
        assert "observer up" in ran.stderr


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that cannot be read")
def test_a_backup_that_the_disk_does_not_return_keeps_no_purge_from_its_end(
    shown: Home, within: Observer, found: Found
) -> None:
    within("down")
    shown.backups.mkdir(mode=0o700, exist_ok=True)
    unreadable = shown.backups / "observer-unreadable.db"
    unreadable.symlink_to("/proc/self/mem")  # the kernel has no page at its beginning: EIO
    with pytest.raises(OSError, match="Input/output error"):
        unreadable.read_bytes()
    receipt = purge(within, "--text", WORD)
    assert receipt["backups"][unreadable.name].startswith("deleted, since the disk")
    assert not shown.purging.exists()
    assert not unreadable.is_symlink()


CANARY = "Zebrafink-77"
NOTE = f"""---
title: Ask {CANARY}
aliases: [{CANARY}]
owner: {CANARY}
---
- [fact] {CANARY} pays #{CANARY} ({CANARY})
- about [[{CANARY}]]
"""


def test_a_purged_text_of_a_note_comes_back_only_from_its_file(
    within: Observer, until: Until, home: Home, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / "deep").mkdir(parents=True)
    (vault / "deep/Customer.md").write_text(NOTE)
    (vault / f"{CANARY}.md").write_text("nothing else")
    (vault / "Other.md").write_text("of badgers")

    def found(words: str) -> list[str]:
        shown = json.loads(within("search", words, "--json").stdout)
        return sorted(hit["title"] for hit in shown["observations"])

    within("note", "folder", "add", str(vault))
    until(lambda: "Other" in found("badgers") and {CANARY, f"Ask {CANARY}"} <= {*found(CANARY)})
    (vault / f"{CANARY}.md").unlink()  # of a file that is gone, the title stays
    until(lambda: CANARY not in found(CANARY))
    within("remember", "it is Zebrafink-77 who pays", "--title", "Said")
    assert within("backup").returncode == 0
    within("down")
    changed = NoteFolder(name="vault", path=str(vault))
    NoteVersions(home, now_ms).keep(changed, "deep/Customer.md", "replaced", data=NOTE.encode())
    assert holding(home, CANARY, CANARY.lower())

    preview = within("purge", "--text", CANARY, "--dry-run")
    for line in (2, 3, 4, 6, 7):
        assert f"{vault}/deep/Customer.md:{line}" in preview.stdout
    assert "change these files" in preview.stdout
    customer = f"{vault}/deep/Customer.md"
    for words in (("--query", "pays"), ("--file", customer), ("--file", str(vault / "deep"))):
        shown = json.loads(within("purge", *words, "--dry-run", "--json").stdout)
        assert shown["note_files"] == [customer], words
    receipt = json.loads(within("purge", "--text", CANARY, "--yes", "--json").stdout)
    assert receipt["events"] == 1
    assert receipt["left"] == []
    assert receipt["note_files"] == [f"{vault}/deep/Customer.md:{line}" for line in (2, 3, 4, 6, 7)]
    assert holding(home, CANARY, CANARY.lower()) == []
    assert (vault / "deep/Customer.md").read_text() == NOTE

    (vault / "deep/Customer.md").write_text(NOTE.replace(CANARY, "The heron"))
    within("up")
    until(lambda: "Ask The heron" in found("heron"))
    assert "Other" in found("badgers")
    within("down")
    assert holding(home, CANARY, CANARY.lower()) == []


def test_what_was_chosen_goes_with_what_it_is_of(world: World) -> None:
    world.tell(Prompt(text="Pay the invoice"), Command(command="make pay"), session="s1")
    world.tell(Prompt(text="Send the letter"), session="s2")
    with world.store.write() as writer:
        first, second = (one.id for one in sorted(writer.sessions(), key=lambda one: one.id))
        kept = {item_id(3): "pin", item_id(second, "summary"): "hide"}
        for number, how in {item_id(1): "hide", item_id(first, "summary"): "pin", **kept}.items():
            writer.choose("given", number, how)
        for session in (first, second):
            writer.choose("title", session, f"Title {session}")
    tombstones = Tombstones(world.home.tombstones)
    with world.store.read() as reader:
        tombstones.add(marks_of(reader, {1, 2}))
    clean(world.store, Removal(tombstones))
    with world.store.read() as reader:
        assert (reader.chosen("given"), reader.chosen("title")) == (kept, {second: "Title 3"})
    clean(world.store, Removal(tombstones, text=finder(["Title"])))
    with world.store.read() as reader:
        assert (reader.chosen("given"), reader.chosen("title")) == (kept, {})


def test_a_folder_that_is_not_there_is_named(
    within: Observer, until: Until, home: Home, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Customer.md").write_text(NOTE)
    within("note", "folder", "add", str(vault))
    until(lambda: CANARY in within("search", CANARY).stdout)
    within("down")
    shutil.move(vault, tmp_path / "unmounted")
    receipt = json.loads(within("purge", "--text", CANARY, "--yes", "--json").stdout)
    assert receipt["note_files"] == [
        f"the note folder {vault} cannot be read: No such file or directory"
    ]
    assert holding(home, CANARY, CANARY.lower()) == []
