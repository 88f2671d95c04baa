"""Cline: its hook payloads, and its configuration."""

import orjson

from observer.clients.client import Client, HookSample

_EVENT = "UserPromptSubmit"
_SAMPLE = HookSample(
    _EVENT,
    '{"hookName": "UserPromptSubmit", "taskId": "@SESSION@", "workspaceRoots": ["@FOLDER@"],'
    ' "userPromptSubmit": {"prompt": "@TEXT@"}}',
    words=("cline", _EVENT),
)


def _wrap_context(text: str) -> bytes:
    return orjson.dumps({"cancel": False, "contextModification": text})


def _format_reminder(text: str, _event: str) -> bytes:
    return _wrap_context(text)


CLIENT = Client(
    name="cline",
    decoder="observer.clients.cline.decode:read",
    installer="observer.clients.cline.install",
    programs=("cline",),
    folders=(".cline",),
    transcripts=(".cline/data/sessions",),
    tried="3.0.65",
    sample=_SAMPLE,
    marker_variables=("CLINE_ACTIVE", "CLINE_CONNECTOR_CLI_LAUNCH", "CLINE_NO_INTERACTIVE"),
    context_file="CONTEXT.cline.json",
    wrap_context=_wrap_context,
    format_reminder=_format_reminder,
)
