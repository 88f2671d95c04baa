"""The door of tools: what a call's arguments may be, and how much of them an answer repeats.

Values that no store, file system or index takes alike (NUL, halves of surrogate pairs, numbers
beyond what JSON's readers agree on, endless nesting) end here, in one sentence that names the
argument. What a client sent is in the agent's context already: an answer does not send it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import Meta

from observer.core.errors import BadInput, ObserverError
from observer.core.json_text import dump
from observer.core.value import decode_json

LARGEST_INTEGER = 2**53 - 1
"""Source: RFC 8259, section 6: beyond it, readers of JSON do not agree on a number."""
MOST_CHARS = 1_000_000
"""Most characters of one text."""
DEEPEST = 32
"""Most lists and objects in each other."""
MOST_REPEATED = 200
"""Most consecutive characters of an argument in an answer."""
MOST_EXPLAINED = 1_000
"""Most characters of an error's message, and of its hint."""
_BLOCK = 50
_RUN = 3
"""More than `MOST_REPEATED` characters of an argument hold at least so many whole blocks in a row;
fewer are at most 198 characters of it: two blocks, and less than one at each side."""
_NAMED = 5

Json = Any  # of any shape


def bounded(hint: object) -> object:
    """Return an annotation in which every integer and number has a smallest and a largest value."""
    if hint is int or hint is float:
        return _with_bounds(hint, ())
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        inner, *meta = parts
        if inner is int or inner is float:
            return _with_bounds(inner, meta)
        return Annotated[bounded(inner), *meta]
    if origin is UnionType or origin is Union:
        return Union[tuple(bounded(part) for part in parts)]  # noqa: UP007 - of a computed tuple
    return list[bounded(parts[0])] if origin is list else hint  # type: ignore[misc]  # computed


def _with_bounds(kind: object, meta: Sequence[Any]) -> object:
    metas = [each for each in meta if isinstance(each, Meta)]
    low = any(each.ge is not None or each.gt is not None for each in metas)
    high = any(each.le is not None or each.lt is not None for each in metas)
    missing = Meta(
        ge=None if low else -LARGEST_INTEGER,
        le=None if high else LARGEST_INTEGER,
    )
    return Annotated[kind, *meta] if low and high else Annotated[kind, *meta, missing]


def check(arguments: Mapping[str, Json]) -> None:
    """Raise for a value that is never accepted, whatever the tool.

    Raises:
        BadInput: NUL, half of a surrogate pair, a number that is none or too large, a text that is
            too long or lists and objects too deep in each other; names the argument.
    """
    for name, value in arguments.items():
        fault = _fault(value, DEEPEST)
        if fault:
            raise BadInput(f"{shortened(name, 40)!r} {fault}", hint="send it without that")


def _fault(value: Json, depth: int) -> str:
    if isinstance(value, str):
        return _fault_of_text(value)
    if isinstance(value, int | float):
        is_fine = abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value)
        return "" if is_fine else "is a number out of range"
    if not isinstance(value, list | dict):
        return ""
    if not depth:
        return f"is nested more than {DEEPEST} levels deep"
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    return next(filter(None, (_fault(each, depth - 1) for each in inner)), "")


def _fault_of_text(text: str) -> str:
    if len(text) > MOST_CHARS:
        return f"is longer than {MOST_CHARS:,} characters"
    if "\0" in text:
        return "holds a NUL character"
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return "is not valid UTF-8: it holds half of a surrogate pair"
    return ""


def shortened(text: str, most: int) -> str:
    """Return text of at most `most` characters, a cut marked by an …."""
    return text if len(text) <= most else text[: most - 1] + "…"


def explained(error: ObserverError, arguments: Mapping[str, Json]) -> ObserverError:
    """Return the error with a message and a hint that repeat little of the arguments."""
    answer = Echoes(arguments)
    error.message = shortened(answer.taken_out(error.message), MOST_EXPLAINED)
    error.hint = shortened(answer.taken_out(error.hint), MOST_EXPLAINED)
    return error


def ignored(names: Iterable[str], known: Iterable[str]) -> str:
    """Return the word about parameters that a tool does not have; empty for none."""
    shown = [shortened(name, 40) for name in names]
    if not shown:
        return ""
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return f"ignored: {', '.join(shown[:_NAMED])}{more} (it takes {', '.join(known)})"


class Echoes:
    """What a call's arguments hold that an answer must not repeat at length."""

    def __init__(self, arguments: Mapping[str, Json]) -> None:
        self._long = [text for text in _texts(arguments) if len(text) > MOST_REPEATED]

    def taken_out(self, answer: str) -> str:
        """Return a text in which no more than `MOST_REPEATED` characters of an argument follow.

        Of each longer stretch its beginning is left, and an …; in a text as long as the argument
        this takes one look for each 50 characters.
        """
        if len(answer) > MOST_REPEATED:
            for argument in self._long:
                answer = _cut(answer, argument)
        return answer

    def taken_out_of_json(self, text: str) -> str:
        """Return JSON as text that repeats no argument at length; as it is without a long one."""
        if not self._long:
            return text
        return dump(self.taken_out_of(decode_json(text, list))).decode()

    def taken_out_of(self, value: Json) -> Json:
        """Return JSON in which no text or name repeats an argument at length."""
        if not self._long:
            return value
        if isinstance(value, str):
            return self.taken_out(value)
        if isinstance(value, list):
            return [self.taken_out_of(each) for each in value]
        if isinstance(value, dict):
            return {self.taken_out(name): self.taken_out_of(each) for name, each in value.items()}
        return value


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield name
            yield from _texts(each)


def _cut(answer: str, argument: str) -> str:
    blocks = [answer[at : at + _BLOCK] for at in range(0, len(answer), _BLOCK)]
    kept: list[str] = []
    for is_repeated, run in groupby(blocks, key=_Follower(argument).holds):
        found = list(run)
        kept += [found[0], "…"] if is_repeated and len(found) >= _RUN else found
    return "".join(kept)


class _Follower:
    """Says of the blocks of an answer, one after the other, whether an argument holds them.

    Where one goes on as the argument does the argument is not searched again: a megabyte that is
    repeated whole would be, 20,000 times.
    """

    def __init__(self, argument: str) -> None:
        self._argument, self._next = argument, 0

    def holds(self, block: str) -> bool:
        if not self._argument.startswith(block, self._next):
            self._next = max(self._argument.find(block), 0)
            if not self._argument.startswith(block, self._next):
                return False
        self._next += len(block)
        return True
