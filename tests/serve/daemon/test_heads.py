"""Commits that no hook reports are remembered, and nothing of what was only checked out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from observer.core.errors import ObserverError
from observer.core.events import Command, Commit, Event, Prompt, Rewrite
from observer.core.paths import Home
from observer.ingest.commits import unreported_commits
from observer.local.spool import Spool
from observer.projects import detect_place
from observer.serve import unreported
from observer.serve.unreported import HeadWorker
from tests.serve.services import services_over
from tests.support import Git

POST = Path(__file__).parents[3] / "hooks" / "post"
NOW_MS = 4_000_000_000_000


class Bench:
    """A worker over a repository with two commits that was seen once."""

    def __init__(self, home: Home, shop: Path, git: Git) -> None:
        self.home, self.shop, self._git = home, shop, git
        self._services = services_over(home, at_ms=NOW_MS)
        self.store, self.pipeline = self._services.store, self._services.pipeline
        git(shop, "init", "-q")
        for subject in ("One", "Two"):
            self.git(f"commit -q --allow-empty -m {subject}")
        self.report(Prompt("go on"))
        self.start()
        self.worker.look()

    def start(self) -> None:
        self.worker = HeadWorker(self._services)

    def git(self, *steps: str, at: Path | None = None) -> None:
        for step in steps:
            self._git(at or self.shop, *step.split())

    def report(self, body: Prompt | Command, *, at_ms: int = 1) -> None:
        event = Event(f"e{at_ms}", at_ms, "gemini", body, session="s1", cwd=str(self.shop))
        self.pipeline.ingest([event])

    def recorded(self) -> list[Event]:
        self.worker.look()
        with self.store.read() as reader:
            return [recorded.event for recorded in reader.log()]

    def commits(self) -> list[str]:
        bodies = [event.body for event in self.recorded()]
        return [f"{body.action} {body.subject}" for body in bodies if isinstance(body, Commit)]

    def rewrites(self) -> list[Rewrite]:
        return [event.body for event in self.recorded() if isinstance(event.body, Rewrite)]

    def hash(self, rev: str) -> str:
        return self._git(self.shop, "rev-parse", rev)


@pytest.fixture
def bench(home: Home, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(unreported, "SETTLED_S", 0)
    return Bench(home, tmp_path / "shop", git)


COMMIT = "commit -q --allow-empty -m"


@pytest.mark.parametrize(
    ("steps", "commits"),
    [
        pytest.param([f"{COMMIT} Three", f"{COMMIT} Four"], ["commit Three", "commit Four"],
            id="two"),
        pytest.param([f"{COMMIT} A", f"{COMMIT} B --amend"], ["commit B"], id="amended"),
        pytest.param(["checkout -q -b mine HEAD~1", f"{COMMIT} Mine",
            "cherry-pick --allow-empty main~0"], ["commit Mine", "cherry-pick Two"],
            id="cherry-pick"),
        pytest.param(["checkout -q -b side", f"{COMMIT} S", "checkout -q main",
            "merge -q --no-ff -m M side"], ["commit S", "merge M"], id="merge"),
        pytest.param(["checkout -q HEAD~1", "checkout -q main"], [], id="checkouts"),
        pytest.param(["reset -q --hard HEAD~1"], [], id="reset"),
        pytest.param([f"{COMMIT} A", "reset -q --hard HEAD~1"], [], id="taken back"),
        pytest.param(["checkout -q --orphan new", f"{COMMIT} N"], [], id="no common history"),
    ],
)  # fmt: skip
def test_what_was_committed_without_hooks_is_recorded(
    bench: Bench, steps: list[str], commits: list[str]
) -> None:
    assert bench.commits() == [], "what is older than its memory"
    bench.git(*steps)
    bench.start()  # the next daemon goes on
    assert bench.commits() == commits
    assert bench.commits() == commits, "and only once"


def test_the_first_commit_of_a_repository_is_recorded(bench: Bench, tmp_path: Path) -> None:
    new = tmp_path / "new"
    bench.shop = new
    bench._git(new, "init", "-q")
    bench.report(Prompt("begin"), at_ms=2)
    assert bench.commits() == []
    bench.git(f"{COMMIT} First")
    assert bench.commits() == ["commit First"]


@pytest.mark.measured
@pytest.mark.parametrize("step", ["merge -q theirs", "pull -q . theirs"])
def test_what_others_made_is_theirs(bench: Bench, tmp_path: Path, git: Git, step: str) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(bench.shop), str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "Theirs", GIT_AUTHOR_NAME="Ada")
    bench.git(f"fetch -q {other} main:theirs")
    assert bench.commits() == [], "a branch that was only fetched"
    bench.git(step)
    assert bench.commits() == ["import Theirs"]


@pytest.mark.measured
def test_what_replaces_recorded_commits_is_said(bench: Bench) -> None:
    bench.git(f"{COMMIT} Three", f"{COMMIT} Four")
    assert bench.commits() == ["commit Three", "commit Four"]
    three, four = bench.hash("HEAD~1"), bench.hash("HEAD")
    bench.git("checkout -q -b base HEAD~2", f"{COMMIT} Base", "checkout -q main")
    bench.git("rebase -q base --keep-empty")
    assert bench.commits() == ["commit Three", "commit Four", "commit Base"]
    new = bench.hash("HEAD")
    bench.git(f"{COMMIT} Five --amend")
    assert bench.commits()[-1] == "commit Five"
    assert [(one.reason, one.pairs) for one in bench.rewrites()] == [
        ("rebase", ((three, bench.hash("HEAD~1")), (four, new))),
        ("amend", ((new, bench.hash("HEAD")),)),
    ]


def test_a_report_of_a_hook_is_not_repeated(bench: Bench) -> None:
    bench.git(f"{COMMIT} Three")
    place = detect_place(str(bench.shop))
    (event,) = unreported_commits(place, bench.hash("HEAD~1"))
    bench.pipeline.ingest([event])
    assert bench.commits() == ["commit Three"]


def test_a_report_that_waits_in_the_spool_comes_first(bench: Bench) -> None:
    name = bench.home.spool / "new/an-event"
    name.touch()
    bench.git(f"{COMMIT} Three")
    assert bench.commits() == []
    name.unlink()
    assert bench.commits() == ["commit Three"]


def test_a_commit_belongs_to_the_session_whose_command_printed_it(bench: Bench) -> None:
    bench.git(f"{COMMIT} Three", f"{COMMIT} Four")
    made = bench.hash("HEAD")
    at_ms = 1000 * int(bench._git(bench.shop, "log", "-1", "--format=%ct"))
    bench.report(Command("git commit -m Four", output=f"[main {made[:7]}] Four"), at_ms=at_ms + 5)
    bench.report(Command("cat log", output=made), at_ms=at_ms + 4)
    commits = [event for event in bench.recorded() if isinstance(event.body, Commit)]
    found = {one.body.subject: (one.client, one.session, one.author) for one in commits}
    assert found["Four"] == ("gemini", "s1", "agent")
    assert found["Three"][:2] == ("git", "")


def test_what_was_committed_in_a_pause_is_left_out(bench: Bench) -> None:
    pauses = Spool(bench.home.spool).pauses
    pauses.begin([str(bench.shop)], from_ms=0, until_ms=NOW_MS)
    bench.git(f"{COMMIT} Paused")
    assert bench.commits() == []
    pauses.end(None, now_ms=NOW_MS - 1)
    assert bench.commits() == []


def test_what_was_committed_in_private_is_left_out(bench: Bench, git: Git) -> None:
    hook = bench.shop / ".git/hooks/post-commit"
    hook.write_text(f'#!/bin/sh\nexec sh "{POST}" git post-commit "$@"\n')
    hook.chmod(0o755)
    git(bench.shop, *f"{COMMIT} Private".split(), OBSERVER_PRIVATE="1")
    bench.git(f"-c core.hooksPath=/dev/null {COMMIT} Open")
    assert bench.commits() == ["commit Open"]
    assert not list((bench.home.spool / "new").glob("*"))


@pytest.mark.measured
def test_another_repository_in_the_same_place_begins_anew(bench: Bench) -> None:
    shutil.rmtree(bench.shop / ".git")
    bench.git("init -q", f"{COMMIT} Other")
    assert bench.commits() == []
    bench.git(f"{COMMIT} Next")
    assert bench.commits() == ["commit Next"]


@pytest.mark.measured
def test_a_repository_that_cannot_be_read_keeps_no_other_from_being_read(
    bench: Bench, tmp_path: Path
) -> None:
    broken, bench.shop = bench.shop, tmp_path / "new"
    bench.git("init -q", f"{COMMIT} First")
    bench.report(Prompt("begin"), at_ms=2)
    assert bench.commits() == []
    bench.git(f"{COMMIT} Second")
    (broken / "a.txt").write_text("a")
    bench.git("add a.txt", "commit -q -m Lost", at=broken)
    lost = bench._git(broken, "rev-parse", "HEAD^{tree}")
    (broken / ".git/objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(ObserverError, match=str(broken)):
        bench.worker.look()
    with bench.store.read() as reader:
        assert [each.event.body.subject for each in reader.log()[2:]] == ["Second"]


def test_a_rebase_that_stands_still_is_waited_for(bench: Bench) -> None:
    bench.git("checkout -q -b mine HEAD~1", f"{COMMIT} Mine")
    bench.worker.look()
    (bench.shop / ".git/rebase-merge").mkdir()
    bench.git(f"{COMMIT} Picked")
    assert bench.commits() == ["commit Mine"]
    (bench.shop / ".git/rebase-merge").rmdir()
    assert bench.commits() == ["commit Mine", "commit Picked"]


@pytest.mark.parametrize("how", ["--soft", "--mixed", "--hard", "a branch keeps it"])
def test_a_reset_drops_what_no_branch_has(bench: Bench, how: str) -> None:
    two, is_kept = bench.hash("HEAD"), " " in how
    bench.git(*["branch kept"] * is_kept, f"reset -q {'--hard' if is_kept else how} HEAD~1")
    dropped = [] if is_kept else [Rewrite(reason="reset", pairs=((two, ""),))]
    assert bench.rewrites() == dropped
