"""The plugins and the skill are what `make_plugins.py` makes, and what clients accept."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import make_plugins
import pytest

from observer import __version__
from observer.clients.registry import clients
from observer.tools import render
from observer.tools.registry import toolsets

ROOT = Path(__file__).parents[2]
FILES = make_plugins.files()
MANIFESTS = [
    name for name in FILES if name.endswith(("plugin.json", "manifest.json", "extension.json"))
]
MCP = (ROOT / "plugins" / "source" / "mcp").read_text(encoding="utf-8")
SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
AGENT_PLUGIN_FIELDS = {
    *("$schema", "name", "version", "description", "author", "homepage", "repository"),
    *("license", "keywords", "extensions"),
}
CURSOR_FIELDS = {
    *("name", "displayName", "description", "version", "author", "publisher", "homepage"),
    *("repository", "license", "logo", "keywords", "category", "tags", "commands", "agents"),
    *("skills", "rules", "hooks", "variables", "mcpServers"),
}


def loaded(name: str) -> Any:
    return json.loads(FILES[name])


def test_the_committed_files_are_the_generated_ones() -> None:
    """`python scripts/make_plugins.py` writes them."""
    found = {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES}
    assert found == FILES
    kept = {path for folder in ROOT.glob("plugins/*/") for path in folder.rglob("*")}
    ours = {str(path.relative_to(ROOT)) for path in kept if path.is_file()}
    assert {name for name in ours if not name.startswith("plugins/source/")} == {
        name for name in FILES if name.startswith("plugins/")
    }


@pytest.mark.parametrize("name", FILES)
def test_scripts_can_be_run_and_nothing_else(name: str) -> None:
    assert bool((ROOT / name).stat().st_mode & 0o111) == FILES[name].startswith("#!")


@pytest.mark.parametrize("name", MANIFESTS)
def test_every_manifest_has_the_name_and_the_version(name: str) -> None:
    manifest = loaded(name)
    assert (manifest["name"], manifest["version"]) == ("observer", __version__)


def test_every_client_with_a_plugin_is_declared() -> None:
    """Else an event of both the plugin and the installed hooks would be stored twice."""
    declared = {client.name for client in clients().values() if client.has_plugin}
    assert declared == {plugin.client for plugin in make_plugins.HOOKED}


@pytest.mark.parametrize("plugin", make_plugins.HOOKED, ids=lambda plugin: plugin.client)
def test_a_plugin_runs_only_scripts_that_it_carries(plugin: make_plugins.Hooked) -> None:
    """Claude Code, Cursor and others copy the plugin's folder and nothing beside it."""
    folder = f"plugins/{plugin.client}"
    hooks = FILES[f"{folder}/hooks/hooks.json"]
    commands = re.findall(r'"command": ("(?:[^"\\]|\\.)*")', hooks)
    lines = [shlex.split(json.loads(command)) for command in commands]
    assert {tuple(words[:2]) for words in lines} == {("sh", f"{plugin.root}/scripts/hook")}
    assert {words[2] for words in lines} == {"post", "context", "recall"}
    assert {words[3] for words in lines} == {plugin.client}
    served = loaded(f"{folder}/{plugin.servers or plugin.manifest}")["mcpServers"]["observer"]
    if plugin.fills_root:
        script = served["args"][0].removeprefix(f"{plugin.root}/")
        assert FILES[f"{folder}/{script}"] == MCP
    else:
        assert served["args"][:2] == ["-c", MCP]


def test_the_agent_plugin_keeps_to_the_specification() -> None:
    """Source: Agent Plugins 1.0.0; the manifest and a server's entry are closed."""
    manifest, served = (
        loaded("plugins/agent-plugin/plugin.json"),
        loaded("plugins/agent-plugin/mcp.json"),
    )
    assert manifest["$schema"] == f"{SCHEMAS}/plugin.schema.json"
    assert served["$schema"] == f"{SCHEMAS}/mcp.schema.json"
    assert set(manifest) <= AGENT_PLUGIN_FIELDS
    assert set(served) == {"$schema", "mcpServers"}
    server = served["mcpServers"]["observer"]
    assert set(server) == {"type", "command", "args"}
    assert f"plugins/agent-plugin/{server['command'].removeprefix('./')}" in FILES


def test_the_plugins_of_cursor_claude_desktop_and_kiro_have_what_these_read() -> None:
    """Sources: cursor/plugins, schemas/plugin.schema.json, which is closed; MCPB manifest 0.3."""
    cursor = loaded("plugins/cursor/.cursor-plugin/plugin.json")
    assert set(cursor) <= CURSOR_FIELDS
    assert set(cursor["author"]) <= {"name", "email"}
    bundle = loaded("plugins/mcpb/manifest.json")
    wanted = {"manifest_version", "name", "version", "description", "author", "server"}
    assert wanted <= set(bundle)
    entry = bundle["server"]["entry_point"]
    assert f"plugins/mcpb/{entry}" in FILES
    assert f"${{__dirname}}/{entry}" in bundle["server"]["mcp_config"]["args"]
    head = FILES["plugins/kiro/POWER.md"].split("---\n")[1]
    named = dict(line.split(": ", 1) for line in head.splitlines())
    assert {"name", "displayName", "description", "keywords", "author"} == set(named)
    assert json.loads(named["keywords"])


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith("marketplace.json")])
def test_a_marketplace_leads_to_a_plugin(name: str) -> None:
    for entry in loaded(name)["plugins"]:
        source = entry["source"] if isinstance(entry["source"], str) else entry["source"]["path"]
        folder = source.removeprefix("./")
        assert loaded(next(f for f in MANIFESTS if f.startswith(folder)))["name"] == entry["name"]


SKILL = (Path(__file__).parents[2] / "plugins" / "source" / "SKILL.md").read_text(encoding="utf-8")
MOST_TOKENS = 400
TOOLS = {
    tool.name: tool.input_schema["properties"]
    for name in make_plugins.TOOLSETS
    for tool in toolsets()[name].tools(None, lambda: "")  # type: ignore[arg-type]  # described, not called
}
CALLS = re.findall(r"`(\w+)\((.*?)\)`", SKILL)


def test_the_skill_costs_little_and_says_when_to_use_what() -> None:
    """The limits of name and description are those of the Agent Skills specification."""
    _, head, _ = SKILL.split("---\n", 2)
    name, description = (line.split(": ", 1)[1] for line in head.splitlines())
    assert name == "observer"
    assert len(description) <= 1024
    assert "Use before" in description
    assert render.tokens(SKILL) < MOST_TOKENS
    assert {"search", "get_context", "why", "memory"} <= {called for called, _ in CALLS}


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_a_call_names_a_tool_and_its_parameters(tool: str, arguments: str) -> None:
    assert set(re.findall(r"(\w+)=", re.sub(r'"[^"]*"', '""', arguments))) <= set(TOOLS[tool])
