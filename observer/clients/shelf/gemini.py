"""Gemini CLI: hooks of `settings.json`, with names of its own. Source: payloads of 0.61.0.

Qwen Code has hooks in the form of Claude Code's, with these tools. Source: payloads of 0.24.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from observer.clients import parts, tools
from observer.clients.claude_events import Dialect
from observer.clients.client import Client, hook_specific_output, prompt_sample
from observer.clients.payload import flag, inner, joined, prose, text, token_usage, words
from observer.core.events import Prompt, Reply
from observer.core.text import word_set

NAME, QWEN = "gemini", "qwen"

NOISE = word_set("BeforeTool BeforeModel AfterModel BeforeToolSelection PreCompress Notification")

_CONTEXT = re.compile(r"\A<hook_context>[^<>]*</hook_context>\s*")
"""What the client puts before a prompt without a terminal: the context that hooks have printed."""

# --- its tools, which Qwen Code has taken over, and how they answer ------------------------------
#
# An answer has two forms: `llmContent`, what the model reads, and `returnDisplay`, what the person
# sees. Of a command the first ends in lines that say how it went, of an edit the second has the
# texts before and after.

_SHELL = "run_shell_command"
TOOLS: Mapping[str, tools.Maker] = tools.by_name(
    command="run_shell_command",
    write="write_file",
    edit="replace edit",
    read="read_file",
    find="glob list_directory",
    grep="grep_search search_file_content",
    fetch="web_fetch",
    ask_web="google_web_search web_search",
    delegate="invoke_agent agent task delegate_to_agent codebase_investigator",
) | {
    # Its paths have another name in older versions.
    "read_many_files": lambda call: tools.read(
        replace(
            call, given={"paths": list(words(call.given, "paths") or words(call.given, "include"))}
        )
    )
}

_WRAPPED = re.compile(r"\A<untrusted_context>\n(.*)\n</untrusted_context>\Z", re.DOTALL)
_END = re.compile(r"(?:\n(?:Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*)+")
_EXIT_CODE = re.compile(r"\nExit Code: (\d{1,9})\b")
_SIGNAL = re.compile(r"\nSignal: (?!\(none\))")
_CANCELLED = ("Command was cancelled by user", "Command was automatically cancelled")
_NO_CODE = "\nExit Code: (none)"


def _correct(call: tools.ToolCall) -> tools.ToolCall:
    """Return a call with its answer as the makers read it, and how it went."""
    answer = call.response if isinstance(call.response, dict) else {}
    if error := text(inner(answer, "error"), "message"):
        call = replace(call, error=error, failed=True)
    shown = call.error or prose(answer.get("llmContent") or call.response)
    wrapped = _WRAPPED.match(shown)
    shown = wrapped[1] if wrapped else shown
    if call.tool == _SHELL:
        return _ended(call, shown)
    if call.error:
        return call
    display = inner(answer, "returnDisplay")
    if "fileDiff" in display:
        # What a file was and how it changed, in the form of Claude Code's answers.
        is_new = flag(display, "isNewFile")
        if is_new is None:
            is_new = shown.startswith("Successfully created")
        return replace(
            call,
            response={
                "type": "create" if is_new else "update",
                "originalFile": text(display, "originalContent"),
                "structuredPatch": tools.unified_hunks(text(display, "fileDiff")),
            },
        )
    return replace(call, response=shown)


def _ended(call: tools.ToolCall, report: str) -> tools.ToolCall:
    """Read the report of a command: what it printed, then how it went, unless it was stopped."""
    *_, end = [None, *_END.finditer(report)]
    if end is None:
        stopped = call.interrupted or report.startswith(_CANCELLED)
        return replace(
            call, response=report, error="", failed=call.failed or None, interrupted=stopped
        )
    # What stands in front may be a command of many lines.
    said = report[: end.start()].removeprefix(f"Command: {text(call.given, 'command')}\n")
    said = said.removesuffix("\nError: (none)")
    code = _EXIT_CODE.search(end[0])
    is_killed = _SIGNAL.search(end[0]) is not None
    never_ran = _NO_CODE in end[0] and said.rpartition("\n")[2].startswith("Error: ")
    is_open = is_killed or _NO_CODE in end[0]
    return replace(
        call,
        response=_printed(said),
        error="",
        failed=True if is_killed or never_ran else None,
        exit_code=int(code[1]) if code else None if is_open else 0,
    )


def _printed(said: str) -> str:
    """Return what a command printed; older versions kept its two streams apart."""
    _, mark, printed = said.partition("Output: ")
    if mark:
        return "" if printed == "(empty)" else printed
    first, _, second = said.partition("Stdout: ")[2].rpartition("\nStderr: ")
    return joined(*(stream for stream in (first, second) if stream != "(empty)"))


_DIALECT = Dialect(
    client=NAME,
    tools=TOOLS,
    noise=NOISE,
    aliases={"BeforeAgent": "UserPromptSubmit", "AfterAgent": "Stop", "AfterTool": "PostToolUse"},
    readers={
        "UserPromptSubmit": lambda payload: Prompt(text=_CONTEXT.sub("", text(payload, "prompt"))),
        "Stop": lambda payload: Reply(
            text=text(payload, "prompt_response"),
            usage=token_usage(inner(payload, "usage")),  # of a session that is imported
        ),
    },
    correct=_correct,
    session_variable="GEMINI_SESSION_ID",
)

# --- how it is installed -------------------------------------------------------------------------

HOOKS = parts.Hooks(
    client=NAME,
    # It counts milliseconds. Its hooks may print JSON alone: anything else is shown to the person.
    reporting=parts.seconds("SessionStart", 10_000)
    | parts.seconds("BeforeAgent AfterTool AfterAgent SessionEnd", 5_000),
    recalling={"AfterTool": _SHELL},
    asking={"timeout": 5_000},
    matchers={"AfterTool": ".*"},
)

_settings = parts.placed("GEMINI_CLI_HOME", ".", ".gemini/settings.json")

# --- Qwen Code -----------------------------------------------------------------------------------

_QWEN_NOISE = word_set(
    """
    PreToolUse PostToolBatch PreCompact MessageDisplay Notification PermissionRequest
    UserPromptExpansion InstructionsLoaded
    """
)


_QWEN = Dialect(
    client=QWEN,
    tools=TOOLS,
    noise=_QWEN_NOISE,
    readers={
        # Every further request of the turn has an empty prompt.
        "UserPromptSubmit": lambda payload: (
            Prompt(text=asked) if (asked := text(payload, "submitted_prompt", "prompt")) else None
        )
    },
    correct=_correct,
    session_variable="QWEN_CODE_SESSION_ID",
)

# No names: two handlers with one name are one to Qwen Code.
QWEN_HOOKS = parts.Hooks(
    client=QWEN,
    reporting=parts.seconds("SessionStart", 10)
    | parts.seconds("UserPromptSubmit PostToolUse PostToolUseFailure Stop", 5)
    | parts.seconds("SubagentStop PostCompact SessionEnd", 5),
    recalling={"PostToolUse": _SHELL, "PostToolUseFailure": _SHELL},
    matchers={"PostToolUse": "*", "PostToolUseFailure": "*"},
)

_qwen_settings = parts.placed("QWEN_HOME", ".qwen", "settings.json")

CLIENTS = (
    Client(
        name=NAME,
        read=_DIALECT.read,
        installer=parts.installer_of(
            parts.config_file(_settings, HOOKS.edited, parts.Servers().edited),
            notes=["Restart Gemini CLI; it reads its settings when it starts."],
        ),
        check_hooks=partial(parts.check_switch, _settings, ("hooksConfig", "enabled"), off=False),
        programs=("gemini",),
        folders=(".gemini/settings.json", ".gemini/tmp"),
        transcripts=(".gemini/tmp",),
        tried="0.61.0",
        sample=prompt_sample("BeforeAgent"),
        session_variable="GEMINI_SESSION_ID",
        marker_variables=("GEMINI_CLI",),
        resume="gemini --resume {}",
        has_plugin=True,
        context_file="CONTEXT.gemini.json",  # plain text would be shown to the person
        wrap_context=partial(hook_specific_output, event="SessionStart"),
    ),
    Client(
        name=QWEN,
        read=_QWEN.read,
        installer=parts.installer_of(
            parts.config_file(_qwen_settings, QWEN_HOOKS.edited, parts.Servers().edited),
            notes=["Restart Qwen Code; it reads its settings when it starts."],
        ),
        check_hooks=partial(parts.check_switch, _qwen_settings, ("disableAllHooks",), off=True),
        programs=("qwen",),
        folders=(".qwen",),
        transcripts=(".qwen/projects",),
        tried="0.24.4",
        sample=prompt_sample("UserPromptSubmit"),
        session_variable="QWEN_CODE_SESSION_ID",
        marker_variables=("QWEN_CODE",),
        resume="qwen --resume {}",
        context_file="CONTEXT.qwen.md",
    ),
)
