"""Every command, tool, setting and hook has help and stands in the README."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from observer.cli.app import observer
from observer.clients.installers import installable
from observer.core.config import describe
from observer.toolsets.registry import toolsets

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTEXT = click.Context(observer)
COMMANDS = [
    name
    for name in observer.list_commands(CONTEXT)
    if not getattr(observer.get_command(CONTEXT, name), "hidden", False)
]
TOOLS = [
    tool
    for toolset in toolsets().values()
    for tool in toolset.tools(None, lambda: "")  # type: ignore[arg-type]  # described, not called
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme_and_has_help_and_an_example(name: str) -> None:
    command = observer.get_command(CONTEXT, name)
    assert command is not None
    assert f"`observer {name}`" in README
    assert command.help
    assert (command.epilog or "").startswith("Example: ")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_in_the_readme_and_says_when_to_use_it(tool: object) -> None:
    name, description = tool.name, tool.description  # type: ignore[attr-defined]  # a Tool
    assert f"`{name}`" in README
    assert 0 < len(description.encode()) < 2048


@pytest.mark.parametrize("toolset", toolsets().values(), ids=list(toolsets()))
def test_what_a_client_always_reads_is_short(toolset: object) -> None:
    assert 0 < len(toolset.guide.encode()) < 2048  # type: ignore[attr-defined]  # a Toolset


@pytest.mark.parametrize("name", [name for name, _, _ in describe()])
def test_every_setting_is_in_the_readme(name: str) -> None:
    assert f"| `{name}` |" in README


@pytest.mark.parametrize("name", installable())
def test_every_client_is_in_the_readme(name: str) -> None:
    assert f"`{name}`" in README


def test_no_document_holds_what_a_merge_left_behind() -> None:
    left = [
        path
        for path in ROOT.rglob("*.md")
        if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
        and "\n<<<<<<< " in path.read_text(encoding="utf-8")
    ]
    assert left == []
