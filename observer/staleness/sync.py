"""The entry points of staleness: synchronise worktrees with git, and compare statements.

`sync_worktree` follows every worktree of a project. `update_supersessions` compares what notes,
proposals and prompts of a project state: a newer statement on the same subject may stand in any of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from observer.core.filters import Filters
from observer.core.model import Item, ItemKind, Project, Validity, item_id
from observer.observations.decisions import is_decision, is_document, sentences
from observer.observations.drafts import (
    DECISION,
    FINDING,
    QUESTION,
)
from observer.observations.prompts import words_of
from observer.staleness.repository import RepositoryView
from observer.staleness.statements import read
from observer.staleness.supersession import TYPES, PlacedStatement, text_of, validity
from observer.staleness.worktree_sync import WorktreeSync, Write
from observer.store.anchors import ANYWHERE, ValidityById, WorktreeView
from observer.store.interface import Store, StoreReader, Writer

MOST_NOTES = 500
MOST_PROPOSALS = 500
MOST_PROMPTS = 1_000
"""Most of each kind that are compared in a project, newest first."""
SENTENCES = 3
"""A prompt of more sentences is about more than what one of them says."""
MOST_SENTENCES = 20
LEAST_CHARS, MOST_CHARS = 15, 300


def statements(reader: StoreReader, project_id: int) -> list[PlacedStatement]:
    """Return the statements of a project, each with the items whose validity it decides."""
    notes = _recent(reader, project_id, "note", TYPES, MOST_NOTES)
    proposals = _recent(reader, project_id, "observation", (DECISION,), MOST_PROPOSALS)
    prompts = _recent(reader, project_id, "observation", ("prompt",), MOST_PROMPTS)
    summaries = _titles(reader, prompts)
    said = [PlacedStatement(item=note, text=text_of(note), items=(note.id,)) for note in notes]
    # Below an answer stands what was not chosen.
    said += (
        PlacedStatement(item=each, text=text_of(each).partition("\n")[0], items=(each.id,))
        for each in proposals
    )
    for finding in _recent(reader, project_id, "observation", (FINDING,), MOST_PROPOSALS):
        decided = filter(is_decision, sentences(finding.narrative))
        said += (PlacedStatement(item=finding, text=one, items=(finding.id,)) for one in decided)
    for prompt in prompts:
        opened = item_id(prompt.session_id or 0, "summary")
        beside = (opened,) if summaries.get(opened) == prompt.title else ()
        items = (prompt.id, *beside)
        said += (
            PlacedStatement(
                item=prompt,
                text=one,
                items=items if is_short else (prompt.id,),
                is_part=not is_short,
            )
            for one, is_short in _stated(prompt)
        )
    return said


def _recent(
    reader: StoreReader, project_id: int, kind: ItemKind, types: tuple[str, ...], limit: int
) -> Sequence[Item]:
    wanted = Filters(project_id=project_id, kinds=(kind,), types=types)
    return reader.recent(wanted, limit=limit)


def _titles(reader: StoreReader, prompts: Sequence[Item]) -> dict[int, str]:
    """Return the titles of the summaries of the sessions that prompts are of."""
    ids = {item_id(prompt.session_id, "summary") for prompt in prompts if prompt.session_id}
    return {item.id: item.title for item in reader.items(sorted(ids))}


def _stated(prompt: Item) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a prompt that may state something.

    A long prompt is about more than one of them says: there only what decides or changes something
    counts, and nothing is said of the prompt for being out of date.
    """
    if prompt.category == QUESTION or is_document(prompt.narrative):
        return
    found = sentences(words_of(prompt.narrative))[:MOST_SENTENCES]
    is_short = len(found) <= SENTENCES
    for one in found:
        is_whole = LEAST_CHARS <= len(one) <= MOST_CHARS and not one.endswith(("?", ":"))
        if is_whole and (is_short or is_decision(one) or read(one).is_change):
            yield one, is_short


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


def update_supersessions(
    store: Store, write: Write, project: Project, known: MutableMapping[int, int] | None = None
) -> None:
    """Store which notes, proposals and prompts of a project supersede or amend which.

    Args:
        store: what is read.
        write: runs changes of the store.
        project: whose statements.
        known: digests of what was compared last, by project id; the same is not compared again.

    Raises:
        StoreUnavailable: the store cannot be read or written.
    """
    with store.read() as reader:
        said = statements(reader, project.id)
        before = reader.validity(sorted({item for one in said for item in one.items}))
        vectors = reader.vectors_of([one.item.id for one in said])
    digest = _digest(said, before, vectors)
    if known is not None and known.get(project.id) == digest:
        return
    found = validity(said, vectors)
    news = {item: new for item, new in found.items() if new != _of_items(before.get(item, ()))}
    if news:
        write(lambda writer: writer.put_validity(ANYWHERE, news))
    elif known is not None:
        known[project.id] = digest


def _digest(said: Sequence[PlacedStatement], before: ValidityById, vectors: Collection[int]) -> int:
    stated = ((one.item.id, one.item.updated_ms, one.text) for one in said)
    links = (link for one in said for link in one.item.links)
    return hash((*stated, *links, *before.items(), *vectors))


def _of_items(validity: Iterable[Validity]) -> tuple[Validity, ...]:
    """Return the part of an item's validity that follows from other items."""
    return tuple(each for each in validity if each.target)


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
