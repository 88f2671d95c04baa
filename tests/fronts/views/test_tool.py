from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any

import pytest
from msgspec import Meta

from observer.core.errors import BadInput
from observer.tools.tool import LARGEST_INTEGER, ResultRow, Tool, ToolResult


def nested(levels: int) -> Any:
    return [nested(levels - 1)] if levels else 1


class Sum(ResultRow):
    total: int
    remark: str | None


def add(
    numbers: Annotated[list[int], Meta(description="What to add.")],
    label: str = "",
    times: Annotated[int, Meta(ge=1, le=3)] = 1,
    more: Annotated[list[int] | None, Meta(description="What else to add.")] = None,
) -> ToolResult[Sum]:
    """Add numbers."""
    return ToolResult(label, Sum(total=sum([*numbers, *(more or [])]) * times, remark=None))


TOOL = Tool(run=add, title="Add", aliases=MappingProxyType({"of": "numbers"}))


def test_the_docstring_is_the_description() -> None:
    assert (TOOL.name, TOOL.description) == ("add", "Add numbers.")


def test_the_signature_is_the_input_schema() -> None:
    schema = TOOL.input_schema
    assert schema["required"] == ["numbers"]
    assert "additionalProperties" not in schema
    assert schema["properties"]["times"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 3,
        "default": 1,
    }


def test_empty_defaults_cost_nothing() -> None:
    assert "default" not in TOOL.input_schema["properties"]["label"]


def test_the_output_schema_has_the_fields_of_the_result() -> None:
    fields = {"total": {"type": "integer"}, "remark": {}}
    assert TOOL.output_schema == {"type": "object", "properties": fields}


@pytest.mark.parametrize(
    ("arguments", "total"),
    [
        pytest.param({"numbers": [1, 2]}, 3, id="plain"),
        pytest.param({"of": [1, 2]}, 3, id="alias"),
        pytest.param({"numbers": "[1, 2]"}, 3, id="list as text"),
        pytest.param({"numbers": [1], "more": "[2]"}, 3, id="list as text, or none"),
        pytest.param({"numbers": "1, 2"}, 3, id="list between commas"),
        pytest.param({"numbers": 3}, 3, id="only element"),
        pytest.param({"numbers": "3"}, 3, id="only element as text"),
        pytest.param({"numbers": ""}, 0, id="list of nothing"),
        pytest.param({"numbers": ["1", 2]}, 3, id="number as text"),
        pytest.param({"numbers": [1, 2], "times": None}, 3, id="null"),
        pytest.param({"numbers": [1, 2], "times": "2"}, 6, id="limit as text"),
        pytest.param({"numbers": [1, 2], "label": 7}, 3, id="text as number"),
        pytest.param({"Numbers": [1, 2], "ti_mes": 2}, 6, id="another spelling"),
    ],
)
def test_what_models_write_is_taken(arguments: dict[str, Any], total: int) -> None:
    assert TOOL.call(arguments).result.total == total


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param({}, "missing required field `numbers`", id="missing"),
        pytest.param({"numbers": ["x"]}, "Expected `int`", id="type"),
        pytest.param({"numbers": "[1,"}, "Expected `array`", id="broken list"),
        pytest.param({"numbers": "[" * 10_000}, "Expected `array`", id="nesting"),
        pytest.param({"numbers": [1], "times": 4}, "<= 3", id="range"),
        pytest.param({"numbers": [10**30]}, "'numbers' is a number out of range", id="large"),
        pytest.param({"numbers": [2**60]}, "<= 9007199254740991", id="beyond JSON"),
        pytest.param({"numbers": [float("inf")]}, "out of range", id="infinite"),
        pytest.param({"numbers": [1], "label": "a\0b"}, "'label' holds a NUL", id="NUL"),
        pytest.param({"numbers": [1], "label": "\ud800"}, "half of a surrogate pair", id="half"),
        pytest.param({"numbers": [1], "label": "x" * 1_000_001}, "is longer than", id="long"),
        pytest.param({"numbers": nested(40)}, "is nested more than 32 levels", id="deep"),
        pytest.param({"numbers": [1], "label": True}, "Expected `str`", id="bool is no text"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput) as refused:
        TOOL.call(arguments)
    assert reason in refused.value.message
    assert refused.value.hint in ("it takes numbers, label, times, more", "send it without that")


def test_a_parameter_that_no_tool_has_is_ignored_with_a_word() -> None:
    answer = TOOL.call({"numbers": [1], "sessionId": "7", "toolCallId": {"x": 1}})
    assert answer.result.total == 1
    said = "ignored: sessionId, toolCallId (it takes numbers, label, times, more)"
    assert answer.notice == said


def test_a_refusal_says_what_was_ignored() -> None:
    with pytest.raises(BadInput) as refused:
        TOOL.call({"summands": [1]})
    assert refused.value.hint == "ignored: summands (it takes numbers, label, times, more)"


def test_every_integer_and_number_has_a_smallest_and_a_largest_value() -> None:
    assert TOOL.input_schema["properties"]["numbers"]["items"] == {
        "type": "integer",
        "minimum": -LARGEST_INTEGER,
        "maximum": LARGEST_INTEGER,
    }
