"""What a project's tasks and git hooks check, learned from what they print.

Part of interpretation (step 6). `make test` that prints `go test ./...` is that check; where a task
prints nothing, the checkers that its output names are what it ran, with unknown scope.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from observer.core.text import one_line, relative, uncoloured, word_set
from observer.outcomes.result import CommandResult
from observer.shell import command_line
from observer.shell.check import CheckIdentity, check_of
from observer.shell.check_tables import (
    ALWAYS,
    CHECKER_BY_COUNTS,
    CHECKER_BY_OUTPUT,
    KIND_OF_CHECKER,
    PROGRAMS,
    Kind,
)
from observer.shell.command_line import SimpleCommand
from observer.shell.fixers import rewrites
from observer.shell.runners import program_name
from observer.shell.words import unquoted

Tasks = Mapping[str, tuple[CheckIdentity, ...]]
"""What tasks turned out to check, by `task_key`."""
_CHARS = 12_000
_LINE_CHARS = 300
_INNER = 12
_PRINTED = re.compile(
    r"^(?:[\w./@-]+(?::[\w.-]+)*:? )?(?:\[[\w:./-]+\] )?"
    r"(?:[$>] |task: \[[\w:.-]+\] |nox > |[\w.-]+: commands\[\d+\]> |Poe => |cmd \[\d+\] \| )"
    r"(?:\[[^\]]*\] )?(\S.*)$"
)
_VERSION = re.compile(r"\bv?\d+\.\d+")
"""In a line without a sign before it: programs print their name and version first."""
_HOOKED = word_set("commit push")
_UNHOOKED = word_set("--no-verify -n --dry-run --abort")
_UNKNOWN = "/"
"""An unknown folder: outside of every project."""
BELOW = " (in "
_ASIDE = word_set("git gh cd export source . set unset")
_EXPANDED = frozenset("$~`")
_SAID = re.compile(r"(?:^|; )([\w-]+): ")


class CheckResults(NamedTuple):
    """What a command line proves.

    The pass of any of `failed` clears the failure: of several, one failed and it is unknown which,
    or a task failed in what it runs. `head` is the command that failed, as it works here;
    `learned` is what tasks turned out to run, `unread` the checks that ran to an unknown end.
    """

    passed: tuple[CheckIdentity, ...] = ()
    failed: tuple[CheckIdentity, ...] = ()
    head: str = ""
    learned: Tasks = MappingProxyType({})
    unread: tuple[CheckIdentity, ...] = ()


class TaskCheck(NamedTuple):
    """A check in a command line, its place there, and what its task is known to run."""

    place: int
    check: CheckIdentity
    inner: tuple[CheckIdentity, ...] = ()


def task_key(check: CheckIdentity) -> str:
    """Return the key of a task: its folder, name and filters, and whether it fixes files."""
    name = " ".join((check.base, *check.filters))
    return f"{check.folder}|{name}{' (fixer)' if check.is_fixer else ''}"


def is_hook(check: CheckIdentity) -> bool:
    """Return True if a check is what git's hooks run."""
    return check.is_task and check.base.startswith("git ")


def checks_in(parts: Sequence[SimpleCommand], root: str, cwd: str) -> Iterator[TaskCheck]:
    """Yield the checks of a command line that starts in a folder."""
    folder = _folder(root, cwd)
    for place, part in enumerate(parts):
        if part.words[0] in {"cd", "pushd"}:
            folder = _entered(folder, part.words[1:], root)
        elif check := check_of(part, folder, root) or _hook(part):
            yield TaskCheck(place, check)


@lru_cache(maxsize=1024)
def checks_of(command: str, root: str, cwd: str) -> tuple[TaskCheck, ...]:
    """Return the checks of a command line as `checks_in` yields them; several readers ask."""
    return tuple(checks_in(command_line.simple_commands(command), root, cwd))


def check_ran(command: str, tool: str, *, root: str, cwd: str) -> CheckIdentity | None:
    """Return what a command line checks, as the part of it that its result, of `tool`, is about.

    Of programs that are not known as checkers, only the same words are the same check. None if it
    only looks, or is about git's own affairs.
    """
    parts = command_line.simple_commands(command)
    able = [
        part
        for part in parts
        if part.sign != "|" and not part.looks and program_name(part.words[0]) not in _ASIDE
    ]
    if not able:
        return None
    part = ([one for one in able if program_name(one.words[0]) == tool] or able)[-1]
    program, folder = program_name(part.words[0]), folder_of(parts, root, cwd)
    return check_of(part, folder, root) or CheckIdentity(
        kind="",
        base=one_line(" ".join([program, *part.words[1:]]), 300),
        tool=program,
        folder=folder,
        paths=(folder,),
        is_fixer=rewrites(part),
    )


def folder_of(parts: Sequence[SimpleCommand], root: str, cwd: str) -> str:
    """Return where a command line ends up, relative to the project, empty for its root."""
    folder = _folder(root, cwd)
    for part in parts:
        if part.words[0] == "cd":
            folder = _entered(folder, part.words[1:], root)
    return folder


def located_head(command: str, *, root: str, cwd: str) -> str:
    """Return the head of a command line and, if that is below the root, where it runs.

    `pytest` of one package passing says nothing about `pytest` of another.
    """
    head = command_line.parse_command_line(command).head
    folder = folder_of(command_line.simple_commands(command), root, cwd)
    is_below = bool(folder) and not folder.startswith("/") and _EXPANDED.isdisjoint(folder)
    return f"{head}{BELOW}{folder})" if root and is_below else head


def reported_checkers(result: CommandResult) -> dict[str, Kind]:
    """Return the checkers that an output names, each with its kind."""
    tools = [result.tool, *_SAID.findall(result.said)]
    return {base: kind for tool in tools for kind, base in _judges(tool, result)}


def deciding_checkers(result: CommandResult) -> dict[str, Kind]:
    """Return the checker that a result comes from, with its kind; empty if unknown."""
    return {base: kind for kind, base in _judges(result.tool, result)}


def inferred_check(task: CheckIdentity, kind: Kind, base: str) -> CheckIdentity:
    """Return a check that a task ran, inferred from its output: its scope is that of the task."""
    return CheckIdentity(
        kind=kind,
        base=base,
        tool=task.tool,
        folder=task.folder,
        paths=task.paths,
        filters=task.filters,
        task=task.base.partition(" ")[2] or task.base,
        is_fixer=task.is_fixer,
    )


def learn_tasks(
    ran: Sequence[TaskCheck], output: str, root: str, *, reported: Mapping[str, Kind], known: Tasks
) -> dict[str, tuple[CheckIdentity, ...]]:
    """Return what a task turned out to run; of several tasks it is unknown which ran what.

    Of hooks all that was ever seen counts, since each run of them stops at the first failure.
    """
    tasks = [one.check for one in ran if one.check.is_task]
    if len(tasks) != 1:
        return {}
    (task,) = tasks
    own = {one.check.base for one in ran}
    found = [one for one in _printed(output, task.folder, root) if one.base not in own]
    if is_hook(task):
        signed = (inferred_check(task, kind, base) for base, kind in reported.items())
        found = [*known.get(task_key(task), ()), *found, *signed]
    kept = tuple(dict.fromkeys(found))[:_INNER]
    return {task_key(task): kept} if kept and kept != known.get(task_key(task)) else {}


def _judges(tool: str, result: CommandResult) -> list[tuple[Kind, str]]:
    if tool in CHECKER_BY_COUNTS:
        return [CHECKER_BY_COUNTS[tool][result.passed is None]]
    if tool in CHECKER_BY_OUTPUT:
        return [CHECKER_BY_OUTPUT[tool]]
    if tool in KIND_OF_CHECKER:
        return [(KIND_OF_CHECKER[tool], tool)]
    return [(kind, tool) for kind, names in ALWAYS.items() if tool in names.split()]


def _hook(part: SimpleCommand) -> CheckIdentity | None:
    words = part.words[1:] if program_name(part.words[0]) == "git" else []
    verb = next((word for word in words if word in _HOOKED), "")
    if not verb or not _UNHOOKED.isdisjoint(words):
        return None
    return CheckIdentity(kind="all", base=f"git {verb}", tool="git", is_task=True)


def _folder(root: str, cwd: str) -> str:
    shown = relative(cwd, root) if cwd else ""
    return "" if shown == root.rstrip("/") else shown


def _entered(folder: str, words: Sequence[str], root: str) -> str:
    target = unquoted(words[0]) if words else _UNKNOWN
    if "rev-parse --show-toplevel" in target:
        return ""
    if target == "-" or any(sign in target for sign in "$`~"):
        return _UNKNOWN
    path = posixpath.normpath(posixpath.join(folder, target))
    if path.startswith("/"):
        return _folder(root, path)
    if path.startswith(".."):
        return _UNKNOWN
    return "" if path == "." else path


def _printed(output: str, folder: str, root: str) -> list[CheckIdentity]:
    """Return the checks of the commands that a task printed before it ran them."""
    lines = (line.strip() for line in uncoloured(output[:_CHARS]).split("\n"))
    commands = (_command(line) for line in lines if len(line) < _LINE_CHARS)
    found = (checks_of(line, root, f"{root}/{folder}") for line in commands if line)
    return [one.check for ran in found for one in ran]


def _command(line: str) -> str:
    if found := _PRINTED.match(line):
        return found.group(1)
    is_bare = line.partition(" ")[0] in PROGRAMS and " " in line and not _VERSION.search(line)
    return line if is_bare else ""
