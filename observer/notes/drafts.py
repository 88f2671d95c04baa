"""Drafts of notes from what the memory holds: decision records, runbooks, how a project is tested.

Pure, and deterministic: the same items give the same Markdown. Every line ends in the id of the
item that it is taken from, in the syntax of notes, so that a draft that a person keeps as a file
is a note like any other. What imitates the markup of a model is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from observer.core.model import Item, Session, iso
from observer.core.text import counted, one_line
from observer.observations.drafts import FAILED
from observer.search.standing_checks import is_check, standing_checks

NAME_CHARS = 60
ERROR = "error: "
LINE_CHARS = 400
MOST_LINES = 30
"""Lines of one section; the newest are kept."""
OFTEN = 2
"""Times that a check must have passed to be how a project is tested, where any has."""


class Draft(NamedTuple):
    """A draft: its text, and the path that it is written to below a folder."""

    path: str
    text: str


class Section(NamedTuple):
    """A heading and the items below it: what their lines begin with, and which they are."""

    heading: str
    category: str
    holds: Callable[[Item], bool]


def _of(*types: str) -> Callable[[Item], bool]:
    return lambda item: item.type in types


SECTIONS = (
    Section("Asked", "asked", _of("turn")),
    Section("Decided", "decision", _of("decision", "constraint", "rule", "preference")),
    Section("Why", "finding", _of("heuristic", "fact")),
    Section("Tried and dropped", "rejected", _of("rejected")),
    Section("Resolved", "fix", _of("fix")),
    Section("Done", "commit", _of("commit")),
)


def decision_record(title: str, items: Iterable[Item], sessions: Sequence[Session] = ()) -> Draft:
    """Return the record of a session or topic: what was asked, decided, found, tried and done.

    `sessions` are those whose last passes count, besides the passes among the items.
    """
    usable = _usable(items)
    parts = [
        (section.heading, [_line(section.category, _said(item), item) for item in found])
        for section in SECTIONS
        if (found := [item for item in usable if section.holds(item)])
    ]
    standing = standing_checks(usable, sessions)
    checks = {item.title.partition(":")[0]: item for item in standing}
    parts.append(("Checked", [_line("check", _outcome(item), item) for item in checks.values()]))
    parts.append(("Open", list(_open(usable))))
    return _document(title, "decision", parts)


def runbook(fixes: Iterable[Item]) -> Draft:
    """Return what to do about a failure, from the fixes of it; the newest fix is first.

    There has to be a fix.
    """
    known = sorted(_usable(fixes), key=lambda item: (-item.created_ms, -item.id))
    newest = known[0]
    title = newest.title.removeprefix("Fixed: ")
    facts = [(fact, item) for item in known for fact in item.facts]
    errors = [(fact[len(ERROR) :], item) for fact, item in facts if fact.startswith(ERROR)]
    others = [(fact, item) for fact, item in facts if not fact.startswith(ERROR)]
    steps = [_line("fix", f"{iso(item.created_ms)[:10]}: {_said(item)}", item) for item in known]
    return _document(
        f"Runbook: {title}",
        "runbook",
        [
            ("Symptom", [_line("error", *each) for each in _first(errors)]),
            (f"What helped, {counted(len(known), 'time')}", steps),
            ("Facts", [_line("fact", *each) for each in _first(others)]),
        ],
    )


def testing(project: str, runs: Iterable[Item]) -> Draft:
    """Return how a project is checked: the commands that passed, the most often used first."""
    of_head: dict[str, list[Item]] = {}
    for item in _usable(runs):
        if is_check(item) and item.category != FAILED:
            of_head.setdefault(item.title, []).append(item)
    often = {head: passed for head, passed in of_head.items() if _times(passed) >= OFTEN}
    ranked = sorted((often or of_head).items(), key=lambda pair: (-_times(pair[1]), pair[0]))
    lines = [
        _line(
            "check",
            f"`{head}` passed {counted(_times(passed), 'time')},"
            f" last on {iso(passed[-1].created_ms)[:10]}",
            passed[-1],
        )
        for head, passed in ranked[:MOST_LINES]
    ]
    return _document(f"How we test {project}", "testing", [("Commands that pass", lines)])


def _usable(items: Iterable[Item]) -> list[Item]:
    """Return items oldest first, without those that may carry somebody's instructions."""
    trusted = (item for item in items if not item.suspicion and item.approval != "provisional")
    return sorted(trusted, key=lambda item: (item.created_ms, item.id))


def _times(items: Sequence[Item]) -> int:
    return sum(item.folded for item in items)


def _said(item: Item) -> str:
    """Return what an item says in its own words: the text of notes, the title of what happened."""
    if item.type == "turn" and item.narrative:
        return f"{item.title}: {item.narrative}"
    return item.narrative if item.kind == "note" or item.type == "fix" else item.title


def _outcome(item: Item) -> str:
    return f"{item.title}{'' if item.category == FAILED else ' passed'}"


def _open(items: Sequence[Item]) -> Iterable[str]:
    for item in items:
        if item.summary and item.summary.next_steps:
            yield _line("next", item.summary.next_steps, item)


def _first(pairs: Sequence[tuple[str, Item]]) -> list[tuple[str, Item]]:
    """Return each text once, with the first item that says so."""
    return list({text: (text, item) for text, item in reversed(pairs)}.values())[::-1]


def _line(category: str, text: str, item: Item) -> str:
    plain = one_line(text, LINE_CHARS).replace("[[", "[ [") or "(no words)"
    return f"- [{category}] {plain} (#{item.id})"


def _document(title: str, kind: str, parts: Iterable[tuple[str, Sequence[str]]]) -> Draft:
    name = one_line(title, 100).replace('"', "'").replace("\\", "/")
    lines = ["---", f'title: "{name}"', f"type: {kind}", "status: draft", "---", "", f"# {name}"]
    for heading, said in parts:
        if said:
            left_out = len(said) - MOST_LINES
            lines += ["", f"## {heading}", "", *said[-MOST_LINES:]]
            lines += [f"- ({left_out} older left out)"] if left_out > 0 else []
    return Draft(f"{slug(name)}.md", "\n".join([*lines, ""]))


def slug(title: str) -> str:
    """Return a title as the name of a file: its words, joined by hyphens."""
    return "-".join(re.findall(r"\w+", title.lower()))[:NAME_CHARS].strip("-") or "draft"
