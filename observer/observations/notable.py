"""Decide which observations are kept as items, and which only feed the states and summaries.

An item is something that somebody may search for later: what failed, what tests counted, what was
installed, reset or printed. A check that found nothing, a copied file, or a commit that a hook
reports as well is only in the session's state. What a person typed into a shell is always kept:
there the command line itself is what is searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from observer.core.events import Command, FileWrite, ToolUse
from observer.core.model import Item, Recorded
from observer.core.text import word_set
from observer.core.value import Value
from observer.observations import file_text, git_commands, session_commits, todos
from observer.observations.analysis import analysis_of
from observer.observations.fix_text import ALTERNATIVE, REPAIR, VAGUE
from observer.observations.planning import is_scratch
from observer.observations.session_state import CommandState, SessionState
from observer.outcomes import same_check
from observer.outcomes.result import CommandResult
from observer.shell.check_tools import checker_of
from observer.shell.command_line import (
    SimpleCommand,
    inline_script,
    leading_commands,
    simple_commands,
)
from observer.shell.fixers import fix_kind
from observer.shell.runners import program_name

_PLAIN = word_set("rm rmdir mv cp mkdir touch ln chmod chown kill pkill killall open sync")
"""Programs that move files and processes about."""
_TESTING = "testing"
"""Concept of commands that run tests."""
_GIT_PLAIN = word_set("add stage push fetch pull config mv")
_CARRYING = word_set("switch branch stash unstash")
_TAGS = word_set("--tags --follow-tags")
_ROUTINE_REMEDIES = word_set("fixer service")
_SLIPS = (
    "unknown skill", "no such tool", "unknown tool", "tool not found", "sibling tool call",
    "<tool_use_error>", "inputvalidationerror", "cancelled:",
)  # fmt: skip
"""Beginnings of the answer to an invalid tool call."""
_SLIP_CHARS = 200
_LOADERS = word_set("ToolSearch tool_search")
"""Tools by which a client loads the definitions of others."""
_LOOKS = re.compile(r"(?i)(?:fs_|notebook)?(?:read|glob|grep|ls|list|view|find|search)(?:_\w+)?\Z")
"""Tools that look something up."""


class AlreadySaid(Value):
    """What other items say of a command.

    `is_fix` if it could not run, and a fix says what works instead; `is_switch` if a hook of git
    reported the branch that it switches to.
    """

    is_fix: bool = False
    is_switch: bool = False


def is_notable(
    made: Item,
    recorded: Recorded,
    known: SessionState,
    said: AlreadySaid = AlreadySaid(),  # noqa: B008 - it is frozen
) -> bool:
    """Return False for an observation that nobody would search for.

    Args:
        made: the observation.
        recorded: its event, completed.
        known: the session's state after that event.
        said: what other items say of it.
    """
    match recorded.event.body:
        case ToolUse() as use:
            return _is_tool_notable(made, use)
        case FileWrite() as write:
            return bool(write.error) or _is_edit_notable(made)
        case Command() as command if made.type == "command":
            return _is_run_notable(made, recorded, command, known, said)
    return True


def is_covered_by_fix(run: Item, fixes: Iterable[Item]) -> bool:
    """Return True if a run is the pass of a fix, which says how it went."""
    return run.type == "command" and any(
        fix.type == "fix"
        and fix.category != ALTERNATIVE
        and any(link.kind == "evidence" and link.target == run.id for link in fix.links)
        for fix in fixes
    )


def is_superseded(failure: Item, fix: Item) -> bool:
    """Return True if a failure's observation says nothing that its fix does not say better.

    What a formatter repaired, and a bare count of errors, matter only while they are red.
    """
    if failure.type != "command":
        return False
    if fix.category == REPAIR:
        return _TESTING not in failure.concepts
    named = [fact for fact in failure.facts if fact.startswith(("error: ", "failing: "))]
    return len(named) == 1 and VAGUE.match(named[0].removeprefix("error: ")) is not None


def _is_run_notable(
    made: Item, recorded: Recorded, body: Command, known: SessionState, said: AlreadySaid
) -> bool:
    result = analysis_of(recorded).result
    parts = leading_commands(simple_commands(body.command))
    if not result.was_run:
        return False
    if result.ok is False:
        return not (said.is_fix or _only_looks(parts, result))
    if recorded.event.author == "person":
        return True
    if said.is_switch:
        parts = [part for part in parts if not _moves_work(part)]
    if any(map(_reverts, parts)):
        return True
    is_again = made.folded == 1 and _ran(recorded, body, known).is_again
    return not is_again and _is_news(parts, body, result, known)


def _ran(recorded: Recorded, body: Command, known: SessionState) -> CommandState:
    """Return how the command ended, according to the session's state."""
    name = same_check.located_head(body.command, root=recorded.root, cwd=recorded.event.cwd)
    return known.commands.get(name, CommandState())


def _is_edit_notable(made: Item) -> bool:
    """Return False for a client's plan file, and for changes of layout."""
    return not (
        made.title.endswith(file_text.ONLY_LAYOUT) or any(map(is_scratch, made.files_modified))
    )


def _is_tool_notable(made: Item, use: ToolUse) -> bool:
    """Return False for to-do lists, whose open points are in the summary, and what is no work."""
    if made.title.startswith(todos.TITLED) or use.tool in _LOADERS:
        return False
    is_slip = use.output[:_SLIP_CHARS].lower().startswith(_SLIPS) or _LOOKS.match(use.tool)
    return not (use.failed and is_slip)


def _is_news(
    parts: Sequence[SimpleCommand], body: Command, result: CommandResult, known: SessionState
) -> bool:
    """Return True if a command that did not fail reports something new."""
    if result.passed is not None:
        return True
    script = inline_script(body.command)
    if script:
        return not script.only_looks
    left = [part for part in parts if not git_commands.commits(part) or not _is_known(body, known)]
    judges = [checker_of(part.words) for part in left]
    if any(judge and judge.kind in ("test", "all") for judge in judges):
        return result.ok is True
    if all(judge or _is_plain(part) for part, judge in zip(left, judges, strict=True)):
        return False
    is_change = any(fix_kind(part) or git_commands.words_of(part) for part in left)
    return is_change or bool(result.said or body.output.strip())


def _is_plain(part: SimpleCommand) -> bool:
    words = git_commands.words_of(part)
    if words:
        return words[0] in _GIT_PLAIN and _TAGS.isdisjoint(words)
    return (
        part.looks or program_name(part.words[0]) in _PLAIN or fix_kind(part) in _ROUTINE_REMEDIES
    )


def _only_looks(parts: Sequence[SimpleCommand], result: CommandResult) -> bool:
    return not result.is_check and all(part.looks for part in parts)


def _reverts(part: SimpleCommand) -> bool:
    return bool(git_commands.words_of(part)) and git_commands.parse(part) is not None


def _moves_work(part: SimpleCommand) -> bool:
    """Return True if a command switches branches, or carries work over by git's stash."""
    operation = git_commands.parse(part)
    is_moved = operation is not None and operation.kind in _CARRYING
    return is_moved or git_commands.switches_back(part)


def _is_known(body: Command, known: SessionState) -> bool:
    """Return True if a hook has reported the commit that a command made."""
    return any(
        session_commits.hash_of(saying)[:7] in body.output
        or session_commits.subject_of(saying) in body.command
        for saying in (*known.commits, *known.later_commits)
    )
