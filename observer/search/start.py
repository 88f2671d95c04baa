"""What a session is given at its start: where the work stands, and the working set.

Lines, the most urgent first, each with why it is there: the resume card (the last session, failing
checks, next steps, uncommitted files), notes that hold here, checks that work, the files that work
concentrates on, what others changed, and the titles of the last sessions. A line holds what the
session would otherwise look up; plain commands, reads and prompts are not in it. The same state
gives the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

from observer.core.errors import BadInput
from observer.core.text import one_line
from observer.core.value import Value
from observer.observations.session_digest import is_trivial
from observer.search.eligible import WITHHELD, clean, is_harmless
from observer.search.recent_sessions import Uncommitted
from observer.search.resume_card import LAST, CardRequest, resume_card
from observer.search.token_budget import CardFact, OmittedItem
from observer.search.working_set import (
    MOST_FILES,
    SessionWork,
    dense,
    form_of,
    frequent_files,
    frequent_symbols,
    recent_work,
    working_checks,
    working_forms,
)
from observer.store.interface import StoreReader

FILES_SHARE = 0.5
"""Of a budget that is kept for the files that work concentrates on."""
MOST_SESSIONS = 6
MOST_SYMBOLS = 16
FILES_CHARS = 4_000
MOST_FORMS = 3
CHECKED, FORM = "passed here", "works here"
FILES, SYMBOLS, SESSION = "files of recent work", "symbols of recent work", "earlier session"
_LATER = ("changed by", "committed", "learned")
"""What the lines of a card begin with that come after the working set."""
_FEWER = 0.75
"""By how much the list of files is shortened until it fits."""

Exists = Callable[[Collection[str]], frozenset[str]]
"""Returns which of some paths, relative to a project's root, are there."""


class StartRequest(Value):
    """Whose start: `client` is empty where any client may read it; `owner` sees personal notes."""

    project_id: int
    budget_tokens: int
    now_ms: int = 0
    client: str = ""
    owner: str = ""


class Start(Value):
    """The lines of a session's start; `omitted` names what did not fit, the first of it."""

    lines: tuple[CardFact, ...]
    budget_tokens: int
    used_tokens: int
    omitted: tuple[OmittedItem, ...] = ()


class _Budget:
    """Tokens to spend on lines, and what was not bought."""

    def __init__(self, tokens: int, cost: Callable[[CardFact], int]) -> None:
        self.left = tokens
        self.lines: list[CardFact] = []
        self.omitted: list[OmittedItem] = []
        self._cost = cost

    def buy(self, line: CardFact, *, keep: int = 0) -> bool:
        """Take a line if it leaves `keep` tokens, and is harmless; say in `omitted` if not."""
        if not is_harmless(line.why, line.text):
            self.omitted.append(OmittedItem(item=line.item, title=line.why, why=WITHHELD))
            return False
        price = self._cost(line)
        if price > self.left - keep:
            why = f"costs {price} tokens, {max(0, self.left - keep)} were left"
            self.omitted.append(
                OmittedItem(item=line.item, title=one_line(line.text, 200), why=why)
            )
            return False
        self.left -= price
        self.lines.append(line)
        return True


def start(
    reader: StoreReader,
    request: StartRequest,
    cost: Callable[[CardFact], int],
    *,
    uncommitted: Uncommitted | None = None,
    exists: Exists | None = None,
) -> Start:
    """Choose the lines of a session's start.

    Args:
        reader: where to look.
        request: whose start, and how long.
        cost: what a line costs when it is rendered, in tokens.
        uncommitted: asks git about files that sessions left dirty; None believes the sessions.
        exists: leaves out files that are gone; None takes all for there.

    Raises:
        BadInput: the budget is negative.
        StoreUnavailable: the state of a session is damaged, or of another version.
    """
    if request.budget_tokens < 0:
        raise BadInput("the budget is negative", hint="ask for 200 tokens or more")
    works = recent_work(reader, request.project_id)
    asked = CardRequest(
        project_id=request.project_id,
        now_ms=request.now_ms,
        client=request.client,
        owner=request.owner,
    )
    lines = list(_joined(resume_card(reader, asked, uncommitted=uncommitted)))
    budget = _Budget(request.budget_tokens, cost)
    keep = int(request.budget_tokens * FILES_SHARE) if works else 0
    before = [line for line in lines if not _is_later(line)]
    for line in [*before, *_checks(works, lines), *_forms(reader, request)]:
        budget.buy(line, keep=keep)
    _buy_files(budget, _files(reader, request, works, exists))
    for line in [
        *_symbols(works),
        *(line for line in lines if _is_later(line)),
        *_sessions(works, lines),
    ]:
        budget.buy(line)
    return Start(
        lines=tuple(budget.lines),
        budget_tokens=request.budget_tokens,
        used_tokens=request.budget_tokens - budget.left,
        omitted=tuple(budget.omitted),
    )


def _is_later(line: CardFact) -> bool:
    return line.why.startswith(_LATER)


def _joined(lines: Sequence[CardFact]) -> Iterator[CardFact]:
    """Yield the lines of a card with all files that are not committed in one of them."""
    for why, group in groupby(lines, key=lambda line: line.why):
        same = list(group)
        if why.startswith(("not committed", "no commit known")) and len(same) > 1:
            first, *others = same
            text = "; ".join([first.text, *(f"#{line.item} {line.text}" for line in others)])
            yield CardFact(item=first.item, why=why, text=text)
        else:
            yield from same


def _checks(works: Sequence[SessionWork], lines: Sequence[CardFact]) -> Iterator[CardFact]:
    """Yield the checks that passed here, but for those of which a line says that they are red."""
    red = {line.red for line in lines}
    found = [one for one in working_checks(works) if one.command not in red]
    if found:
        said = (f"`{one.command}`" + (f" ({one.said})" if one.said else "") for one in found)
        newest = found[0].work
        yield CardFact(item=newest.summary.id, why=CHECKED, text=" · ".join(said))


def _forms(reader: StoreReader, request: StartRequest) -> Iterator[CardFact]:
    """Yield which commands do not work here, and which do instead, one line a failing form."""
    shown: set[str] = set()
    for item in working_forms(reader, request.project_id):
        form = form_of(item)
        if form and form.failed not in shown and len(shown) < MOST_FORMS:
            shown.add(form.failed)
            text = f"`{form.works}`, not `{form.failed}` (failed {form.times} times)"
            yield CardFact(item=item.id, why=FORM, text=text)


def _files(
    reader: StoreReader, request: StartRequest, works: Sequence[SessionWork], exists: Exists | None
) -> list[str]:
    files = frequent_files(reader, request.project_id, works)[: 3 * MOST_FILES]
    there = exists(files) if exists else frozenset(files)
    return [path for path in files if path in there and clean(path)][:MOST_FILES]


def _buy_files(budget: _Budget, files: Sequence[str]) -> None:
    """Buy as many of the files as fit, the most frequent ones."""
    count = len(files)
    while count:
        line = CardFact(item=0, why=FILES, text=dense(files[:count]), most_chars=FILES_CHARS)
        if len(line.text) <= FILES_CHARS and budget.buy(line):
            budget.omitted = [one for one in budget.omitted if one.item]
            if more := len(files) - count:
                title = f"{more} more files of recent work"
                budget.omitted.append(
                    OmittedItem(item=0, title=title, why="no room for their names")
                )
            return
        count = int(count * _FEWER)


def _symbols(works: Sequence[SessionWork]) -> Iterator[CardFact]:
    if symbols := list(filter(clean, frequent_symbols(works)[:MOST_SYMBOLS])):
        yield CardFact(item=0, why=SYMBOLS, text=", ".join(symbols))


def _sessions(works: Sequence[SessionWork], lines: Sequence[CardFact]) -> Iterator[CardFact]:
    """Yield the titles of the last sessions that no other line speaks of, questions last."""
    shown = {line.item for line in lines if line.why == LAST or line.why.startswith("changed by")}
    others = [work for work in works if work.summary.id not in shown and not work.session.parent]
    for work in sorted(others, key=lambda work: is_trivial(work.session))[:MOST_SESSIONS]:
        at_ms = work.session.last_ms
        yield CardFact(item=work.summary.id, why=SESSION, text=work.summary.title, at_ms=at_ms)
