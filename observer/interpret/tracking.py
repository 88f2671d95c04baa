"""Follows the open failures of a project from event to event.

Part of interpretation (step 6), beside the arcs: a left fold over the events of all sessions.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from observer.events import Checkout, Command, Commit, FileWrite
from observer.interpret import failures, gitline, story
from observer.interpret.check_runs import runs_of
from observer.interpret.failures import Outcome
from observer.interpret.gist import gist_of
from observer.interpret.story import Story
from observer.interpret.wording import one_line, relative
from observer.model import Item, Recorded

TASKS = 40
_DELETING = frozenset({"-d", "-D", "--delete"})
_PULLED = 50
_HOOKS = ("|git commit",)


def followed(known: Story, recorded: Recorded, made: Item) -> Story:
    """Return the story of a project with an event, completed, and the observation of it."""
    known = _shown(known, recorded)
    body = recorded.event.body
    if isinstance(body, Command):
        return _command(known, recorded, body, made)
    if isinstance(body, FileWrite) and not body.error:
        path = relative(body.path, recorded.root, recorded.event.cwd)
        return _changed(known, recorded, [path], is_gone=body.operation == "delete")
    if isinstance(body, Commit) and body.action == "import":
        return _changed(known, recorded, [file.path for file in body.files[:_PULLED]])
    if isinstance(body, Commit) and recorded.session_id is None:
        hooks = [one for key, checks in known.tasks.items() if key in _HOOKS for one in checks]
        left = failures.after_commit(known.failures, known.showing[recorded.root], hooks)
        return replace(known, failures=left)
    return known


def _shown(known: Story, recorded: Recorded) -> Story:
    """Note the branch of a work tree; a new one at the same commit takes failures along."""
    body, root = recorded.event.body, recorded.root
    branch = one_line(recorded.branch, 250)
    if isinstance(body, Checkout):
        branch = one_line(body.branch or body.new[:10], 250)
    before = known.showing.get(root)
    if before == branch:
        return known
    showing = {**{key: one for key, one in known.showing.items() if key != root}, root: branch}
    known = replace(known, showing=dict(list(showing.items())[-story.ROOTS :]))
    if before is None or not (isinstance(body, Checkout) and body.old and body.old == body.new):
        return known
    return replace(known, failures=failures.after_switch(known.failures, root, before, branch))


def _command(known: Story, recorded: Recorded, body: Command, made: Item) -> Story:
    known = _by_git(known, recorded, body)
    verdict, root = gist_of(recorded).verdict, recorded.root
    if story.is_aside(known, root, recorded.event.at_ms):
        return known
    runs = runs_of(body, verdict, root=root, cwd=recorded.event.cwd, tasks=known.tasks)
    if not (runs.passed or runs.failed or runs.learned):
        return known
    ended = Outcome(
        runs=runs,
        verdict=verdict,
        output=body.output,
        root=root,
        branch=known.showing.get(root, ""),
        at_ms=recorded.event.at_ms,
        item=made.id,
        session=recorded.session_id,
        client=recorded.event.client,
    )
    tasks = {**known.tasks, **runs.learned}
    return replace(
        known,
        failures=failures.after_run(known.failures, ended),
        tasks=dict(list(tasks.items())[-TASKS:]),
    )


def _by_git(known: Story, recorded: Recorded, body: Command) -> Story:
    """Drop failures of what git, or `rm`, has thrown away."""
    if not known.failures:
        return known
    verdict, root = gist_of(recorded).verdict, recorded.root
    is_ok = verdict.ok is not False
    left = known.failures
    for act, _ in gitline.acts_of(recorded, body, is_ok=is_ok):
        if act.deed == "clean":
            left = failures.after_removal(left, root, act.paths)
        is_given_up = act.deed == "drop" and story.is_aside(known, root, recorded.event.at_ms)
        if act.deed == "reset" or is_given_up:
            left = failures.without_work(left, root, known.showing.get(root, ""))
    if "branch" in body.command:
        left = failures.without_branches(left, _deleted(body, is_ok=is_ok))
    return replace(known, failures=left)


def _deleted(body: Command, *, is_ok: bool) -> set[str]:
    """Return the branches that a command line deleted."""
    lines = [gitline.words_of(part) for part in gitline.done(body, is_ok=is_ok)]
    return {
        word
        for words in lines
        if words[:1] == ["branch"] and not _DELETING.isdisjoint(words)
        for word in words[1:]
        if word[0] != "-"
    }


def _changed(
    known: Story, recorded: Recorded, paths: Iterable[str], *, is_gone: bool = False
) -> Story:
    left = known.failures
    for path in paths if left else ():
        left = failures.after_change(left, recorded.root, path, is_gone=is_gone)
    return replace(known, failures=left)
