"""The toolset of examples/toolset.py, which CONTRIBUTING.md explains, works like any other."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from observer.memory.api import Memory
from observer.tools import registry
from observer.tools.registry import BUILT_IN, Toolset, tools_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "toolset.py"


@pytest.fixture
def example() -> ModuleType:
    spec = spec_from_file_location("toolset", EXAMPLE)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_is_offered_beside_core_and_answers(
    example: ModuleType, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Toolset(example.GUIDE, lambda memory, here: example.Newest(memory, here).tools())
    monkeypatch.setattr(registry, "toolsets", lambda: BUILT_IN | {"recent": row})
    tools = tools_of(("core", "recent"), memory, lambda: str(tmp_path / "my-api"))
    answer = tools["recent"].call({"limit": 2})
    assert len(answer.result.items) == 2
    assert answer.text.startswith(f"#{answer.result.items[0].id} ")
