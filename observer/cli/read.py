"""The commands that look: at what is remembered, at what happens, and at pages and screens.

They ask the daemon, which has the index in memory; if it cannot answer (it is down, frozen, of
another version, or has other settings), this process reads the memory, with the same result.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import webbrowser
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TextIO, TypeVar

import click
import msgspec
import orjson

from observer.cli import completion, output
from observer.cli.commands import Given, command
from observer.cli.completion import of_daemon, request
from observer.cli.session import known_types, mention_unwritable, on_behalf, open_memory, written
from observer.clients.config_files.context import shipped
from observer.clients.registry import clients
from observer.core import moment
from observer.core.errors import BadInput, NotFound, ObserverError
from observer.core.moment import minute_of
from observer.core.paths import home, open_plain, working_folder
from observer.core.text import did_you_mean, extra_hint, one_line
from observer.local import client
from observer.tools.asking import (
    FIRST_SESSION,
    MOST_AROUND,
    MOST_RESULTS,
    NO_START,
    CommandReply,
    colour_of,
    nothing,
    scope_line,
)

FC = TypeVar("FC", bound=Callable[..., Any])
SCOPES = click.Choice(["home", "team"])
depth = partial(click.option, type=click.IntRange(0, MOST_AROUND), default=5, show_default=True)


@command("search", 'observer search "title:auth* NOT oauth" -n 5')
@click.argument("query", nargs=-1)
@output.scope_options
@click.option(
    "--limit", "-n", type=click.IntRange(1, MOST_RESULTS), help="So many, weak ones too; else 10."
)
@click.option("--type", default="", callback=known_types, help="Types, e.g. commit,decision.")
@click.option("--file", "files", multiple=True, help="Only what touched this file or folder.")
@completion.option("--session", completion.sessions, "Only of this session, by its id.")
@click.option("--branch", default="", help="Only of this git branch.")
@click.option("--since", default="", help="Only from then on: 2026-11-21, or 7d for ago.")
@click.option("--until", default="", help="Only before then.")
@click.option("--failed", is_flag=True, help="Only commands and tool calls that failed.")
@click.option("--by", default="", help="Only what this person shared or committed.")
@click.option("--mine", is_flag=True, help="Only your own, of all your machines.")
@click.option("--team", is_flag=True, help="Only what others share.")
@click.option("--notes", is_flag=True, help="Only notes.")
@click.option("--category", default="", help="Only notes of this category.")
@click.option("--weak", is_flag=True, help="Weak hits too, which are only counted otherwise.")
@click.option("--scope", type=SCOPES, default="home", help="team: ask the servers of shares too.")
@click.option("--explain", is_flag=True, help="Show the score and signals of each hit.")
def search_command(*, query: tuple[str, ...], **options: Given) -> None:
    """Find earlier work; without a query list the newest."""
    options["files"] = list(options["files"])
    options["everywhere"] |= options["scope"] == "team" and not options["project"]
    ask("search", query=" ".join(query), **options)


def _choice(flag: str, says: str) -> Callable[[FC], FC]:
    return click.option(flag, metavar="ID", shell_complete=completion.items, help=says)


@command("context", "observer context --client cursor --explain")
@output.named_project("Name, folder or remote; the one around the current folder if left out.")
@click.option("--client", default="", help="Whose session start, e.g. cursor; any if left out.")
@click.option("--explain", is_flag=True, help="What each line costs, and what is left out.")
@_choice("--hide", "Give this item to nobody unasked; a search finds it.")
@_choice("--pin", "Give this item among the first, while it fits.")
@_choice("--as-before", "Neither hide nor pin this item any more.")
def context_command(*, project: str | None, client: str, explain: bool, **choices: Given) -> None:
    """Print or choose what an agent is given when a session starts."""
    if made := [(how, item) for how, item in choices.items() if item is not None]:
        for how, item in made:
            given = on_behalf("/given", id=item, how="" if how == "as_before" else how)
            done = {"hide": "hidden", "pin": "pinned"}.get(how, "given as before")
            output.respond(given, f"#{given['id']} is {done}: {one_line(given['title'], 80)}")
        return
    if client and client not in clients():
        near = get_close_matches(client, clients(), n=1)
        hint = did_you_mean(near, "see: observer install --list")
        raise NotFound(f"no client {client!r}", hint=hint)
    if explain:
        ask("context explained", project=project, client=client)
        return
    mention_unwritable(home())
    printed = _printed(project, client)
    if output.as_json({"client": client, "context": printed}):
        return
    if printed:
        output.say(printed.rstrip("\n"), is_exact=True)
    else:
        output.note(NO_START)


def _printed(project: str | None, client: str) -> str:
    """Return what the hook prints that runs at the start of a client's sessions."""
    variables = os.environ | {"OBSERVER_HOME": str(home().root)}
    folder = str(working_folder())
    if project:
        with open_memory() as memory:
            roots = memory.project(project).roots
        folder = roots[-1] if roots else folder
        variables["CLAUDE_PROJECT_DIR"] = folder
    done = subprocess.run(  # noqa: S603 - a script of ours
        ["/bin/sh", str(shipped() / "context"), client],
        cwd=folder if os.path.isdir(folder) else "/",  # noqa: PTH112 - a name, as it came
        env=variables | {"PWD": folder},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
    )
    return done.stdout.decode(errors="replace")


@command("timeline", "observer timeline 142 --before 3 --after 3")
@click.argument("anchor", metavar="ID", shell_complete=completion.items)
@depth("--before", "-b", help="How many items before it.")
@depth("--after", "-a", help="How many items after it.")
def timeline_command(*, anchor: str, before: int, after: int) -> None:
    """Show what happened before and after an item, oldest first."""
    ask("timeline", anchor=anchor, depth_before=before, depth_after=after)


@command("why", "observer why src/auth.py::login")
@click.argument("target", metavar="FILE[:LINE|::NAME]")
def why_command(*, target: str) -> None:
    """Show the commits and sessions that made a piece of code."""
    ask("why", target=target)


@command("graph", "observer graph settle_invoice")
@click.argument("name")
@output.scope_options
@output.limit_option(3, "Most items of each sort.")
def graph_command(**options: Given) -> None:
    """Show what hangs on a file, symbol, package, error or person."""
    ask("related", **options)


@command("show", "observer show 142 s12")
@click.argument(
    "handles", nargs=-1, metavar="[ID]...", shell_complete=completion.items_and_sessions
)
@output.limit_option(50, "Most items of a session, its newest.")
def show_command(*, handles: tuple[str, ...], limit: int) -> None:
    """Show items, notes and sessions (s12); or the last session here."""
    ask("show", handles=handles, limit=limit)


@command("sessions", "observer sessions --active")
@output.scope_options
@click.option("--active", is_flag=True, help="Leave out sessions that are over.")
@output.limit_option(20, "Most sessions.")
def sessions_command(**options: Given) -> None:
    """List sessions of editors and shells, last active first."""
    scope, rows = rows_of("sessions", **options)
    if output.as_json(rows):
        return
    output.say(scope)
    why = "no session goes on" if options["active"] else "no session yet"
    more = "leave out --active" if options["active"] else FIRST_SESSION
    none = nothing(why, more, everywhere=scope == scope_line(""))
    names = ("client", "project", "status", "last_at", "events", "request")
    cells = []
    for row in rows:
        shown = row | {
            "last_at": minute_of(row["last_at"]),
            "request": one_line(row["request"], 200),
        }
        cells.append((f"s{row['id']}", *(shown[name] for name in names)))
    columns = ("id", "client", "project", "status", "last active", "events", "request")
    output.table(columns, cells, spare=("events", "status", "project", "client"), none=none)


def show_projects() -> None:
    """Print the projects that have memories."""
    _, rows = rows_of("projects")
    places = ("folders", "remotes")
    shown = ((row, [" ".join(row.get(one, ())) for one in places]) for row in rows)
    cells = ((row["name"], *texts, row["uuid"]) for row, texts in shown)
    columns = ("name", "folders", "remotes", "uuid")
    output.table(columns, cells, spare=("uuid", "remotes"), value=rows)


@command("today", "observer today --days 7 --all")
@output.scope_options
@click.option("--days", type=click.IntRange(1, 366), default=1, help="So many, today included.")
def today_command(*, days: int, **options: Given) -> None:
    """Show what happened: sessions, commits, files, fixes, notes."""
    ask("account", days=days, **options)


def ask(question: str, **arguments: object) -> None:
    """Print the answer to a question. Raises ObserverError: it is wrong, if only in part."""
    reply = answer(question, is_json=output.wants_json(), **arguments)
    if reply.text is not None and output.wants_json():
        sys.stdout.buffer.write(output.escaped(reply.text.encode()) + b"\n")
    elif reply.text is not None:
        output.say("\n".join(filter(None, (reply.scope, reply.text))))
    if reply.problem is not None:
        raise _error(reply)


def rows_of(question: str, **arguments: object) -> tuple[str, list[dict[str, Any]]]:
    """Return an answer's first line, and its rows. Raises ObserverError: the question is wrong."""
    scope, text = text_of(question, is_json=True, **arguments)
    return scope, orjson.loads(text)


def text_of(question: str, *, is_json: bool, **arguments: object) -> tuple[str, str]:
    """Return an answer's first line, and its text or JSON. Raises ObserverError: it is wrong."""
    reply = answer(question, is_json=is_json, **arguments)
    if reply.problem is not None or reply.text is None:
        raise _error(reply)
    return reply.scope, reply.text


def answer(question: str, *, is_json: bool, **arguments: object) -> CommandReply:
    """Return the answer, the daemon's if it has one. Raises StoreUnavailable, ConfigInvalid."""
    asked = request(question, is_json=is_json, **arguments)
    if found := of_daemon(asked):
        return found
    from observer.tools.questions import reply  # noqa: PLC0415 - half a second, where no daemon is

    with open_memory() as memory:
        return reply(memory, asked)


def _error(reply: CommandReply) -> ObserverError:
    return client.error_of(msgspec.to_builtins(reply.problem) or {})


Row = dict[str, Any]  # of the question "happened"

LOOK_S = 0.3
RECENT = 200
"""Items, the newest, among which is looked for what is new."""
_STAMP = re.compile(r"\A(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{3}Z")


@command("log", "observer log --follow")
@click.option("--follow", "-f", is_flag=True, help="Go on as things happen, until Ctrl-C.")
@click.option("--daemon", is_flag=True, help="What the daemon says of its work instead.")
@output.limit_option(20, "Most lines.", most=RECENT)
@output.scope_options
def log_command(*, follow: bool, daemon: bool, limit: int, **scope: Given) -> None:
    """Show turns, and what was done, line by line."""
    if daemon:
        _show_daemons(follow=follow, limit=limit)
        return
    if follow:
        client.ensure_daemon(home())
    for row in _lines(limit, scope, follow=follow):
        if not output.as_json(row):
            before = (minute_of(row["created_at"])[5:], row.get("project", "-"))
            colour = colour_of(row["type"], failed=row["failed"])
            cells, title = zip(before, (11, 14), strict=True), one_line(row["title"], 300)
            output.marked_line(cells, row["type"], title, colour=colour)
        sys.stdout.flush()


def _lines(limit: int, scope: dict[str, Any], *, follow: bool) -> Iterator[Row]:
    """Yield the last lines of what happened; with `follow` go on without end."""
    seen, stamp = set[tuple[int, str]](), written()
    where, found = rows_of("happened", limit=RECENT, records=True, **scope)
    from_ms = found[-1]["at_ms"] if len(found) == RECENT else 0
    lines = list(_unseen(found, seen, from_ms))[-limit:]
    if not output.wants_json():
        output.say(where)
        if not lines:
            whole = where == scope_line("")
            output.say(nothing("nothing is recorded yet", FIRST_SESSION, everywhere=whole))
    yield from lines
    while follow:
        while (now := written()) == stamp:
            time.sleep(LOOK_S)
        stamp = now
        _, found = rows_of("happened", limit=RECENT, records=True, **scope)
        yield from _unseen(found, seen, from_ms)


def _unseen(rows: Sequence[Row], seen: set[tuple[int, str]], from_ms: int) -> Iterator[Row]:
    """Yield what is new among rows, the oldest first; a turn is followed by its reply.

    What is older than `from_ms` comes up where others are deleted, and is not new.
    """
    replies = [{**row, **row["reply"], "type": "reply"} for row in reversed(rows) if row["reply"]]
    for each in sorted([*reversed(rows), *replies], key=lambda row: int(row["at_ms"])):
        key = (each["id"], each["type"])
        if each["at_ms"] >= from_ms and key not in seen:
            seen.add(key)
            yield each


def _show_daemons(*, follow: bool, limit: int) -> None:
    path = home().logs / "daemon.log"
    try:
        file = _opened(path)
    except FileNotFoundError as error:
        raise NotFound(f"there is no {path}", hint="start the daemon: observer up") from error
    with file:
        last = deque(file, limit)
        for line in last:
            _show_line(line)
        if not (last or output.wants_json()):
            output.note("nothing is logged yet; to hear more: observer config set log_level debug")
        for line in _following(path, file) if follow else ():
            _show_line(line)


def _show_line(line: str) -> None:
    text = line.rstrip("\n")
    if not output.as_json(text):
        local = _STAMP.sub(lambda at: moment.second_of(f"{at[1]}Z"), text)
        output.say(local if moment.is_local() else text)


def _opened(path: Path) -> TextIO:
    return os.fdopen(open_plain(path, os.O_RDONLY), encoding="utf-8", errors="replace")


def _following(path: Path, file: TextIO) -> Iterator[str]:
    """Yield lines as they are written, also into the file that follows a full one."""
    while True:
        yield from file
        if path.exists() and path.stat().st_ino != os.fstat(file.fileno()).st_ino:
            file.close()
            file = _opened(path)
        sys.stdout.flush()
        time.sleep(LOOK_S)


@command("web", "observer web --no-open")
@click.option("--no-open", is_flag=True, help="Print the link, and open no browser.")
@click.option("--logout", is_flag=True, help="Let no browser look any more that may until now.")
def web_command(*, no_open: bool, logout: bool) -> None:
    """Look at the memory in a browser, by a link that opens once."""
    output.refuse_agents("an agent opens no pages: what is changed there is a person's word")
    client.ensure_daemon(home())
    if logout:
        answer = client.call(home(), "DELETE", "/web")
        none = "no browser was logged in"
        output.respond(answer, "every browser is logged out" if answer["logged_out"] else none)
        return
    answer = client.call(home(), "POST", "/web")
    is_opened = not no_open and webbrowser.open(answer["url"])
    if output.as_json({**answer, "opened": is_opened}):
        return
    if is_opened:
        output.say("opened in your browser")
        return
    for name in [one for one in ("url", "proxied") if one in answer]:
        output.say(answer[name], is_exact=True)  # whole, however narrow the terminal is
    output.note(f"it opens once, within {answer['seconds']} s")


@command("tui", "observer tui")
def tui_command() -> int:
    """Look at the memory on the whole terminal, and settle notes."""
    if output.wants_json() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        hint = "for scripts: observer search, observer sessions, observer note review"
        raise BadInput("the screens need a terminal", hint=hint)
    try:
        run = resolve_name("observer.cli.screens.app:run")
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "textual":
            raise
        message = "observer tui needs the package textual"
        raise ObserverError(message, hint=extra_hint("tui")) from error
    client.ensure_daemon(home())
    code: int = run()
    return code
