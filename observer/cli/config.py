"""`observer config`: show settings with their meaning, and change them without losing comments."""

from __future__ import annotations

from typing import Any

import click
import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from observer import client
from observer.cli.commands import Group
from observer.cli.output import emit, json_option, note, say, table
from observer.core import config
from observer.core.errors import BadInput, ConfigInvalid, remedy
from observer.core.paths import Home, home, make_private, read_plain
from observer.llm.endpoint import address


@click.group(
    "config",
    cls=Group,
    later={"model": "model", "llm": "llm"},
    invoke_without_command=True,
    epilog="Example: observer config",
)
@json_option
@click.pass_context
def config_command(context: click.Context, *, as_json: bool) -> None:
    """List settings with their meaning, or change one."""
    if context.invoked_subcommand is not None:
        return
    values = msgspec.to_builtins(config.load(home()))
    if as_json:
        emit(values)
        return
    rows = [(name, _shown(values[name]), meaning) for name, _default, meaning in config.describe()]
    table(("setting", "value", "meaning"), rows)


@config_command.command("get", epilog="Example: observer config get http_port")
@click.argument("name")
@json_option
def get_command(*, name: str, as_json: bool) -> None:
    """Print the value of one setting."""
    values = msgspec.to_builtins(config.load(home()))
    value = values[_known(name)]
    if as_json:
        emit({name: value})
    else:
        say(_shown(value))


@config_command.command("set", epilog="Example: observer config set exclude ~/private ~/mail")
@click.argument("name")
@click.argument("values", nargs=-1, required=True)
@json_option
def set_command(*, name: str, values: tuple[str, ...], as_json: bool) -> None:
    """Change one setting, keeping the comments of the file."""
    _known(name)
    given: Any = list(filter(None, values)) if name in config.LISTS else " ".join(values)
    value = msgspec.to_builtins(config.check({name: given}, source="the command line"))[name]
    if name == "llm_url" and value:
        address(value)  # a password in it must not reach the file
    write_setting(home(), name, value)
    if as_json:
        emit({name: value})
    elif client.is_running(home()):
        note("note: the running daemon keeps its settings; restart it: observer down, observer up")


def _known(name: str) -> str:
    names = [known for known, _default, _meaning in config.describe()]
    if name not in names:
        raise BadInput(f"no setting {name!r}", hint="one of: " + ", ".join(names))
    return name


def write_setting(here: Home, name: str, value: object) -> None:
    """Replace one value in the settings' file, atomically.

    Raises:
        ConfigInvalid: the file is not TOML, or cannot be written.
    """
    try:
        text = read_plain(here.config).decode() if here.config.exists() else ""
        document = tomlkit.parse(text)
        document[name] = value
        make_private(here.root)
        target = here.config.resolve()  # a link to a dotfile stays a link
        fresh = target.with_suffix(".new")  # beside it, for the link may lead to another disk
        fresh.write_text(tomlkit.dumps(document), encoding="utf-8")
        fresh.replace(target)
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise ConfigInvalid(
            f"{here.config} is not valid TOML: {error}", hint="correct it, or move it away"
        ) from error
    except OSError as error:
        raise ConfigInvalid(
            f"{here.config} cannot be written: {error.strerror}",
            hint=remedy(error, "make its folder writable"),
        ) from error


def _shown(value: object) -> str:
    return " ".join(value) if isinstance(value, list | tuple) else str(value)
