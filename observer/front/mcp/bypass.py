"""The way of a tool's result around the SDK, which checks and copies every answer three times.

What a client asks is checked by the SDK, and so is the frame of the answer: its fields by protocol
version, its stamps. The result inside was made by us from typed rows; it joins the frame when that
is finished. Of an answer of 25 KB that is a third of what the protocol costs.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

Content = dict[str, Any]  # JSON, as the tool's schema describes it

_FIELD = "structuredContent"


class Bypass:
    """A middleware of the SDK's server; what `keep` was given replaces what the SDK carried."""

    def __init__(self) -> None:
        self._kept: ContextVar[list[Content]] = ContextVar("kept")

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Answer a request, or hear a notification."""
        kept: list[Content] = []
        self._kept.set(kept)
        answer = await call_next(ctx)
        if kept and isinstance(answer, dict):
            return {**answer, _FIELD: kept.pop()}
        return answer

    def keep(self, content: Content) -> Content:
        """Keep the content of the current task's answer; return what the SDK is to carry."""
        self._kept.get().append(content)
        return {}
