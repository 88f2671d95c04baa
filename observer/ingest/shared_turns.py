"""A session above several repositories: what was said in it belongs to each that it worked on.

A client that was started above them reports prompts, replies and ends from its own folder, but
edits and commands of where these are. The turns that worked in a repository, and the end, are
repeated there: a copy is an event like any other, so that a rebuild, a search and a purge of one
project need not know of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from observer.core.events import Command, Commit, Event, FileWrite, Intent, Prompt, Reply
from observer.core.model import Project, Recorded, Session
from observer.core.paths import is_inside
from observer.core.routes import COPIED, first_id
from observer.observations.session_lifecycle import SYNTHETIC
from observer.shell.command_line import parse_command_line
from observer.store.reader import StoreReader

Runs = Mapping[int, Session]
"""What one session of a client is in each project where it left an event, by the project's id."""


def may_share(event: Event) -> bool:
    """Return True if a session is named for an event, and it is no copy."""
    is_named = bool(event.session) and not event.session.startswith(SYNTHETIC)
    return is_named and first_id(event.id) == event.id


def copy_of(event: Event, project: Project, root: str) -> Event:
    """Return something said as it would have been reported from the root of a project.

    What its turn used is counted once, where it was reported.
    """
    said = event.body
    return replace(
        event,
        id=f"{first_id(event.id)}{COPIED}{project.uuid}",
        cwd=root,
        roots=(),
        body=replace(said, usage=None) if isinstance(said, Reply) else said,
    )


def said_before(event: Event, place: tuple[int, str], runs: Runs, log: StoreReader) -> list[Event]:
    """Return what was said in the turn of an event that is work, and is not in its project.

    Args:
        event: any event.
        place: its project, and the root of that.
        runs: its session in all projects that know it.
        log: the events before it.
    """
    project_id, root = place
    if not _is_work(event) or not _is_above(runs, project_id, root):
        return []
    return _missing(_turn(event.at_ms, runs, log), project_id)


def said_for(event: Event, runs: Runs, log: StoreReader) -> Iterator[tuple[int, str, Event]]:
    """Yield what was said in the turn of a prompt or a reply for each project that it worked in.

    With the project and its root, if it is not there.

    Args:
        event: any event.
        runs: its session in all projects that know it.
        log: the events until it, which itself is the last.
    """
    if not isinstance(event.body, Prompt | Reply) or not runs:
        return
    turn = _turn(event.at_ms, runs, log)
    until_ms = _next_prompt_ms(event.at_ms, runs, log) - 1
    for project_id, session in runs.items() if turn else ():
        since_ms = turn[0].event.at_ms
        near = log.recorded_near(session.id, from_ms=since_ms, to_ms=until_ms)
        root = next((one.root for one in near if _is_work(one.event)), "")
        if root and _is_above(runs, project_id, root):
            yield from ((project_id, root, one) for one in _missing(turn, project_id))


def ended_in(project_id: int, runs: Runs, log: StoreReader) -> Iterator[tuple[int, str]]:
    """Yield the other projects in which a session goes on that has ended, each with its root."""
    for other, session in runs.items():
        if other != project_id and session.ended_ms is None:
            last = log.recorded_near(session.id, from_ms=0, to_ms=sys.maxsize, newest=1)
            yield from ((other, one.root) for one in last if one.root)


def _is_work(event: Event) -> bool:
    """Return True if an event is of an act that does more than look."""
    body = event.body.of if isinstance(event.body, Intent) else event.body
    if isinstance(body, Command):
        return not parse_command_line(body.command).is_routine
    return isinstance(body, FileWrite | Commit)


def _is_above(runs: Runs, project_id: int, root: str) -> bool:
    """Return True if a session was in a folder above the root of a project."""
    folders = {one.cwd for other, one in runs.items() if other != project_id and one.cwd}
    return bool(root) and any(is_inside(root, os.path.realpath(folder)) for folder in folders)


def _turn(at_ms: int, runs: Runs, log: StoreReader) -> Sequence[Recorded]:
    """Return the prompt that stood at a time, and its replies, with all copies."""
    until_ms = _next_prompt_ms(at_ms, runs, log) - 1
    asked = [
        one
        for session in runs.values()
        for one in log.recorded_near(session.id, from_ms=0, to_ms=at_ms, kind="prompt", newest=1)
    ]
    since_ms = max((one.event.at_ms for one in asked), default=0)
    answered = (
        one
        for session in runs.values() if asked
        for one in log.recorded_near(session.id, from_ms=since_ms, to_ms=until_ms, kind="reply")
    )  # fmt: skip
    return [*(one for one in asked if one.event.at_ms == since_ms), *answered]


def _next_prompt_ms(at_ms: int, runs: Runs, log: StoreReader) -> int:
    later = (
        one.event.at_ms
        for session in runs.values()
        if session.last_ms > at_ms
        for one in log.recorded_near(
            session.id, from_ms=at_ms + 1, to_ms=sys.maxsize, kind="prompt"
        )
    )
    return min(later, default=sys.maxsize)


def _missing(turn: Sequence[Recorded], project_id: int) -> list[Event]:
    there = {first_id(one.event.id) for one in turn if one.project_id == project_id}
    said = {first_id(one.event.id): one.event for one in turn}
    return [event for name, event in said.items() if name not in there]
