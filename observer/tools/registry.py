"""The table of toolsets, one module and one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from observer.core.errors import BadInput
from observer.core.plugins import with_plugins
from observer.memory.api import Memory
from observer.tools import chatgpt, core, kiro, mem0, memex, memory, story
from observer.tools.basic_memory import tools as basic_memory
from observer.tools.tool import Tool

GROUP = "observer.tools"
"""Group of the entry points by which other packages add toolsets."""

Here = Callable[[], str]
"""Returns the folder that the asking client works in, empty if it is not known."""


@dataclass(frozen=True, slots=True)
class Toolset:
    """A named set of tools; `guide` explains to a model when to use which.

    `greeting` returns text for each new connection beside the guide, empty for none; it may block.
    `is_fenced` as of a `Tool`.
    """

    guide: str
    tools: Callable[[Memory, Here], tuple[Tool, ...]]
    greeting: Callable[[Memory], str] = lambda _: ""
    is_fenced: bool = True


BUILT_IN = {
    "core": Toolset(core.GUIDE, core.Core.of),
    "story": Toolset(story.GUIDE, story.StoryTools.of),
    "browse": Toolset(story.BROWSE_GUIDE, story.Browse.of),
    "memex": Toolset(memex.GUIDE, memex.Memex.of, memex.greeting, is_fenced=False),
    "mem0": Toolset(mem0.GUIDE, mem0.Mem0.of, mem0.greeting, is_fenced=False),
    "basic-memory": Toolset(basic_memory.GUIDE, basic_memory.BasicMemory.of, is_fenced=False),
    "kiro": Toolset(kiro.GUIDE, kiro.Kiro.of, is_fenced=False),
    "memory": Toolset(memory.GUIDE, memory.MemoryTools.of, is_fenced=False),
    "chatgpt": Toolset(chatgpt.GUIDE, chatgpt.ChatGpt.of, is_fenced=False),
}


@cache
def toolsets() -> Mapping[str, Toolset]:
    """Return all toolsets by name: ours, then the `Toolset` of each entry point of `GROUP`."""
    return with_plugins(GROUP, Toolset, BUILT_IN)


def chosen(names: str) -> tuple[str, ...]:
    """Return the toolsets named in a text like ``"core,memex"``, each once, in its order.

    Raises:
        BadInput: no toolset is named, or an unknown one.
    """
    wanted = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in wanted if name not in toolsets()]
    if unknown or not wanted:
        raise BadInput(
            f"no toolset {unknown[0]!r}" if unknown else "no toolset named",
            hint="choose among: " + ", ".join(toolsets()),
        )
    return wanted


def tools_of(names: tuple[str, ...], memory: Memory, here: Here) -> dict[str, Tool]:
    """Return the tools of some toolsets by name.

    Raises:
        BadInput: two toolsets have a tool of the same name; the message names both.
    """
    tools: dict[str, Tool] = {}
    home: dict[str, str] = {}
    for name in names:
        for tool in toolsets()[name].tools(memory, here):
            if tool.name in tools:
                raise BadInput(
                    f"toolsets {home[tool.name]!r} and {name!r} both have a tool {tool.name!r}",
                    hint="choose one of them, or connect twice",
                )
            tools[tool.name] = replace(tool, is_fenced=toolsets()[name].is_fenced)
            home[tool.name] = name
    return tools
