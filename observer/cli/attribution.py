"""`observer attribution export`: which lines of commits agents wrote, in formats of others."""

from __future__ import annotations

from contextlib import closing

import click

from observer.cli.commands import Group
from observer.cli.output import emit, json_option, note, say
from observer.core import config
from observer.core.errors import BadInput, NotFound
from observer.core.paths import home, working_folder
from observer.core.text import counted
from observer.git.log import commits_between
from observer.memory.attribution import commit_shares
from observer.memory.opening import refuse_unsettled
from observer.projects import detect_place
from observer.store.sqlite.database import SqliteStore
from observer.views.attribution import agent_trace, git_ai_note


@click.group("attribution", cls=Group, epilog="Example: observer attribution export main..HEAD")
def attribution_command() -> None:
    """Show which lines of commits agents wrote."""


@attribution_command.command("export", epilog="Example: observer attribution export main..HEAD")
@click.argument("revision", default="HEAD")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["agent-trace", "git-ai"]),
    default="agent-trace",
    show_default=True,
    help="Trace records, one a line; or the note of one commit for refs/notes/ai.",
)
@json_option
def export_command(*, revision: str, shape: str, as_json: bool) -> None:
    """Print the lines of a commit, or of a range, that recorded edits of agents hold."""
    here, root = home(), detect_place(str(working_folder())).root
    if not root:
        raise NotFound("no git repository around this folder", hint="go into one")
    commits = commits_between(root, revision)
    if shape == "git-ai" and len(commits) != 1:
        raise BadInput(f"{revision} is not one commit", hint="a note is of one commit: name it")
    refuse_unsettled(here)
    owner = config.owner(config.load(here))
    empty = 0
    with closing(SqliteStore(here.database, read_only=True)) as store, store.read() as reader:
        for commit in commits:
            made = commit_shares(reader, root, commit, owner=owner)
            empty += not made.shares
            if made.shares and shape == "git-ai":
                text = git_ai_note(made)
                emit({"commit": commit, "note": text}) if as_json else say(text.rstrip("\n"))
            elif made.shares:
                emit(agent_trace(made))
    if empty:
        note(f"{counted(empty, 'commit')} without lines that recorded edits hold")
