"""What cog writes into the README: everything that code already knows about itself."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

import click
import msgspec
from click.testing import CliRunner

from observer.cli.app import observer
from observer.clients import generic
from observer.clients.installers import installable
from observer.core import config, errors
from observer.daemon.status import Status
from observer.store.migrations import migrations
from observer.toolsets.registry import toolsets

ROOT = Path(__file__).parents[1]
FLOORS = (
    ("0", "errors clock paths languages events model filters config"),
    ("1", "syntax spool client pump trial"),
    ("2", "capture"),
    ("3", "interpret"),
    ("4", "store index embed llm"),
    ("5", "recall pipeline truth"),
    ("6", "knowledge purge"),
    ("7", "memory"),
    ("8", "front"),
    ("9", "daemon install importers evaluation"),
    ("10", "cli"),
)


def commands() -> None:
    """Print every command with its help and its example."""
    rows = []
    context = click.Context(observer)
    for name in observer.list_commands(context):
        command = observer.get_command(context, name)
        if command and not command.hidden:
            rows.append((f"`observer {name}`", _line(command.help or ""), _example(command)))
    table(("command", "what it does", "example"), rows)


def tools() -> None:
    """Print the tools of every toolset with their parameters."""
    for name, toolset in toolsets().items():
        found = toolset.tools(None, lambda: "")  # type: ignore[arg-type]  # described, not called
        rows = [
            (f"`{tool.name}`", _parameters(tool.input_schema), _line(tool.description))
            for tool in found
        ]
        print(f"\nToolset `{name}`:\n")
        table(("tool", "parameters", "when to use it"), rows)


def offered(choice: str) -> None:
    """Print what a choice of toolsets costs, as the command tells it."""
    told = CliRunner().invoke(observer, ["tools", choice], catch_exceptions=False)
    print(f"```console\n$ observer tools {choice}\n{told.stdout}```")


def settings() -> None:
    """Print every setting with its default."""
    rows = [(f"`{n}`", f"`{_toml(default)}`", text) for n, default, text in config.describe()]
    table(("setting", "default", "meaning"), rows)


def exit_codes() -> None:
    """Print the exit codes of the command line."""
    found = [
        e for e in vars(errors).values() if isinstance(e, type) and e.__module__ == errors.__name__
    ]
    rows = [
        (str(e.exit_code), f"`{e.code}`", _line(e.__doc__ or ""))
        for e in sorted(found, key=lambda e: e.exit_code)
    ]
    table(("exit code", "`code` in JSON", "meaning"), rows)


def status_fields() -> None:
    """Print the fields of `observer status --json`."""
    print(", ".join(f"`{name}`" for name in Status.__struct_fields__) + ".")


def kinds() -> None:
    """Print the kinds of `POST /events` with their fields."""
    rows = [
        (
            f"`{kind}`",
            ", ".join(f"`{f}`" for f in body.__struct_fields__),
            _line(body.__doc__ or ""),
        )
        for kind, body in generic.KINDS.items()
    ]
    table(("kind", "fields", "meaning"), rows)


def clients() -> None:
    """Print what can be installed."""
    print(", ".join(f"`{name}`" for name in installable()) + ".")


def schema() -> None:
    """Print the tables of the database with what each holds."""
    found: dict[str, str] = {}
    for step in migrations("sqlite"):
        for name, columns in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", step.sql, re.DOTALL):
            found[name] = " ".join(re.findall(r"^    ([a-z]\w*)", columns, re.MULTILINE))
        for name, column in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", step.sql):
            found[name] += f" {column}"
        for name, columns in re.findall(r"VIRTUAL TABLE (\w+) USING (\w+)", step.sql):
            found[name] = f"({columns})"
    rows = ((f"`{name}`", columns) for name, columns in found.items())
    table(("table", "columns"), rows)


def modules() -> None:
    """Print the floors and what each module owns, in its own words."""
    rows = []
    for floor, parts in FLOORS:
        for part in parts.split():
            path = ROOT / "observer" / part
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            doc = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            rows.append((floor, f"`observer/{part}{'/' if path.is_dir() else '.py'}`", _line(doc)))
    table(("floor", "module", "owns"), rows)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a Markdown table."""
    head = list(head)
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")


def _line(text: str) -> str:
    paragraph = textwrap.dedent(text).strip().split("\n\n")[0]
    return " ".join(paragraph.split())


def _example(command: click.Command) -> str:
    return f"`{(command.epilog or '').removeprefix('Example: ')}`"


def _parameters(schema: dict[str, object]) -> str:
    properties: dict[str, dict[str, object]] = schema["properties"]  # type: ignore[assignment]  # of an object schema
    required = schema.get("required", [])
    parts = []
    for name, described in properties.items():
        # An argument that may be left out and whose default is empty is shown as optional.
        optional = f" = {_toml(described['default'])}" if "default" in described else "?"
        parts.append(f"`{name}{'' if name in required else optional}`")  # type: ignore[operator]  # a list
    return ", ".join(parts)


def _toml(value: object) -> str:
    return "none" if value is None else msgspec.json.encode(value).decode()
