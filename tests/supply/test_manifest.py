"""`server.json`, by which MCP registries know the server, agrees with package and README."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import click

from observer import __version__
from observer.cli.app import observer
from observer.core.paths import ENV_HOME

ROOT = Path(__file__).parents[2]
MANIFEST = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
PACKAGE = MANIFEST["packages"][0]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_name_description_and_versions_are_the_packages_as_the_readme_proves() -> None:
    """The registry looks for a line in the description that the package index shows."""
    assert PACKAGE["identifier"] == PROJECT["name"]
    assert MANIFEST["version"] == PACKAGE["version"] == __version__
    assert MANIFEST["description"] == PROJECT["description"]
    assert PROJECT["readme"] == "README.md"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- mcp-name: (\S+) -->", readme) == [MANIFEST["name"]]


def test_the_command_that_a_client_would_run_exists() -> None:
    """`uvx NAME ARGUMENTS` runs the command that is called as the package."""
    assert PROJECT["scripts"][PACKAGE["identifier"]] == PROJECT["scripts"]["observer"]
    (argument,) = PACKAGE["packageArguments"]
    assert observer.get_command(click.Context(observer), argument["value"])
    assert PACKAGE["transport"] == {"type": "stdio"}
    assert [each["name"] for each in PACKAGE["environmentVariables"]] == [ENV_HOME]


def test_the_registrys_limits_are_kept() -> None:
    """Source: server.schema.json of 2025-12-11, and the requirements of the official registry."""
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", MANIFEST["name"])
    assert re.fullmatch(r".{1,100}", MANIFEST["description"])
    assert re.fullmatch(r".{1,100}", MANIFEST["title"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", PACKAGE["version"])
