"""What passed between editor and daemon: lines, and the requests still without an answer."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs 6 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_BYTES = 16 << 20  # longest line from an editor; longer ones are refused, never stored
HEAD_BYTES = 512  # the daemon writes the id of an answer in front of its result
FOLD_AT = 64
WENT_AWAY = "observer's daemon went away before it answered"


class Lines:
    """Cuts a stream of bytes into lines; a line over `limit` bytes is dropped and counted."""

    def __init__(self, limit: int = LINE_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self.dropped = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that this chunk completes, each with its line feed."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._keep(end)
            line = b"".join(self._parts)
            self.dropped += self._size > self._limit
            self._parts, self._size = [], 0
            if line.strip():
                yield line + b"\n"
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._parts.clear()
        elif part:
            self._parts.append(part)


class Journal:
    """What a new daemon must hear again; lines are parsed when a connection was lost."""

    def __init__(self) -> None:
        self._log: list[tuple[bool, bytes]] = []
        self._opening: bytes = b""
        self._opening_key = ""
        self._opened: bytes = b""
        self._open: dict[str, bytes] = {}
        self._sends: dict[str, int] = {}

    def sent(self, line: bytes) -> None:
        """Note a line of the editor."""
        self._note(line, is_ours=True)

    def answered(self, line: bytes) -> None:
        """Note a line of the daemon."""
        self._note(line[:HEAD_BYTES], is_ours=False)

    def is_settled(self) -> bool:
        """Return True if every request so far has its answer."""
        self.fold()
        return not self._open

    def fold(self) -> None:
        """Parse what was noted since the last time."""
        log, self._log = self._log, []
        for is_ours, line in log:
            if is_ours:
                self._fold_sent(line)
            else:
                self._forget(answer_key(line))

    def replay(self) -> tuple[list[bytes], str]:
        """Return the lines for a new daemon, and the key of the one answer to swallow."""
        self.fold()
        if self._opening_key in self._open:  # the editor still waits for the first answer
            return list(self._open.values()), ""
        handshake = [line for line in (self._opening, self._opened) if line]
        return [*handshake, *self._open.values()], self._opening_key

    def give_up(self, *, sends: int, reason: str = WENT_AWAY) -> Iterator[bytes]:
        """Yield an error answer for each open request that has been sent `sends` times."""
        self.fold()
        for key in list(self._open):
            self._sends[key] = self._sends.get(key, 0) + 1
            if self._sends[key] >= sends:
                self._forget(key)
                yield refusal(key, reason)

    def _note(self, line: bytes, *, is_ours: bool) -> None:
        self._log.append((is_ours, line))
        if len(self._log) >= FOLD_AT:
            self.fold()

    def _fold_sent(self, line: bytes) -> None:
        message = parse(line)
        method = message.get("method")
        if method == "initialize":
            self._opening, self._opening_key = line, key_of(message.get("id"))
        elif method == "notifications/initialized":
            self._opened = line
        elif method == "notifications/cancelled":
            cancelled = message.get("params")
            self._forget(key_of(cancelled.get("requestId") if isinstance(cancelled, dict) else 0))
        if isinstance(method, str) and "id" in message:
            self._open[key_of(message["id"])] = line

    def _forget(self, key: str) -> None:
        self._open.pop(key, None)
        self._sends.pop(key, None)


def parse(line: bytes) -> dict[str, object]:
    """Return the JSON object of a line, empty when it is none."""
    import json  # noqa: PLC0415 - 15 ms that no editor should wait for at its start

    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def key_of(identifier: object) -> str:
    """Return a request id as JSON text, so that 1 and "1" stay two ids."""
    import json  # noqa: PLC0415 - as in parse

    return json.dumps(identifier)


def answer_key(head: bytes) -> str:
    """Return the key of the request that a line answers, "" for none, from its head."""
    import json  # noqa: PLC0415 - as in parse

    text = head.decode(errors="replace")
    mark, start = '"id":', text.find('"id":')
    method = text.find('"method":')
    if start < 0 or 0 <= method < start:
        return ""
    rest = text[start + len(mark) :].lstrip()
    try:
        identifier, end = json.JSONDecoder().raw_decode(rest)
    except ValueError:
        return ""
    is_request = rest[end:].lstrip(" ,").startswith('"method":')
    return "" if is_request else key_of(identifier)


def refusal(key: str, message: str) -> bytes:
    """Return a JSON-RPC error answer to the request of a key."""
    import json  # noqa: PLC0415 - as in parse

    error = json.dumps({"code": -32603, "message": message})
    return f'{{"jsonrpc":"2.0","id":{key},"error":{error}}}\n'.encode()
