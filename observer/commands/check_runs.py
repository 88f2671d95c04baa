"""Which checks a command line ran, and which of them its outcome proves green or red.

What tasks and git hooks of a project check is learned from what they print; where a task prints
nothing, the checkers that its output names are what it ran, with unknown scope.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from observer.commands import check_tools as table
from observer.commands import command_line
from observer.commands.check import CheckIdentity, check_of, rewrites
from observer.commands.command_line import SimpleCommand
from observer.commands.ending import ended, exit_code_of, reported, start_failure
from observer.commands.result import CommandResult
from observer.commands.runners import program_name, unquoted
from observer.core.events import Command
from observer.core.text import one_line, relative, uncoloured, word_set

Tasks = Mapping[str, tuple[CheckIdentity, ...]]
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
BELOW = " (in "
_OWN = word_set("git gh cd export source . set unset")
_EXPANDED = frozenset("$~`")
_SAID = re.compile(r"(?:^|; )([\w-]+): ")


class CheckResults(NamedTuple):
    """What a command line proves.

    The pass of any of `failed` clears the failure. `head` is the command that failed, as it works
    here; `learned` is what tasks turned out to run, `unread` the checks that ran to an unknown end.
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


@lru_cache(maxsize=1024)
def checks_of(command: str, root: str, cwd: str) -> tuple[TaskCheck, ...]:
    """Return the checks of a command line that starts in a folder; several readers ask."""
    folder, found = _folder(root, cwd), []
    for place, part in enumerate(command_line.simple_commands(command)):
        if part.words[0] in {"cd", "pushd"}:
            folder = _entered(folder, part.words[1:], root)
        elif check := check_of(part, folder, root):
            found.append(TaskCheck(place, check))
        elif program_name(part.words[0]) == "git" and _UNHOOKED.isdisjoint(part.words):
            for verb in [word for word in part.words[1:] if word in _HOOKED][:1]:
                hook = CheckIdentity(kind="all", base=f"git {verb}", tool="git", is_task=True)
                found.append(TaskCheck(place, hook))
    return tuple(found)


def check_ran(command: str, tool: str, *, root: str, cwd: str) -> CheckIdentity | None:
    """Return what a command line checks, as the part of it that its result, of `tool`, is about.

    Of unknown programs only the same words are the same check. None if it only looks, or is git's.
    """
    parts = command_line.simple_commands(command)
    able = [
        part
        for part in parts
        if part.sign != "|" and not part.looks and program_name(part.words[0]) not in _OWN
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
    """Return the head of a command line and, if that is below the root, where it runs."""
    head = command_line.parse_command_line(command).head
    folder = folder_of(command_line.simple_commands(command), root, cwd)
    is_below = bool(folder) and not folder.startswith("/") and _EXPANDED.isdisjoint(folder)
    return f"{head}{BELOW}{folder})" if root and is_below else head


def inferred_check(task: CheckIdentity, kind: table.Kind, base: str) -> CheckIdentity:
    """Return a check that a task ran, inferred from its output: its scope is that of the task."""
    name = task.base.partition(" ")[2] or task.base
    return replace(task, kind=kind, base=base, task=name, strict=(), is_given=False, is_task=False)


def learn_tasks(
    ran: Sequence[TaskCheck],
    output: str,
    root: str,
    *,
    reported: Mapping[str, table.Kind],
    known: Tasks,
) -> dict[str, tuple[CheckIdentity, ...]]:
    """Return what a task turned out to run, by the commands that it printed before it ran them.

    Of hooks all that was ever seen counts, since each run of them stops at the first failure.
    """
    tasks = [one.check for one in ran if one.check.is_task]
    if len(tasks) != 1:
        return {}
    (task,) = tasks
    own = {one.check.base for one in ran}
    found = []
    for line in map(str.strip, uncoloured(output[:_CHARS]).split("\n")):
        printed = _PRINTED.match(line) if len(line) < _LINE_CHARS else None
        is_bare = (
            " " in line and line.partition(" ")[0] in table.PROGRAMS and not _VERSION.search(line)
        )
        if printed or (is_bare and len(line) < _LINE_CHARS):
            shown = checks_of(printed[1] if printed else line, root, f"{root}/{task.folder}")
            found += [one.check for one in shown if one.check.base not in own]
    if is_hook(task):
        signed = (inferred_check(task, kind, base) for base, kind in reported.items())
        found = [*known.get(task_key(task), ()), *found, *signed]
    kept = tuple(dict.fromkeys(found))[:_INNER]
    return {task_key(task): kept} if kept and kept != known.get(task_key(task)) else {}


def _judges(tool: str, result: CommandResult) -> list[tuple[table.Kind, str]]:
    if tool in table.CHECKER_BY_COUNTS:
        return [table.CHECKER_BY_COUNTS[tool][result.passed is None]]
    if tool in table.CHECKER_BY_OUTPUT:
        return [table.CHECKER_BY_OUTPUT[tool]]
    return [(table.KIND_OF_CHECKER[tool], tool)] if tool in table.KIND_OF_CHECKER else []


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


_HEAD_CHARS = 120
_LAST_CHARS = 400
_SHORT_CHARS = 200
_DONE_BY_GIT = re.compile(r"^\[[^\]\n]{1,200} [0-9a-f]{7,40}\]| -> |^ok \W", re.MULTILINE)
_NOTHING = re.compile(
    r"file or directory not found|\bdeselected in |[Nn]o tests? (?:files? )?(?:found|were found)"
    r"|no test files|[Nn]o tests to run|[Nn]o tests executed"
)
_ENDED_FROM_OUTSIDE = frozenset({124, 126, 127, 130, 137, 143})
_ASIDE = word_set(
    "git gh cd export source . set unset pushd popd echo printf exit true sleep rm mkdir cp mv"
    " touch"
)
_SETTING_ASIDE = word_set("stash worktree bisect")


class _Line(NamedTuple):
    """A command line that ended: its commands, its checks, and the checkers in its output."""

    body: Command
    result: CommandResult
    parts: Sequence[SimpleCommand]
    ran: Sequence[TaskCheck]
    reported: Mapping[str, table.Kind]


def check_results_of(
    body: Command, result: CommandResult, *, root: str, cwd: str, tasks: Tasks
) -> CheckResults:
    """Return which checks a command that ended proves green or red; `tasks` are those known."""
    parts = command_line.simple_commands(body.command)
    if not root or not result.was_run or sets_work_aside(parts):
        return CheckResults()
    ran = checks_of(body.command, root, cwd)
    if result.ok is None or result.is_cut_off:
        return CheckResults(unread=tuple(one.check for one in ran))
    tools = [result.tool, *_SAID.findall(result.said)]
    reported = {base: kind for tool in tools for kind, base in _judges(tool, result)}
    learned = learn_tasks(ran, body.output, root, reported=reported, known=tasks)
    known = {**tasks, **learned}
    inner = [one._replace(inner=known.get(task_key(one.check), ())) for one in ran]
    line = _Line(body, result, parts, inner, reported)
    if not result.ok:
        return _failed(line)._replace(learned=learned)
    is_empty = result.passed == 0 and bool(result.tool)
    return CheckResults(passed=() if is_empty else tuple(_passed(line)), learned=learned)


def sets_work_aside(parts: Sequence[SimpleCommand]) -> bool:
    """Return True if a line sets the work aside, or goes to another tree, for what it checks."""
    return any(
        program_name(part.words[0]) == "git" and not _SETTING_ASIDE.isdisjoint(part.words)
        for part in parts
    )


def _passed(line: _Line) -> Iterator[CheckIdentity]:
    output = line.body.output
    is_through = len(output) < _SHORT_CHARS or _DONE_BY_GIT.search(output) is not None
    is_good = line.body.failed is False or exit_code_of(line.body) == 0
    for one in line.ran:
        if is_hook(one.check) and not is_through:
            continue  # git neither says that it has committed or pushed, nor next to nothing
        behind = line.parts[one.place + 1 :]
        is_proven = ended(line.body) is True or (is_good and _is_chain(behind))
        if (
            is_proven
            or _signed(one, line)
            or any(  # a later check that printed something runs only where this one has passed
                _signed(other, line) and _is_chain(line.parts[one.place + 1 : other.place + 1])
                for other in line.ran
                if other.place > one.place
            )
        ):
            yield one.check
            yield from one.inner
            if one.check.is_task:
                reported = line.reported.items()
                yield from (inferred_check(one.check, kind, base) for base, kind in reported)


def _signed(one: TaskCheck, line: _Line) -> bool:
    """Return True if the output is that of this check, or of what its task runs."""
    bases = {each.base for each in (one.check, *one.inner)}
    if not bases.isdisjoint(line.reported):
        return True
    program = one.check.base.partition(" ")[0]
    if program in table.LIFECYCLE and any(base.startswith(f"{program} ") for base in line.reported):
        return True
    if len(line.ran) == 1 and any(  # `cargo clippy` ends as a build does
        kind == one.check.kind or base.split()[0] in {program, "compiler"}
        for base, kind in line.reported.items()
    ):
        return True
    return (
        one.check.is_task
        and one.check.kind in {"all", *line.reported.values()}
        and bool(line.reported)
    )


def _is_chain(parts: Sequence[SimpleCommand]) -> bool:
    return all(part.sign == "&&" for part in parts)


def _failed(line: _Line) -> CheckResults:
    judges = _judges(line.result.tool, line.result)
    line = line._replace(reported={base: kind for kind, base in judges})
    signed = [one for one in line.ran if _signed(one, line)]
    if (line.reported and not signed) or _judged_nothing(line):
        return CheckResults()
    if line.result.passed and not line.result.failed and len(line.ran) > len(signed) > 0:
        # Its tests are well, so what failed is what was run behind them.
        start = signed[-1].place + 1
        behind = [one._replace(place=one.place - start) for one in line.ran if one.place >= start]
        return _unsigned(line._replace(parts=line.parts[start:], ran=behind))
    return _by(signed[0], line) if signed else _unsigned(line)


def _judged_nothing(line: _Line) -> bool:
    result, output = line.result, line.body.output
    if result.passed or result.failed:
        return False
    if _NOTHING.search(f"{result.said}\n{output[-_LAST_CHARS:]}"):
        return True
    code = exit_code_of(line.body)
    texts = f"{result.first_error}\n{output[-_LAST_CHARS:]}", output
    is_unstarted = any(start_failure(said, code=code).reason for said in texts)
    is_silent = result.passed is None and not result.failing
    return is_silent and (code in _ENDED_FROM_OUTSIDE or is_unstarted)


def _by(one: TaskCheck, line: _Line) -> CheckResults:
    inner = [each for each in one.inner if each.base in line.reported]
    if one.check.is_task and not inner:
        inner = [inferred_check(one.check, kind, base) for base, kind in line.reported.items()]
    named = f"{one.check.base} (hook)" if is_hook(one.check) else ""
    failed = tuple(inner) if is_hook(one.check) else (one.check, *inner)
    before = (
        each
        for each in line.ran
        if each.place < one.place and _is_chain(line.parts[each.place + 1 : one.place + 1])
    )
    return CheckResults(
        passed=tuple(check for each in before for check in (each.check, *each.inner)),
        failed=failed,
        head=named or _head([one], line),
    )


def _unsigned(line: _Line) -> CheckResults:
    """Return what failed where the output names no checker: only if all commands are checks."""
    able = [
        place
        for place, part in enumerate(line.parts)
        if part.sign != "|" and not part.looks and program_name(part.words[0]) not in _ASIDE
    ]
    # The exit code is that of what was run last: what stands before a `;` has no part in it.
    starts = [place for place, part in enumerate(line.parts) if part.sign in {";", "&"}]
    ran = list(line.ran)
    for start in [0, *starts[-1:]] if reported(line.body) is False else [0]:
        last = [one for one in line.ran if one.place >= start]
        if last and [one.place for one in last] == [place for place in able if place >= start]:
            ran = last
            break
    else:
        return CheckResults()
    inner = ran[0].inner if len(ran) == 1 and len(ran[0].inner) == 1 else ()
    checks = tuple(one.check for one in ran)
    return CheckResults(failed=(*checks, *inner), head=_head(ran, line))


def _head(ran: Sequence[TaskCheck], line: _Line) -> str:
    shown = " && ".join(line.parts[one.place].shown for one in ran)
    folder = ran[0].check.folder
    return f"{one_line(shown, _HEAD_CHARS)}{f' (in {folder})' if folder else ''}"
