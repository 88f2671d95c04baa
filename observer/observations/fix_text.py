"""The text of fixes, as items.

Pure functions from the records of a project's state to items that link the observations of the
failure, of the changes and of the pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import orjson
from msgspec.structs import replace

from observer.commands import command_line
from observer.core.model import Item, Link, Recorded, item_id, item_uuid
from observer.core.text import base_name, counted, distinct, listed, one_line, quoted
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
from observer.observations.open_failures import EndedCommand, OpenFailure
from observer.observations.project_state import Alternative, TrackedEdit
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


def fix_item(
    failures: Sequence[OpenFailure], edits: Sequence[TrackedEdit], ran: EndedCommand
) -> Item:
    """Return the item of a fix, placed at the event of the pass.

    Args:
        failures: those that the pass resolves.
        edits: the changes that caused it.
        ran: the pass.
    """
    is_tests = all(edit.kind == "edit" and is_test(edit.path) for edit in edits)
    changed = f"{'the test was changed: ' if is_tests else ''}{changes_text(edits)}"
    result = f" ({ran.result.said})" if ran.result.said else ""
    said = f"{_failure(failures[0])}. After {changed}, {ran.head} passes{result}."
    symbols = distinct((name for edit in edits for name in edit.symbols), 6)
    paths = distinct((edit.path for edit in edits), 40)
    concepts = (failures[0].checks[0].tool, *concepts_of(paths[:3], symbols))
    draft = ObservationDraft(
        type="fix",
        title=one_line(f"Fixed: {_error(failures[0])}", TITLE),
        subtitle=one_line(f"{ran.head} passes after {changed}", SUBTITLE),
        narrative=one_line(said, NARRATIVE),
        facts=_facts(failures, edits, f"passes: {ran.head}{result}"),
        concepts=distinct(concepts, CONCEPTS),
        files_modified=paths,
        signature=next((one.signature for one in failures if one.signature), ""),
    )
    line = command_line.parse_command_line(ran.body.command).head
    links = [
        *(link for one in failures for link in _to_runs("fixes", one.items, one.head)),
        *_to_edits("edit", edits),
        *_to_runs("evidence", (ran.item,), line),
    ]
    made = _fix(draft, ran.recorded, links)
    return made if any(map(_says_what, edits)) else replace(made, kind="record")


def _says_what(edit: TrackedEdit) -> bool:
    """Return True if it is known what was changed, beside which file, which test, or by a fixer."""
    is_said = bool(edit.said) and edit.remedy != "fixer"
    return is_said or bool(edit.symbols and not is_test(edit.path))


def alternative_item(
    found: Alternative, remedies: Sequence[TrackedEdit], recorded: Recorded
) -> Item:
    """Return the item of a command that works in another form, placed at the first failure."""
    failed, works = found.failed.line, found.worked.line
    met = f"met {counted(found.times, 'time')}"
    error = f" ({quoted(found.error)})" if found.error else ""
    after = f" after {changes_text(remedies)}" if remedies else ""
    facts = [f"$ {failed}"]
    facts += [f"error: {found.error}"] if found.error else []
    facts += [changes_text([edit]) for edit in remedies]
    facts += [f"works: {works}", met]
    draft = ObservationDraft(
        type="fix",
        title=one_line(f"Use `{one_line(works, 60)}`: `{failed}` does not work here", TITLE),
        subtitle=one_line(f"`{works}` works where `{failed}` failed", SUBTITLE),
        narrative=one_line(
            f"`{failed}` does not work here{error}; `{works}` does{after}, {met}.", NARRATIVE
        ),
        facts=tuple(one_line(fact, FACT) for fact in facts),
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
    said = []
    for path, several in files.items():
        became = several[0].said if len(several) == 1 else ""
        symbols = distinct((name for edit in several for name in edit.symbols), 12)
        unsaid = listed([name for name in symbols if name not in became], _SHOWN)
        inside = ": ".join(filter(None, (unsaid, became)))
        said.append(f"{path} ({inside})" if inside else path)
    return listed(distinct((*said, *others), 40), _SHOWN)


def _failure(failure: OpenFailure) -> str:
    times = f" {counted(failure.runs, 'time')}" if failure.runs > 1 else ""
    said = f" ({failure.said})" if failure.said else ""
    first = "first with" if failure.runs > 1 else "with"
    error = f", {first} {quoted(failure.first_error)}" if failure.first_error else ""
    return one_line(f"{failure.head} failed{times}{said}{error}", 500).rstrip(".")


def _error(failure: OpenFailure) -> str:
    """Return the most specific words for what failed: more than "Found 2 errors"."""
    errors = [one for one in (failure.first_error, failure.error) if one]
    specific = [one for one in errors if names(one) or names_its_subject(one)]
    if said := next(iter([*specific, *failure.tests]), ""):
        return said
    return f"{failure.head}: {errors[0]}" if errors else f"{failure.head} failed"


def _facts(
    failures: Sequence[OpenFailure], edits: Sequence[TrackedEdit], last: str
) -> tuple[str, ...]:
    facts = [f"$ {failures[0].head}"]
    facts += (f"error: {one.first_error}" for one in failures if one.first_error)
    facts += (f"then: {one.error}" for one in failures if one.error not in ("", one.first_error))
    facts += (f"{'' if edit.kind in _DONE else 'changed '}{changes_text([edit])}" for edit in edits)
    return distinct((one_line(fact, FACT) for fact in (*facts[: FACTS - 1], last)), FACTS)


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
