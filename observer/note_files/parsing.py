"""Parses many notes on another core, while those before them are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import msgspec

from observer.core.child_process import ChildProcess, serve
from observer.note_files.items import ParsedNote, parsed

MANY = 400
"""Notes for which a process of its own is worth its start, half a second of processor time."""

Text = tuple[str, str]
"""What a file holds, and its path in the note folder."""

_encode = msgspec.msgpack.Encoder().encode
_texts = msgspec.msgpack.Decoder(list[Text]).decode
_notes = msgspec.msgpack.Decoder(list[ParsedNote]).decode


class NoteParser:
    """Parses one batch of notes after the other, in a process if there are many.

    Args:
        count: how many notes there are in all, about.
    """

    def __init__(self, count: int) -> None:
        self._process = ChildProcess(__name__, what="parses notes")
        self._asked: list[Text] = []
        if count >= MANY:
            self._process.start()

    def __enter__(self) -> Self:
        """Return the parser itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, if there is one."""
        self._process.end()

    def begin(self, texts: Sequence[Text]) -> None:
        """Begin to parse a batch; the one before has to be `finished`."""
        self._asked = list(texts)
        if texts:
            self._process.send(_encode(texts))

    def finish(self) -> list[ParsedNote]:
        """Return the notes of the batch that was begun, in its order, once they are parsed."""
        if not self._asked:
            return []
        answer = self._process.receive()
        return _notes(answer) if answer else [parsed(*text) for text in self._asked]


# --- in the process ------------------------------------------------------------------------------


def main() -> None:
    """Write parsed notes to standard output, as standard input asks."""
    serve(_answers)


def _answers(request: bytes) -> Iterator[bytes]:
    yield _encode([parsed(*text) for text in _texts(request)])
