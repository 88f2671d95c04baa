"""A stand-in for a language model: real HTTP on 127.0.0.1, answers as each test scripts them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest

from observer.llm.client import LlmClient
from observer.llm.endpoint import Endpoint

ANSWER = {
    "narrative": "The cart lost its lock, so two orders were booked.",
    "learned": "Hold the lock until the booking is stored.",
    "next_steps": "",
    "concepts": ["locking", "double booking"],
}


class Answered(NamedTuple):
    """One answer of the stand-in; `gate` holds it back, `cut` closes the connection before it."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    gate: threading.Event | None = None
    cut: bool = False


def completion(content: Any = ANSWER, **more: Any) -> bytes:
    """Return a chat completion as a server writes it."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    choice |= {"finish_reason": more.pop("finish_reason", "stop")}
    usage = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}
    whole = {"object": "chat.completion", "choices": [choice], "usage": usage} | more
    return json.dumps(whole).encode()


class Handler(BaseHTTPRequestHandler):
    """Takes down what was asked, and answers as the stand-in's script says."""

    server: Server

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        said = self.server.stand_in.take(self.path, dict(self.headers), self.rfile.read(length))
        if said.gate is not None:
            said.gate.wait(30)
        if not said.cut:
            self.send_response(said.status)
            for name, value in said.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True  # the client has gone


class Server(ThreadingHTTPServer):
    daemon_threads = True
    stand_in: StandIn


class StandIn:
    """The server: `script` what comes next; the last answer is repeated. `asked` is what came."""

    def __init__(self) -> None:
        self.answers: list[Answered] = [Answered(completion())]
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.stand_in = self
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self._thread.start()

    def take(self, path: str, headers: dict[str, str], body: bytes) -> Answered:
        self.asked.append(json.loads(body))
        self.headers.append(headers)
        self.paths.append(path)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def script(self, *answers: Answered | bytes) -> None:
        self.answers = [a if isinstance(a, Answered) else Answered(a) for a in answers]

    def close(self) -> None:
        for answer in self.answers:
            if answer.gate:
                answer.gate.set()
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


@pytest.fixture
def model() -> Iterator[StandIn]:
    """A stand-in that answers well until it is scripted otherwise."""
    made = StandIn()
    yield made
    made.close()


@pytest.fixture
def with_client(model: StandIn) -> Callable[..., Any]:
    """Run a coroutine function with a client of the stand-in."""

    def run(
        work: Callable[[LlmClient], Awaitable[Any]], *, key: str = "", wait_s: float = 20.0
    ) -> Any:
        async def story() -> Any:
            where = Endpoint(f"{model.url}/chat/completions", "tiny", key)
            async with LlmClient(where, wait_s=wait_s) as client:
                return await work(client)

        return asyncio.run(story())

    return run
