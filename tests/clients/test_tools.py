"""What the tools of clients are, under each name, and what an edit did to symbols."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from observer.clients import tools
from observer.clients.envelope import Envelope, Json
from observer.clients.shelf import claude_code
from observer.core import own_tools
from observer.core.events import Command, Event, Search, ToolUse
from observer.core.value import SymbolChanges
from observer.ingest.decode import decode_call
from observer.tools.registry import toolsets


def test_every_tool_of_ours_is_known_for_ours() -> None:
    known = own_tools.OWN_QUERIES | own_tools.OWN_PRIVATE_TOOLS
    assert known == {
        tool.name
        for toolset in toolsets().values()
        for tool in toolset.tools(None, str)  # type: ignore[arg-type] # names ask no memory
    }


@pytest.mark.parametrize("server", ["mcp__observer__", "MCP:"])
@pytest.mark.parametrize("name", sorted(own_tools.OWN_PRIVATE_TOOLS))
def test_of_what_we_are_shown_no_copy_is_kept(name: str, server: str) -> None:
    given = {"content": "Bo left", "data": "Bo left", "user_id": "bo", "query": "bo"}
    call = tools.ToolCall(tool=f"{server}{name}", given=given, response="Bo left", error="Bo")
    shown = tools.make(call, {})
    assert "bo" not in repr(shown).lower().replace(call.tool, "")


def test_what_is_recalled_is_a_question() -> None:
    given = {"action": "recall", "query": "cache"}
    shown = tools.make(tools.ToolCall(tool="@observer/memory", given=given, response="Bo left"), {})
    assert shown == Search(query="cache", where="memory", tool="@observer/memory")


def test_tools_of_other_servers_are_not_ours() -> None:
    assert not own_tools.is_own_tool("mcp__tracker__search")
    assert not own_tools.is_own_tool("mcp__observer__get_issue")
    assert not own_tools.is_own_tool("MCP:search")


@pytest.mark.parametrize(
    "spelled",
    [
        "mcp__observer__search",
        "mcp__observer-memex__search_notes",
        "mcp__plugin_tools_observer__get_observations",
        "mcp_observer_get_context",
        "functions.mcp__observer__why",
        "observer_search",
        "observer-search",
        "observer_get_observations",
        "observer-memory-search",
        "observer___search",
        "observer/search",
        "observer.timeline",
        "@observer/search",
        "Observer: search",
        "MCP: search (observer)",
        "search (observer MCP Server)",
        "MCP:get_observations",
    ],
)
def test_our_tools_are_known_in_every_spelling(spelled: str) -> None:
    shown = tools.make(tools.ToolCall(tool=spelled, given={"query": "cache"}, response="#1 Bo"), {})
    assert shown == Search(query="cache", where="memory", tool=spelled)


@pytest.mark.parametrize(
    "spelled",
    [
        "mcp__intersection-observer__search",
        "mcp__github__observer_search_repositories",
        "search",
        "observer",
        "search (github)",
        "observer_" * 100,
    ],
)
def test_a_name_that_only_holds_ours_is_not_ours(spelled: str) -> None:
    assert not own_tools.is_own_tool(spelled)


def test_a_tool_for_all_servers_is_known_by_the_server_it_calls() -> None:
    given = {"server_name": "observer", "tool_name": "search", "arguments": {"query": "cache"}}
    shown = tools.make(tools.ToolCall(tool="use_mcp_tool", given=given, response="#1"), {})
    assert shown == Search(query="cache", where="memory", tool="mcp__observer__search")
    elsewhere = tools.ToolCall(tool="use_mcp_tool", given={**given, "server_name": "tracker"})
    assert isinstance(tools.make(elsewhere, {}), ToolUse)


@pytest.mark.parametrize(
    ("tool", "response", "output"),
    [
        (
            "Grep",
            {"mode": "files_with_matches", "filenames": [], "numFiles": 0},
            "No matches found",
        ),
        ("Grep", {"mode": "content", "content": "a.py:1:x", "filenames": []}, "a.py:1:x"),
        ("Glob", {"filenames": ["a.py", "b.py"], "truncated": False}, "a.py\nb.py"),
        ("Glob", "", ""),
        (
            "WebSearch",
            {
                "query": "q",
                "results": [{"content": [{"title": "T", "url": "https://e.org"}]}, "So"],
            },
            "T (https://e.org)\nSo",
        ),
    ],
)
def test_a_search_is_answered_in_text(tool: str, response: Json, output: str) -> None:
    call = tools.ToolCall(tool=tool, given={"pattern": "x", "query": "x"}, response=response)
    made = tools.make(call, claude_code.TOOLS)
    assert isinstance(made, Search)
    assert made.output == output


@pytest.mark.parametrize(
    ("response", "output"),
    [
        (
            {"stdout": "", "stderr": "", "backgroundTaskId": "b1"},
            "Command running in background with ID: b1",
        ),
        ({"stdout": "on", "stderr": "", "backgroundTaskId": "b1"}, "on"),
        ({"stdout": "", "stderr": ""}, ""),
    ],
)
def test_a_command_that_was_sent_to_the_background_says_so(response: Json, output: str) -> None:
    call = tools.ToolCall(tool="Bash", given={"command": "make"}, response=response)
    shown = tools.make(call, claude_code.TOOLS)
    assert shown == Command(command="make", output=output)


Row = tuple[str, dict[str, Any], str, str]
SWAPPED = {"old_string": "a", "new_string": "b"}
DELETED = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch"
EDITOR = "str_replace_editor"
ROWS: dict[str, list[Row]] = {
    "claude-code": [
        ("View", {"file_path": "a.py"}, "file-read", "a.py"),
        ("Replace", {"file_path": "a.py", "content": "x"}, "file-write", "a.py"),
        ("GlobTool", {"pattern": "*.py"}, "search", "*.py"),
        ("GrepTool", {"pattern": "total"}, "search", "total"),
        ("LS", {"path": "/p"}, "search", "/p"),
        ("dispatch_agent", {"prompt": "look"}, "delegation", "look"),
        ("NotebookRead", {"notebook_path": "a.nb"}, "file-read", "a.nb"),
        ("NotebookEditCell", {"notebook_path": "a.nb", "new_source": "x"}, "file-write", "a.nb"),
        ("mcp__acp__Bash", {"command": "make"}, "command", "make"),
        ("mcp__acp__Read", {"file_path": "a.py"}, "file-read", "a.py"),
        ("mcp__acp__Edit", {"file_path": "a.py", **SWAPPED}, "file-write", "a.py"),
        ("TodoWrite", {"todos": []}, "tool-use", "TodoWrite"),
        ("mcp__tracker__search", {"query": "x"}, "tool-use", "mcp__tracker__search"),
    ],
    "codex": [
        ("view_image", {"path": "a.png"}, "file-read", "a.png"),
        ("open_page", {"url": "https://e.org"}, "search", "https://e.org"),
        ("list_dir", {"dir_path": "/p"}, "search", "/p"),
        ("update_plan", {"plan": []}, "tool-use", "update_plan"),
    ],
    "gemini": [
        ("read_many_files", {"paths": ["a.py", "b.py"]}, "file-read", "a.py b.py"),
        ("read_many_files", {"include": ["*.py"]}, "file-read", "*.py"),
        ("read_file", {"absolute_path": "/p/a.py"}, "file-read", "/p/a.py"),
        ("codebase_investigator", {"objective": "look"}, "delegation", "look"),
        ("delegate_to_agent", {"agent_name": "x", "objective": "look"}, "delegation", "look"),
        ("save_memory", {"fact": "x"}, "tool-use", "save_memory"),
    ],
    "qwen": [("read_many_files", {"paths": ["a.py"]}, "file-read", "a.py")],
    "copilot": [
        (EDITOR, {"command": "view", "path": "a.py"}, "file-read", "a.py"),
        (EDITOR, {"command": "create", "path": "a.py", "file_text": "x"}, "file-write", "a.py"),
        (EDITOR, {"command": "str_replace", "path": "a.py", "new_str": "b"}, "file-write", "a.py"),
        (EDITOR, {"command": "insert", "path": "a.py", "new_str": "b"}, "file-write", "a.py"),
        (EDITOR, {"command": "undo_edit", "path": "a.py"}, "tool-use", EDITOR),
        ("web_search", {"query": "x"}, "search", "x"),
        ("report_intent", {"intent": "x"}, "tool-use", "report_intent"),
    ],
    "cursor": [
        ("Glob", {"glob_pattern": "*.py", "target_directory": "/p"}, "search", "*.py"),
        ("LS", {"target_directory": "/p"}, "search", "/p"),
        ("SemanticSearch", {"query": "where"}, "search", "where"),
        ("StrReplace", {"path": "a.py", **SWAPPED}, "file-write", "a.py"),
        ("Write", {"path": "a.py", "contents": "b"}, "file-write", "a.py"),
        ("ApplyPatch", {"patch": DELETED}, "file-write", "a.py"),
        ("TodoWrite", {"todos": []}, "tool-use", "TodoWrite"),
    ],
    "droid": [
        ("Glob", {"patterns": ["*.py", "*.pyi"], "folder": "/p"}, "search", "*.py *.pyi"),
        ("LS", {"directory_path": "/p"}, "search", "/p"),
    ],
}
"""Of each client: a tool, what it is given, what that is, and what it is about."""


@pytest.mark.parametrize(
    ("client", "tool", "given", "kind", "about"),
    [
        pytest.param(client, *row, id=f"{client}-{row[0]}-{number}")
        for client, rows in ROWS.items()
        for number, row in enumerate(rows)
    ],
)
def test_a_tool_is_known_by_its_name(
    client: str, tool: str, given: dict[str, Any], kind: str, about: str
) -> None:
    found = called(client, tool, given, "done")
    assert found.kind == kind
    assert about in found.about


class Seen(msgspec.Struct):
    kind: str
    about: str


def called(client: str, tool: str, given: dict[str, Any], answer: str) -> Seen:
    """Return what a finished call of a tool becomes."""
    event, answered = _EVENTS.get(client, ("PostToolUse", "tool_response"))
    envelope = Envelope(id="e", at_ms=1_763_715_600_000, client=client, event=event)
    payload: dict[str, Any] = {"session_id": "s", "hook_event_name": event, answered: answer}
    payload |= {"tool_name": tool, "tool_input": given}
    (found,) = decode_call(envelope, payload, cap_bytes=65_536)
    return seen(found)


_EVENTS = {"gemini": ("AfterTool", "tool_response"), "cursor": ("postToolUse", "tool_output")}


def seen(event: Event) -> Seen:
    """Return the kind of an event, and what it is about."""
    body = msgspec.to_builtins(event.body)
    names = ("command", "query", "task", "paths", "path", "tool")
    about = next(body[name] for name in names if body.get(name))
    return Seen(body["kind"], about if isinstance(about, str) else " ".join(about))


BODY = "\n".join(f"\tstep{number}()" for number in range(12))
OLD = f"package shop\n\nfunc Pay() {{\n{BODY}\n}}\n"
NEW = OLD.replace("step6()", "step6(1)")
HUNK = {
    "oldStart": 9,
    "oldLines": 3,
    "newStart": 9,
    "newLines": 3,
    "lines": ["\tstep5()".replace("\t", " \t", 1), "-\tstep6()", "+\tstep6(1)", " \tstep7()"],
}
PAID = SymbolChanges(changed=("Pay",))


def edit(given: dict[str, Any], response: object, *, tool: str = "Edit") -> SymbolChanges | None:
    call = tools.ToolCall(tool=tool, given={"file_path": "shop/pay.go", **given}, response=response)  # type: ignore[arg-type] # as it came
    return (tools.write if tool == "Write" else tools.edit)(call).symbols


CASES = [
    pytest.param({"old_string": "step6()", "new_string": "step6(1)"},
                 {"originalFile": OLD, "structuredPatch": [HUNK]}, PAID, id="patch"),
    pytest.param({"old_string": "step6()", "new_string": "step6(1)"}, {"originalFile": OLD}, PAID,
                 id="replacement"),
    pytest.param({"old_string": "step6()", "new_string": "step6(1)"},
                 {"originalFile": OLD, "structuredPatch": [{**HUNK, "oldStart": 2}]}, PAID,
                 id="patch-that-does-not-fit"),
    pytest.param({"edits": [{"old_string": "step6()", "new_string": "go()"},
                            {"old_string": "go()", "new_string": "step6(1)"}]},
                 {"originalFile": OLD}, PAID, id="one-after-the-other"),
    pytest.param({"old_string": "step", "new_string": "done", "replace_all": True},
                 {"originalFile": OLD},
                 SymbolChanges(changed=("Pay",)), id="all"),
    pytest.param({"old_string": "absent", "new_string": "x"}, {"originalFile": OLD}, None,
                 id="not-there"),
    pytest.param({**SWAPPED}, {"originalFile": None}, None,
                 id="no-original"),
    pytest.param({"old_string": "", "new_string": ""}, {"originalFile": OLD}, None, id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "response", "symbols"), CASES)
def test_an_edit_says_what_became_of_symbols(
    given: dict[str, Any], response: dict[str, Any], symbols: SymbolChanges | None
) -> None:
    assert edit(given, response) == symbols


WRITES = [
    pytest.param({"type": "create", "originalFile": None}, ("Pay",), id="new"),
    pytest.param({"type": "update", "originalFile": NEW}, (), id="over-a-known-text"),
    pytest.param({"type": "update", "structuredPatch": [{**HUNK, "lines": [
        " \tstep5()", "-\tstep6(1)", "+\tstep6()", " \tstep7()", "\\ No newline at end of file"]}]},
        (), id="patch"),
]  # fmt: skip


@pytest.mark.parametrize(("response", "added"), WRITES)
def test_a_whole_file_changes_symbols(response: dict[str, Any], added: tuple[str, ...]) -> None:
    symbols = edit({"content": OLD}, response, tool="Write")
    assert symbols
    assert (symbols.added, symbols.changed) == (added, () if added else ("Pay",))


def test_a_patch_that_only_adds_lines_is_applied_behind_the_line_it_names() -> None:
    hunk = {"oldStart": 1, "oldLines": 0, "newStart": 2, "lines": ["+func Go() {}"]}
    symbols = edit({}, {"originalFile": OLD, "structuredPatch": [hunk]})
    assert symbols
    assert symbols.added == ("Go",)


def test_a_file_written_over_an_unknown_text_says_nothing() -> None:
    assert edit({"content": OLD}, {"type": "update"}, tool="Write") is None


def test_a_file_of_no_language_has_no_symbols() -> None:
    given = {"file_path": "notes.xyz", **SWAPPED}
    assert edit(given, {"originalFile": "a"}) is None


def test_names_are_kept_in_number_and_length() -> None:
    method = f"    def {'f' * 90}(self): pass\n"
    text = "".join(f"class C{number}{'c' * 80}:\n{method}" for number in range(100))
    symbols = edit({"file_path": "a.py", "content": text}, {"type": "create"}, tool="Write")
    assert symbols
    assert (len(symbols.added), max(map(len, symbols.added))) == (48, 160)
