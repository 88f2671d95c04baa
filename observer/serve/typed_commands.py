"""The commands that `hooks/pick` offers: found by words and place, each once, the newest first.

The list is read from the log a slice a request; what is shown is read again, as it may be purged.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
import threading
import time
from array import array
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import compress, count
from typing import NamedTuple

from observer.core.clock import now_ms
from observer.core.errors import BadInput, NotFound
from observer.core.events import Command
from observer.core.model import Recorded, item_id
from observer.core.text import one_line
from observer.memory.api import Memory
from observer.store.interface import Store
from observer.store.reader import StoreReader

REST_S = 300.0
SLICE_S, SLICE = 0.02, 500
"""How long one request goes on reading the log, and how many events at a time."""
SHOWN, FIX = 400, 160  # most characters of a command, and of what mended it, that are shown
MOST_ROWS = 1_000
FIX_WITHIN_MS = 10 * 60_000
FIXES_SOUGHT = 40  # rows for which the next command that worked is looked up: what a screen shows
_DAY_MS = 86_400_000
_UNKNOWN_COMMAND = 127
_LIKE = 0.75  # share of two commands that is the same where one is another form of the other
_INCOMPLETE = re.compile(r"\[redacted:|\[private\]|\[… [\d,]{1,20} characters cut …\]")
_RESULTS = {"all": None, "ok": 0, "failed": 1}
_WHO = {"mine": (False,), "all": (False, True), "agents": (True,)}


class RunSort(NamedTuple):
    """Where commands ran, how they ended, and whether an agent ran them."""

    project_id: int
    cwd: str
    host: str
    is_agent: bool
    failed: bool | None


class Question(NamedTuple):
    """What is looked for; `since_ms` is 0 for any time, `result` None for any end."""

    words: tuple[str, ...] = ()
    scope: str = "all"
    folder: str = ""
    project_id: int = 0
    result: int | None = None
    since_ms: int = 0
    agents: Collection[bool] = (False,)

    def takes(self, run: RunSort) -> bool:
        """Return True if what ran so, at any time, is looked for."""
        return (
            run.is_agent in self.agents
            and (self.result is None or run.failed == self.result)
            and (
                self.scope == "all"
                or (self.scope == "host" and run.host in {"", os.uname().nodename})
                or (self.scope == "project" and run.project_id == self.project_id)
                or (self.scope == "folder" and run.cwd == self.folder)
            )
        )


class CommandList:
    """Commands in arrays; what a question finds is kept, as the next mostly looks only there."""

    def __init__(self) -> None:
        self.first_seq: int | None = None
        self.last_seq = 0
        self.is_whole = False
        self._texts: dict[str, int] = {}
        self._lowered: list[str] = []
        self._sorts: dict[RunSort, int] = {}
        self._seq, self._at_ms = array("q"), array("q")
        self._text, self._sort = array("i"), array("i")
        self._passed: tuple[Question, int] = (Question(), 0)
        """The filters that `_order` and `_times` are for, and of how many runs."""
        self._order: list[int] = []  # the newest run of each text that they take, the newest first
        self._times: Counter[int] = Counter()
        self._found: tuple[tuple[str, ...], list[int]] = ((), [])
        """Words, and those of the runs whose text has them."""

    def add(self, found: Iterable[Recorded]) -> None:
        """Add the runs that events of the log report."""
        for one in found:
            event, body = one.event, one.event.body
            if not isinstance(body, Command) or not body.command.strip():
                continue
            is_agent = event.author != "person"
            sort = RunSort(one.project_id, event.cwd, event.host, is_agent, body.failed)
            text = body.command
            if text not in self._texts:
                self._texts[text] = len(self._texts)
                lowered = text.lower()
                self._lowered.append(text if lowered == text else lowered)
            self._seq.append(one.seq)
            self._at_ms.append(event.at_ms)
            self._text.append(self._texts[text])
            self._sort.append(self._sorts.setdefault(sort, len(self._sorts)))

    def find(self, asked: Question, limit: int) -> tuple[int, dict[int, int]]:
        """Return how many commands fit, and, by newest `seq`, the runs of the first `limit`."""
        self._filter(asked._replace(words=()))
        lowered, seqs, texts = self._lowered, self._seq, self._text
        before, found = self._found
        if not all(any(one in word for word in asked.words) for one in before):
            before, found = (), self._order
        for word in sorted(set(asked.words).difference(before), key=len, reverse=True):
            found = [run for run in found if word in lowered[texts[run]]]
        self._found = asked.words, found
        return len(found), {seqs[run]: self._times[texts[run]] for run in found[:limit]}

    def _filter(self, filters: Question) -> None:
        if self._passed == (filters, len(self._seq)):
            return
        self._passed = filters, len(self._seq)
        takes, texts, at_ms = [filters.takes(sort) for sort in self._sorts], self._text, self._at_ms
        taken = compress(count(), map(takes.__getitem__, self._sort))
        runs = [run for run in taken if at_ms[run] >= filters.since_ms]
        newest: dict[int, int] = {}
        # Of the same time the one that was added first stays first.
        for run in sorted(runs, key=at_ms.__getitem__, reverse=True):
            newest.setdefault(texts[run], run)
        self._order = list(newest.values())
        self._found = (), self._order
        self._times = Counter(map(texts.__getitem__, runs))


class TypedCommands:
    """Answers `hooks/pick`, in the threads of requests."""

    def __init__(self, store: Store, memory: Memory, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._memory = memory
        self._loop = loop
        self._lock = threading.Lock()
        self._list = CommandList()
        self._as_of: Hashable = None
        self._rows_read: dict[int, list[str]] = {}
        """Rows that were shown, as long as nothing is written; without the number of runs."""
        self._rest: asyncio.TimerHandle | None = None

    def answer(self, body: bytes) -> bytes:
        """Return the rows that are asked for, or one whole command: fields with a NUL between them.

        The first are the number of commands found and whether older ones are still to be read; then
        eight of each row: `seq`, time (ms), exit code, runs, text, folder, what mended it, the
        agent. Of one command they are 1 and its text, or 0 if some of that was taken out. Raises
        BadInput, or NotFound for a command that is no longer there.
        """
        pairs = (one.partition("=") for one in body.decode("utf-8", "replace").split("\0"))
        asked = {name: value for name, _, value in pairs}
        try:
            fields = self._whole(int(asked["seq"])) if "seq" in asked else self._rows(asked)
        except (KeyError, ValueError) as error:
            raise BadInput(f"this asks for no commands: {error}") from error
        return "\0".join(fields).encode("utf-8", "replace")

    def _whole(self, seq: int) -> list[str]:
        with self._store.read() as reader:
            for one in reader.logged([seq]):
                if isinstance(one.event.body, Command):
                    text = one.event.body.command
                    return [str(int(not _INCOMPLETE.search(text))), text]
        raise NotFound("this command is no longer in the memory")

    def _rows(self, asked: dict[str, str]) -> list[str]:
        folder, days = asked.get("folder", ""), int(asked.get("days", "0"))
        project = self._memory.project_at(folder) if asked.get("scope") == "project" else None
        question = Question(
            words=tuple(asked.get("words", "").lower().split()),
            scope=asked.get("scope", "all"),
            folder=folder,
            project_id=project.id if project else 0,
            result=_RESULTS[asked.get("result", "all")],
            # By the minute, so that the next key finds the same.
            since_ms=now_ms() // 60_000 * 60_000 - days * _DAY_MS if days else 0,
            agents=_WHO[asked.get("who", "mine")],
        )
        limit = min(int(asked.get("limit", "100")), MOST_ROWS)
        self._loop.call_soon_threadsafe(self._keep)
        with self._lock, self._store.read() as reader:
            self._read_on(reader)
            total, shown = self._list.find(question, limit)
            rows = self._shown(reader, shown)
            if len(rows) < len(shown):  # purged since: let go of what else may have been
                self._list = CommandList()
        fields = [str(total), str(int(not self._list.is_whole))]
        for seq, row in rows.items():
            fields += [*row[:3], str(shown[seq]), *row[3:]]
        return fields

    def _shown(self, reader: StoreReader, seqs: Collection[int]) -> dict[int, list[str]]:
        if (now := reader.snapshot()) != self._as_of:
            self._as_of, self._rows_read = now, {}
        if missing := [seq for seq in seqs if seq not in self._rows_read]:
            there = {one.seq: one for one in reader.logged(missing)}
            found = [there[seq] for seq in missing if seq in there]
            fixes = fixes_of(reader, found)
            self._rows_read |= {one.seq: _row(one, fixes.get(one.seq, "")) for one in found}
        return {seq: self._rows_read[seq] for seq in seqs if seq in self._rows_read}

    def _read_on(self, reader: StoreReader) -> None:
        known, until_s = self._list, time.monotonic() + SLICE_S
        if known.last_seq:
            while fresh := reader.commands(after_seq=known.last_seq, limit=SLICE):
                known.add(fresh)
                known.last_seq = fresh[0].seq
                if len(fresh) < SLICE:
                    break
        while not known.is_whole:
            older = reader.commands(before_seq=known.first_seq, limit=SLICE)
            known.add(older)
            known.is_whole = not older
            if older:
                known.last_seq = known.last_seq or older[0].seq
                known.first_seq = older[-1].seq
            if time.monotonic() > until_s:
                break

    def _keep(self) -> None:
        if self._rest:
            self._rest.cancel()

        def let_go() -> None:
            self._list, self._rows_read = CommandList(), {}

        self._rest = self._loop.call_later(REST_S, let_go)


def _row(one: Recorded, fix: str) -> list[str]:
    event, body = one.event, one.event.body
    assert isinstance(body, Command)  # noqa: S101 - no other is in the list
    client = "" if event.author == "person" else event.client
    code = body.exit_code
    # A failure without a code is one all the same.
    ended = str(code) if code is not None else {None: "", False: "0", True: "?"}[body.failed]
    texts = (body.command[:SHOWN], event.cwd, fix, client)
    numbers = (str(one.seq), str(event.at_ms), ended)
    return [*numbers, *(text.replace("\0", "\ufffd") for text in texts)]


def fixes_of(reader: StoreReader, rows: Sequence[Recorded]) -> dict[int, str]:
    """Return what mended failed commands, by `seq`: known fixes, else the next form that worked."""
    failed = {
        item_id(one.seq): one
        for one in rows
        if isinstance(one.event.body, Command) and one.event.body.failed
    }
    links = [one for one in reader.linked_to(list(failed)) if one[1].kind == "fixes"]
    known = {item.id: item for item in reader.items([source for source, _ in links])}
    fixes = {
        failed[link.target].seq: one_line(known[source].subtitle or known[source].title, FIX)
        for source, link in links
        if source in known
    }
    for one in [one for one in failed.values() if one.seq not in fixes][:FIXES_SOUGHT]:
        if worked := _next_that_worked(reader, one):
            fixes[one.seq] = one_line(f"then worked: {worked}", FIX)
    return fixes


def _next_that_worked(reader: StoreReader, failed: Recorded) -> str:
    if failed.session_id is None or not isinstance(failed.event.body, Command):
        return ""
    at_ms = failed.event.at_ms
    times = {"from_ms": at_ms, "to_ms": at_ms + FIX_WITHIN_MS}
    text, is_mistyped = failed.event.body.command, failed.event.body.exit_code == _UNKNOWN_COMMAND
    for one in reader.recorded_near(failed.session_id, kind="command", **times):
        body = one.event.body
        if one.seq <= failed.seq or not isinstance(body, Command) or body.failed is not False:
            continue
        if _is_like(text, body.command, is_mistyped=is_mistyped):
            return body.command
    return ""


def _is_like(failed: str, worked: str, *, is_mistyped: bool) -> bool:
    """Return True if a command is another form of one that failed: of the same program, mostly."""
    before, after = failed.split(), worked.split()
    if failed == worked or not after:
        return False
    if is_mistyped and difflib.get_close_matches(before[0], after[:1]):
        return True
    likeness = difflib.SequenceMatcher(None, failed[:SHOWN], worked[:SHOWN]).ratio()
    return before[0] == after[0] and (before[:2] == after[:2] or likeness >= _LIKE)
