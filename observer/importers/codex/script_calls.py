"""The calls that scripts made, by the items of a rollout, or else by what the scripts write out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple
from urllib.parse import unquote

from observer.clients.envelope import Json, Object
from observer.clients.payload import inner, number, text
from observer.importers.calls import HookCall
from observer.importers.codex import scripts
from observer.importers.codex.scripts import ScriptCall, ScriptEnd
from observer.importers.codex.shell_calls import SHELLS, STDIN, command_of

_PATCH = "apply_patch"
_ADDRESS = "file://"

Done = Callable[[int, str, str, Object, Json], HookCall]
"""Returns the end of a call: its time, id, tool, arguments and answer."""


class _Script(NamedTuple):
    """A script that was called, and what it printed so far."""

    call: str
    source: str
    printed: str


class ScriptCalls:
    """The calls of the scripts of one rollout.

    Args:
        done: makes a call.
        has: what the rollout has events of; see `layouts.events_in`.
    """

    def __init__(self, done: Done, has: AbstractSet[str]) -> None:
        self._done = done
        self._has = has
        self._cells: dict[str, _Script] = {}
        self._has_items = False

    def is_of(self, name: str, given: Object) -> bool:
        """Return True if a call runs a script, or waits for one that is known to go on."""
        is_waiting = name == scripts.WAIT and text(given, "cell_id") in self._cells
        return name in scripts.NAMES or is_waiting

    def answered(self, at_ms: int, call: str, given: Object, output: Json) -> Iterator[HookCall]:
        """Yield the calls of a script that has ended, those that no item reports."""
        end = scripts.end_of(output)
        known = self._cells.pop(text(given, "cell_id"), None)
        script = known or _Script(call, text(given, "command", "input", "code"), "")
        script = script._replace(printed=script.printed + end.printed)
        if end.cell:
            self._cells[end.cell] = script
        else:
            yield from self._ended(at_ms, script, end)

    def left(self, at_ms: int) -> Iterator[HookCall]:
        """Yield the calls of scripts that never ended."""
        for script in self._cells.values():
            for call in self._ended(at_ms, script, ScriptEnd("")):
                yield call._replace(is_open=True)

    def _ended(self, at_ms: int, script: _Script, end: ScriptEnd) -> Iterator[HookCall]:
        found = scripts.calls_in(script.source)
        is_reported, self._has_items = self._has_items, False
        if not found and not is_reported:
            answer: Json = {"output": script.printed, **_failed(end)}
            yield self._done(at_ms, script.call, "exec", {"command": script.source}, answer)
        alone = script._replace(printed=script.printed if len(found) == 1 else "")
        for place, one in enumerate(found):
            if not self._is_an_item(one):
                name = f"{script.call}#{place}" if len(found) > 1 else script.call
                yield self._said(at_ms, name, one, alone, end if len(found) == 1 else ScriptEnd(""))

    def _is_an_item(self, one: ScriptCall) -> bool:
        if one.name in SHELLS or one.name == STDIN:
            return "commands" in self._has or one.name == STDIN
        if one.name == _PATCH:
            return "changes" in self._has
        return "tools" in self._has and "__" in one.name

    def _said(
        self, at_ms: int, call: str, one: ScriptCall, script: _Script, end: ScriptEnd
    ) -> HookCall:
        if one.name in SHELLS:
            given: Object = {"command": command_of(one.given), "cwd": text(one.given, "workdir")}
            code: Object = {} if end.code is None else {"exit_code": end.code}
            answer: Json = {"output": script.printed, **code, **_failed(end)}
            return self._done(at_ms, call, "Bash", _placed(given), answer)
        if one.name == _PATCH:
            head = "" if end.has_failed else "Exit code: 0\n"
            return self._done(at_ms, call, _PATCH, one.given, f"{head}{script.printed}")
        if one.name in scripts.WEB and (query := scripts.asked_web(one.given)):
            return self._done(at_ms, call, "web_search", {"query": query}, script.printed)
        said: Json = {"content": script.printed, **_failed(end)}
        return self._done(at_ms, call, one.name, one.given, said)

    def asked(self, at_ms: int, item: Object) -> HookCall:
        """Return the call of a server's tool of an item, whose id hooks report too."""
        self._has_items = True
        name = f"mcp__{text(item, 'server')}__{text(item, 'tool')}"
        answer: Json = item.get("result") or {"isError": True, "content": item.get("error")}
        return self._done(at_ms, text(item, "id"), name, inner(item, "arguments"), answer)

    def executed(self, at_ms: int, item: Object) -> HookCall:
        """Return the command of an item."""
        self._has_items = True
        cwd = unquote(text(item, "cwd").removeprefix(_ADDRESS))
        given: Object = {"command": command_of(item), "cwd": cwd}
        answer: dict[str, Json] = {"output": text(item, "aggregated_output", "stdout")}
        code = number(item, "exit_code")
        if code is not None and code >= 0:
            answer["exit_code"] = code
        return self._done(at_ms, text(item, "id"), "Bash", _placed(given), answer)

    def changed(self, at_ms: int, item: Object, *, success: bool) -> HookCall:
        """Return the patch of an item, or of an event."""
        self._has_items = True
        patch = scripts.patch_of_changes(inner(item, "changes"))
        said = text(item, "stdout") if success else text(item, "stderr", "stdout")
        call, code = text(item, "id", "call_id"), int(not success)
        return self._done(at_ms, call, _PATCH, {"command": patch}, f"Exit code: {code}\n{said}")


def _failed(end: ScriptEnd) -> dict[str, Json]:
    return {"isError": True} if end.has_failed else {}


def _placed(given: Object) -> Object:
    """Return arguments without an empty folder."""
    return {name: value for name, value in given.items() if value or name != "cwd"}
