"""Claude Code, Cursor and Kiro: the events, the two formats, the MCP server."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from observer.clients.config_files.context import InstallContext
from observer.clients.installers import install, perform
from observer.core.errors import ConfigInvalid
from tests.clients.conftest import Run
from tests.support import put_file


def loaded(context: InstallContext, name: str) -> Any:
    return json.loads((context.user_home / name).read_text())


def write(context: InstallContext, name: str, value: object) -> None:
    put_file(context.user_home / name, json.dumps(value, indent=2))


def commands(value: object) -> list[str]:
    """Return every command line in a configuration."""
    if isinstance(value, dict):
        own = [value["command"]] if isinstance(value.get("command"), str) else []
        return own + [line for inner in value.values() for line in commands(inner)]
    return [line for inner in value for line in commands(inner)] if isinstance(value, list) else []


# --- Claude Code ---------------------------------------------------------------------------------


def test_claude_gets_each_event_once(context: InstallContext, put: Run) -> None:
    put("claude-code")
    hooks = loaded(context, ".claude/settings.json")["hooks"]
    assert list(hooks) == [
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
        *("Stop", "SubagentStop", "PostCompact", "SessionEnd", "PreToolUse"),
    ]
    assert commands(hooks["SessionStart"]) == [
        f"{context.home.hooks}/post claude-code SessionStart",
        f"{context.home.hooks}/context claude-code",
    ]
    assert commands(hooks["UserPromptSubmit"]) == [
        f"{context.home.hooks}/post claude-code UserPromptSubmit"
    ]
    assert commands(hooks["PostToolUseFailure"]) == [
        f"{context.home.hooks}/post claude-code PostToolUseFailure",
        f"{context.home.hooks}/recall claude-code PostToolUseFailure",
    ]
    assert hooks["PostToolUse"][0] == {
        "matcher": "*",
        "hooks": [
            {
                "type": "command",
                "command": f"{context.home.hooks}/post claude-code PostToolUse",
                "async": True,
                "timeout": 30,
            }
        ],
    }

    for event, matcher in (("PreToolUse", "Bash|Edit|MultiEdit|Write"), ("PostToolUse", "Bash")):
        line = f"{context.home.hooks}/recall claude-code {event}"
        asks = {"type": "command", "command": line, "timeout": 5}
        assert hooks[event][-1] == {"matcher": matcher, "hooks": [asks]}
    assert loaded(context, ".claude.json") == {
        "mcpServers": {"observer": {"type": "stdio", "command": context.observer, "args": ["mcp"]}}
    }


def test_our_handler_leaves_a_group_of_others(context: InstallContext, drop: Run) -> None:
    ours = {"type": "command", "command": f"{context.home.hooks}/post claude-code Stop"}
    theirs = {"type": "command", "command": "say done"}
    write(context, ".claude/settings.json", {"hooks": {"Stop": [{"hooks": [ours, theirs]}]}})
    drop("claude-code")
    assert loaded(context, ".claude/settings.json") == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_others_groups_keep_their_places(context: InstallContext, put: Run) -> None:
    """Codex CLI trusts a hook by its place in the file."""
    line = f"{context.home.hooks}/post claude-code Stop"
    stale = {"hooks": [{"type": "command", "command": line, "timeout": 99}]}
    theirs = {"hooks": [{"type": "command", "command": "say done"}]}
    write(context, ".claude/settings.json", {"hooks": {"Stop": [stale, theirs, stale]}})
    put("claude-code")
    ours, *others = loaded(context, ".claude/settings.json")["hooks"]["Stop"]
    assert ours["hooks"][0]["timeout"] == 5
    assert others == [theirs]


@pytest.mark.parametrize(
    "hooks",
    [
        pytest.param({"Stop": {"hooks": []}}, id="object-for-list"),
        pytest.param({"Stop": "x"}, id="text-for-list"),
        pytest.param([], id="list-for-object"),
        pytest.param("x", id="text-for-object"),
    ],
)
def test_hooks_of_another_shape_are_refused(context: InstallContext, hooks: object) -> None:
    write(context, ".claude/settings.json", {"hooks": hooks})
    with pytest.raises(ConfigInvalid, match=r"settings\.json: hooks.* is not an? (list|object)"):
        install("claude-code", context)


def test_groups_of_unknown_shape_are_left_alone(context: InstallContext, put: Run) -> None:
    odd = [
        1,
        {"hooks": "x"},
        {"hooks": [{"type": "command", "command": "it's"}]},
        {"hooks": [{"type": "http", "url": "http://h"}]},
        {},
    ]
    write(context, ".claude/settings.json", {"hooks": {"Stop": odd}})
    put("claude-code")
    assert loaded(context, ".claude/settings.json")["hooks"]["Stop"][:5] == odd


def test_the_line_runs_in_a_shell_even_from_a_home_with_spaces(spaced: InstallContext) -> None:
    perform(install("claude-code", spaced), spaced.home, at_ms=1)
    line = commands(loaded(spaced, ".claude/settings.json"))[0]
    environ = {name: text for name, text in os.environ.items() if name != "OBSERVER_HOME"}
    subprocess.run(["sh", "-c", line], input=b"{}", env=environ, check=True)
    assert len(list((spaced.home.spool / "new").iterdir())) == 1


# --- the MCP server ------------------------------------------------------------------------------


def test_another_server_of_our_name_is_not_replaced(context: InstallContext, drop: Run) -> None:
    theirs = {"mcpServers": {"observer": {"command": "node", "args": ["observer.js"]}}}
    write(context, ".cursor/mcp.json", theirs)
    with pytest.raises(ConfigInvalid, match=r"mcp\.json: another MCP server"):
        install("cursor", context)
    drop("cursor")
    assert loaded(context, ".cursor/mcp.json") == theirs


@pytest.mark.parametrize(
    "added",
    [{"disabled": True, "env": {"A": "b"}}, {"args": ["mcp", "--tools", "core,story"]}],
    ids=["fields", "toolsets"],
)
def test_what_a_user_added_to_our_server_stays(
    context: InstallContext, put: Run, drop: Run, added: dict[str, Any]
) -> None:
    entry = {"command": "/old/observer", "args": ["mcp"]} | added
    write(context, ".cursor/mcp.json", {"mcpServers": {"observer": entry}})
    put("cursor")
    (kept,) = loaded(context, ".cursor/mcp.json")["mcpServers"].values()
    assert kept == {**entry, "command": context.observer}
    chosen = install("cursor", replace(context, tools="code")).edits[-1].after or b""
    assert json.loads(chosen)["mcpServers"]["observer"]["args"] == ["mcp", "--tools", "code"]
    drop("cursor")
    assert not (context.user_home / ".cursor/mcp.json").exists()


def test_a_server_names_a_home_elsewhere(context: InstallContext, spaced: InstallContext) -> None:
    perform(install("cursor", spaced), spaced.home, at_ms=1)
    entry = loaded(context, ".cursor/mcp.json")["mcpServers"]["observer"]
    assert entry["env"] == {"OBSERVER_HOME": str(spaced.home.root)}
    perform(install("cursor", context), context.home, at_ms=1)
    assert "env" not in loaded(context, ".cursor/mcp.json")["mcpServers"]["observer"]


# --- Cursor --------------------------------------------------------------------------------------


def test_cursor_gets_events_that_every_version_knows(context: InstallContext, put: Run) -> None:
    put("cursor")
    written = loaded(context, ".cursor/hooks.json")
    assert written["version"] == 1
    assert list(written["hooks"]) == [
        *("sessionStart", "beforeSubmitPrompt", "afterShellExecution", "afterMCPExecution"),
        *("afterFileEdit", "postToolUse", "postToolUseFailure", "subagentStop"),
        *("afterAgentResponse", "stop", "sessionEnd"),
    ]
    assert commands(written["hooks"]["sessionStart"]) == [
        f"{context.home.hooks}/post cursor sessionStart",
        f"{context.home.hooks}/context cursor",
    ]
    for event in ("postToolUse", "postToolUseFailure"):
        assert commands(written["hooks"][event]) == [
            f"{context.home.hooks}/post cursor {event}",
            f"{context.home.hooks}/recall cursor {event}",
        ]


def test_a_linked_hooks_file_is_refused_since_cursor_refuses_it(context: InstallContext) -> None:
    folder = context.user_home / ".cursor"
    folder.mkdir()
    (folder / "hooks.json").symlink_to("elsewhere.json")
    with pytest.raises(ConfigInvalid, match="symbolic link"):
        install("cursor", context)


def test_events_of_an_older_version_are_taken_out(context: InstallContext, drop: Run) -> None:
    retired = {"command": f"{context.home.hooks}/post cursor preToolUse"}
    theirs = {"command": "x"}
    hooks = {"preToolUse": [retired, theirs], "stop": [retired]}
    write(context, ".cursor/hooks.json", {"version": 1, "hooks": hooks})
    drop("cursor")
    assert loaded(context, ".cursor/hooks.json") == {
        "version": 1,
        "hooks": {"preToolUse": [theirs]},
    }


# --- Kiro ----------------------------------------------------------------------------------------


def test_kiro_gets_both_formats_and_agents_hooks(context: InstallContext, put: Run) -> None:
    write(context, ".kiro/agents/mine.json", {"name": "mine", "tools": ["fs_read"]})
    put("kiro")
    mine = loaded(context, ".kiro/agents/mine.json")
    assert mine["tools"] == ["fs_read"]
    assert set(mine["hooks"]) == {
        *("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop")
    }
    new = loaded(context, ".kiro/hooks/observer.json")
    assert new["version"] == "v1"
    assert [hook["trigger"] for hook in new["hooks"]] == [
        *("SessionStart", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
    ]
    agent = loaded(context, ".kiro/agents/observer.json")
    assert agent["tools"] == ["*"]
    assert commands(agent["hooks"]["agentSpawn"]) == [
        f"{context.home.hooks}/post kiro-cli agentSpawn",
        f"{context.home.hooks}/context kiro-cli",
    ]
    assert commands(agent["hooks"]["userPromptSubmit"]) == [
        f"{context.home.hooks}/post kiro-cli userPromptSubmit"
    ]
    assert agent["hooks"]["postToolUse"][0]["matcher"] == "*"


def test_an_agent_of_ours_keeps_what_was_changed(context: InstallContext, put: Run) -> None:
    write(context, ".kiro/agents/observer.json", {"name": "observer", "tools": ["fs_read"]})
    put("kiro")
    assert loaded(context, ".kiro/agents/observer.json")["tools"] == ["fs_read"]


def test_hooks_that_kiro_converted_are_not_twice(context: InstallContext, put: Run) -> None:
    line = f"{context.home.hooks}/post kiro-cli stop"
    converted = {"name": "x", "trigger": "Stop", "action": {"type": "command", "command": line}}
    theirs = {"name": "y", "trigger": "Stop", "action": {"type": "agent", "prompt": "tidy"}}
    write(context, ".kiro/hooks/mine.json", {"version": "v1", "hooks": [converted, theirs]})
    put("kiro")
    assert loaded(context, ".kiro/hooks/mine.json")["hooks"] == [theirs]


# --- Cline ---------------------------------------------------------------------------------------


def test_cline_runs_one_program_for_an_event(context: InstallContext, put: Run) -> None:
    put("cline")
    path = context.user_home / ".cline" / "hooks" / "PostToolUse"
    assert os.access(path, os.X_OK)
    (context.home.hooks / "cline").write_text('#!/bin/sh\necho "$@"\n')
    printed = subprocess.run([path], capture_output=True, check=True, text=True).stdout
    assert printed == "PostToolUse\n"
    (context.home.hooks / "cline").unlink()
    assert subprocess.run([path], capture_output=True, check=True).stdout == b""


def test_cline_has_the_server_in_a_transport(context: InstallContext, put: Run, drop: Run) -> None:
    path = ".cline/data/settings/cline_mcp_settings.json"
    put("cline")
    (entry,) = loaded(context, path)["mcpServers"].values()
    assert entry == {"transport": {"type": "stdio", "command": context.observer, "args": ["mcp"]}}
    # What Cline or its user adds to the entry stays where it is.
    write(context, path, {"mcpServers": {"observer": {**entry, "disabled": True}}})
    assert not any(edit.is_change for edit in install("cline", context).edits)
    drop("cline")
    assert not (context.user_home / path).exists()


def test_a_hook_of_somebody_else_for_an_event_of_cline_is_refused(context: InstallContext) -> None:
    theirs = context.user_home / ".cline" / "hooks" / "PostToolUse"
    put_file(theirs, "#!/bin/sh\necho {}\n")
    with pytest.raises(ConfigInvalid, match="somebody else") as refused:
        install("cline", context)
    assert f"{context.home.hooks}/cline PostToolUse" in refused.value.hint
