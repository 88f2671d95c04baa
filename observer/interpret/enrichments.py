"""What a language model wrote about an item, in the lengths that its fields may have.

Part of interpretation (step 6): whatever a model answered, one line a field, of bounded length.
"""

from __future__ import annotations

from observer.events import Enriched
from observer.interpret.told import NARRATIVE
from observer.interpret.wording import distinct, one_line
from observer.model import Enrichment

MODEL = 100
FIELD = 600
CONCEPT = 40
CONCEPTS = 8


def enrichment(body: Enriched, at_ms: int) -> Enrichment:
    """Return what was written, as it is kept with its item."""
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
