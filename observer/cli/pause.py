"""`observer pause`: when, where and of whom nothing is recorded."""

from __future__ import annotations

from pathlib import Path

import click

from observer.cli import completion, output
from observer.cli.commands import command
from observer.cli.session import open_memory
from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound, ObserverError
from observer.core.moment import coming_ms
from observer.core.paths import home, working_folder
from observer.local.pauses import EVERYWHERE, OF_SESSION, UNENDING_MS
from observer.local.spool import Spool
from observer.projects import detect_place
from observer.tools.status import Paused, paused, paused_text


@command("pause", "observer pause --for 1h --project .")
@click.option("--for", "span", default="", help="How long: 30min, 1h, 2d; until resumed if absent.")
@output.named_project("Only in this project, by name, folder or remote; . is the one around you.")
@completion.option("--session", completion.sessions, "Only this session, by its id.")
@click.option(
    "--end", "ends", is_flag=True, help="Record again: end all pauses, or the named ones."
)
def pause_command(*, span: str, project: str | None, session: str, ends: bool) -> None:
    """Record nothing for a while: everywhere, here, or of a session."""
    output.refuse_agents("an agent neither pauses nor resumes recording")
    if ends:
        if span:
            raise BadInput("what ends now has no length", hint="leave out --for")
        ended = Spool(home().spool).pauses.end(_scopes(project, session) or None, now_ms=now_ms())
        _report("resumed", [paused(one) for one in ended])
        return
    at_ms = now_ms()
    until_ms = coming_ms(span, now_ms=at_ms) or UNENDING_MS
    scopes = _scopes(project, session) or [EVERYWHERE]
    begun = Spool(home().spool).pauses.begin(scopes, from_ms=at_ms, until_ms=until_ms)
    _report("paused", [paused(one) for one in begun])
    if session:
        try:
            with open_memory() as memory:
                memory.accounts.of_session(session, limit=1)
        except NotFound:
            slip = "if that is a slip, see observer sessions"
            output.note(f"no session {session} is known yet: {slip}")
        except ObserverError:  # without a memory nothing is known of any
            return


def _scopes(project: str | None, session: str) -> list[str]:
    if project and session:
        raise BadInput("a session is paused wherever it is", hint="leave out --project")
    if session.isdecimal():  # ours; pauses know the client's own id, also one not yet heard of
        with open_memory() as memory:
            found = memory.session_names([int(session)])
        if not found:
            raise NotFound(f"there is no session {session}", hint="list them: observer sessions")
        session = found[int(session)]
    if session:
        return [OF_SESSION + session]
    return _roots(project) if project else []


def _roots(handle: str) -> list[str]:
    """Return the folders of a project; of an unknown one its work tree."""
    here = detect_place(handle).root if Path(handle).is_dir() else ""
    try:
        with open_memory() as memory:
            known = memory.project(handle).roots
    except ObserverError as error:
        if (working_folder() / handle).is_dir() and not Path(handle).is_absolute():
            hint = f"for the project around the folder {handle}: --project ./{handle}"
            raise NotFound(error.message, hint=hint) from error
        if not here:
            raise
        known = ()
    if Path(handle).is_absolute() and not (here or handle in known):
        hint = "name the project, or a folder that is there"
        raise NotFound(f"there is no folder {handle}", hint=hint)
    return list(dict.fromkeys((*known, *([here] if here else []))))


def _report(done: str, pauses: list[Paused]) -> None:
    begins = done == "paused"
    lines = [f"{done} {paused_text(one) if begins else one.where}" for one in pauses]
    lines += ["record again with: observer pause --end"] * begins
    output.respond({done: pauses}, "\n".join(lines) or "nothing was paused")
