"""Results of `Memory` that are not those of search or notes, of a doctor, and all that it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import orjson

from observer.core.errors import ConfigInvalid
from observer.core.model import Item, Project, Recorded
from observer.core.value import Value
from observer.store.log import LogEnd


class Fetched(Value):
    """Items in the order asked for, and the ids that do not exist."""

    items: tuple[Item, ...]
    missing: tuple[int, ...] = ()


class Extracted(Value):
    """What a language model found worth keeping, and which one it was."""

    facts: tuple[str, ...]
    model: str


Extract = Callable[[Sequence[str]], Extracted]
"""Asks a language model what of a conversation is worth keeping; takes a text for each message."""


def no_model(_said: Sequence[str]) -> Extracted:
    """Refuse to extract anything, where no model can be asked. Raises: ConfigInvalid (always)."""
    raise ConfigInvalid(
        "no language model is configured", hint="leave infer out, or set llm_url and llm_model"
    )


class Diagnosis(msgspec.Struct, frozen=True):
    """The result of one check; `fix` names the remedy, with its argument; "" if a person has to."""

    name: str
    is_well: bool
    found: str
    hint: str = ""
    fix: str = ""


Exported = Project | Recorded | LogEnd | Item
_RECORDS: dict[type, str] = {
    Project: "project",
    Recorded: "event",
    LogEnd: "log-end",
    Item: "item",
}


def exported_line(value: Exported) -> bytes:
    """Return a record of an export as one line of JSON, without a line's end."""
    return orjson.dumps({"record": _RECORDS[type(value)], **msgspec.to_builtins(value)})
