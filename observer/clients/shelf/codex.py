"""Codex CLI: hooks of `hooks.json`, in the form of Claude Code's. Source: payloads of 0.169.0."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from pprint import pformat
from typing import Any

import msgspec

from observer.clients import parts, tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, prompt_sample
from observer.clients.config_files.context import FileEdit, InstallContext, read_file
from observer.clients.payload import flag, text
from observer.core.errors import ConfigInvalid
from observer.core.events import Prompt
from observer.core.text import word_set

NAME = "codex"

NOISE = word_set("PreToolUse PreCompact PermissionRequest Interrupt")

TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="Bash",
    read="read_file view_image",
    find="list_dir",
    grep="grep_files",
    ask_web="web_search",
    fetch="open_page",
    delegate="spawn_agent",
)

_EDITORS = re.compile(
    r"\A# Context from my IDE setup:\n.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE
)
"""What an editor puts before a prompt: what is open in it."""
_PATCHED = ("Exit code: 0\n", "Success. ")
"""How the answers of patches begin that were applied."""


def _correct(call: tools.ToolCall) -> tools.ToolCall:
    failed = flag(call.response, "isError") if isinstance(call.response, dict) else None
    if call.tool in tools.PATCHES and call.response is not None:
        failed = not tools.said(call).startswith(_PATCHED)
    return msgspec.structs.replace(call, failed=failed)


_DIALECT = Dialect(
    client=NAME,
    tools=TOOLS,
    noise=NOISE,
    readers={
        "UserPromptSubmit": lambda payload: Prompt(text=_EDITORS.sub("", text(payload, "prompt")))
    },
    correct=_correct,
    turn="turn_id",
)

# --- how it is installed -------------------------------------------------------------------------
#
# It runs a hook only after the user has approved it, and remembers that by the hook's place in the
# file and its text: ours stand at the end, and an update keeps their places and those of others.

HOOKS = parts.Hooks(
    client=NAME,
    # Seconds; at the end of a session it waits 3 at most.
    reporting=parts.seconds("SessionStart", 10)
    | parts.seconds("UserPromptSubmit PostToolUse Stop SubagentStop PostCompact", 5)
    | parts.seconds("SessionEnd", 3),
    recalling={"PreToolUse": "^(Bash|apply_patch)$", "PostToolUse": "^Bash$"},
)


def _edit_settings(context: InstallContext) -> FileEdit:
    """Plan `config.toml`: our MCP server at its end, or neither it nor trust in our hooks."""

    def change(text: str) -> str:
        if context.is_wanted:
            return put_server(text, context)
        return drop_server(_without_trust(text, context), context)

    return parts.edit_text(
        _settings(context), change, check=load, is_left_over=lambda after: not after.strip()
    )


_hooks = parts.placed("CODEX_HOME", ".codex", "hooks.json")
_settings = parts.placed("CODEX_HOME", ".codex", "config.toml")
_SERVERS = "mcp_servers"
_LF = "\n"
_HEADER = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)


def put_server(text: str, context: InstallContext) -> str:
    """Return the text with our MCP server registered.

    Raises ConfigInvalid if another server has our name, ValueError if anything else would change.
    """
    before = load(text)
    present = _table(before, _SERVERS).get(parts.SERVER)
    wanted = parts.server_entry(present, context)
    if wanted == present:
        return text
    import tomlkit  # noqa: PLC0415 - 10 ms, of an installation only

    if present is None:
        after = f"{text and text + _LF}{tomlkit.dumps({_SERVERS: {parts.SERVER: wanted}})}"
    else:
        document: Any = tomlkit.parse(text)
        table = document[_SERVERS][parts.SERVER]
        for key in present.keys() - wanted.keys():
            del table[key]
        for key in (key for key in wanted if wanted[key] != present.get(key)):
            table[key] = wanted[key]
        after = tomlkit.dumps(document)
    return _checked(after, before | {_SERVERS: _table(before, _SERVERS) | {parts.SERVER: wanted}})


def drop_server(text: str, context: InstallContext) -> str:
    """Return the text without this home's MCP server; raise ValueError as `put_server`."""
    before = load(text)
    if not parts.is_own_server(_table(before, _SERVERS).get(parts.SERVER), context):
        return text
    text = _without(text, lambda header: _table(header, _SERVERS).get(parts.SERVER) is not None)
    others = {name: one for name, one in _table(before, _SERVERS).items() if name != parts.SERVER}
    return _checked(text, before | {_SERVERS: others})


def _checked(text: str, expected: dict[str, Any], table: str = f"{_SERVERS}.{parts.SERVER}") -> str:
    """Return the text if it says what is expected; where a table is empty there need be none."""
    empty: dict[str, Any] = {_SERVERS: {}, "hooks": {}}
    with suppress(ValueError):
        if pformat(empty | load(text)) == pformat(empty | expected):  # `nan` equals itself as text
            return text
    raise ValueError(f"the table {table} cannot be changed without changing others")


def load(text: str) -> dict[str, Any]:
    """Return the tables of a text; raise ValueError if it is not TOML, or nested too deep."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not valid TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("not valid TOML: nested too deep") from error


def _without(text: str, is_wanted: Callable[[dict[str, Any]], bool]) -> str:
    """Return a text without the tables that `is_wanted` knows by their headers."""
    headers = [found for found in _HEADER.finditer(text) if _header(found[0])]
    ends = [*(found.start() for found in headers[1:]), len(text)]
    spans = []
    for found, end in zip(headers, ends, strict=True):
        if is_wanted(_header(found[0])):
            lines = text[found.start() : end].split(_LF)
            while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
                lines.pop()
            spans.append((found.start(), min(found.start() + len(_LF.join(lines)) + 1, end)))
    for start, end in reversed(spans):
        above, below = text[:start], text[end:]
        if above.endswith(_LF) and (not below or below.startswith(_LF) or above.endswith("\n\n")):
            above = above[:-1]  # the line feed that was put before it
        text = above + below
    return text


def _header(line: str) -> dict[str, Any]:
    """Return what a line with the name of a table makes; nothing for any other line."""
    try:
        return tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return {}


# --- whether it runs our hooks -------------------------------------------------------------------
#
# It skips those that its user has not trusted, and says nothing. What is trusted stands in
# `config.toml` by the place of the handler, and stays there when the handler is gone.

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def _check_hooks(context: InstallContext) -> None:
    """Raise ConfigInvalid unless hooks are on, and each of ours is trusted."""
    hooks, settings = _hooks(context), _settings(context)
    try:
        text = (read_file(hooks) or b"").decode()
        config = load((read_file(settings) or b"").decode())
        ours = list(parts.our_handlers(text, context))
    except ValueError as error:
        raise ConfigInvalid(f"{hooks.parent}: {error}", hint="correct the file") from error
    if _table(config, "features").get("hooks") is False:
        hint = "remove features.hooks from that file"
        raise ConfigInvalid(f"hooks are switched off by features.hooks in {settings}", hint=hint)
    trusted = _table(_table(config, "hooks"), "state")
    waiting = [one for one in ours if trusted.keys().isdisjoint(_keys(hooks, *one))]
    if waiting:
        raise ConfigInvalid(
            f"{len(waiting)} of {len(ours)} hooks are not trusted, and Codex skips them silently",
            hint="start codex, and trust them under /hooks",
        )


def _without_trust(text: str, context: InstallContext) -> str:
    """Return `config.toml` without the trust in our hooks, which `hooks.json` still has."""
    hooks, config = _hooks(context), load(text)
    ours = parts.our_handlers((read_file(hooks) or b"").decode(), context)
    dead = {key for one in ours for key in _keys(hooks, *one)}
    trusted = _table(_table(config, "hooks"), "state")
    if trusted.keys().isdisjoint(dead):
        return text

    def is_dead(header: dict[str, Any]) -> bool:
        state = _table(header, "hooks").get("state")
        # Without any row the table itself is one that Codex made for them.
        return isinstance(state, dict) and (state or trusted).keys() <= dead

    left = {key: row for key, row in trusted.items() if key not in dead}
    others = {name: one for name, one in _table(config, "hooks").items() if name != "state"}
    expected = config | {"hooks": others | ({"state": left} if left else {})}
    return _checked(_without(text, is_dead), expected, "hooks.state")


def _keys(path: Path, event: str, group: int, handler: int) -> set[str]:
    """Return the names of a handler; links in the path may be resolved or not."""
    behind = f"{_WORD.sub('_', event).lower()}:{group}:{handler}"
    return {f"{path}:{behind}", f"{path.resolve()}:{behind}"}


def _table(config: dict[str, Any], name: str) -> dict[str, Any]:
    found = config.get(name)
    return found if isinstance(found, dict) else {}


CLIENTS = (
    Client(
        name=NAME,
        read=_DIALECT.read,
        installer=parts.installer_of(
            parts.config_file(_hooks, HOOKS.edited),
            _edit_settings,
            notes=[
                "Start Codex and trust the hooks under /hooks: until then it skips them silently."
            ],
        ),
        check_hooks=_check_hooks,
        programs=("codex",),
        folders=(".codex",),
        transcripts=(".codex/sessions",),
        tried="0.169.0",
        sample=prompt_sample("UserPromptSubmit"),
        session_variable="CODEX_THREAD_ID",
        marker_variables=("CODEX_SANDBOX",),
        resume="codex resume {}",
        has_plugin=True,
        context_file="CONTEXT.codex.md",
    ),
)
