"""Keeping the store up with one work tree: where HEAD went, and what is new in the memory.

All reading of git and comparing of code happens outside of any transaction; what came of it is
written in short ones. Whatever dies in between is done again, with the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice

from msgspec.structs import replace

from observer.capture.repository.steps import Moved, Step
from observer.store.interface import Store, Writer
from observer.store.truth import Mooring, Vantage
from observer.truth.mooring import moored
from observer.truth.news import news
from observer.truth.repository import Repository
from observer.truth.verdict import is_pending_on, standings
from observer.truth.walk import NOBODYS, Walk, reverts

STEPS = 200
"""Commits followed between two transactions."""
ITEMS = 1_000
"""Items written in one transaction."""

Write = Callable[[Callable[[Writer], None]], None]
"""Runs changes of the store in a transaction of their own."""


class Following:
    """One work tree, seen from its vantage.

    Args:
        store: what is read.
        write: how it is changed.
        repository: the work tree.
        vantage: how far it was followed.
        pause: called between commits; may wait, or raise to stop.
    """

    def __init__(
        self,
        store: Store,
        write: Write,
        repository: Repository,
        vantage: Vantage,
        *,
        pause: Callable[[], None],
    ) -> None:
        self._store = store
        self._write = write
        self._git = repository
        self._vantage = vantage
        self._pause = pause

    def follow(self) -> bool:
        """Go where HEAD went, then take up what is new in the memory; tell whether there was any.

        Raises:
            ObserverError: the repository, or the store, cannot be read or written.
        """
        begun = self._vantage
        if begun.head != self._git.head:
            self._move()
        elif begun.branch != self._git.branch:
            self._arrive(self._unsettled())
        self._take_up()
        return self._vantage != begun

    def _move(self) -> None:
        old, new = self._vantage.head, self._git.head
        trunk = self._git.trunk(new, since=old)
        leap = self._git.leap(old, self._git.parent(trunk[-1]) if trunk else new)
        self._leave(leap, lost=self._git.contained(old, without=new))
        steps = self._git.steps(old, new)
        while chunk := list(islice(steps, STEPS)):
            self._go(chunk, set(trunk))
        self._arrive(self._unsettled())

    def _leave(self, leap: Sequence[Moved], *, lost: set[str]) -> None:
        """Go back to where the way to the new commit begins."""
        if not leap and not lost:
            return
        walk = self._walk(leap, lost)
        for moved in leap:
            walk.move(moved, NOBODYS)
        walk.leave(lost)
        self._keep(walk.changed(), self._vantage)

    def _go(self, chunk: Sequence[Step], trunk: set[str]) -> None:
        """Take some steps; those of side branches only land what was not committed yet."""
        commits = {step.commit for step in chunk}
        back = {commit for step in chunk for commit in reverts(step)}
        walk = self._walk([moved for step in chunk for moved in step.files], commits | back)
        for step in chunk:
            self._pause()
            walk.step(step, is_trunk=step.commit in trunk)
        walk.come(commits)
        behind = [step.commit for step in chunk if step.commit in trunk]
        head = behind[-1] if behind else self._vantage.head
        self._keep(walk.changed(), replace(self._vantage, head=head))

    def _walk(self, files: Iterable[Moved], commits: Iterable[str]) -> Walk:
        """Return a walk with the moorings that changes of these files, or commits, concern."""
        paths = {path for moved in files for path in moved[:2]}
        with self._store.read() as reader:
            known = reader.moored_to(self._vantage.id, sorted(paths))
            known += reader.based_on(self._vantage.id, sorted(commits))
        return Walk(self._git.texts, {mooring.item: mooring for mooring in known}.values())

    def _unsettled(self) -> Sequence[Mooring]:
        """Return the moorings of which another branch makes something else."""
        if self._vantage.branch == self._git.branch:
            return ()
        with self._store.read() as reader:
            return reader.unsettled(self._vantage.id)

    def _arrive(self, moorings: Sequence[Mooring]) -> None:
        there = replace(self._vantage, head=self._git.head, branch=self._git.branch)
        self._keep(self._carried(moorings), there)

    def _carried(self, moorings: Sequence[Mooring]) -> Sequence[Mooring]:
        """Take uncommitted work along to the branch that it was carried to."""
        here = self._git.branch
        if not any(is_pending_on(mooring, here) for mooring in moorings):
            return moorings
        shown = self._git.checked_out()
        away = [each for each in moorings if is_pending_on(each, here) and each.branch not in shown]
        paths = {anchor.path for mooring in away for anchor in mooring.anchors}
        changed = self._git.uncommitted(sorted(paths))
        carried = {
            mooring.item
            for mooring in away
            if any(anchor.path in changed for anchor in mooring.anchors)
        }
        return [replace(one, branch=here) if one.item in carried else one for one in moorings]

    def _take_up(self) -> None:
        """Moor the items that are new or changed, and cast off those that are gone."""
        while True:
            with self._store.read() as reader:
                told = news(reader, self._vantage)
            if told.change == self._vantage.change:
                return
            moorings = moored(self._store, self._git, self._vantage, told.fresh, pause=self._pause)
            loose = told.seen - {mooring.item for mooring in moorings}
            there = replace(self._vantage, change=told.change)
            self._keep(self._carried(moorings), there, loose=loose)

    def _keep(
        self, moorings: Sequence[Mooring], vantage: Vantage, *, loose: Iterable[int] = ()
    ) -> None:
        """Write what came of a part of the way; that it is done, at last."""
        last = max(0, len(moorings) - 1) // ITEMS * ITEMS
        for start in range(0, last, ITEMS):
            self._write(partial(_put, vantage, moorings[start : start + ITEMS]))

        def finish(writer: Writer) -> None:
            _put(vantage, moorings[last:], writer)
            writer.drop_moorings(vantage.id, loose)
            writer.put_standings(vantage.id, dict.fromkeys(loose, ()))
            writer.put_vantage(vantage)

        self._write(finish)
        self._vantage = vantage


def _put(vantage: Vantage, moorings: Sequence[Mooring], writer: Writer) -> None:
    writer.put_moorings(vantage.id, moorings)
    told = {mooring.item: standings(mooring, branch=vantage.branch) for mooring in moorings}
    writer.put_standings(vantage.id, told)
