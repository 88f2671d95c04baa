"""What git took back is not said to be done: by whichever session, hook or person."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from observer.core.events import AnyBody, Command, Commit, Edit, Event, FileWrite, Prompt, Rewrite
from observer.core.model import Item
from observer.ingest.pipeline import Pipeline
from observer.search.timeline import account
from observer.store.interface import Store

NOW_MS = 1_790_000_000_000


class Shop:
    """A repository with a commit; a session edits in it, and git is run in it by anybody."""

    def __init__(
        self, pipeline: Pipeline, store: Store, root: Path, git: Callable[..., str]
    ) -> None:
        self._pipeline, self._store, self._git, self.root = pipeline, store, git, root
        self._ids = itertools.count()
        self.git("init", "-q")
        self._save("a = 0\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "Begin")

    def git(self, *words: str) -> str:
        return self._git(self.root, *words)

    def _save(self, text: str) -> None:
        (self.root / "cart.py").write_text(text)

    def tell(self, body: AnyBody, session: str = "one") -> None:
        number = next(self._ids)
        event = Event(
            id=f"e{number}", at_ms=NOW_MS + 1000 * number, session=session, body=body,
            client="claude-code" if session else "git", cwd=str(self.root),
            dedup=f"commit:{body.hash}" if isinstance(body, Commit) else "",
        )  # fmt: skip
        self._pipeline.ingest([event])

    def edit(self, old: str = "a = 0", new: str = "a = 1") -> None:
        self.tell(Prompt(text="count from one in the cart"))
        self._save(f"{new}\n")
        self.tell(FileWrite(path=str(self.root / "cart.py"), edits=(Edit(old=old, new=new),)))

    def commit(self, subject: str, *words: str, session: str = "one") -> str:
        self.git("commit", "-qam", subject, *words)
        head = self.git("rev-parse", "HEAD")
        self.tell(Commit(hash=head), session)
        return head

    def run(self, command: str, session: str = "one") -> None:
        self.tell(Command(command=command, output=self.git(*command.split()[1:])), session)

    def items(self, kind: str) -> list[Item]:
        with self._store.read() as reader:
            return [item for item in reader.all_items() if item.type == kind]

    def done(self) -> str:
        """Return what the first session is said to have completed."""
        (fields,) = [each.summary for each in self.items("summary")[:1] if each.summary]
        return fields.completed

    def today(self) -> tuple[list[str], tuple[str, ...]]:
        """Return the commits and the changed files of an account of the day."""
        with self._store.read() as reader:
            (share,) = account(reader, NOW_MS - 1, owner="").shares
        return [commit.title for commit in share.commits], share.files


@pytest.fixture
def shop(pipeline: Pipeline, store: Store, tmp_path: Path, git: Callable[..., str]) -> Shop:
    return Shop(pipeline, store, tmp_path / "shop", git)


BY = pytest.mark.parametrize("by", ["one", "another"])


@BY
@pytest.mark.parametrize(
    "command", ["git checkout .", "git checkout -- cart.py", "git restore cart.py",
                "git reset -q --hard", "git checkout HEAD -- cart.py"],
)  # fmt: skip
def test_discarded_changes_are_not_done(shop: Shop, command: str, by: str) -> None:
    shop.edit()
    shop.run(command, by)
    assert shop.done() == ""
    assert shop.today() == ([], ())
    assert "file" not in shop.items("turn")[0].subtitle


@BY
@pytest.mark.parametrize("command", ["git stash drop -q", "git stash clear"])
def test_a_dropped_stash_is_not_done(shop: Shop, command: str, by: str) -> None:
    shop.edit()
    shop.run("git stash -q")
    shop.run(command, by)
    assert shop.done() == ""
    assert shop.today() == ([], ())


@BY
@pytest.mark.parametrize("command", ["git reset -q HEAD~1", "git reset -q --soft HEAD~1"])
def test_an_uncommitted_commit_is_not_done(shop: Shop, command: str, by: str) -> None:
    shop.edit()
    shop.commit("Count from one")
    shop.run(command, by)
    assert "Committed" not in shop.done()
    assert "Changed cart.py" in shop.done()
    assert shop.today() == ([], ("cart.py",))
    assert "commit" not in shop.items("turn")[0].subtitle


@BY
@pytest.mark.parametrize("command", ["git reset --hard HEAD~1", "git revert --no-edit HEAD"])
def test_a_commit_that_is_taken_back_is_not_done(shop: Shop, command: str, by: str) -> None:
    shop.edit()
    shop.commit("Count from one")
    shop.run(command, by)
    if "revert" in command:
        shop.tell(Commit(hash=shop.git("rev-parse", "HEAD"), action="revert"), by)
    assert "(" not in shop.done().replace("(", "", int("revert" in command and by == "one"))
    assert "Changed" not in shop.done()
    assert "Count from one" not in shop.today()[0]


def test_an_amended_commit_has_its_new_name(shop: Shop) -> None:
    shop.edit()
    old = shop.commit("Count from one", session="")
    assert "Taken in by later commits: Count from one" in shop.done()
    new = shop.commit("Count from 1", "--amend", session="")
    shop.tell(Rewrite(reason="amend", pairs=((old, new),)), "")
    assert new[:10] in shop.done()
    assert old[:10] not in shop.done()
    assert shop.today()[0] == ["Count from 1"]


def test_a_commit_amended_by_another_has_its_new_name(shop: Shop) -> None:
    shop.edit()
    old = shop.commit("Count from one")
    new = shop.commit("Count from 1", "--amend", session="")
    shop.tell(Rewrite(reason="amend", pairs=((old, new),)), "")
    assert old[:10] not in shop.done()
    assert new[:10] in shop.done()


@BY
def test_a_commit_of_the_session_taken_back_by_another_is_not_taken_in(shop: Shop, by: str) -> None:
    shop.edit()
    shop.commit("Count from one", session="")
    shop.run("git reset -q --hard HEAD~1", by)
    assert shop.done() == ""
