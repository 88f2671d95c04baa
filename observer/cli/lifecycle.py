"""The commands `up`, `down` and `status`."""

from __future__ import annotations

import click
import msgspec

from observer.cli.output import as_json, fields, json_option, note, respond, say
from observer.cli.read import show_projects
from observer.cli.session import mention_paused
from observer.core.clock import iso_ms, now_ms
from observer.core.moment import minute
from observer.core.paths import home
from observer.core.text import age_text, counted, size_text
from observer.local import client
from observer.tools.status import Status, current, paused_text, spent_text, waiting_text
from observer.upkeep import home_guard

WAIT_S = 30.0
"""For a daemon that starts or stops."""


@click.command("up", epilog="Example: observer up")
@click.option("--explain", is_flag=True, help="Say what is recorded, where, and how to stop.")
@json_option
def up_command(*, explain: bool) -> None:
    """Start the daemon, and return when it answers."""
    home_guard.bring_up(home())
    mention_paused()
    status = current(home(), wait_s=WAIT_S)
    if as_json(status):
        return
    if explain:
        from observer.cli.here import explained  # noqa: PLC0415 - as below

        for name, text in explained(home()):
            say(f"{name:<13} {text}")
    else:
        say(f"observer {status.version} is up (pid {status.pid}), home {status.home}")
        if status.degraded:
            note(f"degraded: {status.degraded}")


@click.command("down", epilog="Example: observer down")
@json_option
def down_command() -> None:
    """Stop the daemon once it has stored what waits."""
    stopped = client.stop(home(), wait_s=WAIT_S)
    home_guard.end(home())
    text = "observer is down" if stopped else "observer was not running"
    respond({"stopped": stopped}, text)


@click.command("status", epilog="Example: observer status --space")
@click.option("--space", is_flag=True, help="What takes the space, and what retention would free.")
@click.option("--projects", is_flag=True, help="The projects that have memories.")
@json_option
def status_command(*, space: bool, projects: bool) -> None:
    """Show whether the daemon runs, and what is recorded here."""
    if space:
        from observer.cli.space import show_space  # noqa: PLC0415 - half a second, for this alone

        show_space(home())
        return
    if projects:
        show_projects()
        return
    from observer.cli.here import described, here  # noqa: PLC0415 - `up` needs none of it

    status, found = current(home()), here(home())
    if as_json(msgspec.to_builtins(status) | {"here": found}):
        return
    fields([*_described(status), *(described(found) if found else ())])


def _described(status: Status) -> list[tuple[str, str]]:
    running = f"running (pid {status.pid})" if status.pid else "down (observer up starts it)"
    amounts = [counted(getattr(status, f"{one}s"), one) for one in ("event", "item", "project")]
    last = iso_ms(status.last_stored_at or "")
    lines = [
        ("daemon", running),
        ("version", status.version),
        ("home", status.home),
        ("stored", ", ".join(amounts)),
        ("last stored", f"{minute(last)} ({age_text(now_ms() - last)} ago)" if last else "never"),
        ("sessions", f"{status.active_sessions} active of {status.sessions}"),
        ("waiting", waiting_text(status)),
        ("size", f"{size_text(status.db_bytes)} database, {size_text(status.spool_bytes)} waiting"),
    ]
    if status.uptime_ms is not None:
        lines.insert(1, ("uptime", age_text(status.uptime_ms)))
    if status.model:
        of = f"{status.vectors:,} of " if status.to_embed > status.vectors else ""
        found = of + counted(max(status.vectors, status.to_embed), "item")
        lines.append(("model", f"{status.model}; {found} can be found by meaning"))
    if status.llm:
        lines.append(("llm", f"{status.llm.model}: {spent_text(status.llm)}"))
    lines += [("watched" if one.folders else "not watched", str(one)) for one in status.watched]
    lines += [(f"notes {each.name}", str(each)) for each in status.note_folders]
    lines += [
        ("kept unread", f"{counted(count, 'event')} of {client}, which observer does not know yet")
        for client, count in status.unknown_clients.items()
    ]
    return lines + _goes_on(status)


def _goes_on(status: Status) -> list[tuple[str, str]]:
    """Return what the daemon is busy with, and what keeps it from recording."""
    lines = []
    if status.importing:
        stored = f"{status.importing.done:,} of {counted(status.importing.sessions, 'session')}"
        lines.append(("importing", f"{stored} stored, in the background"))
    what = f"{counted(status.redacting, 'stored event')} with secrets that were recognised later"
    lines += [("redacting", what)] * bool(status.redacting)
    if status.following:
        lines.append(("following", ", ".join(status.following)))
    lines += [("paused", paused_text(one)) for one in status.paused]
    lines += [
        ("unconfirmed", f"{one}: deletes nothing until you agree: observer config set {one}")
        for one in status.unconfirmed
    ]
    lines += [("not recorded", f"{one}; {one.hint}") for one in status.policies]
    if status.http:
        lines.append(("http", f"{status.http}: {status.http_connections}"))
    if status.degraded:
        lines.append(("degraded", status.degraded))
    return lines
