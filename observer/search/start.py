"""What a session is given at its start, one fact a line, each with why it is there.

Where the work stands comes first: the last turn, what is red, not committed and open, and the pull
request of the branch. Then what holds here and what works here, the turns before, and the files
that are likely next. Turns are quoted as they were written. The resume card of a context pack has
the same lines, and the same state gives the same ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from observer.commands.check_runs import BELOW
from observer.core.errors import BadInput
from observer.core.filters import HIDE, OURS, PIN, Filters, commit_author
from observer.core.model import Item, ItemKind, item_id
from observer.core.text import counted, listed, named, one_line, quoted
from observer.core.value import Value
from observer.observations import turns
from observer.observations.conversation import answer_of
from observer.observations.drafts import QUESTION
from observer.observations.quoting import line_of, matter, opening
from observer.observations.session_commits import HASH_CHARS
from observer.observations.session_state import last_reply
from observer.search import rank, recent_sessions
from observer.search.rank import Hit, HitSignals, clean, is_stale
from observer.search.recent_sessions import FailingCheck, PastSession, RecentSessions, Uncommitted
from observer.search.snippet import without_duplicates
from observer.store.reader import StoreReader

MOST_RED, MOST_NOTES_SHOWN, MOST_FORMS, MOST_TURNS, MOST_OTHERS = 3, 8, 3, 6, 3
"""Lines of each sort that are offered to the budget, beside all that is still to do."""
MOST_DIRTY, MOST_DECISIONS = 12, 1
MOST_FILES, TOKENS_OF_FILE = 20, 8
"""Files, the likeliest, that a start names in all, beside some four that its other lines name and
that are less likely; and tokens that one costs, its folder's share included."""
FILES_CHARS = 2_000
ASKED_CHARS, TURN_CHARS = 110, 280
NAMES_SAID = 4
NOTES = 60
COMMITS = 100
NOTE_TYPES = (
    *("constraint", "rule", "decision", "preference", "heuristic", "rejected", "fact", "context"),
)
"""Notes that hold until somebody says otherwise."""
KEPT, KEPT_FOR_FILES, KEPT_OF_TURNS = 0.4, 0.12, 0.3
"""Of a budget, for what the work needs: checks, turns and files; the lines before get the rest, and
turns before the last one what is left of seven tenths.
Files are bought last, since those that a line names already are not named again."""

LAST, TURN, RED, PULL = "last session", "earlier turn", "red when it ran last", "pull request"
DECIDED, PINNED = "decided", "pinned"
STEP, CHECKS, FORM, FILES = "next step", "checks run here", "works here", "files likely next"
DIRTY = ("no commit known", "not committed")
_OF_WORK = (CHECKS, FORM, "committed")
_BOT = "[bot]"
"""How GitHub ends the names of programs that commit: of their commits only the number is said."""
_ENDS = {"active": "still open", "ended": "ended", "idle": "broke off"}

Exists = Callable[[Collection[str]], frozenset[str]]
"""Returns which of some paths, relative to a project's root, are there."""


LINE_CHARS = 280
"""Of a line's text that are shown; the rest is one fetch away."""
MOST_OMITTED = 50
"""Most items named of those that did not fit."""


class ContextRequest(Value):
    """Whose context, and how long it may be; `owner` sees personal notes."""

    project_id: int
    budget_tokens: int
    now_ms: int = 0
    owner: str = ""

    def filters(self, *kinds: ItemKind, types: tuple[str, ...] = ()) -> Filters:
        """Return what items of these kinds and types must be to be shown unasked."""
        return Filters(
            project_id=self.project_id,
            with_global=True,
            kinds=kinds,
            types=types,
            owner=self.owner,
            trusted_at_ms=self.now_ms,
        )


class StartRequest(ContextRequest):
    """Whose start: `client` is empty where any client may read it.

    `with_notes` adds the notes that hold here, for a reader who does not get them otherwise.
    """

    client: str = ""
    with_notes: bool = True


class CardFact(Value):
    """One fact of a card. `item` is what to fetch, `why` what put it there.

    An `item` of 0 has nothing to fetch. Of `text` so many characters are shown. `red` is the
    command that is said to fail on the branch of the last session.
    """

    item: int
    why: str
    text: str
    at_ms: int = 0
    most_chars: int = LINE_CHARS
    red: str = ""


class OmittedItem(Value):
    """An item that was considered but is not shown, and why."""

    item: int
    title: str
    why: str


class TokenBudget:
    """Tokens to spend; what does not fit is counted, the first of it named."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.left_out = 0
        self.omitted: list[OmittedItem] = []

    def buy(self, price: int, *, keep: int = 0) -> bool:
        """Spend so much if at least `keep` tokens are left then; return whether it was spent."""
        if price > self.left - keep:
            return False
        self.left -= price
        return True

    def refuse(self, item: int, title: str, price: int, *, keep: int = 0) -> None:
        """Count and name what costs too much."""
        self.omit(item, title, f"costs {price} tokens, {max(0, self.left - keep)} were left")

    def omit(self, item: int, title: str, why: str) -> None:
        """Count and name what is not shown."""
        self.left_out += 1
        self.name(item, title, why)

    def name(self, item: int, title: str, why: str) -> None:
        """Name what is not shown, and why, without counting it."""
        if len(self.omitted) < MOST_OMITTED:
            self.omitted.append(OmittedItem(item=item, title=title, why=why))


class Start(Value):
    """The lines of a session's start; `omitted` names what did not fit, the first of it."""

    lines: tuple[CardFact, ...]
    budget_tokens: int
    used_tokens: int
    omitted: tuple[OmittedItem, ...] = ()


def start(
    reader: StoreReader,
    request: StartRequest,
    cost: Callable[[CardFact], int],
    *,
    uncommitted: Uncommitted | None = None,
    exists: Exists | None = None,
) -> Start:
    """Choose the lines of a session's start.

    `cost` says what a line costs when it is rendered, in tokens; `uncommitted` asks git about files
    that sessions left dirty, None believes the sessions; `exists` leaves out files that are gone.

    Raises:
        BadInput: the budget is negative.
        StoreUnavailable: the state of a session is damaged, or of another version.
    """
    if request.budget_tokens < 0:
        raise BadInput("the budget is negative", hint="ask for 200 tokens or more")
    budget = TokenBudget(request.budget_tokens)
    given = reader.chosen("given")
    found = list(_lines(reader, request, uncommitted, given))
    pinned = [line for line in found if given.get(line.item) == PIN]
    pinned += _pinned(reader, request, given, but={line.item for line in pinned})
    lines = pinned + [line for line in found if given.get(line.item) not in {HIDE, PIN}]
    # Where the work stands is bought first, then what it needs, then the past.
    sorts = [
        0 if line in pinned else 2 if line.why.startswith(TURN) else line.why.startswith(_OF_WORK)
        for line in lines
    ]
    bought: dict[int, CardFact] = {}
    for place in sorted(range(len(lines)), key=sorts.__getitem__):
        line, price = lines[place], cost(lines[place])
        keep = int(request.budget_tokens * (KEPT, KEPT_FOR_FILES, KEPT_OF_TURNS)[sorts[place]])
        if not rank.is_harmless(line.why, line.text):
            budget.omit(line.item, line.why, rank.WITHHELD)
        elif budget.buy(price, keep=keep):
            bought[place] = line
        else:
            budget.refuse(line.item, one_line(line.text, 200), price, keep=keep)
    shown = [bought[place] for place in sorted(bought)]
    files = _files(reader, request, shown, exists, most=budget.left // TOKENS_OF_FILE)
    shown += [line for line in files if budget.buy(cost(line))]
    return Start(
        lines=tuple(shown),
        budget_tokens=request.budget_tokens,
        used_tokens=request.budget_tokens - budget.left,
        omitted=tuple(budget.omitted),
    )


def _pinned(
    reader: StoreReader, request: StartRequest, given: Mapping[int, str], *, but: Collection[int]
) -> Iterator[CardFact]:
    """Yield lines of pinned items that no other line is about, the newest first."""
    ids = [one for one, how in given.items() if how == PIN and one not in but]
    filters = request.filters("observation", "note", "summary")
    items = [one for one in reader.items(ids) if filters.admits(one)]
    gone = recent_sessions.discarded(reader, items)
    for one in sorted(items, key=lambda item: -item.created_ms):
        if one.kind == "note" and request.with_notes:
            yield _note(one)
        elif one.kind != "note" and one.id not in gone:
            text = _exchange(one, one.title) if one.type == "turn" else quoted(one.title)
            yield CardFact(item=one.id, why=PINNED, text=text, at_ms=one.created_ms)


def _lines(
    reader: StoreReader,
    request: StartRequest,
    uncommitted: Uncommitted | None,
    given: Mapping[int, str],
) -> Iterator[CardFact]:
    """Yield the lines but for files in the order in which they are shown; none where none began."""

    def unhidden(items: Iterable[Item], most: int) -> list[Item]:  # which takes no other's place
        return list(islice((one for one in items if given.get(one.id) != HIDE), most))

    recent = RecentSessions(reader, request.project_id)
    last = recent.last(request.client)
    held = holding(reader, request) if request.with_notes else []
    notes = list(map(_note, unhidden((hit.item for hit in held), MOST_NOTES_SHOWN)))
    if last is None:
        yield from notes
        return
    red = [_red(each, last) for each in islice(recent.red(now_ms=request.now_ms), MOST_RED)]
    turn = recent.last_turn(last)
    yield _last(last, turn)
    yield from red
    for left in recent.dirty(last, uncommitted):
        by = "" if left.past is last else f", changed by {left.past.session.client} before"
        more = f" and {len(left.paths) - MOST_DIRTY} more" if left.paths[MOST_DIRTY:] else ""
        yield CardFact(
            item=left.past.summary.id,
            why=DIRTY[left.is_certain] + by,
            text=f"{recent_sessions.dense(left.paths[:MOST_DIRTY])}{more}",
            most_chars=FILES_CHARS,
        )
    yield from (CardFact(item=last.summary.id, why=STEP, text=one) for one in recent.steps(last))
    if pull := recent.pull(last):
        yield CardFact(item=pull[0].summary.id, why=PULL, text=pull[1])
    yield from notes
    before = unhidden(recent.turns(last, turn), MOST_TURNS)
    since_ms = before[-1].created_ms if before else last.session.started_ms
    for made in unhidden(recent.decisions(since_ms), MOST_DECISIONS):
        # Of a long question that the person answered the answer stays.
        asked, mark, answer = answer_of(made).rpartition("? ")
        text = _joined(asked + mark.strip(), answer)
        yield CardFact(item=made.id, why=DECIDED, text=text, at_ms=made.created_ms)
    yield from (_turn(each, last, recent.all) for each in before)
    yield from _checks(recent.all, red)
    yield from _forms(reader, request)
    yield from islice(_committed(reader, request, last), MOST_OTHERS)


def _last(last: PastSession, turn: Item | None) -> CardFact:
    """Return the session to resume: where it was, how it ended, and its last turn.

    Where that says nothing, as one that only commits, it is the one before, under the session's
    own title.
    """
    session, newest = last.session, last.state.turn
    ends = _ENDS[session.status]
    if session.status == "idle" and newest and newest.is_replied:  # it waited for its person
        ends = "idle"
    where = f" on {named(session.branch)}" if clean(session.branch) else ""
    said = _joined(last.summary.title, last_reply(last.state))
    if turn and newest:
        is_newest = turn.id == item_id(newest.origin.seq)
        said = _exchange(turn, turn.title if is_newest else last.summary.title)
    return CardFact(
        item=turn.id if turn else last.summary.id,
        why=LAST,
        text=f"{session.client}{where}, {ends}: {said or rank.WITHHELD}",
        at_ms=session.last_ms,
    )


def _exchange(turn: Item, title: str) -> str:
    """Return what was asked in a turn, what was committed, and what the reply says of it.

    Where files were changed and the reply names nothing, these are named before it.
    """
    reply = turns.reply_of(turn)
    said = matter(reply) if turn.files_modified else opening(reply) or turn.subtitle
    if turn.files_modified and not said:
        said = f"changed {_names(turn.files_modified)}; {opening(reply)}".removesuffix("; ")
    broken = turns.INTERRUPTED if turn.subtitle.startswith(turns.INTERRUPTED) else ""
    return _joined(title, *turns.committed_in(turn), broken, said.removeprefix(broken))


def _joined(title: str, *said: str) -> str:
    """Return a title and what was said under it, but for what says the title again, or is cut."""
    shown = one_line(clean(title), ASKED_CHARS)
    for part in filter(None, map(clean, said)):
        if not part.startswith(title.rstrip("…")):
            more = line_of(part, TURN_CHARS - len(shown))
            shown = " → ".join(filter(None, (shown, more)))
    return shown


def _turn(turn: Item, last: PastSession, pasts: Sequence[PastSession]) -> CardFact:
    clients = {past.session.id: past.session.client for past in pasts}
    client = clients[turn.session_id or 0]
    by = f", {client}" if client != last.session.client else ""
    on = (
        f" on {named(turn.branch)}"
        if turn.branch != last.session.branch and clean(turn.branch)
        else ""
    )
    text = _exchange(turn, turn.title) or rank.WITHHELD
    return CardFact(item=turn.id, why=f"{TURN}{by}{on}", text=text, at_ms=turn.created_ms)


def _red(red: FailingCheck, last: PastSession) -> CardFact:
    """Return what fails, at the time of its last run, and what nobody has run it on since."""
    failure = red.failure
    why = RED if failure.client == last.session.client else f"{RED}, {failure.client}"
    unsaid = [each for each in failure.tests or failure.failing if each not in failure.error]
    error = quoted(failure.error) if failure.error else ""
    parts = [failure.said, listed([named(each) for each in unsaid], NAMES_SAID), error]
    if failure.is_unread:
        parts.append("run again since, and nothing shows how that ended")
    if failure.changed:
        parts.append(f"changed since and not run again: {_names(failure.changed)}")
    is_here = failure.branch == last.session.branch
    where = "" if is_here else f" on {named(failure.branch)}"
    text = f"{failure.head}{where}: {'; '.join(filter(None, parts))}".removesuffix(": ")
    return CardFact(
        item=red.item.id,
        why=why,
        text=text,
        at_ms=failure.last_ms,
        red=failure.head if is_here else "",
    )


def holds(item: Item) -> bool:
    """Return True for a note of this place that holds until somebody says otherwise."""
    return item.kind == "note" and item.type in NOTE_TYPES and rank.is_of_here(item)


def holding(reader: StoreReader, request: ContextRequest) -> list[Hit]:
    """Return the notes that hold here: rules first, then by worth, and last what is stale."""
    ids = reader.ids(request.filters("note", types=NOTE_TYPES), limit=NOTES)
    found = [hit for hit in ranked(reader, request, ids) if holds(hit.item)]
    found.sort(key=lambda hit: (is_stale(hit.item), hit.item.type != "rule"))
    return without_duplicates(found)


def worth_showing(reader: StoreReader, request: ContextRequest, *, limit: int) -> list[Hit]:
    """Return the newest items, and notes however old, by worth, but for what holds here."""
    sorts = (request.filters("observation", "note"), request.filters("note"))
    ids = [item for filters in sorts for item in reader.ids(filters, limit=limit)]
    found = ranked(reader, request, list(dict.fromkeys(ids)))
    return without_duplicates(hit for hit in found if not holds(hit.item))


def ranked(reader: StoreReader, request: ContextRequest, ids: Sequence[int]) -> list[Hit]:
    """Return items by what they are worth where nothing is asked, best first.

    What took the place of one of them is among them; commits that others made are not.
    """
    filters = request.filters("observation", "note")
    items = reader.items(ids)
    items += reader.items([each for each in rank.successors(items) if each not in frozenset(ids)])
    commits = [item for item in items if item.type == "commit"]
    others = {item.id for item in commits} - recent_sessions.made_here(reader, commits)
    gone = recent_sessions.discarded(reader, items) | others
    offered: dict[int, tuple[float, Item]] = {}
    signals: dict[int, HitSignals] = {}
    for item in filter(filters.admits, items):
        if item.id in gone:
            continue
        of_item = HitSignals(
            recency=rank.recency(item.created_ms, now_ms=request.now_ms),
            project_match=1.0 if item.project_id == request.project_id else 0.5,
        )
        worth = rank.composite(of_item, type_=item.type if rank.is_knowledge(item) else "")
        worth *= rank.staleness_factor(item.validity)
        worth *= rank.ASKING if item.category == QUESTION else 1
        offered[item.id], signals[item.id] = (worth, item), of_item
    lifted = dict(offered)  # what took the place of others is worth as much as those were
    for worth, item in offered.values():
        whole = worth / (rank.staleness_factor(item.validity) or 1)
        for target in set(rank.successors([item])) & offered.keys():
            lifted[target] = (max(whole, lifted[target][0]), lifted[target][1])
    worths = rank.capped(lifted)
    order = sorted(worths, key=lambda one: (-worths[one], -offered[one][1].created_ms, -one))
    return [
        Hit(item=offered[one][1], score=rank.clamped(worths[one]), signals=signals[one])
        for one in order
    ]


def _note(note: Item) -> CardFact:
    """Return a note that holds; what somebody else wrote is named by its title, a quotation."""
    why = "rejected before" if note.type == "rejected" else f"standing {note.type}"
    if away := next((each for each in note.validity if each.reason == "elsewhere"), None):
        on = f"on branch {named(away.branch)}, not here" if away.branch else "not in this history"
        why = f"{why}, {on}"
    if is_stale(note):
        reasons = dict.fromkeys(each.reason for each in note.validity if each.reason in rank.ENDS)
        why = f"{why}, {', '.join(reasons) or 'stale'}"
    if note.person not in OURS and note.approval != "approved":
        why = f"{why}, by {named(note.person)}"
        return CardFact(item=note.id, why=why, text=quoted(note.title), at_ms=note.created_ms)
    # Its text, behind its title where that is no part of it.
    title, said = note.title.removesuffix("…"), note.narrative or note.title
    if note.narrative and not said.startswith(title):
        said = f"{title}: {said}"
    return CardFact(item=note.id, why=why, text=said)


def _checks(pasts: Sequence[PastSession], red: Sequence[CardFact]) -> Iterator[CardFact]:
    """Yield how checks are run here, but for those of which a line says that they are red."""
    fail = {line.red for line in red}
    parts = (
        each.partition(BELOW) for each in recent_sessions.working_checks(pasts) if each not in fail
    )
    found = [f"`{command}`{f' in {folder[:-1]}' if folder else ''}" for command, _, folder in parts]
    if found:
        yield CardFact(item=0, why=CHECKS, text=" · ".join(found))


def _forms(reader: StoreReader, request: StartRequest) -> Iterator[CardFact]:
    """Yield which commands do not work here, and which do instead, one line a failing form."""
    for form, item in islice(
        recent_sessions.working_forms(reader, request.project_id).items(), MOST_FORMS
    ):
        text = f"`{form.works}`, not `{form.failed}` (failed {form.times} times)"
        yield CardFact(item=item.id, why=FORM, text=text)


def _files(
    reader: StoreReader,
    request: StartRequest,
    lines: Iterable[CardFact],
    exists: Exists | None,
    *,
    most: int,
) -> Iterator[CardFact]:
    """Yield the files that are likeliest next, so many at most, but for those that lines name.

    Those count as well: a name that a quoted reply holds takes no place of a likelier file.
    """
    known = recent_sessions.likely_files(reader, request.project_id)[: 4 * MOST_FILES]
    said = recent_sessions.named_in(
        "\n".join(line.text[: line.most_chars] for line in lines), known
    )
    there = exists(known) if exists else frozenset(known)
    likely = [path for path in known if path in there and clean(path)][:MOST_FILES]
    if shown := [path for path in likely if path not in said][:most]:
        yield CardFact(
            item=0, why=FILES, text=recent_sessions.dense(shown, known), most_chars=FILES_CHARS
        )


def _committed(reader: StoreReader, request: StartRequest, last: PastSession) -> Iterator[CardFact]:
    """Yield what was committed outside of sessions since the last one began, a line an author.

    A commit that was not made here is named by its hash, its subject a quotation: what it says are
    somebody else's words.
    """
    filters = Filters(
        project_id=request.project_id,
        kinds=("observation",),
        types=("commit",),
        since_ms=last.session.started_ms,
    )
    newest_ones = reader.recent(filters, limit=COMMITS)
    gone = recent_sessions.discarded(reader, newest_ones)
    news = [one for one in newest_ones if one.session_id is None and one.id not in gone]
    ours = recent_sessions.made_here(reader, news)
    of_authors: dict[tuple[str, bool], list[Item]] = defaultdict(list)
    for commit in news:
        author = commit.person or commit_author(commit)
        of_authors[author, commit.id in ours].append(commit)
    for (author, is_ours), commits in of_authors.items():
        newest, files = commits[0], [path for commit in commits for path in commit.files_modified]
        says = named if is_ours else quoted
        at = "" if is_ours else newest.facts[0].removeprefix("commit ")[:HASH_CHARS]
        title = f"{at} {quoted(newest.title)}" if at else newest.title
        who = f" by {author if is_ours else quoted(author)}" if author else ""
        more = f" and {len(commits) - 1} more" if commits[1:] else ""
        text = f"{title}{more}: {_names(dict.fromkeys(files), says)}"
        yield CardFact(
            item=newest.id,
            why=f"committed{who}",
            text=counted(len(commits), "commit") if author.endswith(_BOT) else text,
            at_ms=newest.created_ms,
        )


def _names(paths: Iterable[str], says: Callable[[str], str] = named) -> str:
    return listed([says(path) for path in paths], NAMES_SAID)
