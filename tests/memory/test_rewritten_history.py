"""Who wrote a line after history was rewritten: the session that typed it, or nobody is named."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observer.core.events import AnyBody, Commit, Edit, Event, FileWrite, Prompt
from observer.core.paths import Home
from observer.store.database import SqliteStore
from tests.support import memory_over, pipeline_over

ROOM = 14
HAND = ""


class Typed(NamedTuple):
    """A line that is typed on a branch by a session, or by hand, and committed."""

    branch: str
    by: str
    is_shown: bool
    is_same: bool


class Work:
    """A repository with room for lines that do not conflict, and a memory of sessions in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root, self.now_s = folder, folder / "shop", 1_790_000_000
        home = Home(folder / "home")
        self.store = SqliteStore(folder / "observer.db")
        self._pipeline = pipeline_over(self.store, home, lambda: self.now_s * 1000)
        self.memory = memory_over(
            self.store, home, lambda: self.now_s * 1000, record=self._pipeline.ingest
        )
        self.typed_by: dict[str, str] = {}
        self._places = itertools.count()
        self.root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.file.write_text("".join(f"# {n}\n#\n#\n#\n" for n in range(ROOM)))
        self.git("add", ".")
        self.git("commit", "-qm", "Begin")
        self.git("branch", "side")

    @property
    def file(self) -> Path:
        return self.root / "app.py"

    def git(self, *words: str) -> str:
        self.now_s += 10
        at = f"@{self.now_s} +0000"
        who = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "EMAIL"), "ana")
        env = {**os.environ, **who, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        done = subprocess.run(
            ["git", *words], cwd=self.root, env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def tell(self, body: AnyBody, session: str) -> None:
        self.now_s += 10
        key = f"commit:{body.hash}" if isinstance(body, Commit) else ""
        event = Event(
            id=f"e{self.now_s}", at_ms=self.now_s * 1000, session=session,
            client="claude-code" if session else "git", cwd=str(self.root), dedup=key, body=body,
        )  # fmt: skip
        self._pipeline.ingest([event])

    def type_line(self, typed: Typed) -> None:
        """Write a line, as a session does or by hand."""
        place = next(self._places)
        line = (
            "shared = make_it()" if typed.is_same and typed.by else f"line_{place} = make({place})"
        )
        self.typed_by[f"{place}"] = typed.by
        before = self.file.read_text()
        after = before.replace(f"# {place}\n", f"# {place}\n{line}\n")
        self.file.write_text(after)
        if typed.by:
            self.tell(Prompt(text=f"work of {typed.by}"), typed.by)
            edit = Edit(old=f"# {place}\n", new=f"# {place}\n{line}\n")
            self.tell(FileWrite(path=str(self.file), edits=(edit,)), typed.by)

    def commit(self, typed: Typed, *words: str) -> None:
        self.git("checkout", "-q", typed.branch)
        self.type_line(typed)
        self.git("commit", "-qam", f"Change {self.now_s}", *words)
        if typed.is_shown:
            self.show(typed.by)

    def show(self, session: str) -> None:
        """Tell of HEAD, as a hook of git does."""
        self.tell(Commit(hash=self.git("rev-parse", "HEAD")), session)

    def rewrite(self, how: str, by: str = HAND) -> None:
        """Bring the commits of `side` to `main`, or amend the last that only `main` has."""
        span = "side..main" if how == "amend" else "main..side"
        if self.git("rev-list", "--count", span) == "0":
            return
        known = self.git("rev-list", "--all").split()
        if how in ("rebase", "rebase+squash"):
            self.git("rebase", "-q", "main", "side")
        self.git("checkout", "-q", "main")
        if how == "pick":
            self.git("cherry-pick", "main..side")
        elif how == "rebase":
            self.git("merge", "-q", "--ff-only", "side")
        elif how in ("squash", "rebase+squash"):
            self.git("merge", "-q", "--squash", "side")
            self.git("commit", "-qm", "Squash")
        elif how == "amend":
            self.commit(Typed("main", "s7", is_shown=False, is_same=False), "--amend")
        if self.git("rev-parse", "HEAD") not in known:  # else nothing was made, and no hook ran
            self.show(by)

    def named(self) -> Iterator[tuple[str, list[str]]]:
        """Yield who typed each line of main, and which sessions are named for it."""
        self.git("checkout", "-q", "main")
        lines = self.file.read_text().split("\n")
        for number, line in enumerate(lines, 1):
            if line.endswith(")"):
                place = lines[number - 2].removeprefix("# ")
                answer = self.memory.why(f"app.py:{number}", str(self.root))
                sessions = answer.changes[0].sessions
                yield self.typed_by[place], [one.external for one in sessions]

    def close(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)


@pytest.fixture(scope="module", autouse=True)
def _no_settings() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        yield


REWRITES = ("rebase", "pick", "squash", "rebase+squash", "amend")
TYPED = st.builds(
    Typed,
    branch=st.sampled_from(("main", "side")),
    by=st.sampled_from((HAND, "s1", "s2", "s3")),
    is_shown=st.booleans(),
    is_same=st.integers(0, 5).map(lambda n: n == 0),
)


@settings(max_examples=12, deadline=None)
@given(
    before=st.lists(TYPED, min_size=1, max_size=5),
    between=st.lists(TYPED, max_size=2),
    hows=st.tuples(st.sampled_from(REWRITES), st.sampled_from(REWRITES)),
    rewriter=st.sampled_from((HAND, "s9")),
)
def test_a_line_is_of_the_session_that_typed_it_or_of_nobody(
    before: list[Typed], between: list[Typed], hows: tuple[str, str], rewriter: str
) -> None:
    work = Work(Path(tempfile.mkdtemp()))
    for typed in before:
        work.commit(typed)
    work.rewrite(hows[0], rewriter)
    for typed in between:
        work.commit(Typed("main", *typed[1:]))
    work.rewrite(hows[1] if hows[0] in ("amend", "rebase") else "amend")
    found = list(work.named())
    assert [one for one in found if not {*one[1]} <= {one[0]}] == []
    work.close()


@pytest.mark.parametrize("how", REWRITES)
def test_a_line_keeps_its_session_over_commits_of_others(tmp_path: Path, how: str) -> None:
    work = Work(tmp_path)
    work.commit(Typed("side", "s1", is_shown=True, is_same=False))
    work.commit(Typed("main", HAND, is_shown=False, is_same=False))
    work.commit(Typed("main", "s2", is_shown=True, is_same=False))
    work.rewrite(how)
    named = dict(work.named())
    assert named["s2"] == ["s2"]
    assert named.get("s1", ["s1"]) == ["s1"]
    assert named[HAND] == []
