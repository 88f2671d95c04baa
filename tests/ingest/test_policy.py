"""What a repository's `.observer.toml` excludes is in no byte of the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from legible import legible

from observer.core.config import Settings
from observer.core.events import Commit, Event
from observer.core.paths import Home
from observer.importers.registry import commits
from observer.ingest.pipeline import Pipeline
from observer.ingest.prefetch import PrefetchRequest, pages
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.interface import Store

Git = Callable[..., str]
Post = Callable[..., str]

CANARY = "xylophone-9417"


@pytest.fixture
def shop(tmp_path: Path, git: Git) -> Path:
    """A repository of two commits, each with a file that is to be excluded."""
    root = tmp_path / "work" / "shop"
    git(root, "init", "-q")
    (root / "secrets").mkdir()
    for number in range(2):
        (root / "secrets" / f"{CANARY}.txt").write_text(f"{CANARY} {number}\n")
        (root / "main.py").write_text(f"total = {number}\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"Step {number}")
    return root


def restrict(root: Path, text: str) -> None:
    (root / ".observer.toml").write_text(text)


def tool(name: str, output: Any = "", **given: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_input": given, "tool_response": output}


@pytest.fixture
def work(post: Post, shop: Path) -> Callable[[], None]:
    """Report one call of each kind of tool, on an excluded file and on another one."""

    def report() -> None:
        where = {"cwd": str(shop)}
        for path in (f"{shop}/secrets/{CANARY}.txt", f"{shop}/main.py"):
            edit = {"file_path": path, "old_string": CANARY, "new_string": "x"}
            post("PostToolUse", tool("Edit", **edit) | where)
            post("PostToolUse", tool("Write", file_path=path, content=path) | where)
            post("PostToolUse", tool("Read", file_path=path, output=CANARY) | where)
            post("PostToolUse", tool("Bash", {"stdout": path}, command=f"cat {path}") | where)
            post("PostToolUse", tool("Grep", path, pattern="x", path=path) | where)

    return report


def drained(pipeline: Pipeline) -> None:
    while pipeline.drain().entries:
        pass


def events(store: Store) -> list[Event]:
    with store.read() as reader:
        return [recorded.event for recorded in reader.log()]


def held(home: Home, text: str) -> list[str]:
    """Return the files of the home that hold a text."""
    wanted = text.encode()
    return [
        str(file) for file in home.root.rglob("*") if file.is_file() and wanted in legible(file)
    ]


def test_hooks_leave_nothing_of_an_excluded_file(
    pipeline: Pipeline, store: Store, home: Home, shop: Path, work: Callable[[], None]
) -> None:
    restrict(shop, 'exclude = ["secrets/"]')
    work()
    # The old text of an edit of another file is that file's.
    drained(pipeline)
    kinds = [event.body.__struct_config__.tag for event in events(store)]
    assert kinds == ["file-write", "file-write", "file-read", "command", "search"]
    store.close()
    assert held(home, f"secrets/{CANARY}") == []


def test_without_a_policy_the_same_hooks_leave_all(
    pipeline: Pipeline, store: Store, work: Callable[[], None]
) -> None:
    work()
    drained(pipeline)
    assert len(events(store)) == 10


def test_a_history_is_imported_without_excluded_files(
    pipeline: Pipeline, store: Store, home: Home, shop: Path
) -> None:
    restrict(shop, 'exclude = ["secrets/"]')
    pipeline.ingest(list(commits(str(shop))))
    bodies = [event.body for event in events(store)]
    assert [[file.path for file in body.files] for body in bodies if isinstance(body, Commit)] == [
        ["main.py"],
        ["main.py"],
    ]
    store.close()
    assert held(home, CANARY) == []


def test_a_commit_that_a_hook_reports_is_read_without_excluded_files(
    pipeline: Pipeline, store: Store, spool: Spool, shop: Path, git: Git
) -> None:
    restrict(shop, 'exclude = ["secrets/"]')
    head = git(shop, "rev-parse", "HEAD").strip()
    shown = {"client": "git", "event": "post-commit", "cwd": str(shop), "env.git.head": head}
    spool.append(shown | {"env.git.dir": f"{shop}/.git", "env.git.action": "commit"}, b"")
    drained(pipeline)
    (commit,) = [event.body for event in events(store) if isinstance(event.body, Commit)]
    assert [file.path for file in commit.files] == ["main.py"]


def test_what_is_never_recorded_leaves_no_arrivals_either(
    pipeline: Pipeline, store: Store, shop: Path
) -> None:
    restrict(shop, 'never = ["commit"]')
    pipeline.ingest(list(commits(str(shop))))
    assert events(store) == []


def test_nothing_is_recorded_until_a_policy_can_be_used(
    pipeline: Pipeline, store: Store, shop: Path, work: Callable[[], None]
) -> None:
    restrict(shop, 'exclude = ["secrets/"]\nnever = 1')
    work()
    drained(pipeline)
    assert events(store) == []
    assert pipeline.restricted() == [str(shop)]
    restrict(shop, "")
    work()
    drained(pipeline)
    assert len(events(store)) == 10


def test_a_backlog_that_is_read_ahead_is_under_the_policy_too(
    home: Home, shop: Path, work: Callable[[], None]
) -> None:
    restrict(shop, 'exclude = ["secrets/"]')
    work()
    found = list(pages(PrefetchRequest(str(home.spool), Settings(), frozenset())))
    assert [len(line.events) for page in found for line in page.lines] == [0] * 5 + [1] * 5


def test_a_project_is_called_what_its_policy_says(
    make_pipeline: Callable[..., Pipeline], store: Store, shop: Path, work: Callable[[], None]
) -> None:
    for text, name, earlier in [
        ("", "shop", ()),
        ('name = "acme"', "acme", ("shop",)),
        ("", "acme", ("shop",)),
    ]:
        restrict(shop, text)
        work()
        drained(make_pipeline(places=PlaceCache()))
        with store.read() as reader:
            project = reader.projects()[-1]
        assert (project.name, project.earlier_names) == (name, earlier)
