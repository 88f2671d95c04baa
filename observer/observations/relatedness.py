"""Relate changes to failures: how likely a change is what fixed a failing check.

A change is a likely cause if the failure names its file, or if it is a formatter and the check a
linter. Prose is unrelated unless the failure names it.

`causes_of` selects the changes that a fix names: those since the last failing run, and earlier ones
that changed the failure. If some are likely causes, only these; else all changes of the sessions
that saw the failure. A check that passes in another session needs a likely cause.
"""

from __future__ import annotations

import re

from observer.code.languages import PROSE, language_of
from observer.core.model import Recorded
from observer.core.text import base_name, relative
from observer.observations.project_state import ProjectState, TrackedEdit, TrackedFailure
from observer.outcomes.check_runs import BELOW
from observer.shell.check_tools import checker_of
from observer.shell.command_line import simple_commands

UNRELATED, POSSIBLE, LIKELY = 0, 1, 2
"""How likely a change is to have fixed a failure."""

_PROSE_FILE = re.compile(
    r"(?i)\.(?:adoc|png|jpe?g|svg|gif|pdf|log)$|(?:^|/)(?:LICENSE|NOTICE|CHANGELOG|README)[^/]*$"
    r"|(?:^|/)(?!requirements|constraints|cmakelists)[^/]*\.txt$"
)
_STARTING = (frozenset({"install", "files"}), frozenset({"service"}))
"""Remedies that let a command start, where a program is missing and where a service is."""
_STYLE = ("lint", "format")
"""Kinds of checks that formatters and autofixes are made for."""
_TEST = re.compile(r"(?:^|[._-])(?:tests?|spec|e2e|it)(?=[._-]|$)|(?<=[a-z])(?:Tests?|Spec|IT)$")
_IN_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|testdata|fixtures|conftest\.py)(?:/|$)"
)


def strength(edit: TrackedEdit, failure: TrackedFailure) -> int:
    """Return `UNRELATED`, `POSSIBLE` or `LIKELY`: whether a change made a failing check pass."""
    if failure.unstarted:
        lets_start = (
            edit.kind == "command" and edit.remedy in _STARTING[failure.unstarted == "service"]
        )
        return LIKELY if lets_start and failure.unstarted != "stopped" else UNRELATED
    if edit.kind == "command":
        return _of_command(edit, failure)
    path = relative(edit.path, failure.worktree.root) if edit.path else ""
    if is_named(edit, failure) or (path and any(_is_at(name, path) for name in failure.files)):
        return LIKELY
    if edit.kind == "undo":
        return POSSIBLE
    is_prose = language_of(path) in PROSE or _PROSE_FILE.search(path)
    return UNRELATED if is_prose or path.startswith(("/", "~")) else POSSIBLE


def _of_command(edit: TrackedEdit, failure: TrackedFailure) -> int:
    if edit.remedy == "fixer":
        ran = simple_commands(failure.head.partition(BELOW)[0])
        kinds = {checker.kind for part in ran if (checker := checker_of(part.words))}
        return UNRELATED if kinds == {"test"} else POSSIBLE if kinds.isdisjoint(_STYLE) else LIKELY
    is_about = any(base_name(name) in edit.said for name in failure.files)
    return LIKELY if is_about and edit.remedy == "files" else POSSIBLE


def is_named(edit: TrackedEdit, failure: TrackedFailure) -> bool:
    """Return True if the failure or its command names the file of an edit."""
    name = base_name(edit.path)
    said = (failure.head, failure.error, failure.last_error, *failure.tests)
    return bool(name) and any(name in text for text in said)


def _is_at(name: str, path: str) -> bool:
    """Return True if a failing file is this one, or lies in this folder."""
    return name == path or name.startswith(f"{path}/") or path.endswith(f"/{name}")


def is_test(path: str) -> bool:
    """Return True if a file holds tests or their fixtures."""
    stem = base_name(path).rpartition(".")[0] or base_name(path)
    return bool(_TEST.search(stem) or _IN_TESTS.search(path))


def causes_of(
    known: ProjectState, failure: TrackedFailure, recorded: Recorded
) -> list[TrackedEdit]:
    """Return the changes that fixed a failure, oldest first; none if that is unknown.

    Args:
        known: the project's state.
        failure: the failure that a check has just resolved.
        recorded: the event of the pass.
    """
    changes = [edit for edit in known.edits if _can_count(edit, failure)]
    rated = [(edit, strength(edit, failure)) for edit in changes]
    since = [(edit, rate) for edit, rate in rated if edit.seq > failure.last_seq and rate]
    likely = [edit for edit, rate in since if rate == LIKELY]
    if likely:
        earlier = [edit for edit, rate in rated if edit.seq < failure.last_seq and rate == LIKELY]
        found = [edit for edit in earlier if edit.seq > failure.tried] + likely
    elif recorded.session_id in failure.sessions:
        found = [edit for edit, _ in since if edit.session in (None, recorded.session_id)]
    else:
        found = []
    return found


def _can_count(edit: TrackedEdit, failure: TrackedFailure) -> bool:
    return (
        failure.seq < edit.seq
        and not edit.reverted_by
        and edit.kind != "probe"
        and not (edit.has_failed and edit.remedy != "fixer")
        and not _is_retry(edit, failure)
        and edit.worktree == failure.worktree
        and failure.check.base not in edit.fixed
        and (edit.kind != "undo" or edit.since < failure.seq)
    )


def _is_retry(edit: TrackedEdit, failure: TrackedFailure) -> bool:
    """Return True if a command is the failed one run again, unless that is itself a fixer."""
    if edit.remedy == "fixer":
        return failure.check.is_fixer and failure.head.endswith(edit.said)
    return edit.kind == "command" and edit.said == failure.head
