"""What holds for every command: help with an example, `--json`, and few imports."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from observer import __version__
from observer.cli.app import observer
from observer.cli.commands import COMMANDS, PURPOSES
from observer.core.events import Command
from observer.observations.session_reducer import is_memory_use
from tests.cli.conftest import Run


def _all(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield path + name, command
            yield from _all(command, f"{path}{name} ")
        else:
            yield path + name, command


EVERY = dict(_all(observer))
HELP_CHARS = 80 - len("  uninstall  ")
"""What is left beside the longest name of a command."""
STARTED_BY_PROGRAMS = {"mcp", "daemon"}


def test_every_command_speaks_json_and_says_what_it_and_its_options_do() -> None:
    for name in EVERY.keys() - STARTED_BY_PROGRAMS:
        assert "--json" in {word for option in EVERY[name].params for word in option.opts}, name
    for name, command in EVERY.items():
        shown = command.help or ""
        assert shown.endswith("."), name
        assert "\n\n" not in shown, name
        assert f"observer {name}" in (command.epilog or "")
        assert command.hidden or len(shown) <= HELP_CHARS, name
        options = [option for option in command.params if isinstance(option, click.Option)]
        assert all(option.help or option.hidden for option in options), name


@pytest.mark.parametrize("name", ["config", "config model", "mcp list"])
def test_a_group_that_lists_speaks_json_too(run: Run, name: str) -> None:
    assert run(*name.split(), "--json").code == 0


def test_without_a_command_its_help_is_shown(run: Run) -> None:
    for name in (*COMMANDS, "config set", "import git"):
        helped = run(*name.split(), "--help")
        assert (helped.code, "Usage: observer" in helped.out) == (0, True), name
    ran = run()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: observer ")


def test_what_an_agent_asks_observer_counts_as_use_of_its_memory() -> None:
    counted = [name for name in COMMANDS if is_memory_use(Command(command=f"observer {name}"))]
    assert counted == list(COMMANDS)


def test_the_list_of_commands_goes_by_purpose_in_80_columns(run: Run) -> None:
    lines = run("--help").out.splitlines()
    listed = [line for line in lines if line.startswith("  ")]
    assert any(line.startswith("  status ") for line in listed)
    assert not any(line.startswith("  daemon ") for line in listed)
    assert max(map(len, listed)) <= 80
    assert [line for line in listed if line.endswith("...")] == []
    assert [line[:-1] for line in lines if line[:-1] in PURPOSES] == list(PURPOSES)
    assert lines.index("Look:") < lines.index(next(line for line in lines if "  why " in line))
    assert run("--version").out == f"observer {__version__}\n"


HEAVY = (
    *("apsw", "asyncio", "git", "httpx2", "mcp", "numpy", "onnxruntime", "pydantic", "rich"),
    *("starlette", "tokenizers", "tomlkit", "tree_sitter", "uvicorn", "watchfiles", "yaml"),
)
TIERS = (
    (("app", "read", "daemon", "policy", "write"), ()),
    (("lifecycle", "pause", "install"), ("apsw",)),
    (("config",), ("asyncio", "tomlkit")),
    (
        (
            *("backup", "doctor.command", "doctor.speed", "import_", "mcp", "models", "note"),
            *("purge", "sync"),
        ),
        ("numpy", "rich", "tree_sitter", "yaml"),
    ),
)
"""Modules of commands, and what they and all above may import of what is heavy."""
IMPORT = """
import importlib, json, sys
for modules in json.loads(sys.argv[1]):
    for module in modules:
        importlib.import_module("observer.cli." + module)
    print(json.dumps([*sys.modules]))
"""


def test_a_command_imports_nothing_heavy_that_its_tier_does_without() -> None:
    argv = [sys.executable, "-c", IMPORT, json.dumps([modules for modules, _ in TIERS])]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    allowed: set[str] = set()
    for (modules, more), line in zip(TIERS, shown, strict=True):
        allowed |= {*more}
        assert {*HEAVY} & {*json.loads(line)} <= allowed, modules

    known = {"app", "models", "doctor.speed", *COMMANDS.values()}
    assert {module for modules, _ in TIERS for module in modules} == known
