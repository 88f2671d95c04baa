"""A stand-in for a model on loopback: it says what the script says and keeps every request."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from observer.tools.fence import MARKED
from recording.protocols import PROTOCOLS, Events, Protocol
from recording.scenario import Object, Script, Step

ANSWERED = MARKED
"""Part of every answer of the memory, as JSON and as text."""
ASIDE = "Correct a total"
"""Answer to a request without tools: a client asks for a title, or whether it is connected."""


class StandIn(ThreadingHTTPServer):
    """Serves one client; `requests` are the bodies of its requests, in order of arrival."""

    daemon_threads = True

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = Script(steps)
        self.requests: list[Object] = []

    @property
    def url(self) -> str:
        """Return the address, without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def shows(self, text: str) -> bool:
        """Return True if a text stands in a request: the model has seen it."""
        shown = (json.dumps(body, ensure_ascii=False) for body in self.requests)
        return any(text.casefold() in body.casefold() for body in shown)

    def searched(self) -> bool:
        """Return True if the memory was searched and its answer came back."""
        return self.script.has_searched and self.shows(ANSWERED)


@contextmanager
def serving(steps: Sequence[Step]) -> Iterator[StandIn]:
    """Serve until the block ends."""
    with StandIn(steps) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a question for models or health."""
        self._send({"object": "list", "data": [], "models": []})

    def do_HEAD(self) -> None:
        """Answer whether the address is served."""
        self.do_GET()

    def do_POST(self) -> None:
        """Answer with the next turn, or with a count of tokens."""
        body = self._body()
        path = self.path.partition("?")[0]
        protocol = next((PROTOCOLS[end] for end in PROTOCOLS if path.endswith(end)), None)
        if protocol is None:
            self._send({"input_tokens": 100, "totalTokens": 100})
            return
        self.server.requests.append(body)
        with suppress(BrokenPipeError, ConnectionResetError):
            self._stream(self._events(protocol, body))

    def _events(self, protocol: Protocol, body: Object) -> Events:
        conversation = protocol.read(body)
        turn = self.server.script.turn(conversation) if conversation.tools else ASIDE
        return protocol.write(turn, str(body.get("model", "stand-in")))

    def _body(self) -> Any:  # noqa: ANN401 - JSON of any client
        if self.headers.get("transfer-encoding") == "chunked":
            data = b"".join(iter(self._chunk, b""))
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        return json.loads(data or b"{}")

    def _chunk(self) -> bytes:
        chunk = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return chunk

    def _send(self, answer: Object) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Events) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in events:
            named = f"event: {name}\n" if name else ""
            shown = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{named}data: {shown}\n\n".encode())

    def log_message(self, *_: object) -> None:
        """Print nothing: the client's own output is on the terminal."""
