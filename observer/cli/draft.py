"""`observer note draft`: drafts of notes from what is remembered, for a person to keep or drop.

With `--reword` the configured language model words them anew, line by line, each with its source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from observer.cli.options import named_project
from observer.cli.output import emit, json_option, note, say
from observer.cli.session import open_memory, project_here
from observer.core import config
from observer.core.errors import BadInput, NotFound, ObserverError, remedy
from observer.core.model import Item, Session
from observer.core.paths import home
from observer.core.text import counted
from observer.llm.endpoint import Endpoint, endpoint
from observer.memory.api import Memory
from observer.note_files.grammar import with_fields
from observer.notes import drafts
from observer.notes.drafts import Draft, DraftLine, lines_of, refusal, skills, with_words, words_of
from observer.policy import Policies

MOST = 5_000
"""Items of one draft that are looked through."""
HITS = 50
AT_ONCE_CHARS = 1_200
"""Lines of one request: an answer has to have room for as much."""


@click.command("draft", epilog="Example: observer note draft '#142' --to docs/runbooks")
@click.argument("words", nargs=-1, metavar="[SESSION|#ITEM|TOPIC...]")
@click.option("--testing", is_flag=True, help="How the project is tested.")
@click.option("--skills", "as_skills", is_flag=True, help="Commands that sessions run together.")
@named_project("Name, folder or remote; the one around the current folder.")
@click.option("--reword", is_flag=True, help="Have the configured language model word the lines.")
@click.option("--to", "target", type=click.Path(path_type=Path), help="A new file, or a folder.")
@json_option
def draft_command(  # noqa: PLR0913 - one of each option
    *,
    words: tuple[str, ...],
    testing: bool,
    as_skills: bool,
    reword: bool,
    project: str | None,
    target: Path | None,
    as_json: bool,
) -> None:
    """Draft a decision record, a runbook or a skill."""
    what = " ".join(words)
    if sum((bool(what), testing, as_skills)) != 1:
        raise BadInput(
            "name what to draft, or one of --testing and --skills",
            hint="observer note draft SESSION, '#142' for a fix, or a topic in words",
        )
    if as_skills and reword:
        raise BadInput(
            "a skill is made of commands, which nobody words anew", hint="leave --reword out"
        )
    with open_memory() as memory:
        here = None if project else project_here(memory)
        named = project or (here.uuid if here else None)
        if what:
            made = [_draft(memory, what, named)]
        else:
            if named is None:
                raise NotFound("this folder is in no project", hint="name one with --project")
            runs = memory.accounts.recent("command", project=named, limit=MOST)
            name = here.name if here else str(project)
            made = [drafts.testing(name, runs)] if testing else skills(runs)
        if reword:
            made = _all_reworded(memory, made)
    if not made:
        raise NotFound(
            "no commands were run together by three sessions yet", hint="ask again in some weeks"
        )
    paths = [_write(target, draft) for draft in made] if target else []
    if as_json:
        emit([{"path": draft.path, "text": draft.text} for draft in made])
    else:
        text = "\n".join(map(str, paths)) or "\n".join(draft.text for draft in made)
        say(text, is_exact=True)


def _draft(memory: Memory, what: str, project: str | None) -> Draft:
    if what.startswith("#"):
        found = memory.observations([memory.resolve(what)]).items
        if not found:
            raise NotFound(f"no item {what[:80]!r}", hint="search for it first")
        if found[0].type == "fix":
            return drafts.runbook(memory.accounts.fixes_of(found[0], limit=HITS))
        if found[0].session_id is None:
            raise BadInput(f"{what} is not a fix and has no session", hint="name a fix, or a topic")
        what = str(found[0].session_id)
    try:
        course = memory.accounts.of_session(what, limit=MOST)
    except NotFound:
        hits = memory.search(what, project=project, limit=HITS).above_floor().hits
        items: Sequence[Item] = memory.accounts.as_of_now([hit.item for hit in hits])
        title = what
        sessions: Sequence[Session] = ()
    else:
        summary = course.ran.summary
        items = [*course.items, *([summary] if summary else [])]
        title = summary.title if summary else f"Session {what}"
        sessions = (course.ran.session, *course.children)
    if not items:
        raise NotFound(f"nothing is remembered about {what[:80]!r}", hint="use other words")
    return drafts.decision_record(title, items, sessions)


def _write(target: Path, draft: Draft) -> Path:
    """Write a draft as a new file, never over one that is there, and return its path."""
    is_folder = target.is_dir() or "/" in draft.path
    path = target / draft.path if is_folder else target
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(draft.text)
    except FileExistsError as error:
        raise BadInput(f"{path} is there already", hint="name another place") from error
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror}", hint=remedy(error, "name another place")
        ) from error
    return path


def _all_reworded(memory: Memory, made: Sequence[Draft]) -> list[Draft]:
    """Return drafts with the lines that a language model could say better, and say how many.

    A line stands as it was where the model is not asked (personal notes, projects that are kept to
    themselves), does not answer, or says something else.

    Raises:
        ConfigInvalid: no language model is configured.
    """
    here = home()
    where = endpoint(config.load(here), here)
    return [_reworded(memory, where, draft) for draft in made]


def _reworded(memory: Memory, where: Endpoint, draft: Draft) -> Draft:
    lines = list(lines_of(draft))
    may_go = _may_be_sent(memory, lines)
    found: dict[int, str] = {}
    reasons: list[str] = []
    try:
        for batch in _batches([line for line in lines if line.item in may_go]):
            answers = asyncio.run(_ask(where, [line.said for line in batch]))
            for line, answer in zip(batch, map(words_of, answers), strict=False):
                if why := refusal(line.said, answer):
                    reasons.append(f"#{line.item}: {why}")
                elif answer != line.said:
                    found[line.number] = answer
    except ObserverError as error:
        reasons.append(str(error))
    note(f"{where.model} worded {len(found)} of {counted(len(lines), 'line')} anew")
    for reason in reasons:
        note(f"as it was: {reason}")
    if not found:
        return draft
    said = with_words(draft, found)
    return said._replace(text=with_fields(said.text, {"reworded_by": where.model}))


def _may_be_sent(memory: Memory, lines: Sequence[DraftLine]) -> frozenset[int]:
    apart = Policies().unshared(memory.projects())
    items = memory.observations(sorted({line.item for line in lines})).items
    shared = (item for item in items if item.scope != "personal" and item.project_id not in apart)
    return frozenset(item.id for item in shared)


def _batches(lines: Sequence[DraftLine]) -> Iterator[list[DraftLine]]:
    batch: list[DraftLine] = []
    for line in lines:
        if batch and sum(len(each.said) for each in [*batch, line]) > AT_ONCE_CHARS:
            yield batch
            batch = []
        batch.append(line)
    if batch:
        yield batch


async def _ask(where: Endpoint, said: Sequence[str]) -> Sequence[str]:
    from observer.llm.client import LlmClient  # noqa: PLC0415 - a fifth of a second, for this alone
    from observer.llm.prompt import of_lines  # noqa: PLC0415 - as above
    from observer.llm.reply import lines  # noqa: PLC0415 - as above

    async with LlmClient(where) as client:
        return lines((await client.ask(of_lines(said))).text, len(said))
