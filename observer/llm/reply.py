"""Replies of an endpoint: from the HTTP response to text, and from text to values of ours."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, NamedTuple, TypeVar

import msgspec
import orjson
from msgspec import Meta

from observer.core.errors import BadInput, ObserverError
from observer.core.events import Enriched
from observer.core.model import Item
from observer.core.value import decode_json
from observer.llm.endpoint import Endpoint
from observer.llm.prompt import ANSWER_TOKENS, LlmPrompt, tokens_of
from observer.redaction.redact import redact_text

MOST_TOKENS = 1_000_000_000
LONGEST_WAIT_S = 86_400.0
_SHOWN = 200


class AskFailed(ObserverError):
    """No answer that can be used; `tokens` is what it cost, None if nobody knows.

    The endpoint is left alone for `wait_s`; what `is_asked_wrong` will fail again.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        tokens: int | None = 0,
        wait_s: float = 0.0,
        is_asked_wrong: bool = False,
    ) -> None:
        super().__init__(message, hint=hint)
        self.tokens = tokens
        self.wait_s = wait_s
        self.is_asked_wrong = is_asked_wrong


class LlmReply(NamedTuple):
    """What the model wrote, and the tokens of question and answer together."""

    text: str
    tokens: int


class Answered(NamedTuple):
    """An HTTP answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: msgspec.Raw = msgspec.Raw(b"null")


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


def reply_in(answered: Answered, prompt: LlmPrompt) -> LlmReply:
    """Return the reply that a chat completion holds; raise AskFailed if none, or cut short."""
    try:
        found = decode_json(answered.body, _Completion)
        choice = found.choices[0]
    except (msgspec.DecodeError, IndexError) as error:
        kind = one_line(answered.headers.get("content-type", "no content type"))
        raise AskFailed(
            f"the answer is not a chat completion ({kind}): {one_line(str(error))}",
            hint="llm_url must be the base of an OpenAI-compatible API; it often ends in /v1",
            tokens=prompt.tokens,
            is_asked_wrong=True,
        ) from error
    text = choice.message.content or ""
    tokens = _tokens(found.usage) or prompt.tokens + tokens_of(text)
    if choice.finish_reason == "length":
        raise AskFailed(
            f"the model was not done after {ANSWER_TOKENS} tokens",
            hint="choose one that thinks less",
            tokens=tokens,
            is_asked_wrong=True,
        )
    return LlmReply(text, tokens)


def refusal(answered: Answered, endpoint: Endpoint) -> AskFailed:
    """Return the failure that a status other than 200 stands for."""
    status, where = answered.status, endpoint.shown
    said = _message_in(answered.body) or answered.body[: 10 * _SHOWN].decode(errors="replace")
    if endpoint.key:  # the endpoint may repeat it
        said = said.replace(endpoint.key, "[key]")
    said = one_line(said)
    message = f"{where} answered {status}" + (f": {said}" if said else "")
    if status in {401, 403}:
        given = "refused" if endpoint.key else "missing"
        return AskFailed(
            f"{message} (the key is {given})",
            hint="put the key into ~/.observer/llm_key (mode 600), or see llm_key_env",
        )
    if status == HTTPStatus.NOT_FOUND:
        hint = f"check llm_model ({endpoint.model}) and llm_url (it often ends in /v1)"
        return AskFailed(message, hint=hint)
    if 300 <= status < 400:
        return AskFailed(f"{message} (a redirect)", hint="set llm_url to where the API is")
    is_busy = status in {408, 429} or status >= 500
    after = answered.headers.get("retry-after", "").strip()
    wait_s = min(float(after), LONGEST_WAIT_S) if after.isascii() and after.isdigit() else 0.0
    return AskFailed(
        message,
        hint="it is tried again later" if is_busy else "",
        wait_s=wait_s,
        is_asked_wrong=not is_busy,
    )


def _tokens(usage: msgspec.Raw) -> int:
    try:
        reported = decode_json(usage, _Usage)
    except msgspec.DecodeError:
        return 0
    counted = max(reported.total_tokens, reported.prompt_tokens + reported.completion_tokens)
    return min(max(counted, 0), MOST_TOKENS)


def _message_in(body: bytes) -> str:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and value.get(name):
            value = value[name]
    return value if isinstance(value, str) else ""


def one_line(text: str) -> str:
    """Return a foreign text as a short line that a terminal can show."""
    shown = " ".join(redact_text(text).split())
    shown = "".join(sign for sign in shown if sign.isprintable())
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


T = TypeVar("T")

_HINT = "small models often cannot write JSON; choose a larger one"
_Text = Annotated[str, Meta(max_length=4_000)]
_Said = _Text | Annotated[list[_Text], Meta(max_length=50)] | None
"""A text; small models write a list where one was asked for, or null."""


class SummaryReply(msgspec.Struct, frozen=True):
    """What was asked for; fields of other names are passed over."""

    narrative: _Said = ""
    learned: _Said = ""
    next_steps: _Said = ""
    concepts: _Said = ""


class ExtractedFacts(msgspec.Struct, frozen=True):
    """What was found worth keeping."""

    facts: Annotated[list[_Text], Meta(max_length=50)]


def enriched(item: Item, text: str, *, model: str) -> Enriched:
    """Return what an answer says about an item, as an event; raise BadInput if it is unfit."""
    answer = _decoded(text, SummaryReply)
    narrative = _joined(answer.narrative)
    if not narrative:
        raise BadInput("the answer says nothing", hint=_HINT)
    return Enriched(
        item=item.id,
        model=model,
        as_of_ms=item.updated_ms,
        narrative=narrative,
        learned=_joined(answer.learned),
        next_steps=_joined(answer.next_steps),
        concepts=tuple(
            answer.concepts
            if isinstance(answer.concepts, list)
            else filter(None, map(str.strip, (answer.concepts or "").split(",")))
        ),
    )


def facts(text: str) -> tuple[str, ...]:
    """Return what an answer finds worth keeping, each fact once; raise BadInput as `enriched`."""
    found = (" ".join(fact.split()) for fact in _decoded(text, ExtractedFacts).facts)
    return tuple(dict.fromkeys(filter(None, found)))


def _decoded(text: str, shape: type[T]) -> T:
    # Without the thoughts and the fence around the object.
    said = text.rpartition("</think>")[2]
    start, end = said.find("{"), said.rfind("}")
    if 0 <= start < end:
        said = said[start : end + 1]
    try:
        return decode_json(said, shape)
    except msgspec.DecodeError as error:
        raise BadInput(f"the answer is not what was asked for: {error}", hint=_HINT) from error


def _joined(said: _Said) -> str:
    return " ".join(said if isinstance(said, list) else [said or ""]).strip()
