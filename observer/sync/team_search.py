"""Search beyond this home: a share on a server is asked too, and given what this home sends.

Who searches waits for it no longer than `PATIENCE_S`; then the answer is that of this home.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, groupby
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from observer.core.errors import ObserverError
from observer.core.filters import Filters
from observer.core.model import Item, ItemChange
from observer.core.value import decode_json
from observer.index.segment import SEPARATOR, Codes, Stem
from observer.redaction.redact import redact
from observer.search.candidates import MOST_CODES, Sources, searched
from observer.search.elsewhere import Elsewhere, joined_by_ranks, ranked
from observer.search.find import SearchHits
from observer.search.query import QueryPlan, plan
from observer.search.rank import Hit
from observer.store.reader import StoreReader
from observer.store.shares import GONE, ShareState
from observer.store.writer import Writer
from observer.sync.carriers import is_server, open_search
from observer.sync.outgoing import BATCH, LOCAL, HomeSide, bare, kept_apart, leaving, share_called
from observer.sync.record import shown_name

if TYPE_CHECKING:
    from observer.sync.postgres_search import (
        Candidate,
        SearchAsked,
        SearchEntry,
        ServerAnswer,
        ServerSearch,
    )

PATIENCE_S = 0.3
"""How long a search waits for servers."""
FETCH_S = 5.0
"""How long one item is waited for."""
MOST = 60
"""Candidates by words, and by meaning, as at home."""
ALONE = "searched here alone"
NO_SERVER = f"{ALONE}: no share is on a server"
NO_OPERATORS = f"{ALONE}: a server knows no operators"
NO_SESSION = f"{ALONE}: a server knows no sessions"
NO_WORDS = f"{ALONE}: a server lists nothing without words"
TOO_LATE = f"{ALONE}: a server is late"


class ItemModel(NamedTuple):
    """What this home's items are indexed with: the model's id, its dimensions, and the stems."""

    id: str
    dimensions: int
    stem: Stem


class TeamQuestion(NamedTuple):
    """A search beyond this home: what is asked, of which project by its name, or of all."""

    sources: Sources
    text: str
    filters: Filters
    project: str
    limit: int
    now_ms: int


def fill(home: HomeSide, name: str, server: ServerSearch, model: ItemModel) -> int:
    """Have a server know what changed of items sent; return how many. Raises: ShareUnavailable."""
    codes, done = Codes(model.stem), 0
    while True:
        with home.store.read() as reader:
            share = share_called(reader, name)
            key, begin = f"searchable {share.key}", f"{reader.epoch()} {model.id} "
            noted = reader.meta(key)
            after = int(noted.removeprefix(begin)) if noted.startswith(begin) else 0
            changes = reader.changes(after=after, model=model.id, limit=BATCH)
            entries = list(_entries(home, reader, share, changes, model, codes))
        if entries:
            server.put(share.origin, entries)
        if changes:
            last = f"{begin}{changes[-1].change}"
            home.write(partial(Writer.put_meta, name=key, value=last))
        done += len(entries)
        if len(changes) < BATCH:
            return done


def _entries(
    home: HomeSide,
    reader: StoreReader,
    share: ShareState,
    changes: Sequence[ItemChange],
    model: ItemModel,
    codes: Codes,
) -> Iterator[SearchEntry]:
    """Yield what the server is to know of changed items: words as they left, and whole vectors."""
    from observer.sync.postgres_search import SearchEntry  # noqa: PLC0415 - of an extra

    changed = {one.item.uuid: one for one in changes if one.item}
    sent = reader.sent(share.name, changed)
    items = [one.item for uuid, one in changed.items() if one.item and sent.get(uuid, GONE) != GONE]
    apart = kept_apart(reader, home.policies, share.name)
    for one in leaving(reader, share, items, apart, home.folder):
        item = decode_json(one.body, Item)
        vector = changed[one.item.uuid].vector or b""
        is_whole = len(vector) == model.dimensions > 0
        yield SearchEntry(
            uuid=one.item.uuid,
            project=one.project.name,
            kind=item.kind,
            type=item.type,
            created_ms=item.created_ms,
            columns=columns_by(codes, item),
            model=model.id if is_whole else "",
            vector=vector if is_whole else b"",
        )


def columns_by(codes: Codes, item: Item) -> list[list[int]]:
    """Return the codes of an item's words, of each column."""
    stream = groupby(chain(codes.of_item(item)), lambda code: code == SEPARATOR)
    found: list[list[int]] = [[]]
    for is_end, group in stream:
        if is_end:
            found += [[] for _ in group]
        else:
            found[-1] = list(group)
    return found[:-1]


class TeamSearch:
    """The servers of this home's shares, each connection kept for the next; for all threads."""

    def __init__(self, model: ItemModel, *, patience_s: float = PATIENCE_S) -> None:
        self._model = model
        self._patience_s = patience_s
        self._codes = Codes(model.stem)
        self._idle: dict[str, list[ServerSearch]] = {}

        def close(idle: dict[str, list[ServerSearch]]) -> None:
            for server in chain.from_iterable(idle.values()):
                server.close()

        weakref.finalize(self, close, self._idle)

    def search(
        self, urls: Iterable[str], question: TeamQuestion, local: Callable[[], SearchHits]
    ) -> SearchHits:
        """Return what this home and the servers find; `degraded` says why one is missing."""
        urls = list(filter(is_server, urls))
        wanted = plan(question.text)
        if why := _why_not(urls, question.filters, wanted):
            return _degraded(local(), [why])
        deadline_s = time.monotonic() + self._patience_s
        asked = self._asked(question, wanted)
        answers = self._begin(urls, asked)
        found, hits, problems = local(), list[Hit](), list[str]()
        for answer in _within(answers, len(urls), deadline_s):
            if isinstance(answer, str):
                problems.append(answer)
            else:
                hits += self._ranked(question, wanted, asked, answer)
        there = question.sources.reader.by_uuid([hit.item.uuid for hit in hits])
        known = {uuid: item.id for uuid, item in there.items()}
        joined = joined_by_ranks(found.hits, hits, known, limit=question.limit)
        notice = found.notice if found.hits or not hits else wanted.notice
        return _degraded(replace(found, hits=joined, notice=notice), problems)

    def fetch(self, urls: Iterable[str], handle: str) -> Item | None:
        """Return a share's item by its uuid or its begin. Raises: Ambiguous, ShareUnavailable."""
        for url in filter(is_server, urls):
            with self._server(url) as server:
                found = server.named(handle, timeout_ms=int(1000 * FETCH_S))
            if found and (item := _item(found)):
                return item
        return None

    def _asked(self, question: TeamQuestion, wanted: QueryPlan) -> SearchAsked:
        from observer.sync.postgres_search import SearchAsked  # noqa: PLC0415 - of an extra

        filters = question.filters
        codes = chain.from_iterable(self._codes.whole_each(wanted.words))
        vector = question.sources.encode(wanted.text)
        return SearchAsked(
            codes=list(dict.fromkeys(codes))[:MOST_CODES],
            model=self._model.id,
            vector=() if vector is None else vector.tolist(),
            project=question.project or None,
            kinds=list(searched(filters)),
            types=list(filters.types) or None,
            since=filters.since_ms,
            until=filters.until_ms,
            limit=max(MOST, question.limit),
        )

    def _begin(self, urls: Sequence[str], asked: SearchAsked) -> SimpleQueue[ServerAnswer | str]:
        answers: SimpleQueue[ServerAnswer | str] = SimpleQueue()

        def ask(url: str) -> None:
            try:
                with self._server(url) as server:
                    answers.put(server.ask(asked, timeout_ms=int(1000 * self._patience_s)))
            except ObserverError as error:
                answers.put(f"{ALONE}: {error}")

        # Whoever is late may be so for seconds, and nobody waits for it at the end.
        for url in urls:
            threading.Thread(target=ask, args=(url,), name="share", daemon=True).start()
        return answers

    @contextmanager
    def _server(self, url: str) -> Iterator[ServerSearch]:
        idle = self._idle.setdefault(url, [])
        try:
            server = idle.pop()
        except IndexError:
            server = open_search(url)
        try:
            yield server
        except ObserverError:
            server.close()
            raise
        idle.append(server)

    def _ranked(
        self, question: TeamQuestion, wanted: QueryPlan, asked: SearchAsked, answer: ServerAnswer
    ) -> list[Hit]:
        items = ((_item(one), one.vector) for one in answer.candidates)
        elsewhere = Elsewhere(
            items=[(item, vector) for item, vector in items if item],
            size=answer.size,
            counts=dict(zip(asked.codes, answer.counts, strict=True)),
            model=self._model.id,
            dimensions=self._model.dimensions,
        )
        return ranked(
            elsewhere,
            wanted,
            question.filters,
            sources=question.sources,
            codes=self._codes,
            limit=question.limit,
            now_ms=question.now_ms,
        )


def _why_not(urls: Sequence[str], filters: Filters, wanted: QueryPlan) -> str:
    if not urls:
        return NO_SERVER
    if not wanted.words:
        return NO_WORDS
    if wanted.expression:
        return NO_OPERATORS
    is_of_sessions = filters.session_id is not None or filters.sessions is not None
    return NO_SESSION if is_of_sessions else ""


def _within(
    answers: SimpleQueue[ServerAnswer | str], count: int, deadline_s: float
) -> Iterator[ServerAnswer | str]:
    """Yield answers as they come, and why the rest is not waited for."""
    for _ in range(count):
        try:
            yield answers.get(timeout=max(0.0, deadline_s - time.monotonic()))
        except Empty:
            yield TOO_LATE
            return


def _item(found: Candidate) -> Item | None:
    """Return what a record holds, redacted; None if it is no item, which a member may have sent."""
    try:
        item = replace(decode_json(found.body, Item), **LOCAL, uuid=found.uuid)
    except (msgspec.MsgspecError, ValueError):
        return None
    if item.scope == "personal":
        return None
    kept = replace(redact(bare(item)), uuid=found.uuid, content_hash=item.content_hash)
    return replace(kept, person=shown_name(found.person))


def _degraded(found: SearchHits, problems: Sequence[str]) -> SearchHits:
    said = "; ".join(filter(None, (found.degraded, *dict.fromkeys(problems))))
    return replace(found, degraded=said)
