"""What a language model answered: from its text to a value of ours, or a reason why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from observer.core.errors import BadInput
from observer.core.events import Enriched
from observer.core.model import Item

T = TypeVar("T")

_HINT = "small models often cannot write JSON; choose a larger one"
_Text = Annotated[str, Meta(max_length=4_000)]
_Said = _Text | Annotated[list[_Text], Meta(max_length=50)] | None
"""A text; small models write a list where one was asked for, or null."""


class Answer(msgspec.Struct, frozen=True):
    """What was asked for; fields of other names are passed over."""

    narrative: _Said = ""
    learned: _Said = ""
    next_steps: _Said = ""
    concepts: _Said = ""


class Facts(msgspec.Struct, frozen=True):
    """What was found worth keeping."""

    facts: Annotated[list[_Text], Meta(max_length=50)]


_decode = msgspec.json.Decoder(Answer).decode
_decode_facts = msgspec.json.Decoder(Facts).decode


def enriched(item: Item, text: str, *, model: str) -> Enriched:
    """Return what an answer says about an item, as the event that keeps it.

    Raises:
        BadInput: it is not the JSON object that was asked for, is too long, or says nothing.
    """
    answer = _decoded(text, _decode)
    narrative = _joined(answer.narrative)
    if not narrative:
        raise BadInput("the answer says nothing", hint=_HINT)
    return Enriched(
        item=item.id,
        model=model,
        as_of_ms=item.updated_ms,
        narrative=narrative,
        learned=_joined(answer.learned),
        next_steps=_joined(answer.next_steps),
        concepts=tuple(_listed(answer.concepts)),
    )


def facts(text: str) -> tuple[str, ...]:
    """Return what an answer finds worth keeping, each fact once.

    Raises:
        BadInput: it is not the JSON object that was asked for, or is too long.
    """
    found = (" ".join(fact.split()) for fact in _decoded(text, _decode_facts).facts)
    return tuple(dict.fromkeys(filter(None, found)))


def _decoded(text: str, decode: Callable[[bytes], T]) -> T:
    try:
        return decode(_object_in(text).encode())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadInput(f"the answer is not what was asked for: {error}", hint=_HINT) from error


def _object_in(text: str) -> str:
    """Return the JSON object of an answer, without the thoughts and the fence around it."""
    said = text.rpartition("</think>")[2]
    start, end = said.find("{"), said.rfind("}")
    return said[start : end + 1] if 0 <= start < end else said


def _joined(said: _Said) -> str:
    return " ".join(said if isinstance(said, list) else [said or ""]).strip()


def _listed(said: _Said) -> list[str]:
    if isinstance(said, list):
        return said
    return [part.strip() for part in (said or "").split(",") if part.strip()]
