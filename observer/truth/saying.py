"""The statements of a project that are compared with each other: notes, proposals and prompts.

A decision is taken in a note, in an answer, or in passing in a prompt or reply; the newer word on
the same thing may come by any of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observer.filters import Filters
from observer.interpret.conversation import DECISION, FINDING
from observer.interpret.memory_use import QUESTION
from observer.interpret.prompts import words_of
from observer.interpret.proposals import is_decision, is_document, sentences
from observer.model import Item, ItemKind, item_id
from observer.store.interface import Reader
from observer.truth.statements import read
from observer.truth.succession import TYPES, Said, text_of

MOST_NOTES = 500
MOST_PROPOSALS = 500
MOST_PROMPTS = 1_000
"""Of each sort as many of a project are compared, the newest."""
SENTENCES = 3
"""A prompt of more sentences is about more than what one of them says."""
MOST_SENTENCES = 20
LEAST_CHARS, MOST_CHARS = 15, 300


def statements(reader: Reader, project_id: int) -> list[Said]:
    """Return what was stated in a project, each with the items that it is said of."""
    notes = _recent(reader, project_id, "note", TYPES, MOST_NOTES)
    proposals = _recent(reader, project_id, "observation", (DECISION,), MOST_PROPOSALS)
    prompts = _recent(reader, project_id, "observation", ("prompt",), MOST_PROMPTS)
    summaries = _titles(reader, prompts)
    said = [Said(item=note, text=text_of(note), items=(note.id,)) for note in notes]
    # Below an answer stands what was not chosen.
    said += (
        Said(item=each, text=text_of(each).partition("\n")[0], items=(each.id,))
        for each in proposals
    )
    for finding in _recent(reader, project_id, "observation", (FINDING,), MOST_PROPOSALS):
        decided = filter(is_decision, sentences(finding.narrative))
        said += (Said(item=finding, text=one, items=(finding.id,)) for one in decided)
    for prompt in prompts:
        opened = item_id(prompt.session_id or 0, "summary")
        beside = (opened,) if summaries.get(opened) == prompt.title else ()
        items = (prompt.id, *beside)
        said += (
            Said(
                item=prompt,
                text=one,
                items=items if is_short else (prompt.id,),
                is_part=not is_short,
            )
            for one, is_short in _stated(prompt)
        )
    return said


def _recent(
    reader: Reader, project_id: int, kind: ItemKind, types: tuple[str, ...], limit: int
) -> Sequence[Item]:
    wanted = Filters(project_id=project_id, kinds=(kind,), types=types)
    return reader.recent(wanted, limit=limit)


def _titles(reader: Reader, prompts: Sequence[Item]) -> dict[int, str]:
    """Return the titles of the summaries of the sessions that prompts are of."""
    ids = {item_id(prompt.session_id, "summary") for prompt in prompts if prompt.session_id}
    return {item.id: item.title for item in reader.items(sorted(ids))}


def _stated(prompt: Item) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a prompt that may state something.

    A long prompt is about more than one of them says: there only what decides or changes something
    counts, and nothing is said of the prompt for being out of date.
    """
    if prompt.category == QUESTION or is_document(prompt.narrative):
        return
    found = sentences(words_of(prompt.narrative))[:MOST_SENTENCES]
    is_short = len(found) <= SENTENCES
    for one in found:
        is_whole = LEAST_CHARS <= len(one) <= MOST_CHARS and not one.endswith(("?", ":"))
        if is_whole and (is_short or is_decision(one) or read(one).is_change):
            yield one, is_short
