"""The arcs of a project's story: what mended a failure, what was tried in vain, what was undone.

Part of interpretation (step 6): a left fold over the events of a project, beside the fold of each
session, whose observations it links. Rules, as a careful developer would decide:

- A fix is a failure, then changes, then a pass of the same check (`invocation.answers`) on the same
  branch. A pass without a change since the last failure is luck and no fix. Of the changes those
  count that the failure is about (`causes`); taking back what broke it is one.
- A command that could not run, and works in another form, is a fix by itself (`alternatives`).
- A change is told to have fixed a program once: a wider run that passes later adds nothing.
- An attempt is a change that a failing run followed. It is rejected when it is taken back, by an
  edit, by git, or by a commit that reverts it, while the check still fails. A change that nobody
  tried is only undone.
- A stash sets work aside: what passes or fails meanwhile says nothing about it.
- A new branch at the same commit takes open failures along; another branch has its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from observer.events import AnyBody, Checkout, Command, Commit, FileWrite, Rewrite
from observer.interpret import checks, story, tracking, undoing
from observer.interpret.classify import where_of
from observer.interpret.failures import OpenFailure
from observer.interpret.gist import gist_of
from observer.interpret.story import Committed, Edited, Story
from observer.interpret.undoing import Undo
from observer.interpret.wording import distinct, one_line, relative
from observer.model import Item, Link, Recorded

Items = tuple[Item, ...]
Step = tuple[Story, Items]

_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})")
_PAIRS = 40
_PATHS = 20
_SYMBOLS = 6


class Arcs:
    """One project's arcs, for the length of a batch; `data` is the story as it was stored."""

    def __init__(self, data: bytes) -> None:
        self._story = story.decode(data)
        self._stored = self._story

    def add(self, recorded: Recorded, made: Items) -> Items:
        """Take an event, completed, and the observations that tell of it.

        Returns what to insert or replace beside them: fixes, rejected attempts, and those
        observations again that have links now.
        """
        step = _STEPS.get(type(recorded.event.body))
        if step is None or not made:
            return ()
        known = _seen(self._story, recorded)
        known = tracking.followed(known, recorded, made[0])
        after, items = step(known, recorded, recorded.event.body, made[0])
        self._story, items = _still_linked(after, made[0], items)
        return items

    @property
    def failures(self) -> tuple[OpenFailure, ...]:
        """The checks of the project that are red."""
        return self._story.failures

    def is_known(self, recorded: Recorded) -> bool:
        """Return True if a command could not run, as one of which it is told what works instead."""
        verdict = gist_of(recorded).verdict
        return verdict.ok is False and any(
            one.reason and one.error == verdict.first_error for one in self._story.alternatives
        )

    def story(self) -> bytes | None:
        """Return the story with everything added so far; None if it is as it was stored."""
        return None if self._story is self._stored else story.encode(self._story)


def _seen(known: Story, recorded: Recorded) -> Story:
    """Note the branch of a work tree that is met for the first time."""
    root = recorded.root
    if root in known.branches:
        return known
    return story.moved(known, root, one_line(recorded.branch, 250), "", is_same=True)


def _still_linked(known: Story, made: Item, items: Items) -> Step:
    """Keep the links of an observation that grows: the fold of its session knows none."""
    links = known.linked.get(made.id, ())
    told = {item.id: item for item in items}
    if made.id in told:
        made = told[made.id]
        links = tuple(dict.fromkeys((*links, *made.links)))
        known = story.linked(known, made.id, links)
    if links:
        told[made.id] = replace(made, links=links)
    return known, tuple(told.values())


def _write(known: Story, recorded: Recorded, body: FileWrite, made: Item) -> Step:
    if body.error:
        return known, ()
    where, gist = where_of(recorded), gist_of(recorded)
    path = relative(body.path, where.root, where.cwd)
    is_gone = body.operation == "delete"
    taken = undoing.by_write(known, recorded.root, path, gist.marks.edits, is_gone=is_gone)
    if taken:
        how = f"{path} {'deleted' if is_gone else 'edited back'}"
        return undoing.undone(known, recorded, taken, made, Undo(how=how))
    change = gist.change
    is_one = change.added == change.removed == 1 and bool(change.before and change.after)
    became = f"`{change.before}` became `{change.after}`" if is_one else ""
    edit = Edited(
        seq=recorded.seq,
        item=made.id,
        ground=story.ground_of(known, recorded.root),
        session=recorded.session_id,
        sort="probe" if gist.marks.is_probe else "edit",
        path=path,
        said=became,
        symbols=distinct(change.symbols, _SYMBOLS),
        marks=gist.marks.edits,
        is_new=body.operation == "create",
    )
    return story.edited(known, edit), ()


def _commit(known: Story, recorded: Recorded, body: Commit, made: Item) -> Step:
    reverted = distinct(_REVERTS.findall(body.message), _PAIRS)
    links = [Link(kind="reverts", title=title) for title in reverted]
    if body.action == "import":
        return known, (replace(made, links=tuple(links)),) if links else ()
    paths = dict.fromkeys(file.path for file in body.files)
    links += (Link(kind="replaces", title=title) for title in _replaced(known, paths))
    commit = Committed(
        hash=body.hash[:64], parent="".join(body.parents[:1])[:64], paths=distinct(paths, _PATHS)
    )
    after = story.gone(known, undoing.brought_back(known, reverted), "")
    after, items = undoing.undone(
        after,
        recorded,
        undoing.by_revert(known, reverted),
        made,
        Undo(how=f"reverted in {commit.hash[:10]}", links=tuple(links), gone=commit.hash),
    )
    return story.committed(after, recorded.root, commit, paths), items


def _replaced(known: Story, paths: Iterable[str]) -> list[str]:
    """Return the dissolved commits whose files a new commit takes in."""
    taken = set(paths)
    dissolved = [commit for commit in known.commits if commit.hash in known.loose]
    return [commit.hash for commit in dissolved if taken.intersection(commit.paths)]


def _rewrite(known: Story, recorded: Recorded, body: Rewrite, made: Item) -> Step:
    pairs = dict(body.pairs[:_PAIRS])
    commits = [
        replace(one, hash=pairs.get(one.hash, one.hash), parent=pairs.get(one.parent, one.parent))
        for one in known.commits
    ]
    after = story.each_edit(
        known, lambda one: replace(one, commit=pairs.get(one.commit, one.commit))
    )
    head = known.heads.get(recorded.root, "")
    after = replace(after, commits=tuple({one.hash: one for one in commits}.values()))
    if head in pairs:
        after = story.at_head(after, recorded.root, pairs[head])
    links = [Link(kind="replaces", title=old) for old in pairs]
    links += [Link(kind="makes", title=new) for new in dict.fromkeys(pairs.values())]
    return after, (replace(made, links=tuple(links)),)


def _checkout(known: Story, recorded: Recorded, body: Checkout, _made: Item) -> Step:
    branch = one_line(body.branch or body.new[:10], 250)
    after = story.moved(
        known, recorded.root, branch, body.new[:64], is_same=bool(body.old) and body.old == body.new
    )
    return replace(after, is_told=True), ()


def _command(known: Story, recorded: Recorded, body: Command, made: Item) -> Step:
    verdict = gist_of(recorded).verdict
    after, undone = undoing.by_command(known, recorded, body, made, is_ok=verdict.ok is not False)
    after = replace(after, is_told=False) if after.is_told else after
    if story.is_aside(after, recorded.root, recorded.event.at_ms):
        return after, undone
    after, items = checks.checked(after, recorded, body, verdict, made)
    return after, (*undone, *items)


# Each step takes the body of the type it stands under, which a dict's type cannot say.
_STEPS: dict[type[AnyBody], Callable[[Story, Recorded, Any, Item], Step]] = {
    FileWrite: _write,
    Command: _command,
    Commit: _commit,
    Rewrite: _rewrite,
    Checkout: _checkout,
}
