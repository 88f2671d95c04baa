"""Plugins for clients that install from a marketplace, made from the table of clients.

    python scripts/make_plugins.py    write plugins/ and the marketplaces anew

Beside them is written what `observer mcp` answers where there is no memory yet.

`plugins/source/` is written by hand: the skill, and two scripts that find the installed observer.
The rest is generated: a plugin's hooks are those that `observer install` puts into the client's own
configuration, with the plugin's script in place of ours.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from observer import __version__
from observer.clients.config_files.context import InstallContext, is_ours
from observer.clients.installers import install
from observer.core.config import Settings
from observer.core.paths import Home
from observer.local.pump import CARRIED, OPENING
from observer.memory.opening import reading
from observer.serve.mcp.server import McpFront
from observer.store.database import SqliteStore
from observer.tools.registry import toolsets

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "plugins" / "source"
NAME = "observer"
TOOLSETS = ("core", "story")
"""What a plugin's MCP server offers: everything that the skill names."""
DESCRIPTION = "The memory that coding agents lack: what was tried, what failed, what was decided."
AUTHOR = {"name": "observer contributors"}
KEYWORDS = ["memory", "mcp", "hooks", "history", "decisions"]
LICENSE = "Apache-2.0"
OF_ALL = "2025-11-25"
"""A version of MCP in which every toolset's guide and tools read as in all others."""
MANIFEST = {
    "name": NAME,
    "version": __version__,
    "description": DESCRIPTION,
    "author": AUTHOR,
    "license": LICENSE,
    "keywords": KEYWORDS,
}
"""Fields that most manifests share."""

Files = dict[str, str]
"""Texts by path, below the root of the repository."""


class Hooked(NamedTuple):
    """A plugin with hooks.

    Attributes:
        client: its client's name in the table of clients.
        manifest: where the manifest stands in the plugin.
        root: the plugin's folder, as the client fills it into a command.
        servers: file with the MCP server; "" if it stands in the manifest.
        parts: fields of the manifest that name the plugin's parts, where it has to.
        fills_root: False if the client fills the folder into hooks alone, not into servers.
    """

    client: str
    manifest: str
    root: str
    servers: str
    parts: Mapping[str, str] = {}
    fills_root: bool = True


HOOKED = (
    Hooked("claude-code", ".claude-plugin/plugin.json", "${CLAUDE_PLUGIN_ROOT}", ".mcp.json"),
    Hooked("cursor", ".cursor-plugin/plugin.json", "${CURSOR_PLUGIN_ROOT}", "mcp.json"),
    Hooked(
        "codex",
        ".codex-plugin/plugin.json",
        "${CLAUDE_PLUGIN_ROOT}",
        ".mcp.json",
        {"skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"},
        fills_root=False,
    ),
    Hooked("gemini", "gemini-extension.json", "${extensionPath}", ""),
)


def files() -> Files:
    """Return every generated file."""
    found: Files = {}
    for plugin in HOOKED:
        found |= _below(f"plugins/{plugin.client}", _hooked(plugin))
    found |= _below("plugins/agent-plugin", _agent_plugin())
    found |= _below("plugins/kiro", _kiro_power())
    found |= _below("plugins/mcpb", _mcpb())
    found[f"observer/local/{CARRIED}"] = _openings()
    return found | _marketplaces()


def _below(folder: str, texts: Files) -> Files:
    return {f"{folder}/{path}": text for path, text in texts.items()}


def _hooked(plugin: Hooked) -> Files:
    manifest = {**MANIFEST, **plugin.parts}
    servers = {"mcpServers": {NAME: _server(plugin.root if plugin.fills_root else "")}}
    texts = {
        plugin.manifest: _json(manifest if plugin.servers else {**manifest, **servers}),
        "hooks/hooks.json": _json(_hooks(plugin)),
        "scripts/hook": _source("hook"),
        **_shared(),
    }
    return {**texts, plugin.servers: _json(servers)} if plugin.servers else texts


def _shared() -> Files:
    """Return what every plugin with an MCP server and a skill has."""
    return {"scripts/mcp": _source("mcp"), f"skills/{NAME}/SKILL.md": _source("SKILL.md")}


def _server(root: str) -> dict[str, object]:
    """Return the entry of our MCP server; without a folder the script stands in the entry."""
    script = [f"{root}/scripts/mcp"] if root else ["-c", _source("mcp"), "mcp"]
    return {"command": "sh", "args": [*script, "--tools", ",".join(TOOLSETS)]}


def _hooks(plugin: Hooked) -> object:
    """Return the hooks that the client's installer plans, run by the plugin's script."""
    with tempfile.TemporaryDirectory() as user_home:
        context = InstallContext(
            home=Home(Path(user_home) / ".observer"),
            user_home=Path(user_home),
            observer="/usr/bin/observer",
            environ={},
            folder=Path(user_home),
        )
        edits = install(plugin.client, context).edits
        written = [json.loads(edit.after or b"{}") for edit in edits if edit.path.suffix == ".json"]
    (found,) = (each for each in written if "hooks" in each)
    found.pop("mcpServers", None)
    return _with_script(found, context.home, plugin.root)


def _with_script(value: Any, home: Home, root: str) -> Any:  # noqa: ANN401 - JSON of any client
    """Return a JSON value whose commands run the plugin's script in place of those of a home."""
    match value:
        case dict():
            return {key: _with_script(each, home, root) for key, each in value.items()}
        case list():
            return [_with_script(each, home, root) for each in value]
        case str() if is_ours(home, value):
            script, *arguments = shlex.split(value)
            words = [Path(script).name, *arguments]
            return f'sh "{root}/scripts/hook" {shlex.join(words)}'
    return value


def _agent_plugin() -> Files:
    schemas = "https://agent-plugins.org/schemas/1.0.0"
    manifest = {"$schema": f"{schemas}/plugin.schema.json", **MANIFEST}
    arguments = ["--tools", ",".join(TOOLSETS)]
    server = {"type": "stdio", "command": "./scripts/mcp", "args": arguments}
    servers = {"$schema": f"{schemas}/mcp.schema.json", "mcpServers": {NAME: server}}
    return {"plugin.json": _json(manifest), "mcp.json": _json(servers), **_shared()}


def _kiro_power() -> Files:
    """Return a power, which Kiro loads when a prompt holds one of its keywords; it has no hooks."""
    _, _, skill = _source("SKILL.md").split("---\n", 2)
    head = "\n".join(
        (
            "---",
            f'name: "{NAME}"',
            'displayName: "observer"',
            f'description: "{DESCRIPTION}"',
            f"keywords: {json.dumps([*KEYWORDS, 'why', 'last time', 'remember'])}",
            f'author: "{AUTHOR["name"]}"',
            "---\n",
        )
    )
    onboarding = (
        "\n## Onboarding\n\nThe tools need observer: `uv tool install observer-memory`. "
        "Kiro's hooks are not part of a power: `observer install kiro` adds them.\n"
    )
    command = {"command": "uvx", "args": ["observer-memory", "mcp", "--tools", ",".join(TOOLSETS)]}
    return {
        "POWER.md": head + skill + onboarding,
        "mcp.json": _json({"mcpServers": {NAME: command}}),
    }


def _mcpb() -> Files:
    """Return an MCP bundle, which `mcpb pack plugins/mcpb` makes one file of."""
    manifest = {
        "manifest_version": "0.3",
        **MANIFEST,
        "server": {
            "type": "binary",
            "entry_point": "scripts/mcp",
            "mcp_config": _server("${__dirname}"),
        },
        "tools": [{"name": name, "description": text} for name, text in _tools()],
        "compatibility": {"platforms": ["darwin", "linux"]},
    }
    return {"manifest.json": _json(manifest), "scripts/mcp": _source("mcp")}


def _tools() -> Iterator[tuple[str, str]]:
    for name in TOOLSETS:
        found = toolsets()[name].tools(None, lambda: "")  # type: ignore[arg-type]  # described, not called
        for tool in found:
            first, _, _ = tool.description.partition("\n\n")
            yield tool.name, " ".join(first.split())


def _marketplaces() -> Files:
    """Return the catalogues by which clients find the plugins in a checkout or repository."""
    entry = {"name": NAME, "description": DESCRIPTION}
    claude = {
        "name": NAME,
        "owner": AUTHOR,
        "metadata": {"description": DESCRIPTION},
        "plugins": [{**entry, "source": "./plugins/claude-code", "license": LICENSE}],
    }
    cursor = {
        "name": NAME,
        "owner": AUTHOR,
        "plugins": [{**entry, "source": "./plugins/cursor"}],
    }
    codex = {
        "name": NAME,
        "interface": {"displayName": NAME},
        "plugins": [
            {
                "name": NAME,
                "source": {"source": "local", "path": "./plugins/codex"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Productivity",
            }
        ],
    }
    return {
        ".agents/plugins/marketplace.json": _json(codex),
        ".claude-plugin/marketplace.json": _json(claude),
        ".cursor-plugin/marketplace.json": _json(cursor),
    }


def _openings() -> str:
    """Return what `observer.local.pump.carried` reads: a line for each version and each toolset."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        store = SqliteStore(home.database)
        front = McpFront(reading(store, home, Settings()))
        made = {name: front.opening(name, front.instructions("", name)) for name in toolsets()}
        store.close()
    own = {
        name: {
            "guide": results[OF_ALL][OPENING]["instructions"],
            "tools": results[OF_ALL]["tools/list"]["tools"],
        }
        for name, results in made.items()
    }
    versions = made["core"]
    for answers in versions.values():
        answers["tools/list"]["tools"] = []
    return f'{{"versions": {_by_line(versions)},\n"toolsets": {_by_line(own)}}}\n'


def _by_line(values: Mapping[str, object]) -> str:
    lines = (f'"{name}": {json.dumps(value)}' for name, value in values.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _source(name: str) -> str:
    return (SOURCE / name).read_text(encoding="utf-8")


def _json(value: Mapping[str, object] | object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write what has changed; a script may be run."""
    for name, text in files().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith("#!") else 0o644)


if __name__ == "__main__":
    main()
