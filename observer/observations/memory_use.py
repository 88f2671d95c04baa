"""Detect events that only use this memory.

What the memory was asked, or given to remember, needs no observation: searches would find the
question instead of its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from observer.clients.own_tools import is_own_tool
from observer.core.events import AnyBody, Command, Outcome, Search, ToolUse
from observer.core.text import word_set
from observer.shell.command_line import SimpleCommand, simple_commands
from observer.shell.runners import program_name

_PROGRAM = re.compile(r"(?:\w+=)?[\"'$(`]{0,4}observer(?:-memory)?(?:@[\w.]+|\.__main__)?\Z")
_VERBS = word_set(
    """
    up down status doctor search timeline show why context recall remember forget note post
    today week session sessions projects import install uninstall snippets tools mcp config model
    llm rebuild export
    """
)
_BESIDE = word_set("cd export set source . echo printf unset pushd popd sleep true")
"""Programs that prepare a call of observer, or separate its outputs."""


def is_memory_use(body: AnyBody) -> bool:
    """Return True if an event only searches the memory or writes to it."""
    match body:
        case Search():
            return body.where == "memory"
        case ToolUse() | Outcome():
            return is_own_tool(body.tool)
        case Command():
            return "observer" in body.command and _is_own_line(simple_commands(body.command))
        case _:
            return False


def _is_own_line(parts: Iterable[SimpleCommand]) -> bool:
    """Return True if each pipeline of a line runs observer or prepares that."""
    pipelines = [*_pipelines(parts)]
    own = [any(map(_is_own_part, pipeline)) for pipeline in pipelines]
    return any(own) and all(
        is_own_tool or all(program_name(part.words[0]) in _BESIDE for part in pipeline)
        for is_own_tool, pipeline in zip(own, pipelines, strict=True)
    )


def _pipelines(parts: Iterable[SimpleCommand]) -> Iterator[list[SimpleCommand]]:
    pipeline: list[SimpleCommand] = []
    for part in parts:
        if pipeline and part.sign != "|":
            yield pipeline
            pipeline = []
        pipeline.append(part)
    yield pipeline


def _is_own_part(part: SimpleCommand) -> bool:
    """Return True if a simple command runs observer, directly or by a launcher."""
    words = [word for word in part.words if not word.startswith("-")]
    names = [_PROGRAM.match(program_name(word)) is not None for word in words[:2]]
    verbs = [word.strip("\"'") for word in words[1:3]]
    is_run = any(is_name and verb in _VERBS for is_name, verb in zip(names, verbs, strict=False))
    return is_run and (names[0] or part.words[0] in {"uvx", "pipx", "npx"})
