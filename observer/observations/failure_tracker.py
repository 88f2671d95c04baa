"""What made a failing check of a project pass, and which command works in the place of another.

`with_command` notes how a command ended (`open_failures`). Two kinds of fix items:

- a check failed, something was changed, and the check passes: `_with_fix`;
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
from collections.abc import Iterable, Sequence
from itertools import chain

import orjson
from msgspec.structs import replace

from observer.code.languages import PROSE, language_of
from observer.commands import check_runs, command_line
from observer.commands.check import CheckIdentity, fix_kind
from observer.commands.check_runs import BELOW
from observer.commands.check_tools import STATIC, checker_of
from observer.commands.command_line import InvocationForm
from observer.core.model import Item, Link, Recorded, item_id, item_uuid
from observer.core.text import (
    base_name,
    counted,
    distinct,
    is_within,
    listed,
    one_line,
    quoted,
    relative,
)
from observer.core.value import newest
from observer.observations import drafts, open_failures, project_state
from observer.observations.drafts import (
    ItemOrigin,
    ObservationDraft,
    concepts_of,
    item,
    order_of,
    origin_of,
)
from observer.observations.open_failures import EndedCommand, OpenFailure
from observer.observations.project_state import Alternative, ProjectState, Step, TrackedEdit
from observer.observations.quoting import names, names_its_subject

TASKS = 40
WITHIN_MS = 2 * 3_600_000
"""What works so long after a failure is hardly the answer to it."""
_PAIRS = 20
COMMIT = "git commit"
"""What is checked by the hooks of a commit that git refused."""
_HOOK_CHARS = 600
"""Longer output on a refused commit is that of its hooks."""
_BYPASSING = frozenset({"--no-verify", "-n"})
_RAN = ("", "stopped")
"""Of a command that began to work its words are right: it may lack a setting."""


def with_command(known: ProjectState, ran: EndedCommand) -> Step:
    """Update the state with an ended command, and return the fixes that it completes."""
    if not ran.result.was_run:
        return known, ()
    parts = [part for part in command_line.simple_commands(ran.body.command) if fix_kind(part)]
    if parts:
        remedy = TrackedEdit(
            seq=order_of(ran.recorded),
            item=ran.item,
            root=ran.recorded.root,
            branch=ran.branch,
            session=ran.recorded.session_id,
            kind="command",
            said=one_line("; ".join(part.shown for part in parts), 200),
            remedy=fix_kind(parts[0]),
            has_failed=ran.result.ok is False,
        )
        known = project_state.with_edit(known, remedy)
    known, alternatives = _with_alternative(known, ran)
    check = _check_of(ran)
    left, resolved = open_failures.after_run(known.failures, ran, check)
    tasks = newest({**known.tasks, **ran.runs.learned}, TASKS)
    after, fixed = _with_fix(replace(known, failures=left, tasks=tasks), ran, check, resolved)
    return after, (*alternatives, *fixed)


def _check_of(ran: EndedCommand) -> CheckIdentity | None:
    """Return what a command line ran, of a chain the command that failed; None for nothing.

    Of git's own commands it is a commit that hooks have checked, or one that could not run at all:
    another form of it may.
    """
    command, recorded = ran.body.command, ran.recorded
    parts = command_line.simple_commands(command)
    able = [one for one in parts if not one.looks and one.sign != "|" and one.words[0] != "cd"]
    gits = [part.words for part in able if "git" in part.words[:2]]
    if any("stash" in words[1:3] for words in gits):
        return None  # the check ran without the stashed changes
    if not gits or len(gits) < len(able):
        tool, cwd = ran.result.tool, recorded.event.cwd
        return check_runs.check_ran(command, tool, root=recorded.root, cwd=cwd)
    if ran.unstarted.reason:
        return CheckIdentity(kind="", base=one_line(" ".join(gits[-1]), 300), tool="git")
    commits, output = [words for words in gits if "commit" in words[1:6]], ran.body.output
    is_of_hooks = ran.result.ok or ran.result.tool not in ("", "git") or len(output) > _HOOK_CHARS
    if not commits or not is_of_hooks or not _BYPASSING.isdisjoint(commits[-1]):
        return None
    # Two sessions may each have a commit that was refused: only its own next one answers it.
    by = (str(recorded.session_id),)
    return CheckIdentity(kind="all", base=COMMIT, tool="git", filters=by)


def _with_fix(
    known: ProjectState,
    ran: EndedCommand,
    check: CheckIdentity | None,
    resolved: Sequence[OpenFailure],
) -> Step:
    """Return the fix of the failures that a pass has resolved, if a change caused it."""
    # A commit proves its hooks and nothing else.
    is_commit = check is None or check.base == COMMIT
    proven = [one for one in resolved if open_failures.is_of_git(one) or not is_commit]
    proven = [one for one in proven if not open_failures.is_fixing_task(one)]
    by = [(one, causes_of(known, one, ran.recorded)) for one in proven]
    edits = {edit.seq: edit for _, found in by for edit in found}
    if not edits:
        return known, ()
    failures = [failure for failure, found in by if found]
    fix = _fix_item(failures, [edits[seq] for seq in sorted(edits)], ran)
    green = (*ran.runs.passed, *filter(None, [check]), *(one.checks[0] for one in resolved))
    fixed = dict.fromkeys((one.base for one in green), fix.id)
    after = project_state.map_edits(
        known, lambda one: replace(one, fixed=one.fixed | fixed) if one.seq in edits else one
    )
    return after, (fix,)


def _with_alternative(known: ProjectState, ran: EndedCommand) -> Step:
    """Return the alternative fix if a command is another form of one that could not run."""
    if not ran.has_run:
        return known, ()
    if ran.result.ok is True and len(ran.forms) == 1:  # after an installation, say
        (form,) = ran.forms
        marked = tuple(
            replace(one, is_refuted=True) if one.failed.line == form.line else one
            for one in known.alternatives
        )
        known = replace(known, alternatives=tuple(marked))
    for failure in reversed(known.failures):
        if found := _instead_of(known, failure, ran):
            return _with_pair(known, failure, ran, found)
    return known, ()


def _instead_of(
    known: ProjectState, failure: OpenFailure, ran: EndedCommand
) -> InvocationForm | None:
    """Return the form of an ended command that works where the failed one did not."""
    recorded, failed = ran.recorded, failure.form
    is_own = (recorded.session_id, recorded.root) == (failure.sessions[-1], failure.root)
    is_late = recorded.event.at_ms - failure.last_ms > WITHIN_MS
    # What was not up says nothing about the words.
    if failed is None or failure.unstarted == "service" or is_late or not is_own:
        return None
    if failure.unstarted not in _RAN:
        error, is_other = failure.error, command_line.is_other_form
        return next((one for one in ran.forms if is_other(failed, one, error)), None)
    live = (edit for edit in known.edits if edit.root == recorded.root and not edit.reverted_by)
    if not ran.result.ok or any(failure.last_seq < edit.seq < order_of(recorded) for edit in live):
        return None
    return next((one for one in ran.forms if command_line.adds_settings(failed, one)), None)


def _with_pair(
    known: ProjectState, failure: OpenFailure, ran: EndedCommand, form: InvocationForm
) -> Step:
    failed = failure.form or form
    lines = (failed.line, form.line)
    same = (one for one in known.alternatives if (one.failed.line, one.worked.line) == lines)
    before = next(same, None) or Alternative(
        failed=failed,
        worked=form,
        origin=failure.origin or origin_of(ran.recorded),
        reason=failure.unstarted,
        error=failure.error,
        signature=failure.signature,
    )
    pairs = (*before.pairs, (failure.item, ran.item))[-_PAIRS:]
    after = replace(before, times=before.times + 1, pairs=pairs, is_refuted=False)
    kept = [one for one in known.alternatives if one != before]
    left = (  # the check itself has not passed
        replace(one, form=None) if one is failure else one
        for one in known.failures
        if one is not failure or one.is_red
    )
    known = replace(
        known, alternatives=(*kept, after)[-project_state.ALTERNATIVES :], failures=tuple(left)
    )
    return known, (_alternative_item(after, ran.recorded),)


UNRELATED, POSSIBLE, LIKELY = 0, 1, 2
"""How likely a change is to have fixed a failure."""
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
_STARTING = {"": ("install", "files"), "service": ("service",), "stopped": ()}
"""Remedies that let a command start, by what it lacks: mostly a program."""
_STYLE = ("lint", "format")
"""Kinds of checks that formatters and autofixes are made for."""


def strength(edit: TrackedEdit, failure: OpenFailure) -> int:
    """Return `UNRELATED`, `POSSIBLE` or `LIKELY`: whether a change made a failing check pass."""
    if failure.unstarted:
        starting = _STARTING.get(failure.unstarted, _STARTING[""])
        return LIKELY if edit.kind == "command" and edit.remedy in starting else UNRELATED
    if edit.kind == "command":
        checks, runs = map(_FAMILIES.get, (failure.checks[0].tool, edit.said.partition(" ")[0]))
        is_other = checks and runs and checks != runs
        if is_other or (edit.remedy == "fixer" and _kinds(failure) == {"test"}):
            return UNRELATED
        is_style = edit.remedy == "fixer" and not _kinds(failure).isdisjoint(_STYLE)
        return LIKELY if is_style else POSSIBLE
    path = relative(edit.path, failure.root) if edit.path else ""
    said = (failure.head, failure.first_error, failure.error, *failure.tests)
    name = base_name(edit.path)
    # A failing file is this one, or lies in this folder.
    is_at = path and any(
        is_within(one, [path]) or path.endswith(f"/{one}") for one in failure.files
    )
    if is_at or (name and any(name in text for text in said)):
        return LIKELY
    return POSSIBLE if edit.kind == "undo" or _is_checked(path, failure) else UNRELATED


def _is_checked(path: str, failure: OpenFailure) -> bool:
    """Return True if a file of the project may be part of what is checked: code, or settings."""
    language = language_of(path)
    if path.startswith(("/", "~")) or not language or language in PROSE:
        return False
    family = _LANGUAGES.get(language, "")
    return not family or _FAMILIES.get(failure.checks[0].tool, family) == family


def _kinds(failure: OpenFailure) -> set[str]:
    """Return what the command that failed judges: tests, types, style."""
    ran = command_line.simple_commands(failure.head.partition(BELOW)[0])
    return {checker.kind for part in ran if (checker := checker_of(part.words))}


def causes_of(known: ProjectState, failure: OpenFailure, recorded: Recorded) -> list[TrackedEdit]:
    """Return the changes that fixed a failure, oldest first; none if that is unknown.

    `recorded` is the event of the pass that has just resolved it.
    """
    is_own = recorded.session_id in failure.sessions
    if open_failures.is_of_git(failure) and not is_own:
        return []  # of two sessions whose commits were refused each answers its own
    rated = [(edit, strength(edit, failure)) for edit in known.edits if _can_count(edit, failure)]
    since = [(edit, rate) for edit, rate in rated if edit.seq > failure.last_seq and rate]
    if likely := [edit for edit, rate in since if rate == LIKELY]:
        earlier = [edit for edit, rate in rated if edit.seq < failure.last_seq and rate == LIKELY]
        return [edit for edit in earlier if edit.seq > failure.tried] + likely
    return [edit for edit, _ in since if is_own and edit.session in (None, recorded.session_id)]


def _can_count(edit: TrackedEdit, failure: OpenFailure) -> bool:
    is_retry = edit.kind == "command" and edit.said == failure.head
    if edit.remedy == "fixer":  # unless the check is the fixer
        is_retry = failure.checks[0].is_fixer and failure.head.endswith(edit.said)
    return (
        failure.seq < edit.seq
        and not edit.reverted_by
        and not (edit.has_failed and edit.remedy != "fixer")
        and not is_retry
        and (edit.root, edit.branch) == (failure.root, failure.branch)
        and failure.checks[0].base not in edit.fixed
        and (edit.kind != "undo" or edit.since < failure.seq)
    )


_SHOWN = 4
ALTERNATIVE = "command"
"""Category of a fix that names the form of a command that works here."""
_TEST = re.compile(r"(?:^|[._-])(?:tests?|spec|e2e|it)(?=[._-]|$)|(?<=[a-z])(?:Tests?|Spec|IT)$")
_IN_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|testdata|fixtures|conftest\.py)(?:/|$)"
)
_DONE = ("command", "undo")
"""Kinds of changes that are named by what was done, not by the file."""


def _fix_item(
    failures: Sequence[OpenFailure], edits: Sequence[TrackedEdit], ran: EndedCommand
) -> Item:
    """Return the item of a fix, placed at the event of the pass; the changes caused that.

    It is a record if only what reads the code found what was mended, and says how; or if no more is
    known of what was changed than which file, which test, or by which fixer.
    """
    first = failures[0]
    is_tests = all(edit.kind == "edit" and is_test(edit.path) for edit in edits)
    changed = f"{'the test was changed: ' if is_tests else ''}{_changes_text(edits)}"
    result = f" ({ran.result.said})" if ran.result.said else ""
    times, once = (f" {counted(first.runs, 'time')}", "first ") if first.runs > 1 else ("", "")
    error = f", {once}with {quoted(first.first_error)}" if first.first_error else ""
    failed = f"{first.head} failed{times}{f' ({first.said})' if first.said else ''}{error}"
    said = f"{one_line(failed, 500).rstrip('.')}. After {changed}, {ran.head} passes{result}."
    facts = [f"$ {first.head}"]
    facts += (f"error: {one.first_error}" for one in failures if one.first_error)
    facts += (f"then: {one.error}" for one in failures if one.error not in ("", one.first_error))
    facts += (f"{'' if one.kind in _DONE else 'changed '}{_changes_text([one])}" for one in edits)
    facts = [*facts[: drafts.FACTS - 1], f"passes: {ran.head}{result}"]
    symbols = distinct((name for edit in edits for name in edit.symbols), 6)
    paths = distinct((edit.path for edit in edits), 40)
    concepts = (first.checks[0].tool, *concepts_of(paths[:3], symbols))
    draft = ObservationDraft(
        type="fix",
        title=one_line(f"Fixed: {_error(first)}", drafts.TITLE),
        subtitle=one_line(f"{ran.head} passes after {changed}", drafts.SUBTITLE),
        narrative=one_line(said, drafts.NARRATIVE),
        facts=distinct((one_line(fact, drafts.FACT) for fact in facts), drafts.FACTS),
        concepts=distinct(concepts, drafts.CONCEPTS),
        files_modified=paths,
        signature=next((one.signature for one in failures if one.signature), ""),
    )
    done = {edit.item: edit.said if edit.kind in _DONE else "" for edit in edits}
    links = [
        *chain.from_iterable(_to_runs("fixes", (*o.earlier, o.item), o.head) for o in failures),
        *(Link(kind="edit", target=one, excerpt=said) for one, said in done.items()),
        *_to_runs("evidence", (ran.item,), command_line.parse_command_line(ran.body.command).head),
    ]
    is_said = any(
        (edit.said and edit.remedy != "fixer") or (edit.symbols and not is_test(edit.path))
        for edit in edits
    )
    kinds, made = _kinds(first), _fix(draft, ran.recorded, links)
    return made if is_said and not (kinds and kinds <= STATIC) else replace(made, kind="record")


def _alternative_item(found: Alternative, recorded: Recorded) -> Item:
    """Return the item of a command that works in another form, placed at the first failure."""
    failed, works = found.failed.line, found.worked.line
    met = f"met {counted(found.times, 'time')}"
    error = f" ({quoted(found.error)})" if found.error else ""
    said = [f"error: {found.error}"] if found.error else []
    facts = (f"$ {failed}", *said, f"works: {works}", met)
    draft = ObservationDraft(
        type="fix",
        title=one_line(f"Use `{one_line(works, 60)}`: `{failed}` does not work here", drafts.TITLE),
        subtitle=one_line(f"`{works}` works where `{failed}` failed", drafts.SUBTITLE),
        narrative=one_line(
            f"`{failed}` does not work here{error}; `{works}` does, {met}.", drafts.NARRATIVE
        ),
        facts=tuple(one_line(fact, drafts.FACT) for fact in facts),
        concepts=found.worked.words[:1],
        signature=found.signature,
    )
    links = [
        *_to_runs("fixes", (pair[0] for pair in found.pairs), failed),
        *_to_runs("evidence", (pair[1] for pair in reversed(found.pairs)), works),
    ]
    made = _fix(draft, recorded, links, found.origin)
    asked = {"failed": failed, "works": works, "reason": found.reason, "times": found.times}
    return replace(
        made, category=ALTERNATIVE, metadata=orjson.dumps(asked).decode(), folded=found.times
    )


def is_test(path: str) -> bool:
    """Return True if a file holds tests or their fixtures."""
    stem = base_name(path).rpartition(".")[0] or base_name(path)
    return bool(_TEST.search(stem) or _IN_TESTS.search(path))


def _changes_text(edits: Sequence[TrackedEdit]) -> str:
    """Return ``"cart.py (total) and running pip install x"``: what was changed, file by file."""
    done = [edit for edit in edits if edit.kind in _DONE]
    others = [f"running {one.said}" if one.kind == "command" else one.said for one in done]
    said = []
    for path in dict.fromkeys(edit.path for edit in edits if edit.kind not in _DONE):
        several = [one for one in edits if one.path == path and one.kind not in _DONE]
        became = several[0].said if len(several) == 1 else ""
        symbols = distinct((name for edit in several for name in edit.symbols), 12)
        unsaid = listed([name for name in symbols if name not in became], _SHOWN)
        inside = ": ".join(filter(None, (unsaid, became)))
        said.append(f"{path} ({inside})" if inside else path)
    return listed(distinct((*said, *others), 40), _SHOWN)


def _error(failure: OpenFailure) -> str:
    """Return the most specific words for what failed: more than "Found 2 errors"."""
    errors = [one for one in (failure.first_error, failure.error) if one]
    specific = [one for one in errors if names(one) or names_its_subject(one)]
    if said := next(iter([*specific, *failure.tests]), ""):
        return said
    return f"{failure.head}: {errors[0]}" if errors else f"{failure.head} failed"


def _to_runs(kind: str, targets: Iterable[int], command: str) -> list[Link]:
    """Return links to runs of a command, with its text, as not all runs are kept as items."""
    return [Link(kind=kind, target=one, excerpt=command) for one in dict.fromkeys(targets)]


def _fix(
    draft: ObservationDraft,
    recorded: Recorded,
    links: Sequence[Link],
    origin: ItemOrigin | None = None,
) -> Item:
    made = item(draft, recorded, origin=origin)
    seq = origin.seq if origin else recorded.seq
    event = origin.event if origin else recorded.event.id
    return replace(
        made,
        id=item_id(seq, "arc"),
        uuid=item_uuid(event, made.created_ms, "arc"),
        links=tuple({(link.kind, link.target): link for link in links}.values()),
    )
