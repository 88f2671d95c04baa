"""What Codex's calls of shells and scripts ask, and how their answers say that a command ended."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple
from urllib.parse import unquote

from observer.clients.envelope import Json, Object
from observer.clients.payload import flag, inner, number, parsed, prose, rows, text, words
from observer.code.literals import method_calls
from observer.importers.records import HookCall

SHELLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec"}
)
STDIN = "write_stdin"
_PATCHES = ("apply_patch", "applypatch")
_APPLY = re.compile(
    r"(?:cd\s+(?P<folder>'[^'\n]+'|\"[^\"\n]+\"|[^\s;&|'\"]+)\s*(?:&&|;|\n)\s*)?(?:apply_?patch)\b"
)
_BEGIN = "*** Begin Patch"
_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Exit code: (?P<old>-?\d{1,9})\n)?(?:Wall time: [^\n]*\n)?"
    r"(?:Process (?:exited with code (?P<new>-?\d{1,9})"
    r"|running with session ID (?P<on>\d{1,18}))\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:\n"
)


_BROKEN = re.compile(
    r"(?:exec_command failed|write_stdin failed|failed in sandbox|execution error"
    r"|failed to (?:parse|read|list|spawn)|unsupported call|command timed out|tool call error"
    r"|(?:exec command|patch|command) rejected|rejected by user|approval policy is )",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"(?:exec command|patch) rejected by user")
_ABORTED = re.compile(
    r"(?:Wall time: [^\n]{1,40}\n)?aborted(?: by user)?(?: after [^\n]{1,20})?(?:\n|\Z)"
)


class Answer(NamedTuple):
    """What a command printed; its exit code, or the session (or cell) in which it goes on."""

    printed: str
    code: int | None = None
    going_on: str = ""
    is_broken: bool = False
    is_aborted: bool = False


def command_of(given: Object) -> str:
    """Return the command line of a call: a text, or words of which the first may be a shell."""
    name = "command" if "command" in given else "cmd"
    if not isinstance(given.get(name), list):
        return text(given, name)
    said = words(given, name)
    is_script = len(said) == 3 and said[1] in {"-c", "-lc"}
    return said[2] if is_script else shlex.join(said)


def patch_of(given: Object) -> tuple[str, str] | None:
    """Return the patch that a call of a shell applies, and its folder, "" for where the shell is.

    None if it runs something else.
    """
    said = words(given, "command") or words(given, "cmd") or ("",)
    if said[0] in _PATCHES:
        return "\n".join(said[1:]), ""
    line = command_of(given).lstrip()
    begin, found = line.find(_BEGIN), _APPLY.match(line)
    if found is None or begin < 0:
        return None
    return line[begin:], (found["folder"] or "").strip("'\"")


def answer_of(output: Json) -> Answer:
    """Return what an answer says: text with a head, or an object with the exit code."""
    said = prose(output)
    value = parsed(said) if said.startswith("{") else output
    if isinstance(value, dict) and "output" in value and "metadata" in value:
        printed = text(value, "output")
        if _REJECTED.match(printed):  # what has never run has a code of 1
            return Answer(printed, is_broken=True)
        return Answer(printed, number(inner(value, "metadata"), "exit_code"))
    head = _HEAD.match(said)
    if head is None:
        is_broken = _BROKEN.match(said) is not None
        return Answer(said, is_broken=is_broken, is_aborted=_ABORTED.match(said) is not None)
    code = head["old"] or head["new"]
    return Answer(said[head.end() :], int(code) if code else None, head["on"] or "")


def looked_up(action: Object) -> tuple[str, Object]:
    """Return the tool and the question of a look at the web; "" where it says none."""
    if query := text(action, "query") or " ".join(words(action, "queries")):
        return "web_search", {"query": query}
    if url := text(action, "url"):
        return "open_page", {"url": url, "prompt": text(action, "pattern")}
    return "", {}


def whole(answer: Answer, *, success: bool | None) -> str:
    """Return the answer of a patch with the exit code before it, as hooks report it."""
    code = answer.code if success is None else int(not success)
    return answer.printed if code is None else f"Exit code: {code}\n{answer.printed}"


def success_of(payload: Object) -> bool | None:
    """Return how a call went by the event of its end; None for other events, or if none says it."""
    kind, result = text(payload, "type"), inner(payload, "result")
    if kind == "patch_apply_end":
        return flag(payload, "success")
    if kind == "FileChange":
        return text(payload, "status") == "completed"
    if kind == "mcp_tool_call_end" and result:
        done = inner(result, "Ok")
        return "Err" not in result and True not in (done.get("isError"), done.get("is_error"))
    return None


# --- scripts by which newer models call the tools, several in one call of `exec` ------------------
#
#     const r = await tools.exec_command({cmd: "make", workdir: "/p"}); text(r.output);
#
# Newer rollouts have an item of each command and patch that a script ran. Where there is none, what
# the script writes out was asked, and only a script with a single call says how it ended.

WAIT = "wait"
WEB = frozenset({"web__run", "web_run"})

_SCRIPT_HEAD = re.compile(
    r"Script (?P<how>completed|failed|running with cell ID (?P<cell>\w{1,40}))\n"
    r"(?:Wall time[^\n]*\n)?(?:Output:\n?)?"
)


def calls_in(script: str) -> list[tuple[str, Object]]:
    """Return the calls of tools in a script, those whose arguments are written out."""
    calls: list[tuple[str, Object]] = []
    for method, given in method_calls(script, "tools"):
        if isinstance(given, str):  # a patch
            calls.append((method, {"command": given}))
        elif isinstance(given, dict) and given:
            calls.append((method, given))
    return calls


def patch_of_changes(changes: Object) -> str:
    """Return the patch that made changes of files, which are given by their paths."""
    made = ["*** Begin Patch"]
    for path in changes:
        change = inner(changes, path)
        match text(change, "type"):
            case "add":
                added = text(change, "content").splitlines()
                made += [f"*** Add File: {path}", *(f"+{line}" for line in added)]
            case "delete":
                made.append(f"*** Delete File: {path}")
            case "update":
                made.append(f"*** Update File: {path}")
                if moved := text(change, "move_path"):
                    made.append(f"*** Move to: {moved}")
                made.append(text(change, "unified_diff").rstrip("\n"))
    return "\n".join([*made, "*** End Patch"])


# --- the calls that scripts made, by the items of a rollout, or else by what they write out -------

_PATCH = "apply_patch"
_ADDRESS = "file://"

Done = Callable[[int, str, str, Object, Json], HookCall]


class _Script(NamedTuple):
    call: str
    source: str
    printed: str


class ScriptCalls:
    """The calls of the scripts of one rollout. `has` says what the rollout has events of."""

    def __init__(self, done: Done, has: AbstractSet[str]) -> None:
        self._done = done
        self._has = has
        self._cells: dict[str, _Script] = {}
        self._has_items = False

    def is_of(self, name: str, given: Object) -> bool:
        """Return True if a call runs a script, or waits for one that is known to go on."""
        is_waiting = name == WAIT and text(given, "cell_id") in self._cells
        return name == "exec" or is_waiting

    def answered(self, at_ms: int, call: str, given: Object, output: Json) -> Iterator[HookCall]:
        """Yield the calls of a script that has ended, those that no item reports."""
        said = prose(output)
        head = _SCRIPT_HEAD.match(said)
        printed = said[head.end() :].lstrip("\n") if head else said
        result = parsed(printed) if printed.startswith("{") else None
        code = None
        if isinstance(result, dict) and "output" in result:
            code, printed = number(result, "exit_code"), text(result, "output")
        failed = head is not None and head["how"] == "failed"
        end = Answer(printed, code, (head["cell"] or "") if head else "", failed)
        known = self._cells.pop(text(given, "cell_id"), None)
        script = known or _Script(call, text(given, "command", "input", "code"), "")
        script = script._replace(printed=script.printed + end.printed)
        if end.going_on:
            self._cells[end.going_on] = script
        else:
            yield from self._ended(at_ms, script, end)

    def left(self, at_ms: int) -> Iterator[HookCall]:
        """Yield the calls of scripts that never ended."""
        for script in self._cells.values():
            for call in self._ended(at_ms, script, Answer("")):
                yield call._replace(is_open=True)

    def _ended(self, at_ms: int, script: _Script, end: Answer) -> Iterator[HookCall]:
        found = calls_in(script.source)
        is_reported, self._has_items = self._has_items, False
        if not found and not is_reported:
            answer: Json = {"output": script.printed, **_failed(end)}
            yield self._done(at_ms, script.call, "exec", {"command": script.source}, answer)
        alone = script._replace(printed=script.printed if len(found) == 1 else "")
        for place, one in enumerate(found):
            if one[0] in SHELLS or one[0] == STDIN:
                is_item = "commands" in self._has or one[0] == STDIN
            elif one[0] == _PATCH:
                is_item = "changes" in self._has
            else:
                is_item = "tools" in self._has and "__" in one[0]
            if not is_item:
                name = f"{script.call}#{place}" if len(found) > 1 else script.call
                yield self._said(at_ms, name, one, alone, end if len(found) == 1 else Answer(""))

    def _said(
        self, at_ms: int, call: str, one: tuple[str, Object], script: _Script, end: Answer
    ) -> HookCall:
        name, asked = one
        if name in SHELLS:
            given: Object = {"command": command_of(asked), "cwd": text(asked, "workdir")}
            code: Object = {} if end.code is None else {"exit_code": end.code}
            answer: Json = {"output": script.printed, **code, **_failed(end)}
            return self._done(at_ms, call, "Bash", _placed(given), answer)
        if name == _PATCH:
            head = "" if end.is_broken else "Exit code: 0\n"
            return self._done(at_ms, call, _PATCH, asked, f"{head}{script.printed}")
        questions = (rows(asked, each) for each in ("search_query", "image_query"))
        query = " ".join(text(row, "q") for found in questions for row in found)
        if name in WEB and query:
            return self._done(at_ms, call, "web_search", {"query": query}, script.printed)
        said: Json = {"content": script.printed, **_failed(end)}
        return self._done(at_ms, call, name, asked, said)

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
        patch = patch_of_changes(inner(item, "changes"))
        said = text(item, "stdout") if success else text(item, "stderr", "stdout")
        call, code = text(item, "id", "call_id"), int(not success)
        return self._done(at_ms, call, _PATCH, {"command": patch}, f"Exit code: {code}\n{said}")


def _failed(end: Answer) -> dict[str, Json]:
    return {"isError": True} if end.is_broken else {}


def _placed(given: Object) -> Object:
    return {name: value for name, value in given.items() if value or name != "cwd"}
