"""Whatever a line of commands did around a commit, git says what is not committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observer.core.events import AnyBody, Command, Edit, Event, FileWrite, SessionEnd
from observer.git.process import uncommitted_paths
from observer.local.spool import Spool
from observer.search.start import StartRequest, start
from observer.store.database import SqliteStore
from tests.support import pipeline_over

NOW_MS = 1_790_000_000_000
FILES = ("cart.py", "price.py")
PARTS = (
    *("git add -A", "git add cart.py", "git commit -qm Swap", "git commit -qam Swap"),
    *("git commit -q --amend --no-edit", "git reset -q HEAD~1", "git checkout -q .", "git push"),
    *("git stash -q", "git stash pop -q", "git status --short", "false", "git commit -qm x 2>&1"),
    *("git reset -q --soft HEAD~1", "git log --oneline | head -1", "git add nosuch"),
)
JOINS = (" && ", " || ", "; ", " | tail -3; ")
Chain = list[tuple[str, str]]


class Work:
    """A repository with a commit, a session that changes files in it, and its memory."""

    def __init__(self, folder: Path, *, refuses: bool) -> None:
        self.root = folder / "shop"
        self.store = SqliteStore(folder / "store" / "observer.db")
        spool = Spool(folder / "spool")
        self._pipeline = pipeline_over(self.store, spool, NOW_MS)
        self._count = 0
        self.root.mkdir()
        self.sh("git init -q -b main && git commit -q --allow-empty -m Zero")
        self.sh(f"echo 0 > cart.py; git add . && git commit -qm One; echo 0 > {FILES[1]}")
        if refuses:
            hook = self.root / ".git" / "hooks" / "pre-commit"
            hook.parent.mkdir(exist_ok=True)
            hook.write_text("#!/bin/sh\necho 'ruff.....Failed'; exit 1\n")
            hook.chmod(0o755)

    def sh(self, line: str) -> subprocess.CompletedProcess[str]:
        who = {f"GIT_{one}_{what}": "a@b.c" for one in ("AUTHOR", "COMMITTER")
               for what in ("NAME", "EMAIL")}  # fmt: skip
        return subprocess.run(
            line, shell=True, cwd=self.root, env=os.environ | who, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip

    def tell(self, body: AnyBody) -> None:
        self._count += 1
        about = {"client": "claude-code", "session": "one", "cwd": str(self.root)}
        at_ms = NOW_MS - 60_000 + self._count
        self._pipeline.ingest([Event(id=f"e{self._count}", at_ms=at_ms, body=body, **about)])

    def edit(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)
        write = FileWrite(path=str(self.root / name), edits=(Edit(old="0", new=text),))
        self.tell(write)

    def run(self, chain: Chain) -> None:
        line = "".join(part + join for part, join in chain) + "true"
        done = self.sh(line)
        self.tell(Command(command=line, output=done.stdout, exit_code=done.returncode))

    def differing(self) -> set[str]:
        """Return which files differ from HEAD, by their bytes."""
        shown = {name: self.sh(f"git show HEAD:{name}") for name in FILES}
        disk = {name: (self.root / name) for name in FILES}
        return {
            name
            for name, one in shown.items()
            if (one.stdout if not one.returncode else None)
            != (disk[name].read_text() if disk[name].exists() else None)
        }

    def said(self, why: str, *, is_there: bool = True) -> set[str]:
        """Return the files that the card calls so."""
        ask = partial(uncommitted_paths, str(self.root)) if is_there else None
        with self.store.read() as reader:
            (project,) = [one for one in reader.projects() if one.roots]
            asked = StartRequest(project.id, 1000, now_ms=NOW_MS)
            lines = start(reader, asked, lambda _: 1, uncommitted=ask).lines
        return {path for line in lines if line.why == why for path in line.text.split()}


@pytest.fixture(scope="module", autouse=True)
def _no_settings() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        yield


@settings(max_examples=40, deadline=None)
@given(
    chain=st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(JOINS)), max_size=6),
    refuses=st.booleans(),
)
def test_the_line_not_committed_is_what_git_says(chain: Chain, *, refuses: bool) -> None:
    folder = Path(tempfile.mkdtemp())
    work = Work(folder, refuses=refuses)
    for name in FILES:
        work.edit(name, "1\n")
    work.run(chain)
    assert work.said("not committed") == work.differing()
    assert work.said("not committed", is_there=False) == set()
    work.tell(SessionEnd())
    with work.store.read() as reader:
        (summary,) = [item.summary for item in reader.all_items() if item.summary]
    said = summary.next_steps.partition("In git's stash")[0]
    assert {name for name in FILES if name in said} == work.differing()
    work.store.close()
    shutil.rmtree(folder)
