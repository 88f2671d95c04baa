"""The scripted model says the session's steps in every wire format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from recording import scenario, standin

SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
Body = Callable[[bool], dict[str, Any]]


def messages(has_results: bool) -> dict[str, Any]:
    answer = {"role": "user", "content": [{"type": "tool_result"}]}
    tools = [{"name": "Bash", "input_schema": SHELL}]
    return {
        "tools": tools,
        "messages": [{"role": "user", "content": "go"}, *[answer] * has_results],
    }


def chat(has_results: bool) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}]
    said = [{"role": "user", "content": "go"}, *[{"role": "tool", "content": ""}] * has_results]
    return {"tools": tools, "messages": said}


def responses(has_results: bool) -> dict[str, Any]:
    tools = [{"type": "function", "name": "shell", "parameters": SHELL}]
    return {"tools": tools, "input": [{"type": "function_call_output"}] * has_results}


def gemini(has_results: bool) -> dict[str, Any]:
    shell = {"name": "run_shell_command", "parametersJsonSchema": SHELL}
    parts = [{"text": "go"}, *[{"functionResponse": {}}] * has_results]
    return {"tools": [{"functionDeclarations": [shell]}], "contents": [{"parts": parts}]}


def ask(url: str, body: dict[str, Any]) -> str:
    request = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=20) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("/v1/messages?beta=true", messages, id="anthropic"),
        pytest.param("/v1/chat/completions", chat, id="chat"),
        pytest.param("/v1/responses", responses, id="responses"),
        pytest.param("/v1beta/models/m:streamGenerateContent?alt=sse", gemini, id="gemini"),
    ],
)
def test_a_client_with_a_shell_alone_is_led_through_its_steps(
    path: str, body: Body, tmp_path: Path
) -> None:
    with standin.serving(scenario.steps(tmp_path)) as model:
        aside = ask(f"{model.url}/v1/messages", {"messages": []})
        said = [ask(model.url + path, body(number > 0)) for number in range(5)]
    assert [scenario.TEST in each for each in said] == [True, True, True, False, False]
    assert "git commit" in said[3]
    assert scenario.CLOSING in said[4]
    assert (standin.ASIDE in aside, len(model.requests)) == (True, 6)


EDIT = {"path": "/p/till.py", "old": "sum(prices) - 1", "new": "sum(prices)"}


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        pytest.param(scenario.Tool("Edit", {"properties": {"file_path": {}, "old_string": {},
            "new_string": {}}}), {"file_path": "/p/till.py", "old_string": EDIT["old"],
            "new_string": EDIT["new"]}, id="by-strings"),
        pytest.param(scenario.Tool("edit", {"properties": {"path": {},
            "replace_all": {"type": "boolean"}}, "required": ["path", "replace_all"]}),
            {"path": "/p/till.py", "old": EDIT["old"], "new": EDIT["new"], "replace_all": False},
            id="what-is-required-is-filled-in"),
    ],
)  # fmt: skip
def test_arguments_have_the_names_that_the_tool_gives(tool: scenario.Tool, given: Any) -> None:
    assert scenario.arguments(tool, EDIT) == given


def test_a_patch_is_text_for_a_tool_that_takes_text() -> None:
    tool = scenario.Tool("apply_patch", {}, is_freeform=True)
    patch = scenario.arguments(tool, EDIT)
    assert str(patch).startswith("*** Begin Patch\n*** Update File: /p/till.py\n")


@pytest.mark.parametrize(("loader", "caller"), [("ToolSearch", ""), ("tool_search", "tool_call")])
def test_a_search_that_is_not_offered_is_loaded_first(
    loader: str, caller: str, tmp_path: Path
) -> None:
    script = scenario.Script(scenario.steps(tmp_path))
    schema = {"properties": {"query": {}}}
    tools = [scenario.Tool(name, schema) for name in (loader, caller) if name]
    first = script.turn(scenario.Conversation(tools, has_results=False))
    assert isinstance(first, scenario.Call)
    assert first.tool.name == loader
    loaded = [scenario.Tool("mcp__observer__search", schema)]
    second = script.turn(
        scenario.Conversation(tools if caller else [*tools, *loaded], has_results=True)
    )
    assert isinstance(second, scenario.Call)
    assert second.tool.name == (caller or loaded[0].name)
    assert script.has_searched
