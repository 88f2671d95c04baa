"""Checks what is said of commits against git: flags by plain git and Python's own parser.

    scripts/check_standing.py REPOSITORY [--sample N]

Imports the history of a repository into a memory that is thrown away, follows it, and compares
what is said of a sample of commits with what `git show`, `git log --follow` and `ast` say. Nothing
of the truth comes from our code.
"""

from __future__ import annotations

import argparse
import ast
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.git.process import git_output
from observer.importers.source import commits
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.staleness.worktree_sync import sync_worktree
from observer.store.anchors import Anchor, AnchorSet
from observer.store.database import SqliteStore
from observer.store.writer import Writer

BATCH = 500
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


# --- the truth: git and ast ----------------------------------------------------------------------


class Git:
    """A repository, asked in plain words."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.show = cache(self._show)
        self.now = cache(self._now)
        self.head = self.ask("rev-parse", "HEAD").strip()
        self.trunk = set(self.ask("rev-list", "--first-parent", "HEAD").split())

    def ask(self, *words: str) -> str:
        """Return what git prints, "" where it fails."""
        return git_output(self._root, *words) or ""

    def _show(self, commit: str, path: str) -> str | None:
        has = self.ask("ls-tree", commit, "--", path)
        return self.ask("show", f"{commit}:{path}") if has else None

    def _now(self, commit: str, path: str) -> str:
        """Return where a file of a commit is at HEAD, "" if nowhere: rename after rename."""
        while True:
            listed = self.ask(
                *("log", "--first-parent", "-m", "--reverse", "--format=@%H", "--name-status"),
                *("-M", "-l1000", "--diff-filter=RD", f"{commit}..{self.head}"),
            )
            step = _first_move(listed, path)
            if not step:
                return path if self._show(self.head, path) is not None else ""
            commit, path = step
            if not path:
                return ""


def _first_move(listed: str, path: str) -> tuple[str, str] | None:
    """Return the first commit of a log that moved or deleted a file, and where to."""
    commit = ""
    for line in listed.splitlines():
        if line.startswith("@"):
            commit = line[1:]
            continue
        status, _, names = line.partition("\t")
        old, _, new = names.partition("\t")
        if old == path and status[:1] in {"R", "D"}:
            return commit, new
    return None


def symbols(text: str | None) -> dict[str, str] | None:
    """Return the text of each function and class without what is defined inside; None if broken."""
    try:
        tree = ast.parse(text or "")
    except (SyntaxError, ValueError):
        return None
    found: dict[str, str] = {}
    _gather(tree, "", found)
    return found


def _gather(node: ast.AST, prefix: str, found: dict[str, str]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DEFINITIONS):
            name = f"{prefix}{child.name}"
            found[name] = found.get(name, "") + ast.dump(_bare(child))
            _gather(child, f"{name}.", found)
        else:
            _gather(child, prefix, found)


class _Without(ast.NodeTransformer):
    """Leaves out what is defined inside."""

    def visit(self, node: ast.AST) -> ast.AST | None:
        """Return a node without definitions in it, None for a definition."""
        return None if isinstance(node, DEFINITIONS) else self.generic_visit(node)


def _bare(node: ast.AST) -> ast.AST:
    copy = ast.parse(ast.unparse(node)).body[0]
    copy.body = [left for left in map(_Without().visit, copy.body) if left]  # type: ignore[attr-defined]  # a definition
    return copy


class Became(NamedTuple):
    """A symbol's text in a commit and at HEAD, where its file is now."""

    then: str | None
    now: str | None
    path: str

    @property
    def word(self) -> str:
        """Say it in a word."""
        if self.then == self.now:
            return "same"
        return "changed" if self.now else "gone"


def truth_of(git: Git, commit: str) -> dict[tuple[str, str], Became]:
    """Return what became of each Python symbol that a commit changed."""
    shown: dict[tuple[str, str], Became] = {}
    names = ("diff-tree", "--no-commit-id", "-r", "--root", "-M", "-l1000", "--name-status", commit)
    for line in git.ask(*names).splitlines():
        status, *paths = line.split("\t")
        path = paths[-1]
        before = symbols(git.show(f"{commit}^", paths[0])) if status[0] != "A" else {}
        after = symbols(git.show(commit, path)) if status[0] != "D" else None
        if not path.endswith(".py") or before is None or after is None:
            continue
        now_at = git.now(commit, path) if commit in git.trunk else path
        now = symbols(git.show(git.head, now_at)) if now_at else {}
        for name in {**before, **after}:
            if before.get(name) != after.get(name) and now is not None:
                shown[path, name] = Became(after.get(name), now.get(name), now_at)
    return shown


# --- what observer says --------------------------------------------------------------------------


def remembered(root: str, folder: Path) -> dict[str, AnchorSet]:
    """Import and follow a repository; print what that costs; return anchor_sets by commit."""
    store, spool = SqliteStore(folder / "observer.db"), Spool(folder / "spool")
    spool.prepare()
    pipeline = Pipeline(store, spool, settings=Settings(), places=PlaceCache(), now_ms=now_ms)
    events = list(commits(root))
    for start in range(0, len(events), BATCH):
        pipeline.ingest(events[start : start + BATCH])

    def write(work: Callable[[Writer], None]) -> None:
        with store.write() as writer:
            work(writer)

    with store.read() as reader:
        project = reader.projects()[-1]
    begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    sync_worktree(store, write, project)
    wall_ms = 1000 * (time.monotonic() - begun) / len(events)
    cpu_ms = 1000 * (resource.getrusage(resource.RUSAGE_SELF).ru_utime - used) / len(events)
    print(f"{len(events):,} commits followed, {wall_ms:.1f} ms each, {cpu_ms:.1f} ms of processor")
    with store.read() as reader:
        (worktree,) = reader.worktrees()
        anchor_sets = reader.anchor_sets(worktree.id, [item.id for item in reader.all_items()])
        shown = Counter(
            each.reason
            for validity in reader.validity(
                [anchor_set.item for anchor_set in anchor_sets]
            ).values()
            for each in validity
        )
    print("said of items:", ", ".join(f"{reason} {count:,}" for reason, count in shown.items()))
    return {anchor_set.base: anchor_set for anchor_set in anchor_sets}


def _shown(git: Git, became: Became, anchor: Anchor) -> tuple[str, str]:
    """Return what git says of a symbol, and what we do; a place counts with it."""
    said = {"": "same", "renamed": "same", "deleted": "gone"}.get(anchor.reason, "changed")
    if became.word == "gone" and said == "same":
        taken = symbols(git.show(git.head, anchor.path)) or {}
        is_there = became.then in {
            taken.get(anchor.symbol),
            taken.get(anchor.symbol.split(".")[-1]),
        }
        return "taken elsewhere" if is_there else "gone", "taken elsewhere"
    if became.then and became.word == said != "gone" and became.path != anchor.path:
        return f"{said} in {became.path}", f"{said} in {anchor.path}"
    return became.word, said


def main() -> int:
    """Print the agreement; 1 if it is less than 99 %."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository")
    parser.add_argument("--sample", type=int, default=300, help="commits compared")
    options = parser.parse_args()
    git = Git(options.repository)
    with tempfile.TemporaryDirectory() as folder:
        moored = remembered(options.repository, Path(folder))
    chosen = random.Random(7).sample(sorted(moored), min(options.sample, len(moored)))  # noqa: S311 - a sample
    seen: Counter[tuple[str, str]] = Counter()
    for commit in chosen:
        truth = truth_of(git, commit)
        for anchor in moored[commit].anchors:
            if became := truth.get((anchor.origin, anchor.symbol)):
                shown = _shown(git, became, anchor)
                seen[shown] += 1
                if shown[0] != shown[1]:
                    print(
                        f"{commit[:10]} {anchor.origin} {anchor.symbol}: "
                        f"git {shown[0]}, we {shown[1]}"
                    )
    right = sum(count for (expected, said), count in seen.items() if expected == said)
    total = sum(seen.values())
    print(f"{total:,} symbols of {len(chosen)} commits compared:", dict(seen))
    print(f"agreement {right / max(1, total):.2%}")
    return 0 if total and right / total >= 0.99 else 1


if __name__ == "__main__":
    sys.exit(main())
