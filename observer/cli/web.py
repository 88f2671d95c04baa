"""The command `web`: look at the memory in a browser."""

from __future__ import annotations

import webbrowser

import click

from observer.cli.output import as_json, json_option, note, refuse_agents, respond, say
from observer.core.paths import home
from observer.local import client


@click.command("web", epilog="Example: observer web --no-open")
@click.option("--no-open", is_flag=True, help="Print the link, and open no browser.")
@click.option("--logout", is_flag=True, help="Let no browser look any more that may until now.")
@json_option
def web_command(*, no_open: bool, logout: bool) -> None:
    """Look at the memory in a browser, by a link that opens once."""
    refuse_agents("an agent opens no pages: what is changed there is a person's word")
    client.ensure_daemon(home())
    if logout:
        answer = client.call(home(), "DELETE", "/web")
        none = "no browser was logged in"
        respond(answer, "every browser is logged out" if answer["logged_out"] else none)
        return
    answer = client.call(home(), "POST", "/web")
    is_opened = not no_open and webbrowser.open(answer["url"])
    if as_json({**answer, "opened": is_opened}):
        return
    if is_opened:
        say("opened in your browser")
    else:
        for name in ("url", "proxied"):
            if name in answer:
                say(answer[name], is_exact=True)  # whole, however narrow the terminal is
        note(f"it opens once, within {answer['seconds']} s")
