"""Detect events and prompts that only use this memory.

What the memory was asked, or given to remember, needs no observation: searches would find the
question instead of its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from observer.clients.own_tools import is_own_tool
from observer.core.events import AnyBody, Command, Outcome, Search, ToolUse
from observer.core.text import ENDS, word_set
from observer.shell.command_line import SimpleCommand, simple_commands
from observer.shell.runners import program_name

QUESTION_CHARS = 400
"""A longer prompt does more than ask."""

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

_DID = (
    r"(?:decid|agree|choos|chose|pick|settl|conclud|discuss|said|say|tr(?:y|ied)|learn|solv|fix"
    r"|handl|use|do|did|note|record|reject|plan)\w*"
)
_ASKS = re.compile(
    rf"""
    /(?:[\w-]{{1,40}}:)?(?:recall|memory|remembered|search-memory|observer|why)\b
    |(?:(?:please|can\ you|could\ you|now|first|ok|okay|hey)[ ,]+){{0,3}}(?:
      (?:search|query|check|ask|consult|look(?:\ (?:in|into|through|up))?|use|go\ through)\s
        (?:in\s|through\s)?(?:the\s|your\s|my\s|our\s|project\s|shared\s){{0,2}}
        (?:memory|memories|observer(?:'s\ memory)?)\b
      |recall\b
      |remind\ me\b
      |(?:do|did|can)\ you\ (?:still\ )?(?:remember|recall)\b
      |what\ do\ (?:you|we)\ (?:remember|know|have\ in\ memory)\b
      |(?:what|why|when|how|where|which(?:\ [\w-]+){{1,4}}|who)\ (?:exactly\ )?
        (?:did|have|had)\ (?:we|i)\ (?:\w+ly\ |already\ |ever\ |last\ |end\ up\ )?{_DID}
      |(?:did|have|had)\ we\ (?:already\ |ever\ |once\ )?{_DID}
      |what\ (?:was|were|is|are)\ (?:our\ |the\ |my\ )?(?:\w+\ )?
        (?:decisions?|decided|agreed|conclusions?|rules?)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(rf"(?<=[{ENDS}])\s+|\n+")
_COMMANDING = re.compile(
    r"(?:,|;|\band(?: then)?|\bthen)\s+(?:please\s+)?(?:then\s+)?(?:implement|fix|add|write|change"
    r"|update|create|make|run|apply|remove|refactor|do|use|build|test|commit)\b",
    re.IGNORECASE,
)


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


def only_asks(prompt: str) -> bool:
    """Return True if a prompt only asks what is remembered.

    >>> only_asks("What did we decide about retries?")
    True
    >>> only_asks("What did we decide about retries? Implement it.")
    False
    """
    text = prompt.strip()
    if len(text) > QUESTION_CHARS or not _ASKS.match(text) or _COMMANDING.search(text):
        return False
    _, *others = (part.strip() for part in _BETWEEN.split(text))
    return all(other.endswith("?") or _ASKS.match(other) for other in others)


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
