"""The conversation with an OpenAI-compatible endpoint: one request, one answer, or the reason why.

Promises: an answer or an `AskFailed` within the time given, whatever the other end does; at most
`MOST_BYTES` are read; redirects are not followed, so the key goes to nobody but the endpoint; the
key stands in no message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx2
import msgspec

from observer import __version__
from observer.capture.redact import redact_text
from observer.errors import ObserverError
from observer.llm.endpoint import Endpoint
from observer.llm.prompt import ANSWER_TOKENS, Prompt, tokens_of

WAIT_S = 180.0
"""For a whole answer: a large model on a small machine takes minutes."""
CONNECT_S = 10.0
MOST_BYTES = 1 << 20
MOST_TOKENS = 1_000_000_000
LONGEST_WAIT_S = 86_400.0
_SHOWN = 200
_SUBSTITUTES = {"response_format": "", "temperature": "", "max_tokens": "max_completion_tokens"}
"""Parameters that some endpoints refuse, and what to send in their place."""


class AskFailed(ObserverError):
    """No answer that can be used.

    Args:
        tokens: what it cost; None if nobody knows.
        wait_s: how long the endpoint asked to be left alone; 0 if it did not.
        is_asked_wrong: the same question will fail again; another one may not.
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


class Reply(NamedTuple):
    """What the model wrote, and the tokens of question and answer together."""

    text: str
    tokens: int


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


class _Answered(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """Asks one endpoint, one question at a time; an async context manager."""

    def __init__(self, endpoint: Endpoint, *, wait_s: float = WAIT_S) -> None:
        self._endpoint = endpoint
        self._wait_s = wait_s
        self._refused: frozenset[str] = frozenset()
        headers = {"Accept-Encoding": "identity", "User-Agent": f"observer/{__version__}"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        self._http = httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(wait_s, connect=min(CONNECT_S, wait_s)),
            follow_redirects=False,
            trust_env=False,  # no password of ~/.netrc goes to a model
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def ask(self, prompt: Prompt) -> Reply:
        """Return the model's answer.

        Raises:
            AskFailed: there is none; it says what that cost and what to do.
        """
        answered = await self._post(prompt)
        if answered.status in {400, 422} and (names := _refused_in(answered, self._refused)):
            self._refused |= names
            answered = await self._post(prompt)
        if answered.status != httpx2.codes.OK:
            raise self._refusal(answered)
        return _reply(answered, prompt)

    async def _post(self, prompt: Prompt) -> _Answered:
        given = msgspec.json.encode(self._body(prompt))
        headers = {"Content-Type": "application/json"}
        where = self._endpoint.shown
        try:
            async with (
                asyncio.timeout(self._wait_s),
                self._http.stream(
                    "POST", self._endpoint.url, content=given, headers=headers
                ) as answer,
            ):
                body = await _read(answer)
                return _Answered(answer.status_code, answer.headers, body)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise AskFailed(
                f"nothing answers at {where}: {_why(error)}",
                hint="start the server, or correct llm_url",
            ) from error
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise AskFailed(
                f"no answer from {where} within {self._wait_s:g} s",
                hint="choose a smaller model, or a faster machine",
                tokens=None,
            ) from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise AskFailed(
                f"the talk with {where} broke off: {_why(error)}", tokens=None
            ) from error

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [
                {"role": "system", "content": prompt.instructions},
                {"role": "user", "content": prompt.quoted},
            ],
            "temperature": 0.2,
            "max_tokens": ANSWER_TOKENS,
            "response_format": {"type": "json_object"},
        }
        for name in self._refused:
            value = body.pop(name)
            if substitute := _SUBSTITUTES[name]:
                body[substitute] = value
        return body

    def _refusal(self, answered: _Answered) -> AskFailed:
        """Return the failure that a status other than 200 stands for."""
        status, where = answered.status, self._endpoint.shown
        said = self._said(answered.body)
        told = f"{where} answered {status}" + (f": {said}" if said else "")
        if status in {401, 403}:
            given = "refused" if self._endpoint.key else "missing"
            return AskFailed(
                f"{told} (the key is {given})",
                hint="put the key into ~/.observer/llm_key (mode 600), or see llm_key_env",
            )
        if status == httpx2.codes.NOT_FOUND:
            hint = f"check llm_model ({self._endpoint.model}) and llm_url (it often ends in /v1)"
            return AskFailed(told, hint=hint)
        if httpx2.codes.is_redirect(status):
            return AskFailed(f"{told} (a redirect)", hint="set llm_url to where the API is")
        is_busy = status in {408, 429} or status >= 500
        return AskFailed(
            told,
            hint="it is tried again later" if is_busy else "",
            wait_s=_retry_after_s(answered.headers),
            is_asked_wrong=not is_busy,
        )

    def _said(self, body: bytes) -> str:
        """Return what an error's body says, in one line, without the key that it may repeat."""
        text = _message_in(body) or body[: 10 * _SHOWN].decode(errors="replace")
        if self._endpoint.key:
            text = text.replace(self._endpoint.key, "[key]")
        return _line(text)


async def _read(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in answer.aiter_raw():
        body += chunk
        if len(body) > MOST_BYTES:
            raise AskFailed(
                f"an answer of more than {MOST_BYTES:,} bytes", tokens=None, is_asked_wrong=True
            )
    return bytes(body)


def _reply(answered: _Answered, prompt: Prompt) -> Reply:
    try:
        found = msgspec.json.decode(answered.body, type=_Completion)
        choice = found.choices[0]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, IndexError) as error:
        kind = _line(answered.headers.get("content-type", "no content type"))
        raise AskFailed(
            f"the answer is no chat completion ({kind}): {_line(str(error))}",
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
    return Reply(text, tokens)


def _tokens(usage: msgspec.Raw) -> int:
    """Return the tokens that the endpoint says it counted; 0 where it tells nothing usable."""
    try:
        told = msgspec.json.decode(usage, type=_Usage | None)
    except (msgspec.DecodeError, RecursionError):
        return 0
    if told is None:
        return 0
    counted = max(told.total_tokens, told.prompt_tokens + told.completion_tokens)
    return min(max(counted, 0), MOST_TOKENS)


def _refused_in(answered: _Answered, known: frozenset[str]) -> frozenset[str]:
    """Return the parameters that a refusal names, those left out already aside."""
    text = answered.body.decode(errors="replace")
    return frozenset(name for name in _SUBSTITUTES if name in text) - known


def _message_in(body: bytes) -> str:
    """Return the message of an error's JSON, in any of the shapes that endpoints use."""
    try:
        told = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(told, dict) and told.get(name):
            told = told[name]
    return told if isinstance(told, str) else ""


def _retry_after_s(headers: Mapping[str, str]) -> float:
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_WAIT_S)
    try:
        at = parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max((at - datetime.now(UTC)).total_seconds(), 0.0), LONGEST_WAIT_S)


def _line(text: str) -> str:
    shown = " ".join(redact_text(text).split())
    shown = "".join(sign for sign in shown if sign.isprintable())
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _why(error: Exception) -> str:
    return _line(str(error)) or type(error).__name__
