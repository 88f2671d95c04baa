"""The daemon's answers to commands that a person runs: what they would read by themselves."""

from __future__ import annotations

import msgspec

from observer import config
from observer.config import Settings
from observer.errors import BadInput
from observer.front.asking import Asked, Told, surroundings
from observer.front.questions import reply
from observer.memory import Memory
from observer.paths import Home


class Answering:
    """Answers questions, where its answer is the one that the asking process would give.

    Args:
        memory: read only, and patient with the model; nothing is noted of what is asked.
        settings: those of this daemon.
    """

    def __init__(self, memory: Memory, home: Home, settings: Settings) -> None:
        self._memory = memory
        self._home = home
        self._settings = settings

    def answer(self, body: bytes) -> Told:
        """Answer one question; called in a front's threads.

        Raises:
            BadInput: it is none, or whoever asks has another version or other settings.
            ConfigInvalid: the settings cannot be read any more.
            StoreUnavailable: the memory cannot be read.
        """
        try:
            asked = msgspec.json.decode(body, type=Asked)
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadInput(f"this is no question: {error}") from error
        if asked.surroundings != surroundings():
            raise BadInput("asked with another version, time zone or settings than the daemon's")
        if config.load(self._home) != self._settings:
            raise BadInput("the settings have changed", hint="restart the daemon")
        return reply(self._memory, asked)
