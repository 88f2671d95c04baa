"""Imports in the background, and following of sessions: a process of low priority, kept running.

What is asked is in the home (`importers.queued`), so that a restarted daemon goes on with it.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

import msgspec

from observer.core.errors import ObserverError
from observer.core.paths import Home
from observer.core.value import decode_json
from observer.daemon.health import Health
from observer.daemon.worker import Worker, heard

LOOK_S = 60.0
"""How often it is looked for an import, and a process that failed is started again."""
_LEAVE_S = 5.0
_COMPLAINT_BYTES = 4096


class _Progress(msgspec.Struct):
    done: int


class ImportWorker(Worker):
    """Runs `observer import --worker` while there is something for it to do.

    Args:
        home: may name an import in the background.
        health: as of `Worker`.
        follows: whether the settings name sources to follow.
    """

    def __init__(self, home: Home, health: Health, *, follows: bool) -> None:
        super().__init__(health)
        self._home = home
        self._follows = follows
        self.done = 0

    async def run(self) -> None:
        """Start the process whenever it is needed, until cancelled."""
        while True:
            self._news.clear()
            is_needed = self._follows or self._home.importing.exists()
            is_fine = not is_needed or await self._attempt("import", self._work)
            if is_fine:
                await heard(self._news, within_s=LOOK_S)
            else:
                await asyncio.sleep(LOOK_S)

    async def _work(self) -> None:
        """Run the process until it ends.

        Raises:
            ObserverError: it failed, with what it said.
            OSError: it cannot be started.
        """
        self.done = 0
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "observer", "import", "--worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
        )
        try:
            said = await self._listen(process)
        finally:
            await _end(process)
        if process.returncode:
            raise ObserverError(said or f"the import ended with exit code {process.returncode}")

    async def _listen(self, process: asyncio.subprocess.Process) -> str:
        """Note how far it is until it ends; return what it complained of last."""
        complained = asyncio.create_task(_complaint(process))
        while line := await _line(process.stdout):
            with suppress(msgspec.DecodeError):
                self.done = decode_json(line, _Progress).done
        return await complained


async def _complaint(process: asyncio.subprocess.Process) -> str:
    kept = b""
    while line := await _line(process.stderr):
        kept = line[:_COMPLAINT_BYTES] if line.startswith(b"error: ") else kept
    return kept.decode(errors="replace").removeprefix("error: ").strip()


async def _line(stream: asyncio.StreamReader | None) -> bytes:
    return await stream.readline() if stream else b""


async def _end(process: asyncio.subprocess.Process) -> None:
    """Let the process leave, which it does between two groups of sessions; kill it if it stays."""
    if process.stdin:
        process.stdin.close()
    try:
        async with asyncio.timeout(_LEAVE_S):
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
