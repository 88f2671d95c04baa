"""Answers that the daemon keeps in files, for a client that asks while it starts.

A client waits for its servers' tools before its first request to a model, but not for long. The
file of a folder and a choice of toolsets is named and headed by the connection's first line, which
holds the version: what another version kept is never answered.
"""

from __future__ import annotations

import os

from observer.pump.dial import hello
from observer.pump.journal import parse

OPENING = "initialize"
METHODS = ("tools/list", "prompts/list", "resources/templates/list")
"""Kept beside `initialize`: their answers depend on the version and the toolsets alone."""


class KeptAnswers:
    """The answers kept for one connection, in the protocol version that its client asked for."""

    def __init__(self, root: str, *, cwd: str, tools: str, variables: tuple[str, ...] = ()) -> None:
        greetings = (hello(tools, folder, variables) for folder in (cwd, ""))
        self._answers = next(filter(None, (_read(root, each) for each in greetings)), {})
        self._results: dict[str, object] = {}

    def answer(self, line: bytes) -> bytes:
        """Return the answer to a line of the client, empty if none is kept."""
        import json  # noqa: PLC0415 - 15 ms that a client whose daemon runs does not wait for

        message = parse(line)
        method, params = message.get("method"), message.get("params")
        if "id" not in message or not isinstance(method, str):
            return b""
        if method == OPENING and isinstance(params, dict):
            results = self._answers.get(str(params.get("protocolVersion")))
            self._results = results if isinstance(results, dict) else {}
        if method not in self._results:
            return b""
        result = {"jsonrpc": "2.0", "id": message["id"], "result": self._results[method]}
        return json.dumps(result).encode() + b"\n"


def path_of(root: str, hello: bytes) -> str:
    """Return the file that keeps the answers for a connection with this first line."""
    from binascii import crc32  # noqa: PLC0415 - as in answer

    return os.path.join(root, "context", "mcp", f"{crc32(hello):08x}.json")  # noqa: PTH118 - pathlib costs 8 ms


def _read(root: str, hello: bytes) -> dict[str, object]:
    try:
        with open(path_of(root, hello), "rb") as file:  # noqa: PTH123 - as in path_of
            return parse(file.read()) if file.readline() == hello else {}
    except OSError:
        return {}
