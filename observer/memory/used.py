"""What became of what sessions were given unasked: known by what they did, not by what they said.

A given item was used if the same session later fetched it by its id, read or changed a file that it
names, changed a symbol that it names, or ran its command. That proves no cause: the session may
have done so anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

import msgspec

from observer.commands.command_line import parse_command_line, simple_commands
from observer.core.events import AnyBody, Command, FileRead, FileWrite, Search
from observer.core.filters import is_visible
from observer.core.model import Item, Project, Recorded, Session
from observer.core.own_tools import own_tool_name
from observer.core.text import relative
from observer.core.value import SymbolChanges, decode_json
from observer.local.given import Giving
from observer.memory.work import ReadOnce
from observer.search.recent_sessions import CommandForm, named_in
from observer.store.reader import StoreReader

FETCHES = frozenset({"get_observations", "fetch", "timeline"})
"""Tools of ours that are asked for items by their ids."""
KINDS = ("command", "file-read", "file-write", "search")
MOST = 400
"""Sessions of which it is kept in mind what they did."""
SYMBOL_CHARS = 4
"""A shorter name of a symbol is a word of any text."""
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d{1,18}")


class UsedItem(NamedTuple):
    """An item that was given, and by what act of the session it was used; empty for by none."""

    item: Item
    how: str


class GivenToSession(NamedTuple):
    """What a session was given at once, and what of it that session then used."""

    given: Giving
    session: Session
    items: tuple[UsedItem, ...]


class _Act(NamedTuple):
    """What a later event touched."""

    fetched: frozenset[int] = frozenset()
    files: tuple[str, ...] = ()
    symbols: frozenset[str] = frozenset()
    command: str = ""


_NOTHING = _Act()


class _Given(NamedTuple):
    """An item with its text, and the commands that it is about."""

    item: Item
    text: str
    commands: list[str]


def used(
    reader: StoreReader,
    givings: Iterable[Giving],
    *,
    project: Project | None,
    owner: str,
    limit: int,
) -> list[GivenToSession]:
    """Return what sessions were given, in a project or in all, with what became of each item.

    What was given to a session that is not known, or no more, is left out, as are items that are
    gone. Of the rest the first `limit` count.
    """
    of_sessions = ((given, _session(reader, given, project)) for given in givings)
    known = list(islice(((one, ran) for one, ran in of_sessions if ran), limit))
    ids = dict.fromkeys(number for given, _ in known for number in given.items)
    items = {
        one.id: _Given(one, "\n".join((one.title, one.narrative, *one.facts)), _commands(one))
        for one in reader.items(list(ids))
        if is_visible(one, owner)
    }
    found = []
    for given, session in known:
        later = [act for at_ms, act in _ACTS.of(reader, session) if at_ms >= given.at_ms]
        of_it = [items[number] for number in given.items if number in items]
        uses = tuple(UsedItem(one.item, _how(one, later)) for one in of_it)
        found.append(GivenToSession(given, session, uses))
    return found


def _session(reader: StoreReader, given: Giving, project: Project | None) -> Session | None:
    ran = reader.runs(given.client, given.session)
    number = ran.get(project.id) if project else max(ran.values(), default=None)
    return reader.session(number) if number else None


def _acts(recorded: Recorded) -> Iterator[tuple[int, _Act]]:
    if (act := _act(recorded)) != _NOTHING:
        yield recorded.event.at_ms, act


def _act(recorded: Recorded) -> _Act:
    body: AnyBody = recorded.event.body
    where = (recorded.root, recorded.event.cwd)
    if isinstance(body, Search) and own_tool_name(body.tool) in FETCHES:
        return _Act(fetched=frozenset(map(int, _NUMBER.findall(body.query))))
    if isinstance(body, FileRead):
        return _Act(files=tuple(relative(path, *where) for path in body.paths))
    if isinstance(body, FileWrite) and not body.error:
        known = body.symbols or SymbolChanges()
        paths = (*known.added, *known.changed, *known.resigned, *known.removed)
        names = {path.rpartition(".")[2] for path in paths}
        long = frozenset(name for name in names if len(name) >= SYMBOL_CHARS)
        return _Act(files=(relative(body.path, *where),), symbols=long)
    if isinstance(body, Command):
        return _Act(command=body.command)
    return _NOTHING


_ACTS = ReadOnce(KINDS, _acts, most=MOST)


def _how(one: _Given, later: Sequence[_Act]) -> str:
    """Return by which act an item was used, the plainest one; "" for by none."""
    item = one.item
    if any(item.id in act.fetched for act in later):
        return "fetched"
    files = list(dict.fromkeys(path for act in later for path in act.files))
    of_item = {*item.files_modified, *item.files_read} | named_in(one.text, files)
    if touched := next((path for path in files if path in of_item), ""):
        return f"touched {touched}"
    symbols = {name for act in later for name in act.symbols}
    if named := symbols and sorted(symbols.intersection(_WORD.findall(one.text))):
        return f"changed {named[0]}"
    ran = (act.command for act in later if one.commands and act.command)
    if command := next((each for line in ran for each in one.commands if _runs(line, each)), ""):
        return f"ran {command}"
    return ""


def _commands(item: Item) -> list[str]:
    """Return the commands that an item is about: what it ran, or what works in place of another."""
    if item.type == "fix" and item.metadata:
        with suppress(msgspec.MsgspecError):
            return [decode_json(item.metadata, CommandForm).works]
    lines = [fact.removeprefix("$ ") for fact in item.facts if fact.startswith("$ ")]
    return [parse_command_line(line).head for line in lines] if item.type == "command" else []


def _runs(line: str, command: str) -> bool:
    shown = (part.shown for part in simple_commands(line))
    is_in = any(f"{one} ".startswith(f"{command} ") for one in shown)
    return is_in or parse_command_line(line).head == command
