"""Drafts worded anew by the configured language model, line by line, each with its source."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from observer.cli.output import note
from observer.core import config
from observer.core.errors import ObserverError
from observer.core.paths import home
from observer.core.text import counted
from observer.llm.endpoint import Endpoint, endpoint
from observer.memory.api import Memory
from observer.note_files.frontmatter import with_fields
from observer.notes.drafts import Draft
from observer.notes.rewording import DraftLine, lines_of, refusal, with_words, words_of
from observer.policy import Policies

AT_ONCE_CHARS = 1_200
"""Lines of one request: an answer has to have room for as much."""


def reworded(memory: Memory, drafts: Sequence[Draft]) -> list[Draft]:
    """Return drafts with the lines that a language model could say better, and say how many.

    A line stands as it was where the model is not asked (personal notes, projects that are kept to
    themselves), does not answer, or says something else.

    Raises:
        ConfigInvalid: no language model is configured.
    """
    here = home()
    where = endpoint(config.load(here), here)
    return [_reworded(memory, where, draft) for draft in drafts]


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
