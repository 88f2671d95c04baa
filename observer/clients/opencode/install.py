"""OpenCode and Kilo: a plugin file, and the MCP server in `opencode.json` or `kilo.json`.

Both read a file with comments beside one without, and add the address of its schema to a file
without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from observer.clients import script_file
from observer.config_files import jsonc
from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import ServerForm, drop_server, edit_json, put_server

_PLUGIN = Path(__file__).with_name("plugin.js")


class PluginInstaller(NamedTuple):
    """Plans the plugin and the MCP server of a client of this family."""

    client: str
    schema: str

    def install(self, context: InstallContext) -> InstallPlan:
        """Plan both.

        Raises:
            ConfigInvalid: a plugin of somebody else is called as ours is.
        """
        code = script_file.javascript(self.client, _PLUGIN, context)
        return InstallPlan(
            edits=(
                script_file.put(self._plugin(context), code),
                edit_json(self._settings(context), lambda text: self._put(text, context)),
            ),
            notes=(f"Restart {self.client}; it loads plugins when it starts.",),
        )

    def uninstall(self, context: InstallContext) -> InstallPlan:
        """Plan the removal of both."""
        settings = (self._folder(context) / name for name in self._names())
        return InstallPlan(
            edits=(
                script_file.drop(self._plugin(context), context),
                *(
                    edit_json(
                        path,
                        lambda text: drop_server(text, context, form=_FORM),
                        leftovers=({}, {"$schema": self.schema}),
                    )
                    for path in settings
                ),
            )
        )

    def _folder(self, context: InstallContext) -> Path:
        return context.place("XDG_CONFIG_HOME", ".config") / self.client

    def _plugin(self, context: InstallContext) -> Path:
        return self._folder(context) / "plugins" / "observer.js"

    def _names(self) -> tuple[str, str]:
        return f"{self.client}.jsonc", f"{self.client}.json"

    def _settings(self, context: InstallContext) -> Path:
        paths = [self._folder(context) / name for name in self._names()]
        return next((path for path in paths if path.exists()), paths[-1])

    def _put(self, text: str, context: InstallContext) -> str:
        if not text.strip():
            text = jsonc.put(text, ("$schema",), self.schema)
        return put_server(text, context, extra={"type": "local", "enabled": True}, form=_FORM)


OPENCODE = PluginInstaller("opencode", "https://opencode.ai/config.json")
KILO = PluginInstaller("kilo", "https://app.kilo.ai/config.json")


def _flat(entry: Any) -> Any:  # noqa: ANN401 - what stands in a foreign file
    match entry:
        case {"command": [str(program), *args], **others}:
            environ = {"env": others.pop("environment")} if "environment" in others else {}
            return {**others, "command": program, "args": args, **environ}
    return entry


def _shaped(entry: dict[str, Any]) -> dict[str, Any]:
    others = {name: entry[name] for name in entry if name not in {"command", "args", "env"}}
    environ = {"environment": entry["env"]} if entry.get("env") else {}
    return {**others, "command": [entry["command"], *entry["args"]], **environ}


_FORM = ServerForm(place=("mcp",), flat=_flat, shaped=_shaped)
