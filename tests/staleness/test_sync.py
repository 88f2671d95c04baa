"""What is said of items, after what happened in a repository."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from observer.core.events import (
    Command,
    Commit,
    Edit,
    Event,
    FileWrite,
    Forget,
    Prompt,
    Remember,
    SessionEnd,
)
from observer.core.filters import Filters
from observer.core.model import Item, Validity, seq_of
from observer.importers.source import commits
from observer.local.spool import Spool
from observer.staleness.history_walk import MOST_NAMED, RepositoryView
from observer.staleness.worktree_sync import sync_worktree
from observer.store.database import SqliteStore
from observer.store.tombstones import Tombstones
from observer.store.writer import Writer
from observer.tools.labels import labels
from observer.upkeep.take_out import Removal, clean, marks_of
from tests.support import Git, pipeline_over

LOGIN = """\
import os


def login(user):
    return user.check(os.environ)


def logout(user):
    user.leave()


class Shop:
    limit = 3

    def total(self):
        return sum(self.prices)
"""


class Story:
    """What happens in a repository, and what is said of it."""

    def __init__(self, folder: Path, git: Git) -> None:
        self.root = folder / "app"
        self._run = git
        self._clock_s = 1_700_000_000
        self.store = SqliteStore(folder / "observer.db")
        spool = Spool(folder / "spool")
        spool.prepare()
        self._pipeline = pipeline_over(self.store, spool, lambda: self.now_ms)
        self._count = 0
        self.git("init")

    @property
    def now_ms(self) -> int:
        return self._clock_s * 1000

    def git(self, *words: str, at: Path | None = None) -> str:
        self._clock_s += 60
        when = f"{self._clock_s} +0000"
        return self._run(at or self.root, *words, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)

    def commit(self, message: str = "Work", **files: str | None) -> str:
        """Commit files, by name with `__` for the dot; None deletes one. Returns the hash."""
        for name, text in files.items():
            path = self.root / name.replace("__", ".")
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def tell(self, body: object, *, at: Path | None = None, **fields: Any) -> int:
        """Store an event of now; returns the item that it made."""
        self._count += 1
        self._clock_s += 60
        event = Event(
            id=f"e{self._count}",
            at_ms=self.now_ms,
            client="x",
            cwd=str(at or self.root),
            body=body,  # type: ignore[arg-type]  # any body
            **({"session": "s"} | fields),
        )
        (receipt,) = self._pipeline.ingest([event])
        assert receipt.item or isinstance(body, Command | SessionEnd)  # what only looks is no item
        return receipt.item or 0

    def shown_commit(self, commit: str, *, at: Path | None = None) -> int:
        return self.tell(Commit(hash=commit), at=at)

    def wrote(self, path: str, text: str, *, at: Path | None = None) -> int:
        """Write a file, as an editor reports it."""
        file = (at or self.root) / path
        old = file.read_text() if file.exists() else ""
        file.write_text(text)
        return self.tell(FileWrite(path=str(file), edits=(Edit(old=old, new=text),)), at=at)

    def noted(self, text: str, sort: str = "decision") -> int:
        return self.tell(Remember(content=text, type=sort))

    def imported(self) -> None:
        """Import the history, as day one does."""
        self._pipeline.ingest(list(commits(str(self.root))))

    def rebuild(self) -> None:
        self._pipeline.rebuild()

    def keep(self) -> bool:
        with self.store.read() as reader:
            projects = [project for project in reader.projects() if project.id > 1]
        return any(sync_worktree(self.store, self._write, project) for project in projects)

    def said(self, item: int, *, at: Path | None = None) -> list[Validity]:
        """Follow what is new, and return what is said of an item, from a folder."""
        self.keep()
        return list(self.item(item, at=at).validity)

    def reasons(self, item: int, *, at: Path | None = None) -> list[str]:
        return [validity.reason for validity in self.said(item, at=at)]

    def item(self, item: int, *, at: Path | None = None) -> Item:
        with self.store.read() as reader:
            reader.set_folder(str(at or self.root))
            return reader.items([item])[0]

    def items(self) -> list[Item]:
        with self.store.read() as reader:
            return list(reader.recent(Filters(), limit=1000))

    def _write(self, work: Callable[[Writer], None]) -> None:
        with self.store.write() as writer:
            work(writer)


@pytest.fixture
def story(tmp_path: Path, git: Git) -> Iterator[Story]:
    shown = Story(tmp_path, git)
    yield shown
    shown.store.close()


OTHER = LOGIN.replace("user.check(os.environ)", "user.check_twice(os.environ)")
LATER = LOGIN.replace("user.leave()", "user.leave(now=True)")


def test_a_commit_is_stale_once_its_symbol_changed(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    later = story.commit(auth__py=OTHER.replace("check_twice", "check_again"))
    (said,) = story.said(item)
    assert (said.reason, said.subject, said.commit, said.share) == ("changed", "login", later, 1.0)
    assert said.since_ms > story.item(item).created_ms
    assert not story.keep()  # a second look finds nothing new
    item = story.shown_commit("1" * 40)
    assert story.said(item) == []


def test_each_name_stands_with_the_commit_that_changed_it(story: Story) -> None:
    item = story.shown_commit(story.commit(auth__py=LOGIN))
    first = story.commit(auth__py=LATER)
    second = story.commit(auth__py=LATER.replace("user.check", "user.check_twice"))
    (said,) = story.said(item)
    assert said.subject == f"logout in {first[:10]}, login in {second[:10]}"
    (label,) = labels(story.item(item))
    assert label == "stale in part (50%)"


CHECK = "user.check_twice(os.environ)"
METHOD = LOGIN.replace("sum(self.prices)", "0")


CASES = {
    "another part": (OTHER.replace("user.leave()", "user.leave(now=True)"), []),
    "comment": (OTHER.replace("(user):\n", "(user):\n    # who is it\n", 1), []),
    "broken line": (OTHER.replace(CHECK, CHECK.replace("os.environ", "\nos.environ\n")), []),
    "last comma": (OTHER.replace(CHECK, CHECK.replace("os.environ", "\nos.environ,\n")), []),
    "indented": ("if True:\n" + indent(OTHER, "    "), []),
    "symbol gone": (OTHER.replace("def login", "def sign_in"), [("deleted", "login")]),
    "file gone": (None, [("deleted", "login")]),
}


@pytest.mark.parametrize(
    ("name", "texts", "said"),
    [
        *(
            pytest.param("auth__py", (LOGIN, OTHER, text), said, id=case)
            for case, (text, said) in CASES.items()
        ),
        pytest.param("auth__py", (LOGIN, METHOD, METHOD.replace("= 3", "= 4")), [], id="class"),
        pytest.param("notes__txt", ("1\n", "2\n", "3\n"), [("changed", "notes.txt")], id="text"),
        pytest.param("a__bin", ("a\0b", "a\0c", "a\0d"), [("changed", "a.bin")], id="binary"),
    ],
)
def test_what_became_of_what_a_commit_changed_is_said(
    story: Story, name: str, texts: tuple[str, str, str | None], said: list[tuple[str, str]]
) -> None:
    first, second, third = texts
    story.commit(**{name: first})
    item = story.shown_commit(story.commit(**{name: second}))
    later = story.commit(**{name: third})
    found = [(each.reason, each.subject, each.commit) for each in story.said(item)]
    assert found == [(*one, later) for one in said]


def test_what_was_put_back_holds_again(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.commit(auth__py=LOGIN)
    assert story.reasons(item) == ["changed"]
    story.commit(auth__py=OTHER)
    assert story.said(item) == []


def test_a_renamed_file_is_followed(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.git("mv", "auth.py", "session.py")
    renamed = story.commit()
    (said,) = story.said(item)
    assert (said.reason, said.subject, said.path) == ("renamed", "auth.py", "session.py")
    assert said.commit == renamed
    story.commit(session__py=LOGIN)
    assert sorted(story.reasons(item)) == ["changed", "renamed"]


def test_a_symbol_that_was_taken_to_another_file_is_followed(story: Story) -> None:
    story.commit(auth__py=LOGIN, shop__py="x = 1\n")
    item = story.shown_commit(story.commit(auth__py=OTHER))
    body = OTHER[OTHER.index("def login") : OTHER.index("def logout")]
    story.commit(auth__py=OTHER.replace(body, ""), shop__py=f"x = 1\n\n\n{body}")
    (said,) = story.said(item)
    assert (said.reason, said.path) == ("renamed", "shop.py")


def test_a_reverted_commit_says_so_until_that_is_reverted(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.git("revert", "--no-edit", "HEAD")
    (said,) = story.said(item)
    assert (said.reason, said.commit) == ("reverted", story.head())
    story.git("revert", "--no-edit", "HEAD")
    assert story.said(item) == []


@pytest.mark.parametrize("text", ["Prices are gross", "auth.py holds all sessions"])
def test_what_was_only_said_at_a_reverted_commit_still_holds(story: Story, text: str) -> None:
    story.commit(auth__py=LOGIN)
    commit = story.shown_commit(story.commit(auth__py=OTHER))
    note, run = (
        story.noted(text),
        story.tell(Command(command="make check", output="3 passed", exit_code=0)),
    )
    story.git("revert", "--no-edit", "HEAD")
    assert (story.reasons(note), story.reasons(run)) == ([], [])
    assert story.reasons(commit) == ["reverted"]


def test_a_write_holds_from_the_commit_that_has_it(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.wrote("auth.py", OTHER)
    assert story.said(item) == []
    story.commit()
    assert story.said(item) == []
    story.commit(auth__py=OTHER.replace("check_twice", "check_again"))
    (said,) = story.said(item)
    assert (said.reason, said.subject) == ("changed", "login")


def test_work_on_a_branch_is_not_here(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.git("checkout", "-b", "topic")
    written = story.wrote("auth.py", OTHER)
    item = story.shown_commit(story.commit())
    assert story.said(item) == []
    story.git("checkout", "main")
    (said,) = story.said(item)
    assert (said.reason, said.branch) == ("elsewhere", "topic")
    assert story.reasons(written) == ["elsewhere"]
    story.git("merge", "--no-ff", "topic")
    assert story.said(item) == []
    assert story.said(written) == []


def test_uncommitted_work_of_another_branch_is_not_here(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.git("checkout", "-b", "topic")
    written = story.wrote("auth.py", OTHER)
    story.keep()
    story.git("stash")
    story.git("checkout", "main")
    assert story.reasons(written) == ["elsewhere"]
    story.git("checkout", "topic")
    assert story.said(written) == []


@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "seen after"])
@pytest.mark.parametrize(
    "words",
    [
        pytest.param("checkout -b topic", id="begun"),
        pytest.param("checkout older", id="switched"),
        pytest.param("branch -m topic", id="renamed"),
    ],
)
def test_uncommitted_work_goes_along_to_another_branch(
    story: Story, words: str, *, is_seen: bool
) -> None:
    story.commit(shop__py="x = 1\n")
    story.git("branch", "older")
    story.commit(auth__py=LOGIN)
    written = story.wrote("shop.py", "x = 2\n")
    assert not is_seen or story.said(written) == []
    story.git(*words.split())
    assert story.said(written) == []


def test_uncommitted_work_of_another_work_tree_is_not_here(story: Story, tmp_path: Path) -> None:
    story.commit(auth__py=LOGIN)
    other = tmp_path / "other"
    story.git("worktree", "add", "-b", "topic", str(other))
    story.wrote("auth.py", LATER)
    written = story.wrote("auth.py", OTHER, at=other)
    assert story.reasons(written) == ["elsewhere"]
    assert story.said(written, at=other) == []


def test_what_was_squashed_is_here(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.git("checkout", "-b", "topic")
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.keep()
    story.git("checkout", "main")
    story.git("merge", "--squash", "topic")
    story.commit("Squashed")
    assert story.said(item) == []


def test_what_was_amended_is_here(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.keep()
    story.git("commit", "--amend", "-m", "Better said")
    assert story.said(item) == []


def test_what_was_reset_is_not_here(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.keep()
    story.git("reset", "--hard", "HEAD~1")
    (said,) = story.said(item)
    assert (said.reason, said.branch) == ("elsewhere", "")


def test_each_work_tree_sees_for_itself(story: Story, tmp_path: Path) -> None:
    story.shown_commit(story.commit(auth__py=LOGIN))
    other = tmp_path / "other"
    story.git("worktree", "add", "-b", "topic", str(other))
    (other / "auth.py").write_text(OTHER)
    story.git("commit", "-am", "On topic", at=other)
    item = story.shown_commit(story.git("rev-parse", "topic"), at=other)
    story.commit(auth__py=LATER)
    assert story.reasons(item, at=story.root) == ["elsewhere"]
    assert story.said(item, at=other) == []


def test_a_side_branch_that_was_merged_is_here(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.git("checkout", "-b", "topic")
    story.commit("Twice", auth__py=OTHER)
    story.git("checkout", "main")
    story.commit("Later", shop__py="x = 1\n")
    story.git("merge", "--no-ff", "topic")
    story.imported()
    twice = _commit(story, "Twice")
    assert story.said(twice) == []
    story.commit(auth__py=LOGIN)
    assert story.reasons(twice) == ["changed"]


@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "seen after"])
def test_a_merge_that_was_reverted_says_so_until_that_is_reverted(
    story: Story, *, is_seen: bool
) -> None:
    story.commit(auth__py=LOGIN)
    story.git("checkout", "-b", "topic")
    story.commit("Twice", auth__py=OTHER)
    story.git("checkout", "main")
    story.git("merge", "--no-ff", "topic")
    merge = story.shown_commit(story.head())
    assert not is_seen or story.said(merge) == []
    story.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert story.reasons(merge) == ["reverted"]
    story.git("revert", "--no-edit", "HEAD")
    assert story.said(merge) == []


def test_what_is_stale_is_so_after_a_purge(story: Story, tmp_path: Path) -> None:
    item = story.shown_commit(story.commit(auth__py=LOGIN))
    story.commit(auth__py=OTHER)
    going = [story.tell(Prompt(text=f"ask for {number}")) for number in range(5)]
    assert story.reasons(item) == ["changed"]
    tombstones = Tombstones(tmp_path / "tombstones")
    with story.store.read() as reader:
        tombstones.add(marks_of(reader, [seq_of(each) for each in going]))
    assert clean(story.store, Removal(tombstones)).gone == len(going)
    with story.store.read() as reader:
        assert reader.worktrees() == []  # so that the daemon follows it as soon as it starts
    assert story.reasons(item) == ["changed"]


def test_an_imported_history_says_what_a_followed_one_says(story: Story) -> None:
    story.commit("First", auth__py=LOGIN)
    story.commit("Second", auth__py=OTHER)
    story.git("mv", "auth.py", "session.py")
    story.commit("Third", session__py=LATER)
    story.imported()
    assert sorted(story.reasons(_commit(story, "Second"))) == ["changed", "renamed"]
    assert story.reasons(_commit(story, "Third")) == []


def test_a_note_is_anchored_to_the_symbol_that_it_names(story: Story) -> None:
    """One that names a file only is shown when that goes."""
    story.commit(auth__py=LOGIN)
    item = story.noted("`login` of auth.py must stay free of I/O")
    of_file = story.noted("auth.py holds all that is about sessions")
    story.commit(auth__py=LATER)
    assert story.said(item) == []
    story.commit(auth__py=OTHER)
    (said,) = story.said(item)
    assert (said.reason, said.subject) == ("changed", "login")
    assert story.said(of_file) == []
    story.commit(auth__py=None)
    (said,) = story.said(of_file)
    assert (said.reason, said.subject) == ("deleted", "auth.py")


def test_a_note_about_work_in_hand_holds_with_its_commit(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.wrote("auth.py", OTHER)
    item = story.noted("`login` of auth.py checks twice on purpose")
    story.commit()
    assert story.said(item) == []
    story.commit(auth__py=LOGIN)
    assert story.reasons(item) == ["changed"]


def test_nothing_is_said_where_the_repository_is_gone(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.commit(auth__py=LOGIN)
    assert story.reasons(item) == ["changed"]
    shutil.rmtree(story.root)
    assert story.said(item) == []


def test_a_history_that_was_thrown_away_is_followed_anew(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.shown_commit(story.commit(auth__py=OTHER))
    story.keep()
    shutil.rmtree(story.root / ".git")
    story.git("init")
    item = story.shown_commit(story.commit(auth__py=LOGIN))
    story.commit(auth__py=OTHER)
    assert story.reasons(item) == ["changed"]


def test_what_is_forgotten_is_cast_off(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    item = story.shown_commit(story.commit(auth__py=OTHER))
    story.commit(auth__py=LOGIN)
    story.keep()
    story.tell(Forget(item=item))
    story.keep()
    with story.store.read() as reader:
        assert reader.validity([item]) == {}


def _commit(story: Story, subject: str) -> int:
    with story.store.read() as reader:
        return next(item.id for item in reader.all_items() if item.title == subject)


@pytest.mark.parametrize("more", [0, MOST_NAMED], ids=["a few", "many"])
def test_a_commit_holds_what_led_to_it(tmp_path: Path, git: Git, more: int) -> None:
    git(tmp_path, "init")
    for message in ("one", "two", "three"):
        git(tmp_path, "commit", "--allow-empty", "-m", message)
    one, two, three = git(tmp_path, "rev-list", "--reverse", "HEAD").split()
    unknown = {f"{number:040x}" for number in range(1, 2 + more)}
    with RepositoryView(str(tmp_path)) as repository:
        assert repository.held({one, two, three, *unknown}, by=two) == {one, two}
        assert repository.held(unknown, by=two) == set()


def ran(story: Story, *commands: str, session: str = "s") -> None:
    for command in commands:
        story.git(*command.split())
        story.tell(Command(command=f"git {command}", exit_code=0), session=session)


@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "seen after"])
@pytest.mark.parametrize("session", ["s", "of a shell", ""], ids=["agent", "person", "nobody"])
@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(["checkout -- ."], id="checkout"),
        pytest.param(["checkout auth.py"], id="checkout of a file"),
        pytest.param(["restore ."], id="restore"),
        pytest.param(["reset --hard"], id="reset"),
    ],
)
def test_it_is_reverted(story: Story, commands: list[str], *, session: str, is_seen: bool) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    assert not is_seen or story.said(written) == []
    ran(story, *commands, session=session)
    assert story.reasons(written) == ["reverted"]


def test_a_later_commit_of_the_file_is_not_its_own(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    ran(story, "checkout -- .")
    again = story.wrote("auth.py", LATER)
    story.commit()
    assert (story.reasons(written), story.reasons(again)) == (["reverted"], [])
    story.commit(auth__py=OTHER)
    assert (story.reasons(written), story.reasons(again)) == (["reverted"], ["changed"])


def test_on_another_branch_it_is_reverted_too(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    story.git("checkout", "-b", "topic")
    written = story.wrote("auth.py", OTHER)
    ran(story, "restore .")
    story.git("checkout", "main")
    assert story.reasons(written) == ["reverted"]


@pytest.mark.parametrize(
    "command", ["checkout -- other.py", "stash", "restore --staged auth.py", "stash list"]
)
def test_what_was_not_discarded_is_not_reverted(story: Story, command: str) -> None:
    story.commit(auth__py=LOGIN, other__py="x = 1\n")
    written = story.wrote("auth.py", OTHER)
    ran(story, command)
    assert story.said(written) == []


def test_what_a_commit_had_before_is_not_reverted(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    story.commit()  # which nothing reported
    ran(story, "checkout -- .")
    assert story.said(written) == []


def test_what_is_written_after_it_stands_by_itself(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    ran(story, "checkout -- .", session="of a shell")
    again = story.wrote("auth.py", OTHER)
    assert again != written
    assert (story.reasons(written), story.reasons(again)) == (["reverted"], [])


def test_a_rebuild_says_the_same_of_what_git_took_back(story: Story) -> None:
    story.commit(auth__py=LOGIN)
    written = story.wrote("auth.py", OTHER)
    story.keep()
    ran(story, "checkout -- .")
    story.wrote("auth.py", LATER)
    story.commit()
    before: list[Validity] = story.said(written)
    story.rebuild()
    assert story.said(written) == before != []


@pytest.mark.parametrize("is_seen", [True, False], ids=["seen before", "seen after"])
@pytest.mark.parametrize("is_shown", [True, False], ids=["reported", "not reported"])
@pytest.mark.parametrize("is_back", [True, False], ids=["picked back", "gone"])
def test_what_is_picked_back_is_not_reverted(
    story: Story, *, is_seen: bool, is_shown: bool, is_back: bool
) -> None:
    base = story.commit(auth__py=LOGIN)
    story.shown_commit(base)
    written = story.wrote("auth.py", OTHER)
    topic = story.commit("Check twice")
    assert not is_shown or story.shown_commit(topic)
    assert not is_seen or story.said(written) == []
    ran(story, f"reset --hard {base}")
    story.commit("Say more", readme__md="x\n")
    if is_back:
        ran(story, f"cherry-pick {topic}")
    assert bool(story.said(written)) != is_back
