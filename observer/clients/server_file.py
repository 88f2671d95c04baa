"""The installer of a client of which we configure the MCP server alone, in a JSON file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from observer.config_files.context import InstallContext, InstallPlan
from observer.config_files.json_entries import (
    MCP_SERVERS,
    ServerForm,
    drop_server,
    edit_json,
    put_server,
)


class ServerFile(NamedTuple):
    """The installer of one client.

    Attributes:
        path: returns where the file is.
        form: where servers stand in it, and in which shape.
        extra: fields of a new entry.
        note: what the user should know; "" for nothing.
    """

    path: Callable[[InstallContext], Path]
    form: ServerForm = MCP_SERVERS
    extra: Mapping[str, object] = {}
    note: str = ""

    def install(self, context: InstallContext) -> InstallPlan:
        """Plan the MCP server."""
        edit = edit_json(
            self.path(context),
            lambda text: put_server(text, context, extra=dict(self.extra), form=self.form),
        )
        return InstallPlan(edits=(edit,), notes=(self.note,) if self.note else ())

    def uninstall(self, context: InstallContext) -> InstallPlan:
        """Plan its removal."""
        edit = edit_json(
            self.path(context), lambda text: drop_server(text, context, form=self.form)
        )
        return InstallPlan(edits=(edit,))
