"""Our table in a TOML file: put in, brought up to date and taken out, and nothing else touched."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install
from observer.clients.shelf.codex import drop_server, put_server
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home
from tests.support import put_file

OURS = '[mcp_servers.observer]\ncommand = "/opt/observer/bin/observer"\nargs = ["mcp"]\n'


def test_what_is_written_behind_it_later_stays(context: InstallContext) -> None:
    """Codex CLI adds what its user approves at the end, and tools of a server below the server."""
    tools = '\n[mcp_servers.observer.tools.search]\napproval_mode = "approve"\n'
    later = '\n# trusted\n[projects."/home/ana/shop"]\ntrust_level = "trusted"\n'
    text = put_server('model = "x"\n', context) + tools + later
    assert drop_server(text, context) == 'model = "x"\n' + later


def test_a_table_written_by_hand_is_taken_out(context: InstallContext) -> None:
    text = f'model = "x"\n{OURS}[other]\na = 1\n'
    assert drop_server(text, context) == 'model = "x"\n[other]\na = 1\n'


def test_a_server_of_ours_keeps_what_its_user_added(context: InstallContext) -> None:
    """The command moves with an installation; a home elsewhere has to be named."""
    text = OURS.replace("/opt", "/old") + "enabled = false # for now\n\n[other]\na = 1\n"
    assert put_server(text, context) == text.replace("/old", "/opt")
    elsewhere = replace(context, home=Home(Path("/srv/memory")))
    moved = put_server(text, elsewhere)
    assert tomllib.loads(moved)["mcp_servers"]["observer"]["env"] == {
        "OBSERVER_HOME": "/srv/memory"
    }
    assert put_server(moved, context) == put_server(text, context)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param('mcp_servers = "x"\n', "changing others", id="no-table"),
        pytest.param('mcp_servers = { a = { command = "x" } }\n', "changing others", id="inline"),
        pytest.param("[mcp_servers\n", "not valid TOML", id="broken"),
        pytest.param('[mcp_servers.observer]\ncommand = "x"\n', "another MCP server", id="taken"),
        pytest.param(f"a = {'[' * 20_000}", "nested too deep", id="deep"),
    ],
)
def test_what_cannot_be_changed_is_refused(text: str, reason: str, context: InstallContext) -> None:
    path = put_file(context.user_home / ".codex" / "config.toml", text)
    with pytest.raises(ConfigInvalid, match=rf"config\.toml: .*{reason}") as refused:
        install("codex", context)
    assert refused.value.hint
    assert path.read_text() == text


def test_a_table_that_only_looks_like_ours_is_not_cut_out(context: InstallContext) -> None:
    text = f'text = """\n{OURS}"""\n{OURS}'
    with pytest.raises(ValueError, match="changing others"):
        drop_server(text, context)
