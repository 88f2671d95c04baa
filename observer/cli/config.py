"""`observer config`: show settings with their meaning, and change them without losing comments."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext, redirect_stdout
from difflib import get_close_matches
from typing import Any

import click
import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from observer.cli import output
from observer.cli.commands import command, listing
from observer.core import config
from observer.core.errors import BadInput, ConfigInvalid, remedy
from observer.core.paths import Home, home, make_private, read_plain
from observer.core.text import did_you_mean
from observer.llm.endpoint import address
from observer.local import client
from observer.tools.status import current


@listing("config", "observer config", later={"model": "models", "llm": "models"})
def config_command() -> None:
    """List settings with their meaning, or change one."""
    values = msgspec.to_builtins(config.written(home()))
    rows = ((name, _shown(values[name]), meaning) for name, _default, meaning in config.describe())
    output.table(("setting", "value", "meaning"), rows, value=values)


@command("get", "observer config get http_port", of=config_command)
@click.argument("name")
def get_command(*, name: str) -> None:
    """Print the value of one setting."""
    values = msgspec.to_builtins(config.written(home()))
    value = values[_known(name)]
    output.respond({name: value}, _shown(value))


@command("set", "observer config set exclude ~/private ~/mail", of=config_command)
@click.argument("name")
@click.argument("values", nargs=-1, required=True)
@click.option("--yes", "-y", is_flag=True, help="Do not ask, where it deletes something.")
def set_command(*, name: str, values: tuple[str, ...], yes: bool) -> None:
    """Change one setting, at once; ask before one deletes."""
    _known(name)
    given: Any = list(filter(None, values)) if name in config.LISTS else " ".join(values)
    value = msgspec.to_builtins(config.check({name: given}, source="the command line"))[name]
    if name == "llm_url" and value:
        address(value)  # a password in it must not reach the file
    _agreed(name, value, yes=yes)
    before = getattr(config.written(home()), name)
    is_running = put_in_force(home(), name, value)
    if output.as_json({name: value}):
        return
    waiting = config.unconfirmed(home(), config.written(home())) if name in config.LIMITS else ()
    since = f"once you agree: observer config set {waiting[0]}" if waiting else "from now on"
    again = "; the daemon was restarted for it" if is_running else ""
    output.say(f"{name} is {_shown(value) or 'empty'}, in force {since}{again}")
    if (variable := f"{config.ENV_PREFIX}{name.upper()}") in os.environ:
        output.note(f"but where {variable} is set, as it is here, that holds instead")
    if name in config.LISTS and (gone := [str(one) for one in before if one not in value]):
        output.note(f"no longer: {', '.join(gone)} (set replaces the whole list)")
    if name == "exclude" and value:
        text = f"what was stored of it before stays; take it out: observer purge --file {value[-1]}"
        output.note(text)
    if is_running and (degraded := current(home()).degraded):
        output.note(f"degraded: {degraded}")


def _agreed(name: str, value: object, *, yes: bool) -> None:
    """Show what a limit deletes, together with the others, and ask, unless that is nothing."""
    from observer.cli.space import show_going  # noqa: PLC0415 - of limits only

    if name == "mem0_scope":
        output.refuse_agents("an agent gives no memories away")
    if name not in config.LIMITS:
        return
    output.refuse_agents("an agent sets no limit by which memory is deleted")
    given = msgspec.to_builtins(config.written(home())) | {name: value}
    wanted = config.check(given, source="the command line")
    with redirect_stdout(sys.stderr) if output.wants_json() else nullcontext():
        is_going = show_going(home(), wanted)
    output.confirm_once(
        "Delete it for good, and from now on whatever reaches the limit?",
        yes=yes or not is_going,
        refusal="nothing was changed, and nothing deleted",
        hint="if that may go, add --yes",
    )


def _known(name: str) -> str:
    names = [known for known, _default, _meaning in config.describe()]
    if name not in names:
        near = get_close_matches(name, names)
        raise BadInput(f"no setting {name!r}", hint=did_you_mean(near, "see: observer config"))
    return name


def put_in_force(here: Home, name: str, value: object) -> bool:
    """Write a setting; return if a daemon restarted. Raises ConfigInvalid, DaemonUnavailable."""
    from observer.cli.exclusive import TRIES, alone  # noqa: PLC0415 - 0.5 s, to change one only

    _changed(here, name, value)  # what the daemon could not start with leaves it running
    is_running = client.is_running(here)
    with alone(here, tries=TRIES):
        write_setting(here, name, value)
        if name in config.LIMITS:
            config.confirm(here, name, value)
    return is_running


def write_setting(here: Home, name: str, value: object) -> None:
    """Replace one value in the settings' file, atomically. Raises ConfigInvalid: it cannot be."""
    try:
        text = _changed(here, name, value)
        make_private(here.root)
        target = here.config.resolve()  # a link to a dotfile stays a link
        fresh = target.with_suffix(".new")  # beside it, for the link may lead to another disk
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(target)
    except OSError as error:
        message = f"{here.config} cannot be written: {error.strerror}"
        hint = remedy(error, "make its folder writable")
        raise ConfigInvalid(message, hint=hint) from error


def _changed(here: Home, name: str, value: object) -> str:
    try:
        text = read_plain(here.config).decode() if here.config.exists() else ""
        document = tomlkit.parse(text)
        document[name] = value
    except (TOMLKitError, UnicodeDecodeError) as error:
        message = f"{here.config} is not valid TOML: {error}"
        raise ConfigInvalid(message, hint="correct it, or move it away") from error
    config.check(document.unwrap(), source=str(here.config))
    return tomlkit.dumps(document)


def _shown(value: object) -> str:
    return " ".join(value) if isinstance(value, list | tuple) else str(value)
