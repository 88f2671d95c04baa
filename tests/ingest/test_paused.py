"""What happened while recording was paused is not stored, whichever way and whenever it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from observer.core.events import Commit, Event, FileWrite, Prompt, Remember
from observer.core.paths import Home
from observer.importers.registry import commits
from observer.ingest.pipeline import Pipeline
from observer.local.pauses import EVERYWHERE, UNENDING_MS
from observer.local.spool import Spool
from observer.projects import detect_place
from observer.store.interface import Store

NOW_MS = 1_790_000_000_000
Git = Callable[..., str]
Post = Callable[..., str]
POST = Path(__file__).parents[2] / "hooks" / "post"


def prompts(pipeline: Pipeline, store: Store) -> list[str]:
    return [body.text for body in bodies(pipeline, store) if isinstance(body, Prompt)]


def bodies(pipeline: Pipeline, store: Store) -> list[Any]:
    while pipeline.drain().entries:
        pass
    with store.read() as reader:
        return [recorded.event.body for recorded in reader.log()]


def ask(post: Post, text: str, *, at_ms: int, **given: Any) -> None:
    post("UserPromptSubmit", {"prompt": text} | given, at=str(at_ms))


def test_what_happened_during_a_pause_is_left_out_afterwards(
    pipeline: Pipeline, store: Store, spool: Spool, post: Post
) -> None:
    for number, at_ms in enumerate((NOW_MS - 90, NOW_MS - 50, NOW_MS - 10)):
        ask(post, f"{number}", at_ms=at_ms)
    spool.pauses.begin([EVERYWHERE], from_ms=NOW_MS - 60, until_ms=UNENDING_MS)
    spool.pauses.end(None, now_ms=NOW_MS - 20)
    assert prompts(pipeline, store) == ["0", "2"]


def test_a_pause_of_one_project_leaves_the_others_be(
    pipeline: Pipeline, store: Store, spool: Spool, post: Post, folder: Path, tmp_path: Path
) -> None:
    spool.pauses.begin([str(folder)], from_ms=0, until_ms=UNENDING_MS)
    ask(post, "here", at_ms=NOW_MS)
    ask(post, "there", at_ms=NOW_MS, cwd=str(tmp_path))
    assert prompts(pipeline, store) == ["there"]


def test_a_pause_of_one_session_leaves_the_others_be(
    pipeline: Pipeline, store: Store, spool: Spool, post: Post, folder: Path
) -> None:
    spool.pauses.begin(["session=s1"], from_ms=0, until_ms=UNENDING_MS)
    ask(post, "hidden", at_ms=NOW_MS)
    ask(post, "shown", at_ms=NOW_MS, session_id="s2")
    edit = {"file_path": f"{folder}/a.py", "old_string": "a", "new_string": "b"}
    post("PostToolUse", {"tool_name": "Edit", "tool_input": edit})
    assert prompts(pipeline, store) == ["shown"]
    assert [path for path, _ in spool.pauses.withheld(from_ms=0, to_ms=NOW_MS)] == [
        f"{folder}/a.py"
    ]


def test_what_a_front_reports_is_left_out_but_what_is_shown_on_purpose_is_not(
    pipeline: Pipeline, store: Store, spool: Spool, folder: Path
) -> None:
    spool.pauses.begin([EVERYWHERE], from_ms=NOW_MS, until_ms=UNENDING_MS)
    shown = [FileWrite(path="a.py", operation="write"), Remember(content="Use Decimal.")]
    pipeline.ingest(
        [
            Event(id=f"{number}", at_ms=1, client="x", cwd=str(folder), body=body)
            for number, body in enumerate(shown)
        ]
    )
    assert [type(body) for body in bodies(pipeline, store)] == [Remember]


@pytest.fixture
def shop(tmp_path: Path, git: Git, home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with our hooks whose branch `theirs` has commits of the seconds 100 to 102."""
    monkeypatch.setenv("OBSERVER_HOME", str(home.root))
    root = tmp_path / "work" / "shop"
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "Begin")
    git(root, "checkout", "-q", "-b", "theirs")
    for number in range(3):
        date = {"GIT_COMMITTER_DATE": f"{1_700_000_100 + number} +0000"}
        git(root, "commit", "-q", "--allow-empty", "-m", f"t{number}", **date)
    git(root, "checkout", "-q", "main")
    for event in ("post-commit", "post-merge", "post-checkout"):
        hook = root / ".git" / "hooks" / event
        hook.write_text(f'#!/bin/sh\nexec sh "{POST}" git {event} "$@"\n')
        hook.chmod(0o755)
    return root


def subjects(found: list[Any]) -> list[str]:
    return [body.subject for body in found if isinstance(body, Commit)]


@pytest.mark.measured
def test_commits_made_during_a_pause_are_not_read_as_backlog(
    pipeline: Pipeline, store: Store, spool: Spool, shop: Path, git: Git
) -> None:
    made_ms = 1_700_000_101_000
    spool.pauses.begin([str(shop)], from_ms=made_ms, until_ms=made_ms + 1_000)
    git(shop, "merge", "-q", "--no-ff", "-m", "Merge", "theirs")
    assert subjects(bodies(pipeline, store)) == ["t0", "t2", "Merge"]


def test_an_import_asks_for_them_on_purpose(
    pipeline: Pipeline, store: Store, spool: Spool, shop: Path
) -> None:
    spool.pauses.begin([str(shop)], from_ms=0, until_ms=NOW_MS - 1)
    pipeline.ingest(list(commits(detect_place(str(shop)).root)))
    assert subjects(bodies(pipeline, store)) == ["Begin"]


def test_a_commit_made_during_a_pause_reaches_nothing(
    pipeline: Pipeline, store: Store, spool: Spool, shop: Path, git: Git
) -> None:
    spool.pauses.begin([str(shop)], from_ms=0, until_ms=UNENDING_MS)
    git(shop, "commit", "-q", "--allow-empty", "-m", "Hidden")
    spool.pauses.end(None, now_ms=NOW_MS * 2)
    git(shop, "checkout", "-q", "theirs")
    assert "Hidden" not in subjects(bodies(pipeline, store))
