"""Asking the person through their client: MCP elicitation.

The client shows the question and sends the person's answer; no agent answers it. Clients of the
revision of 2026-07-28 are asked by the answer to their call, which they then repeat; earlier ones
by a request of ours meanwhile.
"""

from __future__ import annotations

import logging
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from observer.views.tool import PersonQuestion

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
