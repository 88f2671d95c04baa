"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from observer.cli.output import F
from observer.core.paths import working_folder


def named_project(about: str) -> Callable[[F], F]:
    """Return the option `--project`; a relative path such as ``.`` names a folder."""
    return click.option(
        "--project",
        "-p",
        callback=lambda _context, _option, handle: handle and _absolute(handle),
        help=about,
    )


def scope_options(command: F) -> F:
    """Add the options that say of which projects: that of the current folder, one, or all."""
    everywhere = click.option("--all", "everywhere", is_flag=True, help="In all projects.")
    return named_project("Name, folder or remote; else the one here, if any.")(everywhere(command))


def _absolute(handle: str) -> str:
    is_relative = handle in {".", ".."} or handle.startswith(("./", "../"))
    return os.path.normpath(working_folder() / handle) if is_relative else handle


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that restrict what is found."""
    for option in (
        click.option("--until", default="", help="Only before then."),
        click.option("--since", default="", help="Only from then on: 2026-11-21, or 7d for ago."),
        click.option("--branch", default="", help="Only of this git branch."),
        click.option("--session", default="", help="Only of this session, by its id."),
        click.option(
            "--file", "files", multiple=True, help="Only what touched this file or folder."
        ),
        click.option("--type", "type", default="", help="Only these types, e.g. commit,decision."),
    ):
        command = option(command)
    return command
