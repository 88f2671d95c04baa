"""Codex CLI: hooks of `hooks.json`, in the form of Claude Code's.

No event says that a tool failed: a command's answer is what it printed, without an exit code, and
how it went is read from that. Files are edited by patches. Source: payloads of 0.169.0.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from pprint import pformat
from typing import Any

import msgspec

from observer.clients import tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, prompt_sample
from observer.clients.config_files.context import InstallContext
from observer.clients.config_files.file_edits import FileEdit
from observer.clients.config_files.file_edits import read as read_file
from observer.clients.config_files.json_entries import (
    SERVER,
    Change,
    edit_text,
    is_own_server,
    server_entry,
)
from observer.clients.envelope import Object
from observer.clients.parts import ConfigFile, OurHooks, handlers, installer_of, our_handlers
from observer.clients.payload import flag, text
from observer.core.errors import ConfigInvalid
from observer.core.events import AnyBody, Prompt

NAME = "codex"

NOISE: Mapping[str, str] = {
    "PreToolUse": "PostToolUse repeats the input and knows the end",
    "PreCompact": "PostCompact reports it, if it came to that",
    "PermissionRequest": "the answer is what happens next",
    "Interrupt": "says nothing about the work",
}
"""Events of which nothing is kept, and why."""

TOOLS: Mapping[str, tools.Maker] = {
    "Bash": tools.command,
    "read_file": tools.read,
    "list_dir": tools.find,
    "grep_files": tools.grep,
    "view_image": tools.read,
    "web_search": tools.ask_web,
    "open_page": tools.fetch,
    "spawn_agent": tools.delegate,
}


_EDITORS = re.compile(
    r"\A# Context from my IDE setup:\n.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE
)
_PATCHED = ("Exit code: 0\n", "Success. ")
"""How the answers of patches begin that were applied."""


def _correct(call: tools.ToolCall) -> tools.ToolCall:
    return msgspec.structs.replace(call, failed=_failed(call))


def _prompt(payload: Object) -> AnyBody:
    """Return what the person asked; an editor puts what is open in it before."""
    return Prompt(text=_EDITORS.sub("", text(payload, "prompt")))


def _failed(call: tools.ToolCall) -> bool | None:
    if call.tool in tools.PATCHES and call.response is not None:
        return not tools.said(call).startswith(_PATCHED)
    return flag(call.response, "isError") if isinstance(call.response, dict) else None


_DIALECT = Dialect(
    client=NAME,
    tools=TOOLS,
    noise=NOISE,
    readers={"UserPromptSubmit": _prompt},
    correct=_correct,
    turn="turn_id",
)


# --- how it is installed -------------------------------------------------------------------------
#
# It runs a hook only after the user has approved it, and remembers that by the hook's place in the
# file and its text: ours stand at the end, and an update keeps their places and those of others.

HOOKS = OurHooks(
    client=NAME,
    # Seconds; at the end of a session it waits 3 at most.
    reporting={
        "SessionStart": {"timeout": 10},
        "UserPromptSubmit": {"timeout": 5},
        "PostToolUse": {"timeout": 5},
        "Stop": {"timeout": 5},
        "SubagentStop": {"timeout": 5},
        "PostCompact": {"timeout": 5},
        "SessionEnd": {"timeout": 3},
    },
    recalling={
        "PreToolUse": {"matcher": "^(Bash|apply_patch)$"},
        "PostToolUse": {"matcher": "^Bash$"},
    },
    asking={"timeout": 5},
)


class _Settings:
    """`config.toml`: our MCP server, and the trust in our hooks."""

    def edit(self, context: InstallContext, *, is_wanted: bool) -> FileEdit:
        """Plan that the server is in it, or that neither is any longer."""

        def change(text: str) -> str:
            if is_wanted:
                return put_server(text, context)
            return drop_server(_without_trust(text, context), context)

        return edit_toml(_settings(context), change)


def _hooks(context: InstallContext) -> Path:
    return context.place("CODEX_HOME", ".codex") / "hooks.json"


def _settings(context: InstallContext) -> Path:
    return context.place("CODEX_HOME", ".codex") / "config.toml"


# --- whether it runs our hooks -------------------------------------------------------------------
#
# It skips those that its user has not trusted, and says nothing. What is trusted stands in
# `config.toml` by the place of the handler, with a digest of it; Codex leaves it there when the
# handler is gone.

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def _check_hooks(context: InstallContext) -> None:
    """Look whether hooks are on, and each of ours is trusted.

    Raises:
        ConfigInvalid: they are not, or a file cannot be read.
    """
    hooks, settings = _hooks(context), _settings(context)
    try:
        text = (read_file(hooks) or b"").decode()
        config = load((read_file(settings) or b"").decode())
        ours = list(our_handlers(text, context))
    except ValueError as error:
        raise ConfigInvalid(f"{hooks.parent}: {error}", hint="correct the file") from error
    if _table(config, "features").get("hooks") is False:
        raise ConfigInvalid(
            f"hooks are switched off by features.hooks in {settings}",
            hint="remove features.hooks from that file",
        )
    trusted = _table(_table(config, "hooks"), "state")
    waiting = [one for one in ours if trusted.keys().isdisjoint(_keys(hooks, *one))]
    if waiting:
        raise ConfigInvalid(
            f"{len(waiting)} of {len(ours)} hooks are not trusted, and Codex skips them silently",
            hint="start codex, and trust them under /hooks",
        )


def _without_trust(text: str, context: InstallContext) -> str:
    """Return `config.toml` without the trust in our hooks, and in what is no longer there.

    `hooks.json` is the one from which our hooks are still to be taken.

    Raises:
        ValueError: one of the files has another shape.
    """
    hooks = _hooks(context)
    before = (read_file(hooks) or b"").decode()
    ours = {key for one in our_handlers(before, context) for key in _keys(hooks, *one)}
    if not ours:
        return text
    after = HOOKS.drop(before, context)
    left = {
        key for event, group, at, _ in handlers(after) for key in _keys(hooks, event, group, at)
    }
    config = load(text)
    trusted = _table(_table(config, "hooks"), "state")
    files = (f"{hooks}:", f"{hooks.resolve()}:")
    dead = {key for key in trusted if key in ours or (key.startswith(files) and key not in left)}

    def is_dead(header: dict[str, Any]) -> bool:
        state = _table(header, "hooks").get("state")
        # Without any row the table itself is one that Codex made for them.
        return isinstance(state, dict) and (state or trusted).keys() <= dead

    if not dead:
        return text
    kept = without(text, is_dead)
    with suppress(ValueError):
        if _without_rows(load(kept), dead) == _without_rows(config, dead):
            return kept
    raise ValueError("the tables hooks.state cannot be removed without changing others")


def _without_rows(config: dict[str, Any], dead: set[str]) -> dict[str, Any]:
    """Return what a configuration says but for rows of `hooks.state`, and tables left empty."""
    hooks = _table(config, "hooks")
    state = {key: row for key, row in _table(hooks, "state").items() if key not in dead}
    others = {name: one for name, one in hooks.items() if name != "state"}
    hooks = others | ({"state": state} if state else {})
    rest = {name: one for name, one in config.items() if name != "hooks"}
    return rest | ({"hooks": hooks} if hooks else {})


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
        installer=installer_of(
            ConfigFile(_hooks, [HOOKS]),
            _Settings(),
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


# --- our MCP server in its configuration in TOML: a table `mcp_servers.observer` ------------------
#
# The table is put behind everything else, and taken out line by line: comments, order and layout
# stay. A change that would change anything else as well is refused.

_SERVERS = "mcp_servers"
_LF = "\n"
_HEADER = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)


def edit_toml(path: Path, change: Change) -> FileEdit:
    """Plan a change of a TOML file's text; a file that is left empty goes.

    Raises:
        ConfigInvalid: the file is not TOML, or the change failed; names the file.
    """
    return edit_text(path, change, check=load, is_left_over=lambda after: not after.strip())


def put_server(text: str, context: InstallContext) -> str:
    """Return the text with our MCP server registered.

    Raises:
        ConfigInvalid: another server has our name.
        ValueError: the table cannot be added or changed without changing something else.
    """
    before = load(text)
    present = _server(before)
    wanted = server_entry(present, context)
    if wanted == present:
        return text
    import tomlkit  # noqa: PLC0415 - 10 ms, of an installation only

    if present is None:
        after = f"{text and text + _LF}{tomlkit.dumps({_SERVERS: {SERVER: wanted}})}"
    else:
        document: Any = tomlkit.parse(text)
        table = document[_SERVERS][SERVER]
        for key in present.keys() - wanted.keys():
            del table[key]
        for key in (key for key in wanted if wanted[key] != present.get(key)):
            table[key] = wanted[key]
        after = tomlkit.dumps(document)
    return _checked(after, before | {_SERVERS: _servers(before) | {SERVER: wanted}})


def drop_server(text: str, context: InstallContext) -> str:
    """Return the text without our MCP server; another's with our name, or another home's, stays.

    Raises:
        ValueError: the table cannot be removed without changing something else.
    """
    before = load(text)
    if not is_own_server(_server(before), context):
        return text
    text = without(text, lambda header: _server(header) is not None)
    others = {name: one for name, one in _servers(before).items() if name != SERVER}
    return _checked(text, before | {_SERVERS: others})


def _server(document: dict[str, Any]) -> Any:  # noqa: ANN401 - of a foreign file
    return _servers(document).get(SERVER)


def _servers(document: dict[str, Any]) -> dict[str, Any]:
    tables = document.get(_SERVERS)
    return tables if isinstance(tables, dict) else {}


def _checked(text: str, expected: dict[str, Any]) -> str:
    """Return the text if it says what is expected."""
    with contextlib.suppress(ValueError):
        if _comparable(load(text)) == _comparable(expected):
            return text
    raise ValueError(f"the table {_SERVERS}.{SERVER} cannot be changed without changing others")


def _comparable(document: dict[str, Any]) -> str:
    document = {_SERVERS: {}} | document  # without servers there need not be a table for them
    return pformat(document)  # `nan` equals itself as text


def load(text: str) -> dict[str, Any]:
    """Return the tables of a text.

    Raises:
        ValueError: it is not TOML, or nested beyond the interpreter's limit.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not valid TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("not valid TOML: nested too deep") from error


def without(text: str, is_wanted: Callable[[dict[str, Any]], bool]) -> str:
    """Return a text without tables, of which `is_wanted` sees what their header alone makes.

    A blank line goes with each; comments behind it belong to what follows.
    """
    for start, end in reversed(list(_tables(text, is_wanted))):
        above, below = text[:start], text[end:]
        if above.endswith(_LF) and (not below or below.startswith(_LF) or above.endswith("\n\n")):
            above = above[:-1]  # the line feed that was put before it
        text = above + below
    return text


def _tables(text: str, is_wanted: Callable[[dict[str, Any]], bool]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of tables."""
    headers = [found for found in _HEADER.finditer(text) if _header(found[0])]
    ends = [*(found.start() for found in headers[1:]), len(text)]
    for found, end in zip(headers, ends, strict=True):
        if is_wanted(_header(found[0])):
            lines = text[found.start() : end].split(_LF)
            while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
                lines.pop()
            yield found.start(), min(found.start() + len(_LF.join(lines)) + 1, end)


def _header(line: str) -> dict[str, Any]:
    """Return what a line with the name of a table makes; nothing for any other line."""
    try:
        return tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return {}
