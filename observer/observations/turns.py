"""A turn: what was asked, what was done about it, and the final reply, in the words of each.

A prompt begins a turn, and the next prompt ends it. Its item stands under the prompt's id from the
first event on, so that a session that dies in the middle still has it. No sentence is made or
chosen: the prompt and the reply are quoted, whole or cut after a paragraph, and what tools did is
counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import field
from msgspec.structs import replace

from observer.core.events import Prompt, Reply, ToolUse
from observer.core.model import ASKED, Item, Recorded
from observer.core.text import block, counted, distinct, first_line, listed, one_line, relative
from observer.core.value import TokenUsage, Value, newest
from observer.observations import concepts, prompts
from observer.observations.drafts import (
    FACT,
    PATHS,
    QUESTION,
    SUBTITLE,
    TITLE,
    ItemOrigin,
    ObservationDraft,
    item,
    origin_of,
    where_of,
)
from observer.observations.note_syntax import mentions
from observer.observations.quoting import opening, quoted

TURN = "turn"
ASKED_CHARS = 4000
REPLY_CHARS = 800
"""A reply is quoted up to the paragraph that reaches so far. Of 38 answers that final replies held,
37 stand within 800 characters, 30 within 400 and 23 within 220."""
_SUBSTANCE = 400
"""Characters of a reply that is worth finding, whatever was asked."""
_REPLY = 400
_OF_ONE_KIND = 12
_SYMBOLS = 6
_TOOLS = 6


class Turn(Value):
    """What is known of a turn so far; sequences are oldest first, and bounded.

    `title` is what it is about, by the prompt or what that goes on with; "" if nothing says so yet.
    `files` are the symbols changed in each file, `checks` how each ended last, `tools` the number
    of calls of each other tool, `read` and `wrote` the tokens of the model, caches included.
    `has_asked` this memory, `has_worked` with any other tool.
    """

    origin: ItemOrigin
    title: str = ""
    heading: str = ""
    asked: str = ""
    reply: str = ""
    given: tuple[str, ...] = ()
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    commits: tuple[str, ...] = ()
    checks: dict[str, str] = field(default_factory=dict)
    mended: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    tools: dict[str, int] = field(default_factory=dict)
    chars: int = 0
    has_asked: bool = False
    has_worked: bool = False
    read: int = 0
    wrote: int = 0


def begun(before: Turn | None, recorded: Recorded, body: Prompt) -> Turn:
    """Return the turn that a prompt begins; `before` is the one that it ends."""
    where, words = where_of(recorded), prompts.words_of(body.text)
    is_named = prompts.names_its_subject(words)
    files = distinct((relative(path, where.root, where.cwd) for path in body.files), PATHS)
    goes_on = before.title or before.heading if before else ""
    return Turn(
        origin=origin_of(recorded),
        title=prompts.title_of(words) if is_named else "",
        heading="" if is_named else goes_on,
        asked=block(words, ASKED_CHARS),
        given=files,
        chars=len(body.text),
    )


def with_reply(turn: Turn, body: Reply) -> Turn:
    """Return a turn with what was said last in it."""
    used = body.usage or TokenUsage()
    return replace(
        turn,
        reply=quoted(body.text, REPLY_CHARS),
        chars=turn.chars + len(body.text),
        read=turn.read + used.input + used.cache_read + used.cache_write,
        wrote=turn.wrote + used.output,
    )


def with_write(turn: Turn, path: str, symbols: Iterable[str]) -> Turn:
    """Return a turn after a file was changed."""
    files = dict(turn.files)
    known = files.pop(path, ())
    files[path] = distinct((*known, *symbols), _SYMBOLS)
    return replace(turn, files=newest(files, PATHS))


def with_commit(turn: Turn, subject: str) -> Turn:
    """Return a turn after a commit."""
    commits = (*turn.commits, one_line(subject, FACT))[-_OF_ONE_KIND:]
    return replace(turn, commits=commits)


def with_check(turn: Turn, name: str, outcome: str) -> Turn:
    """Return a turn after a check ended."""
    checks = {key: said for key, said in turn.checks.items() if key != name}
    checks[one_line(name, FACT)] = one_line(outcome, FACT)
    return replace(turn, checks=newest(checks, _OF_ONE_KIND))


def with_fixes(turn: Turn, items: Iterable[Item]) -> Turn:
    """Return a turn with the fixes among items that its events completed."""
    said = [made.title for made in items if made.type == "fix"]
    if not said:
        return turn
    return replace(turn, mended=distinct((*turn.mended, *said), _OF_ONE_KIND))


def with_answer(turn: Turn, said: str) -> Turn:
    """Return a turn in which the person answered a question."""
    answers = (*turn.answers, one_line(said, FACT))[-_OF_ONE_KIND:]
    return replace(turn, answers=answers)


def with_report(turn: Turn, agent: str, result: str) -> Turn:
    """Return a turn with the first paragraph of a sub-agent's report."""
    said = one_line(f"{agent or 'a sub-agent'}: {opening(result)}", 2 * FACT)
    if said in turn.reports:
        return turn
    return replace(turn, reports=(*turn.reports, said)[-_OF_ONE_KIND:])


def with_tool(turn: Turn, body: ToolUse) -> Turn:
    """Return a turn after a call of another tool."""
    tool = body.tool.removeprefix("mcp__").partition("__")[0]
    tools = {**turn.tools, tool: turn.tools.get(tool, 0) + 1}
    return replace(turn, tools=newest(tools, _OF_ONE_KIND))


def with_call(turn: Turn, *, is_recall: bool) -> Turn:
    """Return a turn after a call of a tool, be it to ask this memory."""
    if turn.has_asked if is_recall else turn.has_worked:
        return turn
    return replace(turn, has_asked=True) if is_recall else replace(turn, has_worked=True)


def only_asks(turn: Turn) -> bool:
    """Return True if nothing was done in a turn but to ask this memory."""
    return turn.has_asked and not turn.has_worked


def with_plan(turn: Turn, heading: str) -> Turn:
    """Return a turn in which a plan was presented."""
    return replace(turn, heading=heading or turn.heading)


def title_of(turn: Turn) -> str:
    """Return what a turn is about: as asked, committed, planned or answered, in that order."""
    answered = first_line(opening(turn.reply), TITLE)
    committed = turn.commits[-1] if turn.commits else ""
    said = turn.title or committed or turn.heading or answered or first_line(turn.asked, TITLE)
    return one_line(said, TITLE)


def item_of(turn: Turn, recorded: Recorded) -> Item:
    """Return the item of a turn; `recorded` is the newest event in it."""
    title = title_of(turn)
    is_more = turn.asked.strip() not in {"", title}
    draft = ObservationDraft(
        type=TURN,
        title=title,
        subtitle=one_line(counts_of(turn), SUBTITLE),
        narrative=f"{turn.reply}{ASKED}{turn.asked}".strip() if is_more else turn.reply,
        facts=tuple(_facts(turn)),
        concepts=concepts.together(
            concepts.of_text(title, 6), concepts.of_files([*turn.files][:4])
        ),
        files_read=turn.given,
        files_modified=tuple(turn.files),
        category=QUESTION if only_asks(turn) else "",
        links=mentions(turn.asked),
        chars=turn.chars,
    )
    made = item(draft, recorded, origin=turn.origin)
    kind = "observation" if says_something(turn) else "record"
    return replace(made, kind=kind, subtitle=draft.subtitle, author="person")


def says_something(turn: Turn) -> bool:
    """Return True if a turn is worth finding: what it asks, changes or answers is nowhere else.

    Of "commit and push" the commit is found; of "q" or a short answer to what names nothing, the
    turn before or after.
    """
    return bool(turn.title or turn.files or turn.answers or len(turn.reply) >= _SUBSTANCE)


def reply_of(turn: Turn) -> str:
    """Return how the reply of a turn that is worth finding begins; "" for any other."""
    return one_line(opening(turn.reply), _REPLY) if says_something(turn) else ""


def answer_of(made: Item) -> str:
    """Return the first paragraph of the reply that a turn's item quotes."""
    return opening(f"\n\n{made.narrative}".partition(ASKED)[0])


def counts_of(turn: Turn) -> str:
    """Return how many files were changed, commits made and checks run."""
    said = ", ".join(
        counted(len(found), noun)
        for found, noun in ((turn.files, "file"), (turn.commits, "commit"), (turn.checks, "check"))
        if found
    )
    return f"changed {said}" if turn.files else said


def _facts(turn: Turn) -> Iterable[str]:
    yield from (f"Committed: {one}" for one in turn.commits)
    for path, symbols in turn.files.items():
        yield f"{path} ({listed(symbols, _SYMBOLS)})" if symbols else path
    yield from (f"{name}: {said}" for name, said in turn.checks.items())
    yield from turn.mended
    yield from (f"Answered: {one}" for one in turn.answers)
    yield from turn.reports
    if turn.tools:
        calls = [f"{name} {number}" for name, number in turn.tools.items()]
        yield f"Calls: {listed(calls, _TOOLS)}"
    if turn.read or turn.wrote:
        yield f"Tokens: in {turn.read:,} out {turn.wrote:,}"
