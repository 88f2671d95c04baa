"""The text of an observation before it becomes an item, and the lengths that its fields may have.

`file_text`, `command_text` and `event_text` return an `ObservationDraft`; `analysis.item` turns it
into an `Item`. What a language model wrote about an item is cut to the same lengths. Lengths are in
characters.
"""

from __future__ import annotations

from observer.core.events import Enriched
from observer.core.model import Enrichment, Link
from observer.core.text import distinct, one_line
from observer.core.value import Value

TITLE = 120
SUBTITLE = 200
NARRATIVE = 1200
FACT = 300
FACTS = 40
FAILED = "failed"
"""Category of a command or tool call that failed."""
PATHS = 200


class ObservationDraft(Value):
    """The text of an observation; the fields are those of `Item`.

    `chars` is the length of the original text, `signature` that of the reported error.
    """

    type: str
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    signature: str = ""
    category: str = ""
    links: tuple[Link, ...] = ()
    chars: int = 0


class Where(Value):
    """What paths are shown relative to: the project's root and the event's working folder."""

    root: str = ""
    cwd: str = ""


MODEL = 100
FIELD = 600
CONCEPT = 40
CONCEPTS = 8


def enrichment(body: Enriched, at_ms: int) -> Enrichment:
    """Return what a language model wrote about an item, cut to the lengths that are stored."""
    concepts = (one_line(concept, CONCEPT) for concept in body.concepts)
    return Enrichment(
        model=one_line(body.model, MODEL),
        at_ms=at_ms,
        as_of_ms=body.as_of_ms,
        narrative=one_line(body.narrative, NARRATIVE),
        learned=one_line(body.learned, FIELD),
        next_steps=one_line(body.next_steps, FIELD),
        concepts=distinct(concepts, CONCEPTS),
    )
