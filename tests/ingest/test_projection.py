"""What of a session's changes is not committed or was taken back: as git says, corrected later."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    Event,
    FileChange,
    FileWrite,
    Prompt,
    Rewrite,
    SessionEnd,
    ToolUse,
)
from observer.core.model import Link, SummaryFields, item_id
from observer.ingest.pipeline import Pipeline
from observer.ingest.projection import OLD_MS
from observer.search.timeline import account
from observer.store.interface import Store
from tests.ingest.conftest import Make, items_of
from tests.support import Git

NOW_MS = 1_790_000_000_000
MINUTE_MS = 60_000
AT = "when the session ended (2026-09-21 14:13 UTC)"


class Shop:
    """A repository with a commit, and sessions in it."""

    def __init__(self, pipeline: Pipeline, store: Store, root: Path, git: Git) -> None:
        self.pipeline, self.root = pipeline, root
        self._store, self._git = store, git
        self._ids = itertools.count()
        self.git("init", "-q")
        self.save("cart.py", "a = 1\n")
        self.save("price.py", "a = 1\n")
        self.commit()

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com")
        return self._git(self.root, *who, *words)

    def commit(self, subject: str = "Begin", *words: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", subject, *words)
        return self.git("rev-parse", "HEAD")

    def committed(self, subject: str, *words: str, session: str = "one") -> str:
        """Commit, and report it as a hook of git does."""
        head = self.commit(subject, *words)
        self.tell(Commit(hash=head), session=session, dedup=f"commit:{head}")
        return head

    def run(self, command: str, session: str = "one") -> None:
        done = self.git(*command.split()[1:])
        self.tell(Command(command=command, output=done), session=session)

    def save(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def tell(self, *bodies: AnyBody, session: str = "one", ago_ms: int = 0, **shown: Any) -> None:
        for body in bodies:
            event = Event(
                id=f"e{next(self._ids)}",
                at_ms=NOW_MS - ago_ms,
                client="claude-code" if session else "git",
                session=session,
                cwd=str(self.root),
                body=body,
                **shown,
            )
            self.pipeline.ingest([event])

    def edit(self, *names: str, **shown: Any) -> None:
        for name in names:
            self.save(name, "a = 2\n")
            write = FileWrite(path=str(self.root / name), edits=(Edit(old="a = 1", new="a = 2"),))
            self.tell(write, **shown)

    def summary(self) -> SummaryFields:
        """Return the summary of the first session."""
        with self._store.read() as reader:
            session = min(reader.sessions(), key=lambda each: each.id)
            found = [item for item in reader.all_items() if item.session_id == session.id]
        (fields,) = [item.summary for item in found if item.summary]
        return fields

    def turn(self) -> str:
        """Return what the first turn came to."""
        with self._store.read() as reader:
            return next(item.subtitle for item in reader.all_items() if item.type == "turn")

    def today(self) -> tuple[list[str], tuple[str, ...]]:
        """Return the commits and the changed files of an account of the day."""
        with self._store.read() as reader:
            (share,) = account(reader, NOW_MS - 1, owner="").shares
        return [commit.title for commit in share.commits], share.files


@pytest.fixture
def shop(pipeline: Pipeline, store: Store, tmp_path: Path, git: Git) -> Shop:
    return Shop(pipeline, store, tmp_path / "shop", git)


def taken(*names: str, subject: str = "Round totals") -> Commit:
    files = tuple(FileChange(path=name) for name in names)
    return Commit(hash="c" * 40, subject=subject, files=files)


def test_a_session_says_when_its_files_were_not_committed_until_anybody_did(shop: Shop) -> None:
    shop.edit("cart.py", "price.py")
    files = "price.py and cart.py."
    assert shop.summary().next_steps == f"No commit known at 2026-09-21 14:13 UTC: {files}"
    shop.tell(SessionEnd())
    assert shop.summary().next_steps == f"Not committed {AT}: {files}"
    shop.tell(taken("cart.py", "other.py"), session="")
    assert shop.summary().next_steps == f"Not committed {AT}: price.py."
    assert "Taken in by later commits: Round totals (cccccccccc)." in shop.summary().completed
    shop.tell(taken("price.py"), session="two")
    assert shop.summary().next_steps == ""


def test_a_later_commit_closes_the_steps_that_it_names(shop: Shop) -> None:
    shop.tell(Prompt(text="round the total"))
    shop.edit("cart.py")
    shop.tell(taken("cart.py"), session="", ago_ms=-1)
    assert shop.summary().next_steps == ""


@pytest.mark.parametrize(
    ("commit", "ago_ms"),
    [
        pytest.param(taken("cart.py"), 60 * MINUTE_MS, id="from before it began"),
        pytest.param(taken("other.py"), 0, id="of other files"),
        pytest.param(
            Commit(hash="d" * 40, action="merge", parents=("e",), files=taken("cart.py").files),
            0,
            id="pulled",
        ),
    ],
)
def test_another_commit_corrects_nothing(shop: Shop, commit: Commit, ago_ms: int) -> None:
    shop.edit("cart.py")
    shop.tell(SessionEnd())
    shop.tell(commit, session="", ago_ms=ago_ms)
    assert shop.summary().next_steps == f"Not committed {AT}: cart.py."


def test_what_was_long_ago_is_neither_looked_for_nor_asked_of_git_now(shop: Shop) -> None:
    shop.edit("cart.py", ago_ms=OLD_MS + MINUTE_MS)
    shop.tell(taken("cart.py"), session="")
    assert "cart.py" in shop.summary().next_steps
    shop.commit()
    shop.tell(SessionEnd(), ago_ms=9 * MINUTE_MS)
    assert "cart.py" in shop.summary().next_steps


def test_git_is_asked_when_a_session_ends_and_a_rebuild_says_the_same(shop: Shop) -> None:
    shop.edit("cart.py", "price.py")
    shop.git("checkout", "cart.py")  # by the person, whom no hook heard
    shop.tell(SessionEnd())
    assert shop.summary().next_steps == f"Not committed {AT}: price.py."
    shop.tell(taken("price.py"), session="")
    before = shop.summary()
    shop.git("stash")
    shop.pipeline.rebuild()
    assert shop.summary() == before


def test_git_is_asked_when_a_session_falls_silent(shop: Shop, make_pipeline: Make) -> None:
    shop.edit("cart.py", "price.py")
    shop.commit()
    shop.edit("price.py")
    shop.save("price.py", "a = 3\n")
    late = make_pipeline(now_ms=lambda: NOW_MS + 31 * MINUTE_MS)
    late.close_idle()
    assert shop.summary().next_steps == f"Not committed {AT}: price.py."


def test_git_is_not_asked_by_an_end_that_begins_a_session_nor_where_it_is_broken(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("observer.ingest.append.uncommitted_paths", pytest.fail)
        shop.tell(SessionEnd())
        shop.tell(SessionEnd(), session="two")
    shop.edit("cart.py", session="three")
    (shop.root / ".git" / "HEAD").write_text("broken")
    shop.tell(SessionEnd(), branch="main", session="three")
    assert shop.summary().next_steps == f"No commit known {AT}: cart.py."


@pytest.mark.parametrize(
    ("prompt", "next_steps"),
    [
        pytest.param("Implement the following plan:\n\n# Plan: Half even\n\nx", "", id="begun"),
        pytest.param("# Plan: Taxes\n\nx", "Carry out the plan: Half even.", id="another"),
        pytest.param("round the total", "Carry out the plan: Half even.", id="none"),
    ],
)
def test_a_plan_is_open_until_a_session_begins_it(shop: Shop, prompt: str, next_steps: str) -> None:
    plan = '{"plan": "# Plan: Half even\\n\\nx"}'
    shop.tell(Prompt(text="plan the totals"), ToolUse(tool="ExitPlanMode", input=plan))
    shop.tell(SessionEnd())
    shop.tell(Prompt(text=prompt), session="two")
    assert shop.summary().next_steps == next_steps
    suffix = "" if next_steps else " (begun in a later session)"
    assert f"Planned: Half even{suffix}." in shop.summary().completed


@pytest.mark.parametrize("command", ["checkout -- .", "restore cart.py", "reset --hard"])
def test_what_somebody_else_discarded_is_not_left(shop: Shop, command: str) -> None:
    shop.edit("cart.py")
    shop.tell(SessionEnd())
    shop.git(*command.split())
    shop.tell(Command(command=f"git {command}", exit_code=0), session="of a shell")
    assert shop.summary().next_steps == ""


def test_what_somebody_else_discarded_elsewhere_changes_nothing(shop: Shop, tmp_path: Path) -> None:
    shop.edit("cart.py")
    shop.git("worktree", "add", "-q", str(tmp_path / "second"))
    here = shop.root
    for command, root in (
        ("git restore price.py", here),
        ("git restore --staged .", here),
        ("cd sub && git restore .", here),
        ("git restore .", tmp_path / "second"),
    ):
        shop.root = root
        shop.tell(Command(command=command, exit_code=0), session="of a shell")
        assert "cart.py" in shop.summary().next_steps


# --- what git took back is not said to be done ---------------------------------------------------

ASKED = Prompt(text="count from one in the cart")
BY = pytest.mark.parametrize("by", ["one", "another"])


@BY
@pytest.mark.parametrize(
    "command", ["git checkout .", "git checkout -- cart.py", "git restore cart.py",
                "git reset -q --hard", "git checkout HEAD -- cart.py"],
)  # fmt: skip
def test_discarded_changes_are_not_done(shop: Shop, command: str, by: str) -> None:
    shop.tell(ASKED)
    shop.edit("cart.py")
    shop.run(command, by)
    assert shop.summary().completed == ""
    assert shop.today() == ([], ())
    assert "file" not in shop.turn()


@BY
@pytest.mark.parametrize("command", ["git reset -q HEAD~1", "git reset -q --soft HEAD~1"])
def test_an_uncommitted_commit_is_not_done(shop: Shop, command: str, by: str) -> None:
    shop.tell(ASKED)
    shop.edit("cart.py")
    shop.committed("Count from one")
    shop.run(command, by)
    assert "Committed" not in shop.summary().completed
    assert "Changed cart.py" in shop.summary().completed
    assert shop.today() == ([], ("cart.py",))
    assert "commit" not in shop.turn()


@BY
@pytest.mark.parametrize("command", ["git reset --hard HEAD~1", "git revert --no-edit HEAD"])
def test_a_commit_that_is_taken_back_is_not_done(shop: Shop, command: str, by: str) -> None:
    shop.tell(ASKED)
    shop.edit("cart.py")
    shop.committed("Count from one")
    shop.run(command, by)
    if "revert" in command:
        head = shop.git("rev-parse", "HEAD")
        revert = Commit(hash=head, action="revert")
        shop.tell(revert, session=by, dedup=f"commit:{head}")
    assert "(" not in shop.summary().completed.replace(
        "(", "", int("revert" in command and by == "one")
    )
    assert "Changed" not in shop.summary().completed
    assert "Count from one" not in shop.today()[0]


@pytest.mark.parametrize("by", ["", "one"])
def test_an_amended_commit_has_its_new_name(shop: Shop, by: str) -> None:
    shop.tell(ASKED)
    shop.edit("cart.py")
    old = shop.committed("Count from one", session=by)
    said = shop.summary().completed
    assert ("Taken in by later commits: Count from one" in said) is not bool(by)
    new = shop.committed("Count from 1", "--amend", session="")
    shop.tell(Rewrite(reason="amend", pairs=((old, new),)), session="")
    assert new[:10] in shop.summary().completed
    assert old[:10] not in shop.summary().completed
    assert shop.today()[0] == ["Count from 1"]


@BY
def test_a_commit_of_the_session_taken_back_by_another_is_not_taken_in(shop: Shop, by: str) -> None:
    shop.tell(ASKED)
    shop.edit("cart.py")
    shop.committed("Count from one", session="")
    shop.run("git reset -q --hard HEAD~1", by)
    assert shop.summary().completed == ""


# --- of sessions and their links ----------------------------------------------------------------

OLD, NEW, NEWER = "a" * 40, "b" * 40, "c" * 40
RED = Command(command="pytest", output="FAILED a.py::x - KeyError\n1 failed in 0.1s", exit_code=1)
GREEN = Command(command="pytest", output="1 passed in 0.10s", exit_code=0)
EDIT = FileWrite(path="a.py", edits=(Edit(old="a = 1", new="a = 2"),))
BACK = FileWrite(path="a.py", edits=(Edit(old="a = 2", new="a = 1"),))


def happened(folder: Path, *shown: tuple[str, AnyBody]) -> list[Event]:
    return [
        Event(
            id=f"e{number}",
            at_ms=1_780_000_000_000 + 1000 * number,
            client="x",
            session=session,
            cwd=str(folder),
            body=body,
            dedup=f"commit:{body.hash}" if isinstance(body, Commit) else "",
        )
        for number, (session, body) in enumerate(shown, 1)
    ]


def links_of(store: Store, seq: int) -> tuple[Link, ...]:
    with store.read() as reader:
        return reader.items([item_id(seq)])[0].links


@pytest.mark.parametrize("at_once", [1, 9])
def test_an_arc_spans_sessions_and_batches(
    pipeline: Pipeline, store: Store, folder: Path, at_once: int
) -> None:
    events = happened(folder, ("s1", RED), ("s1", EDIT), ("s2", GREEN))
    for start in range(0, len(events), at_once):
        pipeline.ingest(events[start : start + at_once])
    fix = next(item for item in items_of(store) if item.type == "fix")
    assert [link.target for link in fix.links] == [item_id(1), item_id(2), item_id(3)]
    before = items_of(store)
    pipeline.rebuild()
    assert items_of(store) == before


HISTORY: Sequence[tuple[str, AnyBody]] = (
    ("", Commit(hash=OLD, subject="x")),
    ("", Rewrite(reason="amend", pairs=((OLD, NEW),))),
    ("", Commit(hash=NEWER, subject="y", message=f"This reverts commit {OLD}.")),
    ("", Commit(hash=NEW, subject="x")),
)


def test_a_turn_that_a_prompt_broke_off_is_a_record(
    pipeline: Pipeline, store: Store, folder: Path
) -> None:
    asked = ("Round the total up", "No, mend the cart first")
    for event in happened(folder, *(("s1", Prompt(text=one)) for one in asked)):
        pipeline.ingest([event])
    kinds = [item.kind for item in items_of(store) if item.type == "turn"]
    assert kinds == ["record", "observation"]


def test_what_came_later_is_unknown_in_a_rebuild_too(
    pipeline: Pipeline, store: Store, folder: Path
) -> None:
    pipeline.ingest(happened(folder, *HISTORY))
    replaced = (Link(kind="replaces", target=item_id(1), title=OLD), Link(kind="makes", title=NEW))
    assert links_of(store, 3) == (Link(kind="reverts", target=item_id(1), title=OLD),)
    assert links_of(store, 2) == replaced
    pipeline.rebuild()
    assert links_of(store, 2) == replaced
