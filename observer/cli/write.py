"""The commands that put something in: notes through the daemon, events through the spool."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any, get_args

import click
import orjson

from observer.cli import output
from observer.cli.commands import Given, command
from observer.cli.session import TYPES, nearly, on_behalf
from observer.clients import generic
from observer.clients.registry import attribute
from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.events import Layer, Scope
from observer.core.json_text import dump
from observer.core.moment import coming_ms
from observer.core.paths import home, working_folder
from observer.core.text import counted
from observer.local import client
from observer.local.spool import Spool

SCOPES, LAYERS = click.Choice(get_args(Scope)), click.Choice(get_args(Layer))


@command("remember", 'observer remember "Tests need Redis" --type constraint')
@click.argument("content", nargs=-1, required=True, metavar="TEXT...|-")
@click.option("--title", default="", help="A short name; the first line of the text if left out.")
@click.option("--type", default="fact", show_default=True, help="decision, constraint, rule ...")
@click.option("--key", default="", help="Replace the note that is kept under this key.")
@click.option("--category", default="", help="Groups notes, such as architecture.")
@click.option("--confidence", default=0.5, show_default=True, help="How sure, from 0 to 1.")
@click.option("--scope", default="project", show_default=True, type=SCOPES, help="Who it is for.")
@click.option("--layer", type=LAYERS, help="past: stays; state: changes; rule.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--supersedes", type=int, multiple=True, help="Id of a note that no longer holds.")
@click.option("--amends", type=int, multiple=True, help="Id of a note that this corrects.")
@click.option("--expires", default="", help="When it stops to hold: 2027-01-31, or 30d from now.")
@output.named_project("Name, folder or remote; the one around the current folder.")
def remember_command(*, content: tuple[str, ...], expires: str, **fields: Given) -> None:
    """Keep a note: a decision, a constraint; - reads it from stdin."""
    text = sys.stdin.read() if content == ("-",) else " ".join(content)
    until = coming_ms(expires, now_ms=now_ms())
    about = {**fields, "content": text, "cwd": str(working_folder())}
    kept = on_behalf("/remember", **about, expires_ms=until)
    if output.as_json(kept):
        return
    where = f" in {kept['project']}" if kept["project"] else ""
    output.say(f"{'updated' if kept['updated'] else 'remembered'} as #{kept['id']}{where}")
    if kept["approval"] == "provisional":
        output.note(f"it waits for a person: observer note approve {kept['id']}")
    if kept["suspicion"]:
        text = f"it imitates the markup of a model ({kept['suspicion']}), and is put before none"
        output.note(text)
    for near in kept["near"]:
        output.note(near["stands"])
        command = f"observer note link {kept['id']} {near['id']} --kind supersedes"
        output.note(f"  if it no longer holds: {command}")
    if kept["dangling"]:
        output.note("no note is called so yet: " + ", ".join(kept["dangling"]))
    if near := nearly(fields["type"], TYPES):
        output.note(f"{fields['type']} is a type of its own; for {near}:")
        output.note(f"  observer note edit {kept['id']} --type {near}")


@command("post", 'observer post command command="make test" exit_code:=2')
@click.argument("kind", required=False)
@click.argument("fields", nargs=-1, metavar="[NAME=TEXT|NAME:=JSON]...")
@click.option("--wait", is_flag=True, help="Start the daemon and return once it is stored.")
def post_command(*, kind: str | None, fields: tuple[str, ...], wait: bool) -> None:
    """Report an event, or several as JSON on stdin."""
    given = _from_stdin() if kind is None else [{"kind": kind, **dict(map(_field, fields))}]
    reports = [_surrounded(report) for report in given]
    if wait:
        client.ensure_daemon(home())
        receipts = client.call(home(), "POST", "/events", reports)
    else:
        receipts = [_spooled(report) for report in reports]
    done = f"spooled {counted(len(receipts), 'event')}"
    if wait:
        known = sum(bool(each["id"]) for each in receipts if not each["stored"])
        stored = sum(each["stored"] for each in receipts)
        purged = sum(each.get("purged", False) for each in receipts)
        excluded = len(receipts) - stored - known - purged
        whys = (
            (known, "known already"),
            (purged, "purged and left out"),
            (excluded, "of excluded folders left out"),
        )
        done = f"stored {counted(stored, 'event')}"
        done += "".join(f", {count} {why}" for count, why in whys if count)
    output.respond(receipts, done)
    if ignored := sorted({name for each in receipts for name in each.get("ignored", ())}):
        output.note(f"not kept, since such events have no such field: {', '.join(ignored)}")


def _from_stdin() -> list[Any]:
    given, hint = sys.stdin.buffer.read(), "give a kind and fields, or JSON on stdin"
    if not given.strip():
        raise BadInput("nothing came on stdin", hint=hint)
    try:
        payload = orjson.loads(given)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"stdin is not JSON: {error}", hint=hint) from error
    return payload if isinstance(payload, list) else [payload]


def _field(text: str) -> tuple[str, Any]:
    name, mark, value = text.partition("=")
    if not mark or not name.rstrip(":"):
        raise BadInput(f"{text!r} is no field", hint="write NAME=TEXT, or NAME:=JSON")
    if not name.endswith(":"):
        return name, value
    try:
        return name[:-1], orjson.loads(value)
    except orjson.JSONDecodeError as error:
        hint = "for text, write NAME=TEXT"
        raise BadInput(f"{value!r} is not JSON: {error}", hint=hint) from error


def _surrounded(report: Any) -> Any:  # noqa: ANN401 - JSON, judged by `generic.report`
    """Return a report with what only this process knows; what it says itself stands."""
    if not isinstance(report, dict):
        return report
    who = attribute(os.environ)
    around = {
        "client": who.client or generic.NAME,
        "session": who.session,
        "author": who.author,
        "cwd": str(working_folder()),
        "host": socket.gethostname(),
        "at": now_ms(),
    }
    return {**around, **report}


def _spooled(report: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    generic.report(report, entry_id="check", at_ms=now_ms())
    spool = Spool(home().spool)
    spool.prepare()
    id_ = spool.append({"client": generic.NAME, "event": report["kind"]}, dump(report))
    unknown = generic.ignored(report)
    return {"id": id_, "stored": False, **({"ignored": unknown} if unknown else {})}
