"""The last sessions of a project: what each was about and left unfinished, and what works here.

Failing checks and uncommitted files are the state of the project, whichever session left them. A
file is likely next by how many turns and commits, whoever made them, changed it, recent ones more;
that predicts more of the files that a session needs than the tail of `git log` does.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import msgspec

from observer.commands import command_line
from observer.commands.check import rewrites
from observer.commands.check_tools import checker_of
from observer.core.events import Commit
from observer.core.filters import Filters
from observer.core.model import ASKED, Item, Session, item_id, seq_of
from observer.core.text import named
from observer.core.value import decode_json
from observer.observations import (
    conversation,
    project_state,
    session_commits,
    session_state,
    summary,
    todos,
    turns,
)
from observer.observations.drafts import QUESTION
from observer.observations.failure_tracker import ALTERNATIVE
from observer.observations.open_failures import OpenFailure, files_of, worth_showing
from observer.observations.quoting import announces
from observer.observations.session_state import SessionState
from observer.search.query import quoted
from observer.search.rank import is_stale
from observer.store.items import Work
from observer.store.reader import StoreReader

SESSIONS = 40
"""Sessions that are looked at, the last active ones: the share of older ones is under 2 %."""
OLD_MS = 3 * 86_400_000
"""What another session left not committed so long before the last is nobody's next step."""
GIVEN_UP = 6
"""Sessions that committed and left out what another one had changed: nobody comes back to it. Of
what was committed later after all, nine tenths were so after fewer."""
MOST_ASKED = 100
"""Files that git is asked about: it answers as soon as for ten; for 200 it takes twice as long."""
TURNS = 40
"""Newest turns among which those to show are looked for."""

SUBSTANCE = 400
"""Characters of a reply that is news though nothing was changed: less says where a page or a pull
request is. On one corpus no turn that changed nothing and was worth a line had less."""

LATEST = 300
"""Turns and commits that are looked at."""
HALF_LIFE = 16
"""Turns after which what changed a file counts half."""
_COUNTS = {"turn": 1.0, "commit": 0.5, "summary": 0.5}
"""What a file counts that a turn changed, a commit has, or a session only read."""
LEAST = 0.1
"""Of the likeliest file's weight what another needs to be named: less is thin evidence. Of what
sessions of one corpus edited first, 20 names hold .52; with .15 .51, with .3 .42."""
DECAY = 0.9
"""What the runs of a check in a session count less than those in the next younger one."""
FORMS = 40
"""Newest fixes by another form of a command that are looked at."""
MOST_CHECKS = 4
CHECK_CHARS = 100
_AROUND = ".,:;()*`'\"…"
"""Signs around a path in Markdown."""
_COMMON = frozenset(
    [".observer.toml", "package-lock.json", "yarn.lock", "bun.lock", "pnpm-lock.yaml", "uv.lock"]
)
"""Files that tools write, or that only say what is recorded: nobody works on them."""

PEOPLE = frozenset({"bash", "zsh", "fish", "git"})
"""Clients in which nobody resumes a session."""
_UNNAMED = frozenset({"", "main", "master", "HEAD"})
"""Branches that no pull request is made from."""

Uncommitted = Callable[[Sequence[str]], "frozenset[str] | None"]
"""Says which of some paths differ from the last commit; None if unknown."""


class PastSession(NamedTuple):
    """A session that did something, its summary, and all that is known of it."""

    session: Session
    summary: Item
    state: SessionState


class FailingCheck(NamedTuple):
    """A check that is red, and the item to fetch about it."""

    failure: OpenFailure
    item: Item


class UncommittedFiles(NamedTuple):
    """Files that no commit took in, and the session that wrote the first of them last.

    Where git could not be asked it `is_certain` of none: no commit of them is known.
    """

    past: PastSession
    paths: list[str]
    is_certain: bool


class RecentSessions:
    """The last sessions of a project that did something, the last active first.

    Raises:
        StoreUnavailable: a session's state is of another version; a rebuild makes it anew.
    """

    def __init__(self, reader: StoreReader, project_id: int) -> None:
        self._reader = reader
        self._project_id = project_id
        sessions = reader.sessions(project_id=project_id, limit=SESSIONS)
        ids = [item_id(session.id, "summary") for session in sessions]
        summaries = {item.id: item for item in reader.items(ids)}
        self.all = [
            PastSession(session, summary, session_state.decode(session.state))
            for session, summary in zip(sessions, map(summaries.get, ids), strict=True)
            if summary
        ]

    def last(self, client: str) -> PastSession | None:
        """Return the session to resume: the last of a client, else of any that has an agent.

        One that was only a question or a greeting is it only where there is no other.
        """
        alone = [past for past in self.all if not past.session.parent]
        worked = [past for past in alone if not summary.did_nothing(past.state)]
        groups = (
            [past for past in among if chosen(past.session.client)]
            for among in (worked, alone)
            for chosen in (client.__eq__, lambda name: name not in PEOPLE)
        )
        return next(chain.from_iterable((*groups, alone)), None)

    def last_turn(self, last: PastSession) -> Item | None:
        """Return the last turn of a session that did more than commit; None if none did.

        One that changed nothing and is answered in a few words is it where no other is news.
        """
        turn = last.state.turn
        news = next((each for each in self._turns() if each.session_id == last.session.id), None)
        is_aside = turn and (turn.commits or (turn.reply and news))
        if turn and turns.says_something(turn) and (turn.files or not is_aside):
            return next(iter(self._reader.items([item_id(turn.origin.seq)])), None)
        return news

    def _turns(self) -> Iterator[Item]:
        """Yield the newest turns of all sessions but sub-agents', that are worth a line.

        One without a reply was broken off, and is there only where nothing else is; one that only
        goes on with what another was asked and did, has its title.
        """
        of = Filters(project_id=self._project_id, types=(turns.TURN,), kinds=("observation",))
        alone = {past.session.id for past in self.all if not past.session.parent}
        found = self._reader.recent(of, limit=TURNS)
        replies = {turn.id: turns.reply_of(turn) for turn in found}
        long = {turn.id for turn in found if len(replies[turn.id]) >= SUBSTANCE}
        committed = {turn.id for turn in found if turns.committed_in(turn)}
        answered = {number for number, reply in replies.items() if reply and not announces(reply)}
        ended = long | committed | answered
        done = {turn.title for turn in found if turn.files_modified and turn.id in ended}

        def is_news(turn: Item) -> bool:
            asked = turn.narrative.partition(ASKED)[2] or turn.title
            # A request that is a number goes on with another's.
            says = turn.id in long - committed and any(map(str.isalpha, asked))
            return bool(turn.files_modified) or (says and turn.title not in done)

        news = [
            turn
            for turn in found
            if turn.session_id in alone and turn.category != QUESTION and is_news(turn)
        ]
        yield from [turn for turn in news if turn.id in ended] or news

    def turns(self, last: PastSession, shown: Item | None) -> Iterator[Item]:
        """Yield the newest turn of each session, newest first, but for the one that is `shown`.

        One that has the title or the reply of one before is left out.
        """
        said = _sayings(shown) if shown else {last.summary.title}
        sessions: set[int | None] = set()
        for turn in self._turns():
            if turn.session_id not in sessions and not said & _sayings(turn):
                said |= _sayings(turn)
                yield turn
            sessions.add(turn.session_id)

    def decisions(self, since_ms: int) -> Iterator[Item]:
        """Return what the person answered in own words since a time, newest first."""
        of = Filters(
            project_id=self._project_id,
            types=("decision",),
            kinds=("observation",),
            since_ms=since_ms,
        )
        sessions = {past.session.id for past in self.all}
        return (
            made
            for made in self._reader.recent(of, limit=TURNS)
            if made.subtitle == conversation.ANSWERED
            and made.session_id in sessions
            and not is_stale(made)
        )

    def red(self, *, now_ms: int, about: str = "") -> Iterator[FailingCheck]:
        """Yield the checks that fail as far as anybody knows, the last run first.

        They, or what they printed, must name the file that they are `about`, if any.

        Raises:
            StoreUnavailable: the state of the project is damaged, or of another version.
        """
        known = project_state.decode(self._reader.project_state(self._project_id))
        summaries = {past.session.id: past.summary for past in self.all}
        for failure in worth_showing(known.failures, now_ms=now_ms, shown=known.branches):
            is_about = not about or about in failure.files or about in files_of(failure)
            summary = summaries.get(failure.sessions[-1] or 0)
            if is_about and (item := next(iter(self._reader.items([failure.item])), summary)):
                yield FailingCheck(failure, item)

    def dirty(
        self, last: PastSession, uncommitted: Uncommitted | None
    ) -> Iterator[UncommittedFiles]:
        """Yield the files that are not committed, those of the session to resume first.

        Those of other sessions follow, by client, each the last written first. git is asked about
        the newest `MOST_ASKED` that sessions wrote: what these saw of commits may be taken back.
        Where it does not answer, what is known is that no commit was seen; what a later session
        left out of its commits may then be given up, and is if `GIVEN_UP` of them did. What git
        said that it committed is none, be that in another clone.
        """
        oldest_ms = last.session.started_ms - OLD_MS
        began = [past.session.started_ms for past in self.all if past.state.commits]
        left_out = {  # by session, how many began later and committed
            past.session.id: sum(start_ms > past.session.last_ms for start_ms in began)
            for past in self.all
            if past is not last
        }
        written: dict[str, PastSession] = {}
        for past in self.all:
            if past.session.last_ms >= oldest_ms and left_out.get(past.session.id, 0) < GIVEN_UP:
                for path in session_commits.written_files(past.state):
                    written.setdefault(path, past)
        asked = tuple(written)[:MOST_ASKED]
        found = differ = uncommitted(asked) if uncommitted and asked else None
        if found is None:
            # Outside git nothing is ever committed, and every file would be listed for ever.
            left = {
                past.session.id: session_commits.left_open(past.state)
                for past in written.values()
                if past.session.branch and not left_out.get(past.session.id)
            }
            found = frozenset(
                path for path, past in written.items() if path in left.get(past.session.id, ())
            )
        groups: dict[tuple[bool, str], UncommittedFiles] = {}
        for path, past in written.items():
            if path in found and not past.state.files[path].is_printed:
                key = (past is not last, past.session.client)
                one = UncommittedFiles(past, [], differ is not None)
                groups.setdefault(key, one).paths.append(path)
        yield from (groups[key] for key in sorted(groups))

    def steps(self, last: PastSession) -> Iterator[str]:
        """Yield what the to-do lists and the plan of the session to resume still have to do.

        What a later session has on its own list as done is none of it.
        """
        later = self.all[: self.all.index(last)]
        points = (point for past in later for each in past.state.lists for point in each.points)
        done = {point.text for point in points if point.status == "done"}
        yield from (step for step in todos.steps_of(last.state) if step not in done)

    def pull(self, last: PastSession) -> tuple[PastSession, str] | None:
        """Return the pull request of the branch, and the session that named it; None if none is.

        One that a commit since then names as forges do when they merge it is none any more.
        """
        branch = last.session.branch
        known = (past for past in self.all if branch not in _UNNAMED and branch in past.state.pulls)
        found = next(((past, past.state.pulls[branch]) for past in known), None)
        if found is None:
            return None
        since_ms, number = found[0].session.started_ms, found[1].rpartition("/")[2]
        merged = re.compile(rf"(?: pull request |\()#{number}\b")
        since = Filters(project_id=self._project_id, types=("commit",), since_ms=since_ms)
        commits = self._reader.items(self._reader.match(quoted(number), since, limit=LATEST))
        return None if any(merged.search(commit.title) for commit in commits) else found


def _sayings(turn: Item) -> set[str]:
    return {turn.title, turns.answer_of(turn)} - {""}


class CommandForm(msgspec.Struct, frozen=True):
    """A form of a command that could not run here, the one that did, and how often it was met."""

    failed: str
    works: str
    times: int = 1


def likely_files(reader: StoreReader, project_id: int) -> list[str]:
    """Return the files of a project by how much its last turns and commits changed them.

    What a session read and did not change counts less. Paths are relative to the project's root;
    those outside of it are left out.
    """
    work = Filters(project_id=project_id, types=("turn", "commit", "summary"))
    weights: dict[str, float] = defaultdict(float)
    age = 0
    for item in reader.work(reader.ids(work, limit=LATEST)):
        weight = math.exp2(-age / HALF_LIFE) * _COUNTS[item.type]
        read = item.type == "summary"
        for path in {*item.files_read} - {*item.files_modified} if read else item.files_modified:
            weights[path] += weight
        age += item.type == "turn"
    names = [
        path
        for path in weights
        if not path.startswith(("/", "../", "~")) and path.rpartition("/")[2] not in _COMMON
    ]
    least = LEAST * max((weights[path] for path in names), default=0)
    # Equal weights keep their order from one session to the next.
    named = (path for path in names if weights[path] >= least)
    return sorted(named, key=lambda path: (-weights[path], path))


def named_in(text: str, files: Sequence[str]) -> set[str]:
    """Return the files that a text names, by as much of their paths as `dense` would show."""
    words = [word.strip(_AROUND).split("/") for word in text.split()]
    said = {"/".join(parts[-most:]) for parts in words for most in (1, 2)}
    return {path for path, name in _short_names(files).items() if name in said}


def working_checks(pasts: Sequence[PastSession]) -> list[str]:
    """Return the commands that test, check and build here: of each kind the one used most.

    One that does several of these at once is there only for a kind that no other does.
    """
    weights: dict[tuple[str, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for age, past in enumerate(pasts):
        for command, ran in past.state.commands.items():
            kinds = _kinds(command) if ran.ok and ran.is_check else ()
            if kinds:
                weights[kinds][command] += ran.runs * DECAY**age
    # Of two that were used alike, the shorter one checks more.
    best = {
        kinds: max(of.items(), key=lambda pair: (pair[1], -len(pair[0])))
        for kinds, of in weights.items()
    }
    chosen: list[str] = []
    covered: set[str] = set()
    for kinds in sorted(best, key=lambda kinds: (len(kinds), -best[kinds][1])):
        if not covered.issuperset(kinds):
            chosen.append(best[kinds][0])
            covered.update(kinds)
    return chosen[:MOST_CHECKS]


def working_forms(reader: StoreReader, project_id: int) -> dict[CommandForm, Item]:
    """Return which forms of commands work here, the most often met first, and who says so.

    Of each form that fails one is there.
    """
    filters = Filters(project_id=project_id, types=("fix",), categories=(ALTERNATIVE,))
    met = []
    for fix in reader.recent(filters, limit=FORMS):
        with suppress(msgspec.DecodeError):
            form = decode_json(fix.metadata or "{}", CommandForm)
            met += [(form, fix)] if form.times > 1 else []
    best: dict[str, tuple[CommandForm, Item]] = {}
    for form, fix in sorted(met, key=lambda each: (each[0].times, each[1].id), reverse=True):
        best.setdefault(form.failed, (form, fix))
    return dict(best.values())


def dense(paths: Sequence[str], among: Iterable[str] = ()) -> str:
    """Return files folder by folder, in the order in which they come first.

    ``src/api: a.ts b.ts · README.md · web: c.tsx``. A name that several of them have, or of the
    files that they are `among`, keeps its folder's name, so that each is known by its last two
    parts.
    """
    names = _short_names({*paths, *among})
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder = path.removesuffix(names[path]).rstrip("/")
        folders.setdefault(folder and named(folder), []).append(named(names[path]))
    return " · ".join(
        f"{folder}: {' '.join(names)}" if folder else " ".join(names)
        for folder, names in folders.items()
    )


def _short_names(paths: Collection[str]) -> dict[str, str]:
    """Return files with the last part of their paths, or the last two where several share it."""
    shared = Counter(path.rpartition("/")[2] for path in paths)
    return {
        path: "/".join(path.split("/")[-2 if shared[path.rpartition("/")[2]] > 1 else -1 :])
        for path in paths
    }


@lru_cache(maxsize=4096)
def _kinds(command: str) -> tuple[str, ...]:
    """Return what a command line judges, nothing if it does anything else as well."""
    if len(command) > CHECK_CHARS:
        return ()
    parts = [part for part in command_line.simple_commands(command) if part.words[0] != "cd"]
    judges = [None if rewrites(part) else checker_of(part.words) for part in parts]
    kinds = sorted({judge.kind for judge in judges if judge})
    return tuple(kinds) if all(judges) else ()


_AWAY = frozenset({"elsewhere", "reverted"})
_BACK = frozenset({"replaces", "reverts"})
_HOOKS = "git/"
_OWN = frozenset({"commit", "amend"})
"""Of a merge, pick or revert the subject is made of what somebody else wrote."""


def discarded(reader: StoreReader, items: Iterable[Item]) -> frozenset[int]:
    """Return the commits among items that were reset, reverted, amended, squashed or rebased away.

    A commit of another branch is none of this one's history either.
    """
    commits = [item for item in items if item.type == "commit"]
    away = {item.id for item in commits if any(one.reason in _AWAY for one in item.validity)}
    return taken_back(reader, commits) | away


def taken_back(reader: StoreReader, items: Iterable[Item | Work]) -> frozenset[int]:
    """Return the commits and edits among items that were taken back or replaced since.

    Of an edit that is what a command took back, git's or `rm`: all that no commit had of its file.
    What an edit took back may be one of several that the item stands for.
    """
    made = {item.id: item for item in items if item.type in ("commit", "file-write")}
    links = [each for each in reader.linked_to([*made]) if each[1].kind in _BACK] if made else []
    by = {item.id: item for item in reader.items([source for source, _ in links])}
    undone = {link.target for _, link in reader.linked_to([*by]) if link.kind == "reverts"}
    return frozenset(
        link.target
        for source, link in links
        if source in by and source not in undone
        if made[link.target].type == "commit" or by[source].type == "command"
    )


def made_here(reader: StoreReader, commits: Sequence[Item]) -> frozenset[int]:
    """Return the ids of the commits that were made on this machine.

    Those are the ones that sessions or git's hooks reported as they were made. The name of an
    author proves nothing: anybody may write any name into a commit that is pulled.
    """
    seqs = {seq_of(commit.id): commit.id for commit in commits}
    return frozenset(
        seqs[one.seq]
        for one in reader.logged(seqs)
        if (one.event.session or one.event.route.startswith(_HOOKS))
        and isinstance(one.event.body, Commit)
        and one.event.body.action in _OWN
    )
