"""The wire formats of models, as far as a client needs them for a conversation with tools.

Each has a `read`, from a request to a `Conversation`, and a `write`, from what the model says to
the events of a stream: pairs of an event's name ("" for none) and its data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple, TypeAlias

from recording.scenario import Call, Conversation, Object, Tool, Turn

Events: TypeAlias = Iterator[tuple[str, Object | str]]

_ids = count(1)


class Protocol(NamedTuple):
    """One wire format."""

    read: Callable[[Object], Conversation]
    write: Callable[[Turn, str], Events]


def _id(prefix: str) -> str:
    return f"{prefix}_{next(_ids):08d}"


def _arguments(call: Call) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


# --- Anthropic: /v1/messages ----------------------------------------------------------------------


def _read_messages(body: Object) -> Conversation:
    tools = [Tool(tool["name"], tool.get("input_schema", {})) for tool in body.get("tools", ())]
    blocks = (block for message in body["messages"] for block in _blocks(message["content"]))
    return Conversation(tools, any(block.get("type") == "tool_result" for block in blocks))


def _blocks(content: Any) -> Iterable[Object]:  # noqa: ANN401 - text, or blocks
    return () if isinstance(content, str) else content


def _write_message(turn: Turn, model: str) -> Events:
    usage = {"input_tokens": 100, "output_tokens": 20}
    message = {"id": _id("msg"), "type": "message", "role": "assistant", "model": model}
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    if isinstance(turn, str):
        block: Object = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn}
    else:
        block = {"type": "tool_use", "id": _id("toolu"), "name": turn.tool.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": _arguments(turn)}
    reason = {"stop_reason": "end_turn" if isinstance(turn, str) else "tool_use"}
    for event in (
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {**reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ):
        yield str(event["type"]), event


# --- OpenAI: /v1/chat/completions -----------------------------------------------------------------


def _read_chat(body: Object) -> Conversation:
    functions = [tool["function"] for tool in body.get("tools") or () if "function" in tool]
    tools = [Tool(each["name"], each.get("parameters") or {}) for each in functions]
    return Conversation(tools, any(each["role"] == "tool" for each in body["messages"]))


def _write_chat(turn: Turn, model: str) -> Events:
    chunk = {"id": _id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": model}
    if isinstance(turn, str):
        delta: Object = {"role": "assistant", "content": turn}
    else:
        function = {"name": turn.tool.name, "arguments": _arguments(turn)}
        call = {"index": 0, "id": _id("call"), "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = "stop" if isinstance(turn, str) else "tool_calls"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    yield "", {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": reason}
    yield "", {**chunk, "choices": [end], "usage": usage}
    yield "", "[DONE]"


# --- OpenAI: /v1/responses ------------------------------------------------------------------------


def _read_responses(body: Object) -> Conversation:
    said = body.get("input")
    items = said if isinstance(said, list) else []
    has_results = any(str(item.get("type", "")).endswith("_output") for item in items)
    loaded = (tool for item in items for tool in item.get("tools") or ())
    offered = [*(body.get("tools") or ()), *loaded]
    return Conversation(list(_response_tools(offered, "")), has_results)


def _response_tools(offered: Iterable[Object], namespace: str) -> Iterator[Tool]:
    for tool in offered:
        match tool.get("type"):
            case "function":
                yield Tool(tool["name"], tool.get("parameters") or {}, namespace)
            case "custom":
                yield Tool(tool["name"], {}, namespace, is_freeform=True)
            case "tool_search":
                yield Tool("tool_search", tool["parameters"])
            case "namespace":
                yield from _response_tools(tool["tools"], tool["name"])


def _write_responses(turn: Turn, model: str) -> Events:
    item = _response_item(turn)
    answer = {"id": _id("resp"), "object": "response", "created_at": 1, "model": model}
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    done = {**answer, "status": "completed", "output": [item], "usage": usage}
    for number, (name, fields) in enumerate(
        (
            ("response.created", {"response": {**answer, "status": "in_progress", "output": []}}),
            ("response.output_item.added", {"output_index": 0, "item": item}),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": done}),
        )
    ):
        yield name, {"type": name, "sequence_number": number, **fields}


def _response_item(turn: Turn) -> Object:
    if isinstance(turn, str):
        content = [{"type": "output_text", "text": turn, "annotations": []}]
        return {"type": "message", "id": _id("msg"), "role": "assistant", "content": content}
    call = {"id": _id("fc"), "call_id": _id("call"), "name": turn.tool.name, "status": "completed"}
    if turn.tool.name == "tool_search":
        asked = {"execution": "client", "arguments": turn.arguments}
        return {**call, **asked, "type": "tool_search_call"}
    if turn.tool.is_freeform:
        return {**call, "type": "custom_tool_call", "input": _arguments(turn)}
    namespace = {"namespace": turn.tool.namespace} if turn.tool.namespace else {}
    return {**call, **namespace, "type": "function_call", "arguments": _arguments(turn)}


# --- Gemini: :streamGenerateContent ---------------------------------------------------------------


def _read_gemini(body: Object) -> Conversation:
    declared = (
        each for tool in body.get("tools") or () for each in tool.get("functionDeclarations", ())
    )
    tools = [
        Tool(each["name"], each.get("parametersJsonSchema") or each.get("parameters") or {})
        for each in declared
    ]
    parts = (part for content in body["contents"] for part in content.get("parts", ()))
    return Conversation(tools, any("functionResponse" in part for part in parts))


def _write_gemini(turn: Turn, model: str) -> Events:
    if isinstance(turn, str):
        part: Object = {"text": turn}
    else:
        part = {"functionCall": {"name": turn.tool.name, "args": turn.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    yield (
        "",
        {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
            "modelVersion": model,
        },
    )


PROTOCOLS = {
    "/messages": Protocol(_read_messages, _write_message),
    "/chat/completions": Protocol(_read_chat, _write_chat),
    "/responses": Protocol(_read_responses, _write_responses),
    ":streamGenerateContent": Protocol(_read_gemini, _write_gemini),
}
"""By the end of the path that a request is posted to."""
