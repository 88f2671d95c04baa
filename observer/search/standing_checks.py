"""Which runs of tests, linters and the like still say something: failures that passed are over.

A pass that found nothing new is no item; that there was one, only the state of its session knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from observer.commands import command_line
from observer.commands.check_tools import checker_of
from observer.core.model import Item, Session
from observer.observations import session_state
from observer.observations.drafts import FAILED


def is_check(item: Item) -> bool:
    """Return True if an item is a run of tests, a linter, a compiler or the like."""
    if item.type != "command":
        return False
    # The title is what the command chiefly ran, and what came of it if that was no success.
    ran = command_line.simple_commands(item.title.partition(": ")[0])
    return any(checker_of(part.words) for part in ran if part.words)


def standing_checks(items: Iterable[Item], sessions: Iterable[Session] = ()) -> Iterator[Item]:
    """Yield the checks among items, oldest first, without failures that passed later.

    What passed is known by a run of the same command, by a fix, or from the sessions.

    Raises:
        StoreUnavailable: a session's state is of another version; a rebuild makes it anew.
    """
    found = sorted(items, key=lambda each: (each.created_ms, each.id))
    links = (link for each in found if each.type == "fix" for link in each.links)
    fixed = {link.target for link in links if link.kind == "fixes"}
    checks = [each for each in found if is_check(each)]
    passed_ms = {_ran(_line(each)): each.created_ms for each in checks if each.category != FAILED}
    passed = {(session.id, _ran(head)) for session in sessions for head in _passed(session)}
    for each in checks:
        if each.category != FAILED or not (
            each.id in fixed
            or passed_ms.get(_ran(_line(each)), 0) > each.created_ms
            or (each.session_id, _ran(_line(each))) in passed
        ):
            yield each


def _passed(session: Session) -> Iterator[str]:
    """Yield what chiefly ran in the commands of a session that had passed when it ended."""
    known = session_state.decode(session.state)
    return (head for head, ran in known.commands.items() if ran.ok)


def _line(item: Item) -> str:
    """Return the command line of an item, which is its first fact."""
    return item.facts[0].removeprefix("$ ") if item.facts else ""


def _ran(line: str) -> str:
    """Return what a command line chiefly ran, whatever it was run by: `uv run`, or nothing."""
    parts = command_line.leading_commands(command_line.simple_commands(line))
    return "; ".join(" ".join(part.words) for part in parts)
