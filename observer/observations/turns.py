"""A turn: what was asked, what was done about it, and the final reply, in the words of each.

A prompt begins a turn, and the next prompt ends it. Its item stands under the prompt's id from the
first event on, so that a session that dies in the middle still has it. No sentence is made or
chosen: the prompt and the reply are quoted, whole or cut after a paragraph, and what tools did is
counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Sequence
from typing import Literal

from msgspec import field
from msgspec.structs import replace

from observer.core.events import Prompt, Reply
from observer.core.model import ASKED, Item, Recorded
from observer.core.text import block, counted, distinct, first_line, listed, one_line, relative
from observer.core.value import Value, newest
from observer.observations import drafts, quoting
from observer.observations.drafts import (
    ItemOrigin,
    ObservationDraft,
    concepts_of,
    item,
    origin_of,
    where_of,
)
from observer.observations.note_reducer import mentions
from observer.observations.quoting import line_of, matter, names, opening, quoted

TURN = "turn"
INTERRUPTED = "interrupted"
"""How the subtitle of a turn begins that its person broke off."""
MEMORY, GIT, OTHER = "memory", "git", "other"
"""Sorts of calls of tools in a turn."""
ASKED_CHARS, REPLY_CHARS = 4000, 800
"""A prompt and a reply are quoted up to the paragraph that reaches so far; the log has the whole.
Of 38 answers that final replies held, 37 stand within 800 characters, 30 within 400."""
_SUBSTANCE = 400
"""Characters of a reply that is worth finding, whatever was asked, and of prompt and reply together
where git alone was called, or work was committed without a request: less repeats the commit."""
_ANSWER = 40
"""Characters of a reply that says something though it names nothing, where nothing was done."""
_COMMITTED = "Committed: "
_REPLY = 400
_OF_ONE_KIND = 12
_FEW_WORDS = 2 * quoting.NAMING_WORDS
"""A request of fewer words is no title where it has none of what was made."""
_SYMBOLS = 6
IN_COMMON = 2
"""Stems of a request that what was done must repeat, for the request to name it."""
AROUND = "@`'\"(),;:."
_STEM = 5
_WORD = re.compile(r"[^\W\d_]{4,}")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Turn(Value):
    """What is known of a turn so far; sequences are oldest first, and bounded.

    `title` is what it is about by its prompt, `heading` by what that goes on with; "" if nothing
    says so. `form` is that of the prompt, `plan` the heading of a plan that was shown, `pull` the
    title that a pull request was given. `files` are the symbols changed in each file, `checks` how
    each ended last, `calls` the sorts of calls: of `MEMORY`, of `GIT`, of others. `is_over` once
    its session ended or was asked more, `is_replied` while nothing was changed since its last
    reply, `is_interrupted` if the client says that the person broke it off.
    """

    origin: ItemOrigin
    title: str = ""
    form: quoting.Form = ""
    heading: str = ""
    plan: str = ""
    pull: str = ""
    asked: str = ""
    reply: str = ""
    given: tuple[str, ...] = ()
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    commits: tuple[str, ...] = ()
    checks: dict[str, str] = field(default_factory=dict)
    mended: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    chars: int = 0
    is_over: bool = False
    is_replied: bool = False
    is_interrupted: bool = False


def begun(before: Turn | None, recorded: Recorded, body: Prompt) -> Turn:
    """Return the turn that a prompt begins; `before` is the one that it ends."""
    where, words = where_of(recorded), quoting.words_of(body.text)
    is_named = quoting.names_its_subject(words)
    files = distinct((relative(path, where.root, where.cwd) for path in body.files), drafts.PATHS)
    goes_on = before.title or before.plan or before.heading if before else ""
    form = quoting.form_of(words)
    asked = quoting.without_runs(words) if form == "paste" else words
    return Turn(
        origin=origin_of(recorded),
        title=quoting.title_of(words) if is_named else "",
        form=form,
        heading="" if is_named else goes_on,
        asked=block(quoted(asked, ASKED_CHARS), 2 * ASKED_CHARS),
        given=files,
        chars=len(body.text),
    )


def with_reply(turn: Turn, body: Reply) -> Turn:
    """Return a turn with what was said last in it.

    What is said after a reply without more work, as on a notice that a task ended, is not that
    where it is shorter.
    """
    chars = turn.chars + len(body.text)
    reply = block(quoted(body.text, REPLY_CHARS), 2 * REPLY_CHARS)
    is_aside = turn.is_replied and len(reply) < len(turn.reply)
    return replace(turn, reply=turn.reply if is_aside else reply, chars=chars, is_replied=True)


def with_write(turn: Turn, path: str, symbols: Iterable[str]) -> Turn:
    """Return a turn after a file was changed."""
    files = dict(turn.files)
    known = files.pop(path, ())
    files[path] = distinct((*known, *symbols), _SYMBOLS)
    return replace(turn, files=newest(files, drafts.PATHS), is_replied=False)


def with_said(
    turn: Turn, kind: Literal["commits", "mended", "answers", "reports", "calls"], *said: str
) -> Turn:
    """Return a turn with more of a kind, each once; what was there before keeps its place."""
    known = getattr(turn, kind)
    fresh = [one for one in distinct(said, _OF_ONE_KIND) if one not in known]
    return replace(turn, **{kind: (*known, *fresh)[-_OF_ONE_KIND:]}) if fresh else turn


def without(turn: Turn, *, files: Container[str] = (), commits: Container[str] = ()) -> Turn:
    """Return a turn without the changes of files and the commits, by subject, taken back since."""
    kept = {path: symbols for path, symbols in turn.files.items() if path not in files}
    left = tuple(one for one in turn.commits if one not in commits)
    return replace(turn, files=kept, commits=left)


def with_check(turn: Turn, name: str, outcome: str) -> Turn:
    """Return a turn after a check ended."""
    checks = {key: said for key, said in turn.checks.items() if key != name}
    checks[one_line(name, drafts.FACT)] = one_line(outcome, drafts.FACT)
    return replace(turn, checks=newest(checks, _OF_ONE_KIND))


def only_asks(turn: Turn) -> bool:
    """Return True if nothing was done in a turn but to ask this memory."""
    return turn.calls == (MEMORY,)


def title_of(turn: Turn) -> str:
    """Return what a turn is about: as asked, made or answered, in that order.

    What was made is a commit, a plan or a pull request. It says more than a paste, or a few words
    that point elsewhere; a reply that names nothing says less than a sub-agent's first report.
    """
    answer = opening(turn.reply)
    made = turn.commits[-1] if turn.commits else turn.plan or turn.pull
    is_few = len(turn.title.split()) < _FEW_WORDS and quoting.names_its_subject(made)
    said = turn.title
    if turn.form == "paste":
        said = made or quoting.naming_sentence(answer) or said
    elif made and is_few and not names_work(turn, [*turn.files], (made,)):
        said = made
    reported = turn.reports[0].partition(": ")[2] if turn.reports and not names(answer) else ""
    said = said or made or turn.heading or quoting.title_of(reported or answer)
    return one_line(said or first_line(turn.asked, drafts.TITLE), drafts.TITLE)


def item_of(turn: Turn, recorded: Recorded) -> Item:
    """Return the item of a turn; `recorded` is the newest event in it."""
    title = title_of(turn)
    is_more = turn.asked.strip() not in {"", title}
    counts = _counts(len(turn.files), len(turn.commits), len(turn.checks))
    draft = ObservationDraft(
        type=TURN,
        title=title,
        subtitle=", ".join(filter(None, (INTERRUPTED if turn.is_interrupted else "", counts))),
        narrative=f"{turn.reply}{ASKED}{turn.asked}".strip() if is_more else turn.reply,
        facts=(
            *(f"{_COMMITTED}{one}" for one in turn.commits),
            *(
                f"{path} ({listed(of, _SYMBOLS)})" if of else path
                for path, of in turn.files.items()
            ),
            *(f"{name}: {said}" for name, said in turn.checks.items()),
            *turn.mended,
            *(f"Answered: {one}" for one in turn.answers),
            *turn.reports,
        ),
        concepts=concepts_of([*turn.files][:4]),
        files_read=turn.given,
        files_modified=tuple(turn.files),
        category=drafts.QUESTION if only_asks(turn) else "",
        links=mentions(turn.asked),
        chars=turn.chars,
    )
    made = item(draft, recorded, origin=turn.origin)
    kind = "observation" if says_something(turn) else "record"
    return replace(made, kind=kind, subtitle=draft.subtitle, author="person")


def names_work(turn: Turn, files: Sequence[str], said: Iterable[str] = ()) -> bool:
    """Return True if what was asked names what was done in these files, or what is said.

    One that names a file, a symbol or a number does, and the heading of a document; else two of its
    longer words, or a fourth of them, must be there again.
    """
    asked = " ".join(word for word in turn.title.split() if drafts.is_work(word.strip(AROUND)))
    if turn.form == "document" or names(asked):
        return True
    symbols = (symbol for path in files for symbol in turn.files[path])
    own = stems(asked)
    common = len(own & stems(*files, *symbols, *said))
    return common >= IN_COMMON or 0 < len(own) <= 4 * common


def stems(*texts: str) -> set[str]:
    """Return the beginnings of the longer words of texts, of names in code their parts."""
    words = (word for text in texts for word in _WORD.findall(_HUMP.sub(" ", text)))
    return {word[:_STEM].casefold() for word in words}


def says_something(turn: Turn) -> bool:
    """Return True if a turn is worth finding: what it asks, changes or answers is nowhere else.

    Of "commit and push" the commit is found; of "q" or a short answer to what names nothing, the
    turn before or after. Of what was broken off before anything came of it, the summary stays.
    """
    if turn.is_over and not (turn.reply or turn.files or turn.commits):
        return False
    work = [path for path in turn.files if drafts.is_work(path)]
    if turn.files and not work and not names_work(turn, (), turn.commits):
        return False
    if turn.calls == (GIT,) or (turn.commits and not (turn.title and work)):
        return len(turn.asked) + len(turn.reply) >= _SUBSTANCE
    if work and turn.is_over and not turn.reply and not turn.commits:
        return names_work(turn, work)
    if work or (turn.title and not turn.reply):
        return True
    is_answer = turn.title and (names(turn.reply) or len(turn.reply) >= _ANSWER)
    return bool(is_answer or len(turn.reply) >= _SUBSTANCE)


def opening_of(turn: Turn) -> str:
    """Return how the reply of a turn that is worth finding begins; "" for any other.

    Where files were changed, what stands before the matter says that all went well.
    """
    if not says_something(turn):
        return ""
    said = line_of(matter(turn.reply), _REPLY) if turn.files else ""
    return said or line_of(opening(turn.reply), _REPLY)


def reply_of(made: Item) -> str:
    """Return the reply that a turn's item quotes."""
    return f"\n\n{made.narrative}".partition(ASKED)[0].strip()


def answer_of(made: Item) -> str:
    """Return how the reply that a turn's item quotes begins."""
    return one_line(opening(reply_of(made)), _REPLY)


def committed_in(made: Item) -> list[str]:
    """Return the subjects of the commits that a turn's item lists."""
    return [one.removeprefix(_COMMITTED) for one in made.facts if one.startswith(_COMMITTED)]


def _counts(files: int, commits: int, checks: int) -> str:
    """Return how many files were changed, commits made and checks run."""
    named = ((files, "file"), (commits, "commit"), (checks, "check"))
    said = ", ".join(counted(count, noun) for count, noun in named if count)
    return f"changed {said}" if files else said


def item_without(made: Item, *, files: Collection[str], commits: Collection[str]) -> Item:
    """Return the item of a turn, over or not, as `without` leaves the turn."""
    gone = {path for path in made.files_modified if path in files}
    facts = tuple(
        fact
        for fact in made.facts
        if fact.removeprefix(_COMMITTED) not in commits or not fact.startswith(_COMMITTED)
        if fact.partition(" (")[0] not in gone
    )
    if facts == made.facts and not gone:
        return made
    kept = tuple(path for path in made.files_modified if path not in gone)
    checks = re.search(r"(\d+) checks?\Z", made.subtitle)
    made_here = sum(fact.startswith(_COMMITTED) for fact in facts)
    said = _counts(len(kept), made_here, int(checks[1]) if checks else 0)
    return replace(made, files_modified=kept, facts=facts, subtitle=said)
