"""Drafts of notes from what the memory holds: decision records, runbooks, how a project is tested.

The same items give the same Markdown. Every line ends in the id of the item that it is from.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

from msgspec.structs import replace

from observer.commands import command_line
from observer.core.model import Item, Session, iso
from observer.core.text import counted, one_line
from observer.notes.values import free_name
from observer.observations.drafts import FAILED, TITLE
from observer.search.code_history import is_check, standing_checks

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
    """A heading and the items below it: what their lines begin with, and their types."""

    heading: str
    category: str
    types: tuple[str, ...]


SECTIONS = (
    Section("Asked", "asked", ("turn",)),
    Section("Decided", "decision", ("decision", "constraint", "rule", "preference")),
    Section("Why", "finding", ("heuristic", "fact")),
    Section("Tried and dropped", "rejected", ("rejected",)),
    Section("Resolved", "fix", ("fix",)),
    Section("Done", "commit", ("commit",)),
)
TYPES = tuple(type_ for section in SECTIONS for type_ in section.types)
"""What a draft about a topic is made of."""


def decision_record(title: str, items: Iterable[Item], sessions: Sequence[Session] = ()) -> Draft:
    """Return the record of a session or topic: what was asked, decided, found, tried and done.

    `sessions` are those whose last passes count, besides the passes among the items.
    """
    usable = _usable(items)
    parts = [
        (section.heading, [_line(section.category, _said(item), item) for item in found])
        for section in SECTIONS
        if (found := [item for item in usable if item.type in section.types])
    ]
    standing = standing_checks(usable, sessions)
    checks = {item.title.partition(":")[0]: item for item in standing}
    ended = [(item, "" if item.category == FAILED else " passed") for item in checks.values()]
    parts.append(("Checked", [_line("check", item.title + how, item) for item, how in ended]))
    left = [(item, item.summary.next_steps) for item in usable if item.summary]
    parts.append(("Open", [_line("next", steps, item) for item, steps in left if steps]))
    return _document(title, "decision", parts)


def runbook(fixes: Iterable[Item]) -> Draft:
    """Return what to do about a failure, from its fixes, at least one; the newest is first."""
    known = sorted(_usable(fixes), key=lambda item: (-item.created_ms, -item.id))
    newest = known[0]
    title = newest.title.removeprefix("Fixed: ")
    errors, others = dict[str, Item](), dict[str, Item]()
    for item in known:
        for fact in item.facts:
            kind = errors if fact.startswith(ERROR) else others
            kind.setdefault(fact.removeprefix(ERROR), item)  # the newest that says so
    steps = [_line("fix", f"{iso(item.created_ms)[:10]}: {_said(item)}", item) for item in known]
    return _document(
        f"Runbook: {title}",
        "runbook",
        [
            ("Symptom", [_line("error", *each) for each in errors.items()]),
            (f"What helped, {counted(len(known), 'time')}", steps),
            ("Facts", [_line("fact", *each) for each in others.items()]),
        ],
    )


def testing(project: str, runs: Iterable[Item]) -> Draft:
    """Return how a project is checked: the commands that passed, the most often used first."""
    times, last = Counter[str](), dict[str, Item]()
    for item in _usable(runs):
        if is_check(item) and item.category != FAILED:
            times[item.title] += item.folded
            last[item.title] = item
    often = {head: count for head, count in times.items() if count >= OFTEN}
    lines = []
    for head, count in sorted((often or times).items(), key=lambda one: (-one[1], one[0])):
        on = iso(last[head].created_ms)[:10]
        passed = f"`{head}` passed {counted(count, 'time')}, last on {on}"
        lines.append(_line("check", passed, last[head]))
    parts = [("Commands that pass", lines[:MOST_LINES])]
    return _document(f"How we test {project}", "testing", parts)


def _usable(items: Iterable[Item]) -> list[Item]:
    """Return items oldest first, without those that may carry somebody's instructions."""
    trusted = (item for item in items if not item.suspicion and item.approval != "provisional")
    return sorted(trusted, key=lambda item: (item.created_ms, item.id))


def _said(item: Item) -> str:
    """Return what an item says in its own words: the text of notes, the title of what happened."""
    if item.type == "turn" and item.narrative:
        return f"{item.title}: {item.narrative}"
    return item.narrative if item.kind == "note" or item.type == "fix" else item.title


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


LONGEST = 5
"""Commands of one skill."""
SESSIONS = 3
"""Sessions that must have run a sequence."""
APART_MS = 1_800_000
"""Commands further apart do not belong together."""
MOST = 20
_NAME_CHARS = 50
_WORD = re.compile(r"[a-z][a-z0-9]+")


def skills(commands: Iterable[Item]) -> list[Draft]:
    """Return the sequences that several sessions ran and that ended green, most used first."""
    trusted = (item for item in commands if item.type == "command" and not item.suspicion)
    runs = sorted(trusted, key=lambda item: (item.session_id or 0, item.created_ms, item.id))
    seen: defaultdict[tuple[str, ...], dict[int, list[Item]]] = defaultdict(dict)
    for session, of_session in groupby(runs, key=lambda item: item.session_id or 0):
        for run in _unbroken(list(of_session)):
            for first, last in combinations(range(len(run) + 1), 2):
                if 2 <= last - first <= LONGEST:
                    part = run[first:last]
                    seen[tuple(item.title for item in part)].setdefault(session, part)
    often = {heads: found for heads, found in seen.items() if len(found) >= SESSIONS}
    # What a longer sequence holds that as many sessions ran is left out.
    inner = {
        longer[first:last]
        for longer, found in often.items()
        for first, last in combinations(range(len(longer) + 1), 2)
        if last - first < len(longer) and len(found) >= len(often.get(longer[first:last], ()))
    }
    kept = sorted(often.keys() - inner, key=lambda one: (-len(often[one]), -len(one), one))
    named: dict[str, Draft] = {}
    for heads in kept[:MOST]:
        words = ["-".join(_WORD.findall(head.lower())[:2]) for head in heads]
        base = "-then-".join(filter(None, words))[:_NAME_CHARS].strip("-") or "commands"
        name = free_name(base, named)
        named[name] = Draft(f"{name}/SKILL.md", _text(name, heads, often[heads]))
    return list(named.values())


def _unbroken(items: Sequence[Item]) -> list[list[Item]]:
    """Return the runs of commands that passed close after one another, repetitions left out."""
    failed_ms = [item.created_ms for item in items if item.category == FAILED]
    runs: list[list[Item]] = [[]]
    for item in items:
        late = runs[-1] and item.created_ms - runs[-1][-1].created_ms > APART_MS
        # What failed among the commands of one record stands at no place in it.
        is_broken = item.category == FAILED or any(
            item.created_ms < at_ms <= item.updated_ms for at_ms in failed_ms
        )
        if late or is_broken:
            runs.append([])
        for one in () if is_broken else _each(item):
            if not (runs[-1] and runs[-1][-1].title == one.title):
                runs[-1].append(one)
    return runs


def _each(item: Item) -> Iterable[Item]:
    """Yield the commands of a record as if each had one of its own."""
    ran = [fact for fact in item.facts if fact.startswith("$ ")]
    if len(ran) < 2:
        yield item
        return
    for fact in ran:
        head = one_line(command_line.parse_command_line(fact[2:]).head, TITLE)
        yield replace(item, title=head, facts=(fact,))


def _text(name: str, heads: Sequence[str], sessions: dict[int, list[Item]]) -> str:
    newest = max(sessions.values(), key=lambda items: items[-1].created_ms)
    does = one_line(", then ".join(f"`{head}`" for head in heads), 300).replace('"', "'")
    ran = f"{counted(len(sessions), 'session')} ran these commands in this order, and all passed"
    lines = [
        "---",
        f"name: {name}",
        f'description: "Run {does}. Use it when this project needs these steps together."',
        "---",
        "",
        f"# {name}",
        "",
        f"A candidate: {ran}.",
        "",
    ]
    for at, item in enumerate(newest, start=1):
        ran = next((fact[2:] for fact in item.facts if fact.startswith("$ ")), item.title)
        lines.append(f"{at}. `{one_line(ran, 300).replace('`', chr(39))}` (#{item.id})")
    return "\n".join([*lines, ""])
