"""Keeping the memory up with every work tree of a project: the door to this package."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, MutableMapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from observer.model import Project, Standing
from observer.store.interface import Store, Writer
from observer.store.truth import ANYWHERE, StandingsById, Vantage
from observer.truth.following import Following, Write
from observer.truth.repository import Repository
from observer.truth.saying import statements
from observer.truth.succession import Said, standings


def keep_up(
    store: Store, write: Write, project: Project, *, pause: Callable[[], None] = lambda: None
) -> bool:
    """Follow every work tree of a project to where its HEAD is, and take up what is new.

    Returns whether anything is said otherwise than before.

    A folder that is gone, or no repository, is forgotten: nothing is said of items from there.

    Args:
        store: what is read.
        write: runs changes of the store, each in a transaction of its own.
        project: whose work trees.
        pause: called between commits; may wait, or raise to stop.

    Raises:
        ObserverError: a repository, or the store, cannot be read or written.
    """
    news = False
    for root in project.roots:
        if not Path(root).is_dir():
            _forget(store, write, root)
            continue
        with Repository(root) as repository:
            if repository.head:
                vantage = _vantage(store, write, project, repository)
                news |= Following(store, write, repository, vantage, pause=pause).follow()
            else:
                _forget(store, write, root)
    return news


def keep_order(
    store: Store, write: Write, project: Project, known: MutableMapping[int, int] | None = None
) -> None:
    """Say of a project's notes, proposals and prompts which took the place of which.

    Args:
        store: what is read.
        write: runs changes of the store.
        project: whose statements.
        known: by project, what was compared last: the same is not compared again.

    Raises:
        StoreUnavailable: the store cannot be read or written.
    """
    with store.read() as reader:
        said = statements(reader, project.id)
        before = reader.standings(sorted({item for one in said for item in one.items}))
        vectors = reader.vectors_of([one.item.id for one in said])
    digest = _digest(said, before, vectors)
    if known is not None and known.get(project.id) == digest:
        return
    told = standings(said, vectors)
    news = {item: new for item, new in told.items() if new != _of_items(before.get(item, ()))}
    if news:
        write(lambda writer: writer.put_standings(ANYWHERE, news))
    elif known is not None:
        known[project.id] = digest


def _digest(said: Sequence[Said], before: StandingsById, vectors: Collection[int]) -> int:
    stated = ((one.item.id, one.item.updated_ms, one.text) for one in said)
    links = (link for one in said for link in one.item.links)
    return hash((*stated, *links, *before.items(), *vectors))


def _of_items(standing: Iterable[Standing]) -> tuple[Standing, ...]:
    """Return what of an item's standing follows from other items."""
    return tuple(each for each in standing if each.target)


def _vantage(store: Store, write: Write, project: Project, repository: Repository) -> Vantage:
    """Return from where a work tree is followed: as it was left, or like one beside it, or anew."""
    with store.read() as reader:
        known = [each for each in reader.vantages() if each.project_id == project.id]
    own = next((each for each in known if each.root == repository.root), None)
    if own and repository.leads_here(own.head):
        return own
    if own:  # its history was thrown away
        _forget(store, write, repository.root)
    begun = Vantage(
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
        return next(each for each in reader.vantages() if each.root == repository.root)


def _begin(writer: Writer, vantage: Vantage, like: int) -> None:
    writer.put_vantage(vantage, like=like)


def _forget(store: Store, write: Write, root: str) -> None:
    with store.read() as reader:
        gone = [each.id for each in reader.vantages() if each.root == root]
    for vantage in gone:
        write(lambda writer, vantage=vantage: writer.drop_vantage(vantage))  # type: ignore[misc]  # a default binds it
