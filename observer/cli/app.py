"""The `observer` command, and the one place where errors become exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from difflib import get_close_matches
from typing import Any, NoReturn

import click

from observer import __version__
from observer.cli import completion, output
from observer.cli.commands import COMMANDS, Commands
from observer.core.errors import (
    BadInput,
    ConfigInvalid,
    ObserverError,
    StoreDamaged,
    StoreUnavailable,
    remedy,
)
from observer.core.paths import ENV_HOME, home, is_inside, is_read_only
from observer.core.text import did_you_mean
from observer.upkeep.losses import request_repair

_HOME_HINT = "make it yours and writable, or choose another OBSERVER_HOME"


@click.group(cls=Commands, later=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="observer", message="%(prog)s %(version)s")
def observer() -> None:
    """Remember what happened in your editors, shells and repositories, and answer about it.

    Exit codes: 0 done, 1 failed, 2 wrong input, 3 not found or ambiguous, 4 no daemon,
    5 no store, 6 a secret was refused, 7 a share is away. Errors go to stderr, as JSON with
    --json.
    """
    if os.environ.get(ENV_HOME, "").startswith("~"):
        # As in a JSON configuration: a folder called `~` would be created wherever an editor works.
        raise ConfigInvalid(f"{ENV_HOME} begins with ~", hint="write the whole path, from / on")
    root = os.fsencode(home().root)
    try:
        root.decode()
    except UnicodeDecodeError as error:  # what watches the spool could not name it
        message = f"the path of the home is not valid UTF-8: {root!r}"
        hint = f"set {ENV_HOME} to a folder whose path is"
        raise ConfigInvalid(message, hint=hint) from error


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command line and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Items contain every script; a terminal that cannot show one gets replacements.
        sys.stdout.reconfigure(errors="replace")
    sys.exit(copy_context().run(_run, given))


def _run(arguments: list[str]) -> int:
    is_json = "--json" in arguments
    try:
        if completion.VARIABLE in os.environ:
            lines = completion.ShellLines(observer, {}, "observer", completion.VARIABLE)
            click.echo(lines.complete())
            return 0
        try:
            # Not by click's own main(), which turns a closed pipe into an error.
            with observer.make_context("observer", arguments) as context:
                result: Any = observer.invoke(context)  # most commands return nothing
        except click.exceptions.Exit as leave:
            result = leave.exit_code
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        output.note(error.format_message())
        return BadInput.exit_code
    except (KeyboardInterrupt, click.Abort):
        return 128 + 2  # as of SIGINT
    except BrokenPipeError:
        # The reader has gone; nothing may be written when Python closes its streams either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13  # as of a process that SIGPIPE ended
    except (ObserverError, click.ClickException, UnicodeError, OSError) as error:
        if isinstance(error, StoreDamaged):
            with suppress(OSError):  # the daemon repairs it, now or when it starts
                request_repair(home(), error.message)
        return output.complain(_as_ours(error, arguments), is_json=is_json)


def _as_ours(
    error: ObserverError | click.ClickException | UnicodeError | OSError, arguments: Sequence[str]
) -> ObserverError:
    if isinstance(error, UnicodeError):
        what = "an argument, the input or the name of this folder is not valid UTF-8"
        return BadInput(what, hint="write it in UTF-8")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS} and is_inside(
            str(error.filename), str(home().root)
        ):
            message = f"the home {home().root} cannot be used: {where}{error.strerror}"
            return ObserverError(message, hint=_HOME_HINT)
        message = f"{where}{error.strerror or error}"
        return ObserverError(message, hint=remedy(error, "see what is wrong: observer doctor"))
    if isinstance(error, StoreUnavailable) and is_read_only(home()):
        return StoreUnavailable(error.message, hint=f"the home cannot be written: {_HOME_HINT}")
    return _usage(error, arguments) if isinstance(error, click.ClickException) else error


def _usage(error: click.ClickException, arguments: Sequence[str]) -> BadInput:
    context = error.ctx if isinstance(error, click.UsageError) else None
    # An option without its value does not know of which command it is.
    named = " ".join(word for word in arguments[:1] if word in COMMANDS)
    path = context.command_path if context else f"observer {named}".rstrip()
    near = list(error.possibilities or ()) if isinstance(error, click.NoSuchOption) else []
    message = error.message if near else error.format_message()
    hint = did_you_mean(near, f"see: {path} --help")
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        message, asked = error.message, error.param
        name = asked.opts[0] if isinstance(asked, click.Option) else ""
        if asked and isinstance(asked.type, click.Choice):
            given, words = message.partition(" is not one of ")[0], list(asked.type.choices)
            near = get_close_matches(given.strip("'"), words, n=1)
            noun = asked.human_readable_name.strip("[].").lower()
            message = f"{name} cannot be {given}" if name else f"no {noun} {given}"
            hint = did_you_mean(near, f"one of: {', '.join(words)}")
        elif name:
            message = f"{name}: {message}"
    return BadInput(" ".join(message.split()).rstrip("."), hint=hint)
