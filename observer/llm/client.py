"""The client of an OpenAI-compatible endpoint: one request, one reply, or the reason why not."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

import httpx2
import orjson

from observer import __version__
from observer.llm.endpoint import Endpoint
from observer.llm.prompt import ANSWER_TOKENS, LlmPrompt
from observer.llm.reply import Answered, AskFailed, LlmReply, one_line, refusal, reply_in

WAIT_S = 180.0
"""For a whole answer: a large model on a small machine takes minutes."""
CONNECT_S = 10.0
MOST_BYTES = 1 << 20
_SUBSTITUTES = {"response_format": "", "temperature": "", "max_tokens": "max_completion_tokens"}
"""Parameters that some endpoints refuse, and what to send in their place."""


class LlmClient:
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

    async def ask(self, prompt: LlmPrompt) -> LlmReply:
        """Return the model's answer; raise AskFailed, which says what that cost and what to do."""
        answered = await self._post(prompt)
        if answered.status in {400, 422}:
            text = answered.body.decode(errors="replace")
            # Those that it names, but for what was left out already.
            names = frozenset(name for name in _SUBSTITUTES if name in text) - self._refused
            if names:
                self._refused |= names
                answered = await self._post(prompt)
        if answered.status != httpx2.codes.OK:
            raise refusal(answered, self._endpoint)
        return reply_in(answered, prompt)

    async def _post(self, prompt: LlmPrompt) -> Answered:
        given = orjson.dumps(self._body(prompt))
        headers = {"Content-Type": "application/json"}
        where = self._endpoint.shown
        try:
            async with (
                asyncio.timeout(self._wait_s),
                self._http.stream(
                    "POST", self._endpoint.url, content=given, headers=headers
                ) as answer,
            ):
                body = bytearray()
                async for chunk in answer.aiter_raw():
                    body += chunk
                    if len(body) > MOST_BYTES:
                        long = f"an answer of more than {MOST_BYTES:,} bytes"
                        raise AskFailed(long, tokens=None, is_asked_wrong=True)
                return Answered(answer.status_code, answer.headers, bytes(body))
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

    def _body(self, prompt: LlmPrompt) -> dict[str, Any]:
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


def _why(error: Exception) -> str:
    return one_line(str(error)) or type(error).__name__
