"""The text of fixes, as items.

Pure functions from the records of a project's state to items that link the observations of the
failure, of the changes and of the pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import orjson
from msgspec.structs import replace

from observer.core.model import Item, Link, Recorded, item_id, item_uuid
from observer.core.text import base_name, counted, distinct, listed, one_line, quoted
from observer.core.value import Value
from observer.observations.drafts import (
    CONCEPTS,
    FACT,
    FACTS,
    NARRATIVE,
    SUBTITLE,
    TITLE,
    ItemOrigin,
    ObservationDraft,
    concepts_of,
    item,
)
from observer.observations.project_state import (
    Alternative,
    TrackedEdit,
    TrackedFailure,
)
from observer.observations.prompts import names_its_subject
from observer.observations.quoting import names

_SHOWN = 4
ALTERNATIVE = "command"
"""Category of a fix that names the form of a command that works here."""
_TEST = re.compile(r"(?:^|[._-])(?:tests?|spec|e2e|it)(?=[._-]|$)|(?<=[a-z])(?:Tests?|Spec|IT)$")
_IN_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|testdata|fixtures|conftest\.py)(?:/|$)"
)
_DONE = ("command", "undo")
"""Kinds of changes that are named by what was done, not by the file."""


class ResolvedFailures(Value):
    """A pass with the failures that it resolves, and the changes.

    `passed` is the observation of the pass, `head` its check, `ran` the command line that it was
    part of, `said` its result in a few words.
    """

    failures: tuple[TrackedFailure, ...]
    edits: tuple[TrackedEdit, ...]
    passed: int
    head: str
    ran: str
    said: str = ""


def fix_item(resolved: ResolvedFailures, recorded: Recorded) -> Item:
    """Return the item of a fix, placed at the event of the pass."""
    failure = resolved.failures[0]
    changed = _cause_text(resolved.edits)
    result = f" ({resolved.said})" if resolved.said else ""
    said = [
        f"{_failure(failure)}.",
        f"After {changed}, {resolved.head} passes{result}.",
    ]
    draft = ObservationDraft(
        type="fix",
        title=one_line(f"Fixed: {_error(failure)}", TITLE),
        subtitle=one_line(f"{resolved.head} passes after {changed}", SUBTITLE),
        narrative=one_line(" ".join(said), NARRATIVE),
        facts=_facts(resolved.failures, resolved.edits, f"passes: {resolved.head}{result}"),
        concepts=_concepts(failure, resolved.edits),
        files_modified=_paths(resolved.edits),
        signature=next((one.signature for one in resolved.failures if one.signature), ""),
    )
    links = [
        *(link for one in resolved.failures for link in _to_runs("fixes", one.items, one.head)),
        *_to_edits("edit", resolved.edits),
        *_to_runs("evidence", (resolved.passed,), resolved.ran),
    ]
    made = _fix(draft, recorded, links)
    return made if any(map(_says_what, resolved.edits)) else replace(made, kind="record")


def _says_what(edit: TrackedEdit) -> bool:
    """Return True if it is known what was changed, beside which file, which test, or by a fixer."""
    is_said = bool(edit.said) and edit.remedy != "fixer"
    return is_said or bool(edit.symbols and not is_test(edit.path))


def _cause_text(edits: Sequence[TrackedEdit]) -> str:
    """Return what was changed, and whether that was only tests."""
    is_tests = all(edit.kind == "edit" and is_test(edit.path) for edit in edits)
    return f"{'the test was changed: ' if is_tests else ''}{changes_text(edits)}"


def alternative_item(
    found: Alternative, remedies: Sequence[TrackedEdit], recorded: Recorded
) -> Item:
    """Return the item of a command that works in another form, placed at the first failure."""
    failed, works = found.failed.line, found.worked.line
    met = f"met {counted(found.times, 'time')}"
    error = f" ({quoted(found.error)})" if found.error else ""
    after = f" after {changes_text(remedies)}" if remedies else ""
    draft = ObservationDraft(
        type="fix",
        title=one_line(f"Use `{one_line(works, 60)}`: `{failed}` does not work here", TITLE),
        subtitle=one_line(f"`{works}` works where `{failed}` failed", SUBTITLE),
        narrative=one_line(
            f"`{failed}` does not work here{error}; `{works}` does{after}, {met}.", NARRATIVE
        ),
        facts=_alternative_facts(found, remedies, met),
        concepts=found.worked.words[:1],
        signature=found.signature,
    )
    links = [
        *_to_runs("fixes", (pair[0] for pair in found.pairs), failed),
        *_to_edits("edit", remedies),
        *_to_runs("evidence", (pair[1] for pair in reversed(found.pairs)), works),
    ]
    made = _fix(draft, recorded, links, found.origin)
    asked = {"failed": failed, "works": works, "reason": found.reason, "times": found.times}
    return replace(
        made, category=ALTERNATIVE, metadata=orjson.dumps(asked).decode(), folded=found.times
    )


def _alternative_facts(
    found: Alternative, remedies: Sequence[TrackedEdit], met: str
) -> tuple[str, ...]:
    facts = [f"$ {found.failed.line}"]
    facts += [f"error: {found.error}"] if found.error else []
    facts += [changes_text([edit]) for edit in remedies]
    facts += [f"works: {found.worked.line}", met]
    return tuple(one_line(fact, FACT) for fact in facts)


def is_test(path: str) -> bool:
    """Return True if a file holds tests or their fixtures."""
    stem = base_name(path).rpartition(".")[0] or base_name(path)
    return bool(_TEST.search(stem) or _IN_TESTS.search(path))


def changes_text(edits: Iterable[TrackedEdit]) -> str:
    """Return ``"cart.py (total) and running pip install x"``: what was changed, file by file."""
    files: dict[str, list[TrackedEdit]] = {}
    others: list[str] = []
    for edit in edits:
        if edit.kind in _DONE:
            others.append(f"running {edit.said}" if edit.kind == "command" else edit.said)
        else:
            files.setdefault(edit.path, []).append(edit)
    said = [_file_text(path, several) for path, several in files.items()]
    return listed(distinct((*said, *others), 40), _SHOWN)


def _file_text(path: str, edits: Sequence[TrackedEdit]) -> str:
    became = edits[0].said if len(edits) == 1 else ""
    symbols = distinct((name for edit in edits for name in edit.symbols), 12)
    unsaid = listed([name for name in symbols if name not in became], _SHOWN)
    inside = ": ".join(filter(None, (unsaid, became)))
    return f"{path} ({inside})" if inside else path


def _failure(failure: TrackedFailure) -> str:
    times = f" {counted(failure.runs, 'time')}" if failure.runs > 1 else ""
    said = f" ({failure.said})" if failure.said else ""
    first = "first with" if failure.runs > 1 else "with"
    error = f", {first} {quoted(failure.error)}" if failure.error else ""
    return one_line(f"{failure.head} failed{times}{said}{error}", 500).rstrip(".")


def _error(failure: TrackedFailure) -> str:
    """Return the most specific words for what failed."""
    errors = [one for one in (failure.error, failure.last_error) if one]
    if said := next(filter(_is_specific, errors), "") or next(iter(failure.tests), ""):
        return said
    return f"{failure.head}: {errors[0]}" if errors else f"{failure.head} failed"


def _is_specific(error: str) -> bool:
    """Return True if an error says which failure of its check it is, unlike "Found 2 errors"."""
    return names(error) or names_its_subject(error)


def _facts(
    failures: Sequence[TrackedFailure], edits: Sequence[TrackedEdit], last: str
) -> tuple[str, ...]:
    facts = [f"$ {failures[0].head}"]
    facts += (f"error: {one.error}" for one in failures if one.error)
    facts += (
        f"then: {one.last_error}" for one in failures if one.last_error not in ("", one.error)
    )
    facts += (f"{'' if edit.kind in _DONE else 'changed '}{changes_text([edit])}" for edit in edits)
    return distinct((one_line(fact, FACT) for fact in (*facts[: FACTS - 1], last)), FACTS)


def _concepts(failure: TrackedFailure, edits: Sequence[TrackedEdit]) -> tuple[str, ...]:
    symbols = distinct((name for edit in edits for name in edit.symbols), 6)
    of_files = concepts_of(_paths(edits)[:3], symbols)
    return distinct((failure.check.tool, *of_files), CONCEPTS)


def _paths(edits: Iterable[TrackedEdit]) -> tuple[str, ...]:
    return distinct((edit.path for edit in edits), 40)


def _to_runs(kind: str, targets: Iterable[int], command: str) -> list[Link]:
    """Return links to runs of a command, with its text, as not all runs are kept as items."""
    return [Link(kind=kind, target=one, excerpt=command) for one in dict.fromkeys(targets)]


def _to_edits(kind: str, edits: Iterable[TrackedEdit]) -> list[Link]:
    said = {edit.item: edit.said if edit.kind in _DONE else "" for edit in edits}
    return [Link(kind=kind, target=one, excerpt=words) for one, words in said.items()]


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
