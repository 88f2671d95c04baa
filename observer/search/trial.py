"""A trial on the user's own machine: in which sessions reminders are shown, drawn at random.

Stored are, for each trial, a file with its plan, and one with a digest of each session in which
there was a reminder. The arm of a session is not stored but derived from the plan's key, so that
every process derives the same, also after a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from observer.core.errors import BadInput, ConfigInvalid, NotFound
from observer.core.paths import make_private, open_plain, read_plain
from observer.core.value import Value, decode_json

Arm = Literal["shown", "withheld"]
DAY_MS = 86_400_000
_KEY_BYTES = 16
_ALL = 1 << 64


class TrialPlan(Value):
    """One trial. `share` of the sessions sees reminders; with `is_same` all do, whatever was drawn.

    `key` decides the draw and never leaves the home. `stopped_ms` is 0 unless somebody ended it.
    """

    key: str
    start_ms: int
    end_ms: int
    share: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    is_same: bool = False
    stopped_ms: int = 0

    @property
    def until_ms(self) -> int:
        """When it is over, or was ended."""
        return min(self.end_ms, self.stopped_ms or self.end_ms)

    def arm(self, client: str, session: str) -> Arm:
        """Return the arm that a client's session is drawn into."""
        drawn = int.from_bytes(self._digest("arm", client, session)[:8], "big")
        return "shown" if drawn < self.share * _ALL else "withheld"

    def name(self, client: str, session: str) -> str:
        """Return what stands for a session in what is kept: nobody finds the session by it."""
        return self._digest("name", client, session).hex()[:24]

    def _digest(self, use: str, client: str, session: str) -> bytes:
        text = f"{use}\0{client}\0{session}".encode("utf-8", "surrogatepass")
        return hmac.digest(bytes.fromhex(self.key), text, hashlib.sha256)


class Trials:
    """The trials of a home, of which one runs at a time; safe to share between processes.

    Args:
        folder: where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def newest(self) -> TrialPlan | None:
        """Return the trial that began last; None if there was none.

        Raises:
            ConfigInvalid: its file is damaged.
            OSError: it cannot be read.
        """
        begun = [int(file.stem) for file in self._folder.glob("*.json") if file.stem.isdecimal()]
        if not begun:
            return None
        path = self._plan(max(begun))
        try:
            plan = decode_json(read_plain(path), TrialPlan)
            bytes.fromhex(plan.key)
        except (msgspec.DecodeError, ValueError) as error:
            raise ConfigInvalid(f"{path}: {error}", hint="delete it to end this trial") from error
        return plan

    def running(self, at_ms: int) -> TrialPlan | None:
        """Return the trial that runs at a time; ConfigInvalid and OSError as `newest`."""
        plan = self.newest()
        return plan if plan and plan.start_ms <= at_ms < plan.until_ms else None

    def begin(self, *, at_ms: int, days: int, share: float, is_same: bool) -> TrialPlan:
        """Begin a trial.

        Raises:
            BadInput: one runs.
            ConfigInvalid: the file of the last one is damaged.
            OSError: it cannot be written.
        """
        if self.running(at_ms):
            raise BadInput("a trial runs", hint="end it first: observer trial stop")
        plan = TrialPlan(
            key=secrets.token_hex(_KEY_BYTES),
            start_ms=at_ms,
            end_ms=at_ms + days * DAY_MS,
            share=share,
            is_same=is_same,
        )
        self._write(plan)
        return plan

    def stop(self, at_ms: int) -> TrialPlan:
        """End the trial that runs.

        Raises:
            NotFound: none does.
            ConfigInvalid: its file is damaged.
            OSError: it cannot be written.
        """
        plan = self.running(at_ms)
        if plan is None:
            raise NotFound("no trial runs", hint="begin one: observer trial start")
        stopped = replace(plan, stopped_ms=max(at_ms, plan.start_ms))
        self._write(stopped)
        return stopped

    def withhold(self, client: str, session: str, *, at_ms: int) -> bool:
        """Note that there is something to say in a session; return True if it is not to be said.

        A session without a name is in no trial.

        Raises:
            ConfigInvalid: the file of the trial is damaged.
            OSError: a file of it cannot be read or written.
        """
        plan = self.running(at_ms) if session else None
        if plan is None:
            return False
        line = f"{plan.name(client, session)}\n".encode("ascii")
        descriptor = open_plain(self._met(plan), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(descriptor, "ab", buffering=0) as file:
            file.write(line)
        return not plan.is_same and plan.arm(client, session) == "withheld"

    def met(self, plan: TrialPlan) -> frozenset[str]:
        """Return the names of the sessions in which there was something to say."""
        path = self._met(plan)
        return frozenset(read_plain(path).decode("ascii").split()) if path.exists() else frozenset()

    def _plan(self, start_ms: int) -> Path:
        return self._folder / f"{start_ms}.json"

    def _met(self, plan: TrialPlan) -> Path:
        return self._folder / f"{plan.start_ms}.met"

    def _write(self, plan: TrialPlan) -> None:
        make_private(self._folder)
        path = self._plan(plan.start_ms)
        fresh = path.with_suffix(".new")
        with os.fdopen(open_plain(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
            file.write(msgspec.json.encode(plan) + b"\n")
        fresh.replace(path)
