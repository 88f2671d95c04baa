"""Track the failing checks of a project, from the failure to the pass that resolves it.

A left fold over a project's commands: `with_command` notes how each ended. It identifies the check
that was run, opens or updates a `TrackedFailure`, and on a pass says what fixed it. Two kinds of
fix items:

- a check failed, something was changed, and the check passes: `_with_pass`;
- a command could not do its work, and another form of it can (`bun test` instead of
  `rtk bun test`), or the same command passes with one setting more and no change in between:
  `_with_alternative`. That is one item for a project and pair of commands, which counts how often
  it was met.

A change is a likely cause if the failure names its file, or if it is a formatter and the check a
linter. Prose, and code of other languages than the one checked, are unrelated unless the failure
names them. `causes_of` selects the changes that a fix
names: those since the last failing run, and earlier ones that changed the failure. If some are
likely causes, only these; else all changes of the sessions that saw the failure. A check that
passes in another session needs a likely cause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from observer.code.languages import PROSE, language_of
from observer.commands import check_runs, command_line
from observer.commands.check import (
    CheckIdentity,
    answers,
    clears,
    fix_kind,
    is_comparable,
    is_same_check,
    selects_test,
)
from observer.commands.check_runs import BELOW
from observer.commands.check_tools import checker_of
from observer.commands.command_line import InvocationForm
from observer.commands.result import CommandResult
from observer.core.model import UNASSIGNED, Recorded
from observer.core.text import base_name, distinct, one_line, relative, word_set
from observer.observations import fix_text, project_state
from observer.observations.drafts import order_of, origin_of
from observer.observations.fix_text import ResolvedFailures
from observer.observations.open_failures import (
    FILES,
    FORGOTTEN_MS,
    EndedCommand,
    all_failing,
    files_named_in,
    place_in,
)
from observer.observations.project_state import (
    ALTERNATIVES,
    FAILURES,
    Alternative,
    ProjectState,
    Step,
    TrackedEdit,
    TrackedFailure,
    WorktreeBranch,
)

_ITEMS = 6
_SESSIONS = 8
_HOOK_CHARS = 600
"""Longer output on a refused commit is that of its hooks."""
_NOTHING_TO_COMMIT = re.compile(r"nothing (?:added )?to commit|no changes added to commit")
_BYPASSING = word_set("--no-verify -n")
WITHIN_MS = 2 * 3_600_000
"""What works so long after a failure is hardly the answer to it."""
_PAIRS = 20
_RAN = ("", "stopped")
"""Of a command that began to work its words are right: it may lack a setting."""
COMMIT = "git commit"
"""What is checked by the hooks of a commit that git refused."""


def with_command(known: ProjectState, ran: EndedCommand) -> Step:
    """Update the state with an ended command, and return the fixes that it completes."""
    if not ran.result.was_run:
        return known, ()
    known = _with_remedies(known, ran)
    known, alternatives = _with_alternative(known, ran)
    check = check_of(ran)
    is_ok = False if ran.unstarted.reason else ran.result.ok
    ran_nothing = ran.result.passed == 0 and ran.result.tool != ""
    if check is None or is_ok is None or (is_ok and ran_nothing):
        return known, alternatives
    if is_ok:
        after, fixed = _with_pass(known, ran, check)
        return after, (*alternatives, *fixed)
    if check.is_fixer and check.is_task and not ran.unstarted.reason:
        return known, alternatives  # of `lint:fix` the linter decides
    return _failed(known, ran, check), alternatives


def _with_remedies(known: ProjectState, ran: EndedCommand) -> ProjectState:
    kinds = [(part, fix_kind(part)) for part in command_line.simple_commands(ran.body.command)]
    remedies = [(part.shown, kind) for part, kind in kinds if kind]
    if not remedies:
        return known
    remedy = TrackedEdit(
        seq=order_of(ran.recorded),
        item=ran.item,
        worktree=project_state.worktree_of(known, ran.recorded.root),
        session=ran.recorded.session_id,
        kind="command",
        said=one_line("; ".join(said for said, _ in remedies), 200),
        remedy=remedies[0][1],
        has_failed=ran.result.ok is False,
    )
    return project_state.with_edit(known, remedy)


def check_of(ran: EndedCommand) -> CheckIdentity | None:
    """Return the check that a command line ran; None if it ran none.

    Of a chain it is the command that failed. A git command counts only if it is a commit that
    hooks have checked, or if it could not run at all.
    """
    command = ran.body.command
    able = [
        part
        for part in command_line.simple_commands(command)
        if not part.looks and part.sign != "|" and part.words[0] != "cd"
    ]
    gits = [part.words for part in able if "git" in part.words[:2]]
    if any("stash" in words[1:3] for words in gits):
        return None  # the check ran without the stashed changes
    if gits and len(gits) == len(able):
        return _of_git(gits, ran)
    if len(able) > 1 and ran.runs.failed:
        return ran.runs.failed[0]
    recorded = ran.recorded
    return check_runs.check_ran(
        command, ran.result.tool, root=recorded.root, cwd=recorded.event.cwd
    )


def _of_git(gits: Sequence[Sequence[str]], ran: EndedCommand) -> CheckIdentity | None:
    if ran.unstarted.reason:
        return CheckIdentity(kind="", base=one_line(" ".join(gits[-1]), 300), tool="git")
    commits = [words for words in gits if "commit" in words[1:6]]
    if not commits or not _BYPASSING.isdisjoint(commits[-1]):
        return None
    result, output = ran.result, ran.body.output
    has_hooks = result.tool not in ("", "git") or len(output) > _HOOK_CHARS
    if not (result.ok or has_hooks) or _NOTHING_TO_COMMIT.search(output):
        return None
    # Two sessions may each have a commit that was refused: only its own next one answers it.
    return CheckIdentity(
        kind="all", base=COMMIT, tool="git", filters=(str(ran.recorded.session_id),)
    )


def _failed(known: ProjectState, ran: EndedCommand, check: CheckIdentity) -> ProjectState:
    here = project_state.worktree_of(known, ran.recorded.root)
    again = [one for one in known.tracked if _is_same(one, ran, check, here)]
    tracked = [
        _updated(one, ran, check) if one in again else one
        for one in known.tracked
        if not (one in again and _is_replaced(one, ran))
    ]
    if all(_is_replaced(one, ran) for one in again):
        tracked.append(_new_failure(ran, check, here))
    fresh = [one for one in tracked if ran.at_ms - one.last_ms <= FORGOTTEN_MS]
    return replace(known, tracked=tuple(fresh[-FAILURES:]))


def _new_failure(ran: EndedCommand, check: CheckIdentity, here: WorktreeBranch) -> TrackedFailure:
    recorded, result = ran.recorded, ran.result
    error = result.first_error or ran.unstarted.said
    return TrackedFailure(
        checks=(check, *ran.runs.failed),
        head=ran.head,
        worktree=here,
        seq=order_of(recorded),
        last_seq=order_of(recorded),
        last_ms=ran.at_ms,
        items=(ran.item,),
        sessions=(recorded.session_id,),
        said=result.said,
        error=error,
        last_error=error,
        signature=result.signature,
        tests=all_failing(result),
        place=_only_place(result),
        files=_files_of(ran),
        unstarted=ran.unstarted.reason,
        form=_failing_form(ran),
        origin=origin_of(recorded),
    )


def _files_of(ran: EndedCommand) -> tuple[str, ...]:
    return files_named_in(ran.body.output, root=ran.recorded.root, cwd=ran.recorded.event.cwd)


def _is_replaced(one: TrackedFailure, ran: EndedCommand) -> bool:
    """Return True if an earlier session left the check red, and its cause is another one now."""
    return ran.recorded.session_id not in one.sessions and not _is_same_failure(one, ran)


def _is_same_failure(one: TrackedFailure, ran: EndedCommand) -> bool:
    """Return True if a check fails as it did before, judging by its output."""
    result = ran.result
    if one.tests and result.failing:
        return set(one.tests) == set(all_failing(result) or result.failing)
    now = (result.first_error or one.last_error, result.said)
    return now == (one.last_error, one.said)


def _updated(one: TrackedFailure, ran: EndedCommand, check: CheckIdentity) -> TrackedFailure:
    recorded, result = ran.recorded, ran.result
    return replace(
        one,
        last_seq=order_of(recorded),
        last_ms=ran.at_ms,
        items=tuple(dict.fromkeys((*one.items[:1], *one.items[1:][-_ITEMS:], ran.item))),
        sessions=tuple(dict.fromkeys((*one.sessions, recorded.session_id)))[-_SESSIONS:],
        last_error=result.first_error or one.last_error,
        files=distinct((*_files_of(ran), *one.files), FILES),
        checks=(check, *one.checks[1:]),
        runs=one.runs + 1,
        said=result.said or one.said,
        tests=all_failing(result),
        place=_only_place(result),
        tried=order_of(recorded) if _is_same_failure(one, ran) else one.tried,
        unstarted=ran.unstarted.reason,
        form=_failing_form(ran),
    )


def _is_same(
    one: TrackedFailure, ran: EndedCommand, check: CheckIdentity, here: WorktreeBranch
) -> bool:
    if one.unstarted or ran.unstarted.reason:
        # A command that could not run says nothing about the check that it should have been.
        is_form = one.form == _failing_form(ran)
        return is_form and bool(one.unstarted) and bool(ran.unstarted.reason)
    return one.worktree == here and is_same_check(one.check, check)


def _only_place(result: CommandResult) -> str:
    """Return the file of the error if there was only one, else ""."""
    return place_in(result.first_error) if result.failed in (None, 1) else ""


def _with_pass(known: ProjectState, ran: EndedCommand, check: CheckIdentity) -> Step:
    """Resolve the failures that a passing check covers; return their fix, if a change caused it."""
    here = project_state.worktree_of(known, ran.recorded.root)
    mine = [one for one in known.tracked if one.worktree == here]
    resolved = [one for one in mine if _is_answered(one, ran, check)]
    left = (
        _without_passed(one, check) if one in mine else one
        for one in known.tracked
        if one not in resolved
    )
    after = replace(known, tracked=tuple(left))
    by = {failure.seq: causes_of(known, failure, ran.recorded) for failure in resolved}
    edits = {edit.seq: edit for found in by.values() for edit in found}
    if not edits:
        return after, ()
    ended = ResolvedFailures(
        failures=tuple(failure for failure in resolved if by[failure.seq]),
        edits=tuple(edits[seq] for seq in sorted(edits)),
        passed=ran.item,
        ran=command_line.parse_command_line(ran.body.command).head,
        head=ran.head,
        said=ran.result.said,
    )
    fix = fix_text.fix_item(ended, ran.recorded)
    done = dict.fromkeys([check.base, *(one.check.base for one in resolved)], fix.id)
    after = project_state.map_edits(
        after, lambda one: replace(one, fixed=one.fixed | done) if one.seq in edits else one
    )
    return after, (fix,)


def _is_answered(one: TrackedFailure, ran: EndedCommand, check: CheckIdentity) -> bool:
    recorded = ran.recorded
    if recorded.project_id == UNASSIGNED and recorded.session_id not in one.sessions:
        return False
    is_commit = COMMIT in (check.base, one.check.base)
    return answers(check, one.check, one.tests, one.place) or (
        not is_commit
        and any(clears(green, red) for green in ran.runs.passed for red in one.checks[1:])
    )


def _without_passed(one: TrackedFailure, check: CheckIdentity) -> TrackedFailure:
    """Return a failure without its tests that this check selected and that passed."""
    if not is_comparable(check, one.check):
        return one
    left = (name for name in one.tests if not selects_test(check, name))
    return replace(one, tests=tuple(left))


def _failing_form(ran: EndedCommand) -> InvocationForm | None:
    """Return the simple command that failed: the one that the message names, else the last."""
    every, why = ran.forms, ran.unstarted
    blamed = [form for form in every if why.name and why.name in form.words]
    return next(iter(blamed), every[-1] if every else None)


def _with_alternative(known: ProjectState, ran: EndedCommand) -> Step:
    """Return the alternative fix if a command is another form of one that could not run."""
    if not ran.has_run:
        return known, ()
    known = _without_refuted(known, ran)
    for failure in reversed(known.tracked):
        if form := _instead_of(known, failure, ran):
            return _with_pair(known, failure, ran, form)
    return known, ()


def _without_refuted(known: ProjectState, ran: EndedCommand) -> ProjectState:
    """Mark alternatives as refuted whose failed form works now, such as after an installation."""
    if ran.result.ok is not True or len(ran.forms) != 1:
        return known
    (form,) = ran.forms
    marked = tuple(
        replace(one, is_refuted=one.is_refuted or command_line.is_same_form(one.failed, form))
        for one in known.alternatives
    )
    return known if marked == known.alternatives else replace(known, alternatives=marked)


def _instead_of(
    known: ProjectState, failure: TrackedFailure, ran: EndedCommand
) -> InvocationForm | None:
    """Return the form of an ended command that works where the failed one did not."""
    recorded, failed = ran.recorded, failure.form
    if (
        failed is None
        or failure.unstarted == "service"  # what was not up says nothing about the words
        or recorded.session_id != failure.sessions[-1]
        or failure.worktree.root != recorded.root
        or recorded.event.at_ms - failure.last_ms > WITHIN_MS
    ):
        return None
    if failure.unstarted not in _RAN:
        return next(
            (
                one
                for one in ran.forms
                if command_line.is_other_form(failed, one, failure.last_error)
            ),
            None,
        )
    if not ran.result.ok or _changes_since(known, failure, recorded):
        return None
    return next((one for one in ran.forms if command_line.adds_settings(failed, one)), None)


def _changes_since(
    known: ProjectState, failure: TrackedFailure, recorded: Recorded
) -> list[TrackedEdit]:
    return [
        edit
        for edit in known.edits
        if failure.last_seq < edit.seq < order_of(recorded)
        and not edit.reverted_by
        and edit.worktree.root == recorded.root
    ]


def _with_pair(
    known: ProjectState, failure: TrackedFailure, ran: EndedCommand, form: InvocationForm
) -> Step:
    failed, origin = failure.form or form, failure.origin or origin_of(ran.recorded)
    pair = (failure.items[-1], ran.item)
    before = next(
        (
            one
            for one in known.alternatives
            if (one.failed.line, one.worked.line) == (failed.line, form.line)
        ),
        None,
    ) or Alternative(
        failed=failed,
        worked=form,
        origin=origin,
        reason=failure.unstarted,
        error=failure.last_error,
        signature=failure.signature,
    )
    pairs = (*before.pairs, pair)[-_PAIRS:]
    after = replace(before, times=before.times + 1, pairs=pairs, is_refuted=False)
    kept = [one for one in known.alternatives if one != before]
    remedies = [
        edit
        for edit in _changes_since(known, failure, ran.recorded)
        if edit.remedy == "install" and failure.unstarted == "missing"
    ]
    state = replace(
        known,
        alternatives=(*kept, after)[-ALTERNATIVES:],
        tracked=tuple(one for one in known.tracked if one is not failure),
    )
    return state, (fix_text.alternative_item(after, remedies, ran.recorded),)


UNRELATED, POSSIBLE, LIKELY = 0, 1, 2
"""How likely a change is to have fixed a failure."""

_PROSE_FILE = re.compile(
    r"(?i)\.(?:adoc|png|jpe?g|svg|gif|pdf|log)$|(?:^|/)(?:LICENSE|NOTICE|CHANGELOG|README)[^/]*$"
    r"|(?:^|/)(?!requirements|constraints|cmakelists)[^/]*\.txt$"
)
_LANGUAGES = {
    language: family
    for family, languages in {
        "javascript": "javascript typescript vue svelte css scss",
        "java": "java kotlin",
        **{name: name for name in ("python", "go", "rust", "csharp", "ruby", "php")},
    }.items()
    for language in languages.split()
}
"""Language of a file -> the family of programs that check it."""
_JS = "jest vitest mocha ava tap tsc eslint prettier biome npm yarn pnpm bun deno node"
_FAMILIES = {
    tool: family
    for family, tools in {
        "python": "pytest py.test unittest mypy ruff flake8 pylint black pyright tox nox python "
        "python3 isort",
        "javascript": _JS,
        "go": "go golangci-lint staticcheck gofmt",
        "rust": "cargo rustc",
        "java": "mvn mvnw gradle gradlew javac",
        "csharp": "dotnet",
        "ruby": "rspec rubocop rake ruby",
        "php": "phpunit phpstan composer php",
    }.items()
    for tool in tools.split()
}
"""Program -> the family of languages that it checks."""
_STARTING = (frozenset({"install", "files"}), frozenset({"service"}))
"""Remedies that let a command start, where a program is missing and where a service is."""
_STYLE = ("lint", "format")
"""Kinds of checks that formatters and autofixes are made for."""


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
    return POSSIBLE if _is_checked(path, failure) else UNRELATED


def _is_checked(path: str, failure: TrackedFailure) -> bool:
    """Return True if a file of the project may be part of what is checked."""
    language = language_of(path)
    if path.startswith(("/", "~")) or language in PROSE or _PROSE_FILE.search(path):
        return False
    family = _LANGUAGES.get(language, "")
    return not family or _FAMILIES.get(failure.check.tool, family) == family


def _of_command(edit: TrackedEdit, failure: TrackedFailure) -> int:
    family, other = map(_FAMILIES.get, (failure.check.tool, edit.said.partition(" ")[0]))
    if family and other and family != other:
        return UNRELATED
    if edit.remedy == "fixer":
        ran = command_line.simple_commands(failure.head.partition(BELOW)[0])
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
