"""Answers to MCP requests: tools, resources, prompts, questions to the person, as plain JSON."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from observer.core.errors import ObserverError
from observer.core.json_text import dump
from observer.local.pump import VIEW_TYPE
from observer.tools import render
from observer.tools.documents import Documents
from observer.tools.fence import RECORDS, defused, defused_content, labelled, marked, marked_content
from observer.tools.tool import MOST_REPEATED, Echoes, PersonQuestion, Tool, ToolResult, explained

logger = logging.getLogger(__name__)

Json = dict[str, Any]  # an object, as the protocol describes it
T = TypeVar("T")
P = TypeVar("P", bound=msgspec.Struct)

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32600, -32601, -32602
INTERNAL_ERROR, PARSE_ERROR = -32603, -32700
FIELD = "approve"
ELICIT = "elicitation/create"
MARKDOWN = "text/markdown"
VIEW = "ui://observer/{name}"
BESIDE = "observer/"  # begins the names of what a result holds for a view


class RequestRefused(Exception):
    """What a request is answered instead of a result: the error object of JSON-RPC."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Sender(NamedTuple):
    """Who sent a request: whether it asks a person, and how, and whether it `shows` views.

    One that `repeats`, as of 2026-07-28, is asked by the answer to its call, which it then repeats.
    Otherwise `ask` sends it the form, and returns what it answers or raises `RequestRefused`.
    """

    asks: bool
    repeats: bool
    ask: Callable[[Json], Awaitable[Json]]
    shows: bool = False


class CallThreads:
    """Threads that answer calls, `most` at once; more would only wait for each other."""

    def __init__(self, most: int) -> None:
        self._pool = ThreadPoolExecutor(most, "mcp")
        self.calls = 0  # calls that are being answered

    async def run(self, work: Callable[[], T]) -> T:
        """Do work in a thread, in the context of the current task."""
        self.calls += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, copy_context().run, work)
        finally:
            self.calls -= 1


class Params(msgspec.Struct, rename="camel"):
    """What every method takes; what else there is, is another version's."""

    meta: Json | None = msgspec.field(name="_meta", default=None)


class _Call(Params, kw_only=True):
    name: str
    arguments: Json | None = None
    input_responses: Json | None = None


class _Read(Params, kw_only=True):
    uri: str


class _Prompt(Params, kw_only=True):
    name: str
    arguments: dict[str, str] | None = None


_Work = Callable[[Any, Sender], Awaitable[Json]]  # the first are the method's parameters
_PROMPTS = {
    "resume_work": ("Resume work", "Go on where the last sessions in this project stopped."),
    "review": ("Review notes", "Settle which of the notes that are near each other still hold."),
}

_PROJECT = {
    "description": "Name or folder; left out: where you are.",
    "name": "project",
    "required": False,
}


class McpHandlers:
    """The handlers for some toolsets; `view_of` makes the HTML of a view, without it are none."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        documents: Documents,
        threads: CallThreads,
        view_of: Callable[[str], str] | None = None,
    ) -> None:
        self._tools = tools
        self._view_of = view_of
        viewed = [tool for tool in tools.values() if tool.view and view_of]
        self.views = {VIEW.format(name=tool.view): tool for tool in viewed}
        """The tools with a view, by its address."""
        self._documents = documents
        self._in_thread = threads.run
        speaks_json_rpc = any(tool.refusal for tool in tools.values())
        self._unknown_tool = METHOD_NOT_FOUND if speaks_json_rpc else INVALID_PARAMS
        self.lists: dict[str, Json] = {
            "tools/list": {"tools": [_listed(tool) for tool in tools.values()]},
            "prompts/list": {
                "prompts": [
                    {"arguments": [_PROJECT], "description": about, "name": name, "title": title}
                    for name, (title, about) in _PROMPTS.items()
                ]
            },
            "resources/templates/list": {
                "resourceTemplates": [
                    {"description": about, "mimeType": MARKDOWN, "name": name, "uriTemplate": uri}
                    for uri, name, about in documents.KINDS
                ]
            },
        }  # what depends on the toolsets alone, by method
        self.methods: dict[str, tuple[type[Params], _Work]] = {
            **dict.fromkeys(self.lists, (Params, self._list_tools)),
            "tools/call": (_Call, self._call_tool),
            "resources/list": (Params, self._list_resources),
            "resources/read": (_Read, self._read_resource),
            "prompts/get": (_Prompt, self._get_prompt),
        }

    async def answer(self, method: str, params: Mapping[str, Any], client: Sender) -> Json:
        """Return the result of a request; raise RequestRefused by the method, or without one."""
        if method not in self.methods:
            raise RequestRefused(METHOD_NOT_FOUND, "Method not found", method)
        shape, work = self.methods[method]
        given = typed(params, shape)
        listed = self.lists.get(method)
        if listed is None or (method == "tools/list" and client.shows and self.views):
            return await work(given, client)
        return listed

    async def _list_tools(self, _list: Params, _client: Sender) -> Json:
        listed: list[Json] = [*self.lists["tools/list"]["tools"]]
        for place, tool in enumerate(self._tools.values()):
            if tool.view:
                link = {"ui": {"resourceUri": VIEW.format(name=tool.view)}}
                known = listed[place]
                listed[place] = {**known, "_meta": {**known.get("_meta", {}), **link}}
        return {"tools": listed}

    async def _call_tool(self, call: _Call, client: Sender) -> Json:
        tool = self._tools.get(call.name)
        if tool is None:
            raise RequestRefused(self._unknown_tool, f"no tool {call.name[:MOST_REPEATED]!r}")
        arguments = call.arguments or {}
        run = partial(_run, tool, arguments=arguments, shows=client.shows)
        try:
            question, done = await self._in_thread(partial(run, partial(tool.call, arguments)))
            if question:
                said = await _consent(client, call, question)
                if isinstance(said, dict):
                    return said
                if said:
                    _, done = await self._in_thread(partial(run, question.yes))
        except ObserverError as error:
            return _failed(tool, explained(error, arguments))
        except Exception:  # the door of a front: one request fails, the connection stays
            logger.exception("tool %s failed", tool.name)
            unforeseen = ObserverError(
                f"{tool.name} failed inside observer", hint="see the daemon's log"
            )
            return _failed(tool, unforeseen)
        return done

    async def _list_resources(self, _list: Params, client: Sender) -> Json:
        documents = await self._in_thread(self._documents.suggested)
        listed = [
            {"mimeType": MARKDOWN, "name": name, "title": title, "uri": uri}
            for uri, name, title in documents
        ]
        if client.shows:
            listed += [
                {"mimeType": VIEW_TYPE, "name": tool.view, "title": tool.title, "uri": uri}
                for uri, tool in self.views.items()
            ]
        return {"resources": listed}

    async def _read_resource(self, read: _Read, _client: Sender) -> Json:
        if self._view_of and read.uri in self.views:
            text = await self._in_thread(partial(self._view_of, self.views[read.uri].view))
            ui = {"csp": {}, "prefersBorder": True}
            page = {"_meta": {"ui": ui}, "mimeType": VIEW_TYPE, "text": text, "uri": read.uri}
            return {"contents": [page]}
        text = await self._written(partial(self._documents.read, read.uri), asked=read.uri)
        return {"contents": [{"mimeType": MARKDOWN, "text": text, "uri": read.uri}]}

    async def _get_prompt(self, prompt: _Prompt, _client: Sender) -> Json:
        writers = {"resume_work": self._documents.resume, "review": self._documents.review}
        if prompt.name not in writers:
            raise RequestRefused(INVALID_PARAMS, f"no prompt {prompt.name[:MOST_REPEATED]!r}")
        project = (prompt.arguments or {}).get("project") or ""
        text = await self._written(partial(writers[prompt.name], project), asked=project)
        message = {"content": _text(text), "role": "user"}
        return {"description": _PROMPTS[prompt.name][0], "messages": [message]}

    async def _written(self, work: Callable[[], str], *, asked: str) -> str:
        try:
            return await self._in_thread(work)
        except ObserverError as error:
            short = render.error(explained(error, {"": asked}))
            raise RequestRefused(INVALID_PARAMS, short) from error


def typed(params: object, shape: type[P]) -> P:
    """Return the parameters of a request; raise RequestRefused for another shape."""
    try:
        return msgspec.convert(params, shape)
    except msgspec.ValidationError as error:
        raise RequestRefused(INVALID_PARAMS, "Invalid request parameters", str(error)) from error


def _text(text: str) -> Json:
    return {"text": text, "type": "text"}


async def _consent(client: Sender, call: _Call, question: PersonQuestion) -> bool | Json:
    """Return whether the person said yes, or the answer that asks the client to ask them."""
    if not client.asks:
        return False
    schema = {
        "type": "object",
        "properties": {FIELD: {"type": "boolean", "title": question.label}},
        "required": [FIELD],
    }
    form = {"message": question.text, "mode": "form", "requestedSchema": schema}
    said: object = (call.input_responses or {}).get(question.key)
    if client.repeats and said is None:
        asking = {"method": ELICIT, "params": form}
        return {"inputRequests": {question.key: asking}, "resultType": "input_required"}
    if not client.repeats:
        said = None
        try:
            said = await client.ask(form)
        except RequestRefused as error:
            logger.info("the client did not ask: %s", error)
    match said:
        case {"action": "accept", "content": {"approve": True}}:
            return True
    return False


def _run(
    tool: Tool, call: Callable[[], ToolResult], *, arguments: dict[str, Any], shows: bool
) -> tuple[PersonQuestion | None, Json]:
    """Call a tool, or what a person agreed to; return what it asks the person, and its result."""
    answer = call()
    found = msgspec.to_builtins(answer.result)
    if answer.notice:
        found["notice"] = "; ".join(filter(None, (found.get("notice"), answer.notice)))
    echoes = Echoes(arguments)
    content = defused_content(echoes.taken_out_of(found))
    texts = _texts(tool, answer, content, echoes)
    images = [answer.image] if answer.image else []
    made = msgspec.to_builtins(answer.beside()) if shows and answer.beside else {}
    beside = defused_content(echoes.taken_out_of({BESIDE + name: made[name] for name in made}))
    return answer.question, {
        **({"_meta": beside} if beside else {}),
        "content": [
            *map(_text, texts),
            *({"data": data, "mimeType": kind, "type": "image"} for kind, data in images),
        ],
        "isError": answer.is_error,
        "structuredContent": marked_content(content) if tool.is_fenced else content,
    }


def _texts(tool: Tool, answer: ToolResult, content: Json, echoes: Echoes) -> tuple[str, ...]:
    """Return the texts of an answer, marked as data; a JSON list gets its mark in a second text."""
    if not answer.is_json:
        text = echoes.taken_out("\n\n".join(filter(None, (answer.text, answer.notice))))
        return (marked(text) if tool.is_fenced else labelled(text),)
    if answer.text.startswith("{"):
        return (dump(marked_content(content)).decode(),)
    about = filter(None, (f"{RECORDS} the JSON above.", answer.notice))
    return (defused(echoes.taken_out_of_json(answer.text)), "\n".join(about))


def _listed(tool: Tool) -> Json:
    shown = {
        "annotations": {
            "destructiveHint": tool.is_destructive,
            "idempotentHint": tool.is_read_only,
            "openWorldHint": False,
            "readOnlyHint": tool.is_read_only,
            "title": tool.title,
        },
        "description": tool.description,
        "inputSchema": _ordered(tool.input_schema),
        "name": tool.name,
        "outputSchema": tool.output_schema,
        "title": tool.title,
    }
    return {"_meta": {"anthropic/alwaysLoad": True}, **shown} if tool.is_always_loaded else shown


def _ordered(schema: Json) -> Json:
    """Return a schema as clients have always had it: they may keep the list by its text."""
    first = ("properties", "required", "type")
    return {key: schema[key] for key in first if key in schema} | schema


def _failed(tool: Tool, error: ObserverError) -> Json:
    """Return the error as text that says what to do, or raise it as the protocol's own."""
    if tool.refusal:
        refusal = tool.refusal(error)
        raise RequestRefused(refusal.code, refusal.message, refusal.data) from error
    return {"content": [_text(defused(render.error(error)))], "isError": True}
