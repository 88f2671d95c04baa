"""Steps 2 to 8: nothing lost, nothing doubled, nothing mixed up."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from observer.core.config import Settings
from observer.core.errors import StoreUnavailable
from observer.core.events import (
    Approve,
    Command,
    Commit,
    Edit,
    Event,
    FileChange,
    FileRead,
    FileWrite,
    Forget,
    Intent,
    Prompt,
    Remember,
    Revise,
    SessionEnd,
    Undo,
)
from observer.core.model import UNASSIGNED, ItemChange, Receipt, item_id
from observer.core.paths import Home
from observer.core.value import SymbolChanges
from observer.index import Index
from observer.ingest.file_changes import MOST_BYTES, with_symbols
from observer.ingest.pipeline import FIRST_BATCH, Drained, Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache, known_project_at
from observer.store.connection import stemmer
from observer.store.interface import Store
from tests.ingest.conftest import Faulty, Make, Post, bash, items_of
from tests.support import Git


def an_event(name: str = "e", **fields: Any) -> Event:
    event = Event(
        id=name,
        at_ms=1_790_000_000_000,
        client="c",
        body=Command(command=f"do {name}", output="done"),
    )
    return msgspec.structs.replace(event, **fields)


def test_a_spooled_event_becomes_an_item_and_leaves_the_spool_and_again_changes_nothing(
    pipeline: Pipeline, store: Store, spool: Spool, home: Home, post: Post
) -> None:
    post("PostToolUse", bash("pytest -q", "3 passed in 0.1s"))
    shutil.copytree(home.spool, home.root / "copy")
    drained = pipeline.drain()
    assert (drained.entries, drained.bad, drained.projects, spool.depth()) == (1, 0, {2}, 0)
    before = items_of(store)
    assert (before[0].type, before[0].project_id) == ("command", 2)
    shutil.copytree(home.root / "copy", home.spool, dirs_exist_ok=True)
    assert pipeline.drain().entries == 1
    assert (items_of(store), spool.depth()) == (before, 0)


def test_what_two_hooks_report_is_one_event(pipeline: Pipeline, store: Store, post: Post) -> None:
    for _ in range(2):
        post("PostToolUse", bash("./deploy", tool_use_id="toolu_1"))
    pipeline.drain()
    with store.read() as reader:
        assert (reader.totals().events, reader.totals().projects) == (1, 1)
    native = an_event("a", client="cursor", session="s", route="cursor/afterShellExecution")
    pipeline.ingest([native])
    shown_again = msgspec.structs.replace(native, id="b", route="claude-code/PostToolUse")
    assert pipeline.ingest([shown_again]) == [Receipt(known="a")]


def test_what_cannot_be_decoded_is_kept_redacted_with_its_reason(
    pipeline: Pipeline, store: Store, spool: Spool, home: Home, post: Post
) -> None:
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    bad = post("PostToolUse", b"{ not json " + secret.encode())
    post("PostToolUse", bash("./deploy"))
    with (home.spool / "new" / "huge").open("wb") as file:
        file.truncate(65 << 20)
    drained = pipeline.drain()
    assert (drained.bad, spool.bad(), spool.depth()) == (2, 2, 0)
    kept = (home.spool / "bad" / bad).read_bytes()
    assert secret.encode() not in kept
    assert b"not json" in kept
    assert (home.spool / "bad" / f"{bad}.reason").read_text()
    assert "more than any event" in (home.spool / "bad" / "huge.reason").read_text()
    assert len(items_of(store)) == 2


def test_an_unforeseen_reason_holds_no_secret_either(
    make_pipeline: Make, home: Home, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    bad = post("PostToolUse", bash("./deploy"))
    monkeypatch.setattr(PlaceCache, "at", lambda *_: int(f"a{secret}"))
    assert make_pipeline().drain().bad == 1
    reason = (home.spool / "bad" / f"{bad}.reason").read_text()
    assert "cannot be decoded" in reason
    assert secret not in reason


def test_more_than_a_batch_is_drained_in_rounds_and_whoever_asks_goes_before_each_event(
    make_pipeline: Make, store: Store, post: Post
) -> None:
    asked: list[None] = []
    pipeline = make_pipeline(give_way=lambda: asked.append(None))
    for n in range(FIRST_BATCH + 1):
        post("PostToolUse", bash(f"./deploy step{n}"))
    drained = [pipeline.drain() for _ in range(3)]
    assert [each.entries for each in drained] == [FIRST_BATCH, 1, 0]
    assert [each.is_all for each in drained] == [False, True, True]
    assert drained[-1] == Drained(is_all=True)
    with store.read() as reader:
        assert reader.totals().events == len(asked) == FIRST_BATCH + 1


def test_names_of_folders_branches_and_remotes_are_stored_without_secrets(
    pipeline: Pipeline, store: Store, git: Git, tmp_path: Path
) -> None:
    secret = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    folder = tmp_path / f"{secret}-app"
    folder.mkdir()
    git(folder, "init", "-b", f"fix/{secret}")
    git(folder, "remote", "add", "origin", f"https://git.example.com/{secret}/app.git")
    (receipt,) = pipeline.ingest([an_event(cwd=str(folder))])
    with store.read() as reader:
        (project,) = reader.projects()[1:]
        shown = str((reader.projects(), list(reader.all_items()), reader.log(after_seq=0)))
    assert secret not in shown
    assert (project.name, project.id) == ("[redacted:github-token]", receipt.project_id)
    assert items_of(store)[0].branch == "fix/[redacted:github-token]"
    assert known_project_at(str(folder), [project]) == project


def test_secrets_and_notes_on_command_lines_are_gone_before_they_are_stored(
    pipeline: Pipeline, store: Store, post: Post
) -> None:
    secret = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    post("PostToolUse", bash(f"curl -H 'Authorization: token {secret}' x", f"ok {secret}"))
    post("PostToolUse", bash("observer remember 'zebra'", "remembered; similar: zebra"))
    pipeline.drain()
    with store.read() as reader:
        kept = str((reader.log(), items_of(store)))
    assert [secret in kept, "zebra" in kept, "curl" in kept] == [False, False, True]


def test_a_huge_event_is_capped_and_nothing_happens_later_than_now(
    make_pipeline: Make, store: Store, post: Post
) -> None:
    post("PostToolUse", bash("./deploy", "x y " * 500_000), at=str(2_200_000_000_000))
    make_pipeline(settings=Settings(event_cap_bytes=2048)).drain()
    with store.read() as reader:
        (recorded,) = reader.log()
    assert len(msgspec.json.encode(recorded.event)) < 4096
    assert recorded.event.at_ms == 1_790_000_000_000
    assert "cut" in recorded.event.body.output  # type: ignore[union-attr]  # it is a command


def test_nothing_of_an_excluded_folder_or_file_is_recorded(
    make_pipeline: Make, store: Store, folder: Path, tmp_path: Path, post: Post
) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "Makefile").touch()
    out = (str(folder), str(beside / "private"), "/mnt/c/src/secret")
    pipeline = make_pipeline(settings=Settings(exclude=out))
    post("PostToolUse", bash("./deploy"))
    assert pipeline.drain().entries == 1
    for number, cwd in enumerate((str(folder / "deep"), "C:\\src\\secret")):
        assert pipeline.ingest([an_event(f"e{number}", cwd=cwd)]) == [Receipt()]
    assert items_of(store) == []
    files = (FileChange(path="private/key"), FileChange(path="open.md"))
    commit = Commit(hash="a" * 40, subject="Both", files=files)
    pipeline.ingest([an_event(cwd=str(beside), body=commit)])
    assert items_of(store)[0].files_modified == ("open.md",)
    with store.read() as reader:
        assert "private" not in msgspec.json.encode(reader.log()[0].event).decode()


def test_what_a_client_of_windows_reports_joins_the_project_in_wsl(
    pipeline: Pipeline, store: Store, folder: Path
) -> None:
    there = "\\\\wsl$\\Ubuntu" + str(folder).replace("/", "\\")
    write = FileWrite(path=f"{there}\\src\\a.py", content="a = 1\n")
    read = FileRead(paths=(f"{there}\\src\\b.py",))
    for number, body in enumerate((write, read, Intent(tool="t", of=write))):
        pipeline.ingest([an_event(f"e{number}", cwd=there, roots=(there,), body=body)])
    with store.read() as reader:
        assert {one.event.cwd for one in reader.log()} == {str(folder)}
    assert items_of(store)[0].files_modified == ("src/a.py",)
    pipeline.ingest([an_event("a", cwd="C:\\src\\shop", at_ms=1)])
    pipeline.ingest([an_event("b", cwd="/mnt/c/src/shop/api", at_ms=2)])
    with store.read() as reader:
        roots = [project.roots for project in reader.projects()]
    assert roots[1:] == [(str(folder),), ("/mnt/c/src/shop",)]


def test_two_projects_stay_apart_and_what_is_in_none_is_unassigned(
    pipeline: Pipeline, store: Store, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Makefile").touch()
        pipeline.ingest([an_event(name, cwd=str(tmp_path / name))])
    for folder in ("", "all", "/", "/home/nobody", "C:\\Users\\nobody", str(tmp_path)):
        pipeline.ingest([an_event(f"in {folder}", cwd=folder)])
    assert [item.project_id for item in items_of(store)] == [2, 3, *[UNASSIGNED] * 6]


def test_ingest_answers_with_the_place_in_the_log_and_the_item(
    pipeline: Pipeline, store: Store
) -> None:
    first, silent, again = pipeline.ingest(
        [an_event("a"), an_event("b", body=Forget(item=99)), an_event("a")]
    )
    assert first == Receipt(seq=1, item=item_id(1), project_id=UNASSIGNED)
    assert silent == Receipt(seq=2, project_id=UNASSIGNED)
    assert again == Receipt(known="a")
    before = items_of(store)
    for name, body in enumerate((Approve(item=400), Undo(item=400), Revise(item=400, title="x"))):
        (receipt,) = pipeline.ingest([an_event(f"{name}", body=body, author="person")])
        assert receipt.item is None
    assert items_of(store) == before


def test_a_note_is_replaced_by_its_key_and_stays_its_owners(
    pipeline: Pipeline, store: Store
) -> None:
    notes = [an_event(n, body=Remember(content=f"use {n}", key="db")) for n in ("mysql", "sqlite")]
    receipts = pipeline.ingest(notes)
    assert receipts[0].item == receipts[1].item == item_id(1)
    assert [item.narrative for item in items_of(store)] == ["use sqlite"]
    for owner in ("ana", "ben"):
        body = Remember(content="we use tabs", scope="personal", owner=owner)
        pipeline.ingest([an_event(owner, body=body)])
    found = [(item.owner, item.project_id) for item in items_of(store)[1:]]
    assert found == [("ana", None), ("ben", None)]


def test_what_was_forgotten_is_not_derived_again(
    pipeline: Pipeline, store: Store, post: Post
) -> None:
    post("PostToolUse", bash("git status"))
    pipeline.drain()
    for item in items_of(store):
        pipeline.ingest([an_event(f"forget-{item.id}", body=Forget(item=item.id))])
    post("PostToolUse", bash("git status"))
    pipeline.drain()
    assert items_of(store) == []


def test_a_commit_is_completed_from_the_repository(
    pipeline: Pipeline, store: Store, tmp_path: Path, git: Git
) -> None:
    repository = tmp_path / "repository"
    git(repository, "init", "-q")
    git(repository, "commit", "-q", "--allow-empty", "-m", "Begin")
    known, gone = git(repository, "rev-parse", "HEAD").strip(), "0" * 40
    for name in (known, gone):
        commit = Commit(hash=name, action="revert")
        pipeline.ingest([an_event(name, body=commit, cwd=str(repository))])
    with store.read() as reader:
        complete, bare = (recorded.event.body for recorded in reader.log())
    assert isinstance(complete, Commit)
    assert (complete.subject, complete.action) == ("Begin", "revert")
    assert bare == Commit(hash=gone, action="revert")


def test_a_session_goes_on_over_batches_and_ends_or_is_ended_once(
    pipeline: Pipeline, make_pipeline: Make, store: Store, post: Post
) -> None:
    late = make_pipeline(now_ms=lambda: 1_790_000_000_000 + 31 * 60_000)
    for event, payload in (
        ("UserPromptSubmit", {"prompt": "fix the cart"}),
        ("PostToolUse", bash("pytest")),
        ("SessionEnd", {"reason": "other"}),
    ):
        post(event, payload)
        pipeline.drain()
    post("UserPromptSubmit", {"prompt": "why is it slow?", "session_id": "s2"})
    late.drain()
    assert [late.close_idle(), late.close_idle()] == [{2}, frozenset()]
    with store.read() as reader:
        found = {one.external: (one.status, one.prompts) for one in reader.sessions()}
    assert found == {"s1": ("ended", 1), "s2": ("idle", 1)}


def test_an_end_alone_makes_no_session_and_two_runs_of_a_process_id_are_two(
    pipeline: Pipeline, store: Store
) -> None:
    def sessions(*bodies: Any) -> list[tuple[str, str]]:
        pipeline.ingest(
            [an_event(f"{at}", session="ppid:7@box", body=b, at_ms=at) for at, b in bodies]
        )
        with store.read() as reader:
            return sorted((one.first_prompt, one.status) for one in reader.sessions())

    assert sessions((1, SessionEnd(reason="other"))) == []
    one, two = ((1000, Prompt(text="one")), (2000, SessionEnd())), (3000, Prompt(text="two"))
    assert sessions(*one, two) == [("one", "ended"), ("two", "active")]


def test_an_event_that_breaks_the_interpreter_does_not_hold_up_the_rest(
    make_pipeline: Make, store: Store, spool: Spool, post: Post
) -> None:
    poison = post("PostToolUse", bash("boom"))
    with pytest.raises(StoreUnavailable):
        make_pipeline(store=Faulty(store, poison, StoreUnavailable("disk full"))).drain()
    assert (spool.depth(), spool.bad()) == (1, 0)
    for n in range(3):
        post("PostToolUse", bash(f"./deploy {n}"))
    drained = make_pipeline(store=Faulty(store, poison, ZeroDivisionError())).drain()
    assert (drained.entries, spool.depth(), spool.bad()) == (4, 0, 1)
    with store.read() as reader:
        assert reader.totals().events == 3


def test_a_disk_that_fills_up_amid_poison_leaves_the_rest_in_the_spool(
    make_pipeline: Make, store: Store, spool: Spool, home: Home, post: Post
) -> None:
    poison = post("PostToolUse", bash("boom"))
    broken = ZeroDivisionError(), StoreUnavailable("disk full")
    with pytest.raises(StoreUnavailable):
        make_pipeline(store=Faulty(store, poison, *broken)).drain()
    assert (spool.depth(), spool.bad()) == (1, 0)
    (home.spool / "bad").rmdir()
    (home.spool / "bad").touch()  # so that nothing can be set aside
    with pytest.raises(StoreUnavailable, match="spool"):
        make_pipeline(store=Faulty(store, poison, ZeroDivisionError())).drain()
    assert spool.depth() == 1


def test_the_branch_is_the_one_that_was_checked_out_then(
    pipeline: Pipeline, store: Store, spool: Spool, tmp_path: Path, git: Git
) -> None:
    git(tmp_path, "init", "-q", "-b", "now")
    hashes = {"1" * 40: {"env.git.branch": "topic"}, "2" * 40: {}}
    for hash_, shown in hashes.items():
        fields = {"client": "git", "event": "post-commit", "cwd": str(tmp_path)}
        spool.append(fields | {"env.git.head": hash_} | shown, b"")
    pipeline.drain()
    found = {item.commit: item.branch for item in items_of(store)}
    assert found == {"1" * 40: "topic", "2" * 40: ""}


NOW_MS = 1_790_000_000_000


def test_a_clock_that_jumps_during_a_drain_loses_nothing(
    make_pipeline: Make, store: Store, post: Post
) -> None:
    jumps = itertools.cycle((NOW_MS, NOW_MS - 31_536_000_000, NOW_MS + 31_536_000_000, 0))
    pipeline = make_pipeline(now_ms=lambda: next(jumps))
    expected = {post("UserPromptSubmit", {"prompt": f"say {number}"}) for number in range(40)}
    while pipeline.drain().entries:
        pipeline.close_idle()
    with store.read() as reader:
        ids = [one.event.id for one in reader.log() if not one.event.id.startswith("idle-")]
        before = {item.id: item.title for item in reader.all_items()}
    assert (len(ids), set(ids)) == (40, expected)
    pipeline.rebuild()
    with store.read() as reader:
        assert {item.id: item.title for item in reader.all_items()} == before


@pytest.mark.parametrize("is_long", [True, False])
def test_a_long_batch_is_indexed_before_it_is_committed(
    make_pipeline: Make, store: Store, post: Post, monkeypatch: pytest.MonkeyPatch, *, is_long: bool
) -> None:
    monkeypatch.setattr("observer.ingest.pipeline.INDEXED", 3 if is_long else 4)
    index = Index(Path("/nowhere"), stem=stemmer(), is_owner=False)
    with store.read() as reader:
        index.refresh(reader)
    for number in range(3):
        post("PostToolUse", bash(f"make step-{number}"))
    make_pipeline(index=index).drain()
    with store.read() as reader:
        unchanged = NothingNew(reader.epoch())
    with index.view(unchanged) as view:
        assert (view.size > 0) is is_long


class NothingNew:
    """A feed without any change."""

    def __init__(self, epoch: str) -> None:
        self._epoch = epoch

    def epoch(self) -> str:
        return self._epoch

    def newest_change(self) -> int:
        return 0

    def changes(self, *, after: int, model: str, limit: int) -> list[ItemChange]:
        raise AssertionError((after, model, limit))


BODY = "".join(f"    step{number}()\n" for number in range(9))
TEXT = f"def pay():\n{BODY}\n\ndef refund():\n    pass\n"


def changed(folder: Path, *edits: Edit, path: str = "a.py") -> SymbolChanges | None:
    write = FileWrite(path=path, edits=edits)
    body = with_symbols(Event(id="1", at_ms=1, client="cursor", cwd=str(folder), body=write)).body
    assert isinstance(body, FileWrite)
    return body.symbols


def test_a_piece_is_found_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "notes.unknown"):
        (tmp_path / name).write_text(TEXT)
    edit = Edit(old="step(5)", new="step5()")
    assert changed(tmp_path, edit) == SymbolChanges(changed=("pay",))
    assert changed(Path(), edit) is None
    monkeypatch.setattr("observer.ingest.file_changes.read_head", pytest.fail)
    assert changed(tmp_path, edit, path="notes.unknown") is None  # which has no symbols


def test_a_piece_that_is_not_certain_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "large.py").write_text(TEXT + "#" * MOST_BYTES)
    (tmp_path / "folder.py").mkdir()
    for new in ("step", "gone()", ""):  # at several places, not there any more, removed
        assert changed(tmp_path, Edit(old="a", new=new)) is None
    for path in ("gone.py", "a\0.py", "pipe.py", "large.py", "folder.py"):
        assert changed(tmp_path, Edit(old="a", new="step5()"), path=path) is None
