"""The entry point of staleness: follow every worktree of a project through git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from observer.core.model import Project
from observer.staleness.repository import RepositoryView
from observer.staleness.worktree_sync import WorktreeSync, Write
from observer.store.anchors import WorktreeView
from observer.store.interface import Store
from observer.store.writer import Writer


def sync_worktree(
    store: Store, write: Write, project: Project, *, pause: Callable[[], None] = lambda: None
) -> bool:
    """Follow every worktree of a project to its HEAD, and anchor the items that are new.

    Returns True if anything changed. The view of a folder that is gone, or is not a repository, is
    deleted.

    Args:
        store: what is read.
        write: runs changes of the store, each in a transaction of its own.
        project: whose worktrees.
        pause: called between commits; may wait, or raise to stop.

    Raises:
        ObserverError: a repository, or the store, cannot be read or written.
    """
    news = False
    for root in project.roots:
        if not Path(root).is_dir():
            _forget(store, write, root)
            continue
        with RepositoryView(root) as repository:
            if repository.head:
                worktree = _worktree(store, write, project, repository)
                news |= WorktreeSync(store, write, repository, worktree, pause=pause).follow()
            else:
                _forget(store, write, root)
    return news


def _worktree(
    store: Store, write: Write, project: Project, repository: RepositoryView
) -> WorktreeView:
    """Return the view of a worktree: its own, a copy of a related one, or a new one."""
    with store.read() as reader:
        known = [each for each in reader.worktrees() if each.project_id == project.id]
    own = next((each for each in known if each.root == repository.root), None)
    if own and repository.leads_here(own.head):
        return own
    if own:  # its history was thrown away
        _forget(store, write, repository.root)
    begun = WorktreeView(
        root=repository.root,
        project_id=project.id,
        head=repository.head,
        branch=repository.branch,
    )
    like = next((each for each in known if each != own and repository.leads_here(each.head)), None)
    if like:
        begun = replace(begun, head=like.head, branch=like.branch, change=like.change)
    write(lambda writer: _begin(writer, begun, like.id if like else 0))
    with store.read() as reader:
        return next(each for each in reader.worktrees() if each.root == repository.root)


def _begin(writer: Writer, worktree: WorktreeView, like: int) -> None:
    writer.put_worktree(worktree, like=like)


def _forget(store: Store, write: Write, root: str) -> None:
    with store.read() as reader:
        gone = [each.id for each in reader.worktrees() if each.root == root]
    for worktree in gone:
        write(lambda writer, worktree=worktree: writer.drop_worktree(worktree))  # type: ignore[misc]  # a default binds it
