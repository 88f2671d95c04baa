from __future__ import annotations

import pytest

from observer.errors import BadInput
from observer.front import toolsets
from observer.front.toolsets import TOOLSETS, Toolset, chosen, tools_of
from observer.memory import Memory


def test_toolsets_are_chosen_by_name_each_once() -> None:
    assert chosen(" core, core ") == ("core",)


@pytest.mark.parametrize("names", ["", ",", "cor", "core,x"])
def test_an_unknown_choice_is_refused_with_the_known_ones(names: str) -> None:
    with pytest.raises(BadInput) as refused:
        chosen(names)
    assert "core" in refused.value.hint


def test_two_toolsets_with_one_name_for_a_tool_are_refused_together(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = Toolset("", TOOLSETS["core"].tools)
    monkeypatch.setattr(toolsets, "TOOLSETS", {**TOOLSETS, "twin": twin})
    with pytest.raises(BadInput, match="'core' and 'twin' both have a tool 'search'"):
        tools_of(("core", "twin"), memory, str)
