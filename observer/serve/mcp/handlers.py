"""Handlers of MCP requests: tools, resources, the prompt, and questions to the person.

The SDK validates requests and the frame of answers. A tool's result bypasses it, since the SDK
would validate and copy it three times: it is built from typed rows and joins the frame at the end.
For an answer of 25 KB that saves a third of the protocol's cost.

The client shows the question and sends the person's answer; no agent answers it. Clients of the
revision of 2026-07-28 are asked by the answer to their call, which they then repeat; earlier ones
by a request of ours meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple, TypeVar

import anyio
import msgspec
from mcp import types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from observer.core.errors import ObserverError
from observer.core.json_text import dump
from observer.tools import render
from observer.tools.documents import Documents
from observer.tools.fence import (
    RECORDS,
    defused,
    defused_content,
    labelled,
    marked,
    marked_content,
)
from observer.tools.tool import (
    MOST_REPEATED,
    Echoes,
    PersonQuestion,
    Tool,
    ToolResult,
    explained,
)

logger = logging.getLogger(__name__)

FIELD = "approve"


async def consent(
    context: ServerRequestContext[Any],
    params: types.CallToolRequestParams,
    question: PersonQuestion,
) -> bool | types.InputRequiredResult:
    """Return whether the person said yes, or what asks the client to ask them.

    False too where the client cannot ask anybody.
    """
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.elicitation is None:
        return False
    schema = {
        "type": "object",
        "properties": {FIELD: {"type": "boolean", "title": question.label}},
        "required": [FIELD],
    }
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        given = (params.input_responses or {}).get(question.key)
        if given is not None:
            return _is_yes(given)
        form = types.ElicitRequestFormParams(message=question.text, requested_schema=schema)
        return types.InputRequiredResult(
            input_requests={question.key: types.ElicitRequest(params=form)}
        )
    if not context.session.can_send_request:
        return False
    try:
        said = await context.session.elicit_form(question.text, schema, context.request_id)
    except (MCPError, ValidationError) as error:
        logger.info("the client did not ask: %r", error)
        return False
    return _is_yes(said)


def _is_yes(said: object) -> bool:
    if not isinstance(said, types.ElicitResult) or said.action != "accept":
        return False
    return (said.content or {}).get(FIELD) is True


Context = ServerRequestContext[Any]  # holds the SDK's lifespan value, which we have none of
T = TypeVar("T")

MARKDOWN = "text/markdown"


class McpHandlers:
    """The handlers of one server; they run the work in threads, `limiter` many at once."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        documents: Documents,
        limiter: anyio.CapacityLimiter,
        passthrough: ResultPassthrough,
    ) -> None:
        self._tools = tools
        self._passthrough = passthrough
        self._listed = [_listed(tool) for tool in tools.values()]
        speaks_json_rpc = any(tool.refusal for tool in tools.values())
        self._unknown_tool = types.METHOD_NOT_FOUND if speaks_json_rpc else types.INVALID_PARAMS
        self._documents = documents
        self._limiter = limiter

    async def list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List all tools, in the order of their toolsets."""
        return types.ListToolsResult(tools=self._listed)

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool; errors are answered in the format of its toolset."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(self._unknown_tool, f"no tool {params.name[:MOST_REPEATED]!r}")
        arguments = params.arguments or {}
        try:
            call = partial(tool.call, arguments)
            question, done = await self._in_thread(partial(_run, tool, call, arguments))
            if question:
                said = await consent(context, params, question)
                if isinstance(said, types.InputRequiredResult):
                    return said
                if said:
                    _, done = await self._in_thread(partial(_run, tool, question.yes, arguments))
        except ObserverError as error:
            return _failed(tool, explained(error, arguments))
        except Exception:  # the door of a front: one request fails, the connection stays
            logger.exception("tool %s failed", tool.name)
            unforeseen = ObserverError(
                f"{tool.name} failed inside observer", hint="see the daemon's log"
            )
            return _failed(tool, unforeseen)
        return types.CallToolResult(
            content=[
                *(types.TextContent(type="text", text=text) for text in done.texts),
                *(types.ImageContent(type="image", mime_type=m, data=d) for m, d in done.images),
            ],
            structured_content=self._passthrough.keep(done.content),
            is_error=done.is_error,
        )

    async def list_resources(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the context of the client's project and the summaries of its last sessions."""
        documents = await self._in_thread(self._documents.suggested)
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=name, title=title, mime_type=MARKDOWN)
                for uri, name, title in documents
            ]
        )

    async def list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the URI templates of documents."""
        templates = [
            types.ResourceTemplate(
                uri_template=template, name=name, description=about, mime_type=MARKDOWN
            )
            for template, name, about in self._documents.KINDS
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, _context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a document."""
        uri = str(params.uri)
        text = await self._text(partial(self._documents.read, uri), asked=uri)
        contents = types.TextResourceContents(uri=uri, text=text, mime_type=MARKDOWN)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """List the prompts."""
        project = types.PromptArgument(
            name="project", description="Name or folder; left out: where you are.", required=False
        )
        prompt = types.Prompt(
            name="resume_work",
            title="Resume work",
            description="Go on where the last sessions in this project stopped.",
            arguments=[project],
        )
        review = types.Prompt(
            name="review",
            title="Review notes",
            description="Settle which of the notes that are near each other still hold.",
            arguments=[project],
        )
        return types.ListPromptsResult(prompts=[prompt, review])

    async def get_prompt(
        self, _context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return a prompt with what is known about the project."""
        prompts = {
            "resume_work": ("Resume work", self._documents.resume),
            "review": ("Review notes", self._documents.review),
        }
        if params.name not in prompts:
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name[:200]!r}")
        description, write = prompts[params.name]
        project = (params.arguments or {}).get("project") or ""
        text = await self._text(partial(write, project), asked=project)
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(
            description=description, messages=[types.PromptMessage(role="user", content=content)]
        )

    async def _text(self, work: Callable[[], str], *, asked: str) -> str:
        try:
            return await self._in_thread(work)
        except ObserverError as error:
            short = render.error(explained(error, {"": asked}))
            raise MCPError(types.INVALID_PARAMS, short) from error

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)


Content = dict[str, Any]  # JSON, as the tool's schema describes it


class _Answer(NamedTuple):
    """What a tool answered, marked as data."""

    texts: tuple[str, ...]
    content: Content
    is_error: bool
    images: list[tuple[str, str]]


def _run(
    tool: Tool, call: Callable[[], ToolResult[Any]], arguments: dict[str, Any]
) -> tuple[PersonQuestion | None, _Answer]:
    """Call a tool, or what a person agreed to; return what it asks the person, and its answer."""
    answer = call()
    found = msgspec.to_builtins(answer.result)
    if answer.notice:
        found["notice"] = "; ".join(filter(None, (found.get("notice"), answer.notice)))
    echoes = Echoes(arguments)
    content = defused_content(echoes.taken_out_of(found))
    texts = _texts(tool, answer, content, echoes)
    shown = marked_content(content) if tool.is_fenced else content
    images = [answer.image] if answer.image else []
    return answer.question, _Answer(texts, shown, answer.is_error, images)


def _texts(
    tool: Tool, answer: ToolResult[Any], content: Content, echoes: Echoes
) -> tuple[str, ...]:
    """Return the texts of an answer, marked as data; a JSON list gets its mark in a second text."""
    if not answer.is_json:
        text = echoes.taken_out("\n\n".join(filter(None, (answer.text, answer.notice))))
        return (marked(text) if tool.is_fenced else labelled(text),)
    if answer.text.startswith("{"):
        return (dump(marked_content(content)).decode(),)
    about = filter(None, (f"{RECORDS} the JSON above.", answer.notice))
    return (defused(echoes.taken_out_of_json(answer.text)), "\n".join(about))


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.is_read_only,
            destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_read_only,
            open_world_hint=False,
        ),
        _meta={"anthropic/alwaysLoad": True} if tool.is_always_loaded else None,
    )


def _failed(tool: Tool, error: ObserverError) -> types.CallToolResult:
    """Return the error as text that says what to do, or raise it as the protocol's own."""
    if tool.refusal:
        refusal = tool.refusal(error)
        raise MCPError(refusal.code, refusal.message, refusal.data) from error
    text = types.TextContent(type="text", text=defused(render.error(error)))
    return types.CallToolResult(content=[text], is_error=True)


_FIELD = "structuredContent"


class ResultPassthrough:
    """A middleware of the SDK's server that inserts the content given to `keep` into answers."""

    def __init__(self) -> None:
        self._kept: ContextVar[list[Content]] = ContextVar("kept")

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Handle a request or a notification."""
        kept: list[Content] = []
        self._kept.set(kept)
        answer = await call_next(ctx)
        if kept and isinstance(answer, dict):
            return {**answer, _FIELD: kept.pop()}
        return answer

    def keep(self, content: Content) -> Content:
        """Keep the content of the current task's answer; return a placeholder for the SDK."""
        self._kept.get().append(content)
        return {}
