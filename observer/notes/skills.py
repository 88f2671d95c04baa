"""Skills that nobody has written down: commands that were run after one another again and again.

Pure, and deterministic. A candidate is a `SKILL.md` that does nothing until a person puts it where
a client looks for skills.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from observer.core.model import Item
from observer.core.text import counted, one_line
from observer.notes.drafts import Draft
from observer.observations.drafts import FAILED, TITLE
from observer.shell import command_line

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
            for part in _parts(run):
                seen[tuple(item.title for item in part)].setdefault(session, part)
    often = {heads: found for heads, found in seen.items() if len(found) >= SESSIONS}
    kept = [heads for heads in often if not _is_inside_longer(heads, often)]
    kept.sort(key=lambda heads: (-len(often[heads]), -len(heads), heads))
    return _named([(heads, often[heads]) for heads in kept[:MOST]])


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


def _parts(run: Sequence[Item]) -> Iterable[list[Item]]:
    for first in range(len(run)):
        for length in range(2, min(LONGEST, len(run) - first) + 1):
            yield list(run[first : first + length])


def _is_inside_longer(
    heads: tuple[str, ...], often: dict[tuple[str, ...], dict[int, list[Item]]]
) -> bool:
    """Return True if a longer sequence holds this one and was run in as many sessions."""
    return any(
        len(longer) > len(heads)
        and len(found) >= len(often[heads])
        and any(longer[at : at + len(heads)] == heads for at in range(len(longer)))
        for longer, found in often.items()
    )


def _named(found: Sequence[tuple[tuple[str, ...], dict[int, list[Item]]]]) -> list[Draft]:
    named: dict[str, Draft] = {}
    for heads, sessions in found:
        words = ["-".join(_WORD.findall(head.lower())[:2]) for head in heads]
        base = "-then-".join(filter(None, words))[:_NAME_CHARS].strip("-") or "commands"
        number = 1
        while (name := base if number == 1 else f"{base}-{number}") in named:
            number += 1
        named[name] = Draft(f"{name}/SKILL.md", _text(name, heads, sessions))
    return list(named.values())


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
    lines += [f"{at}. `{_whole(item)}` (#{item.id})" for at, item in enumerate(newest, start=1)]
    return "\n".join([*lines, ""])


def _whole(item: Item) -> str:
    """Return the command line of an item, as it was run."""
    ran = next((fact[2:] for fact in item.facts if fact.startswith("$ ")), item.title)
    return one_line(ran, 300).replace("`", "'")
