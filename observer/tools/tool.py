"""Tools: typed functions over the memory, with the metadata that clients need.

A tool only ever gets values of the types and ranges that it states, which every store takes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import orjson
from msgspec import Meta

from observer.core.errors import BadInput, Incomplete, ObserverError
from observer.core.json_text import dump, strings
from observer.core.text import is_utf8
from observer.core.value import decode_json
from observer.tools.fence import mapped

if TYPE_CHECKING:
    from observer.memory.api import Memory

Method = TypeVar("Method", bound=Callable[..., Any])

_DASHES = str.maketrans("", "", "_-")
_PLAIN_LISTS = (list[int], list[str], list[int | str])

Json = Any  # of any shape
Row = dict[str, Any]
"""A result, or a row of one: JSON with the fields that clients know, made in one place."""


@dataclass(frozen=True, slots=True)
class PersonQuestion:
    """A question to the person, not to the agent; `yes` does it, and returns the answer then.

    `key` is another one for each question; `label` stands beside what is ticked.
    """

    key: str
    text: str
    label: str
    yes: Callable[[], ToolResult]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's answer: text for a model to read, and the same as JSON.

    `is_error` marks a refusal whose result says what to do instead; `is_json` marks a text that
    clients parse. `notice` says what the answer does not know. `question` is for the person, where
    their client can ask them. `image` is shown beside the text: its media type, and its bytes in
    base64. `beside` makes what a tool's view shows and no model reads, by name.
    """

    text: str
    result: Row
    is_error: bool = False
    is_json: bool = False
    notice: str = ""
    question: PersonQuestion | None = None
    image: tuple[str, str] | None = None
    beside: Callable[[], Row] | None = None


def as_json(result: Row, *, notice: str = "") -> ToolResult:
    """Return an answer whose text is its result as JSON."""
    return ToolResult(msgspec.json.encode(result).decode(), result, is_json=True, notice=notice)


@dataclass(frozen=True, slots=True)
class JsonRpcError:
    """The error object of JSON-RPC; `data` is any JSON."""

    code: int
    message: str
    data: Row


def row(**fields: Any) -> Row:  # noqa: ANN401 - any JSON
    """Return a row, without the fields that are `UNSET`."""
    return {name: value for name, value in fields.items() if value is not msgspec.UNSET}


@dataclass(frozen=True)
class Tool:
    """One tool.

    Args:
        run: keyword arguments in, `ToolResult` out; its docstring is the description, its
            annotations are the schemas.
        title: for people.
        is_read_only: the tool changes nothing.
        is_destructive: the tool may delete something.
        is_always_loaded: clients that load tools on demand should load this one at once.
        aliases: other names under which clients know a parameter.
        refusal: turns the tool's errors into protocol errors; without it they are answered as text.
        is_fenced: its text stands in a fence below the label, and its JSON has the label in a field
            more; not where clients know both from elsewhere: there the label is one line above.
        view: name of the view that shows its results, where a client shows views.
        returns: the fields of its result with their JSON types, ``name:type`` each; "" if only its
            text is documented.
    """

    run: Callable[..., ToolResult]
    title: str
    is_read_only: bool = True
    is_destructive: bool = False
    is_always_loaded: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    refusal: Callable[[ObserverError], JsonRpcError] | None = None
    is_fenced: bool = True
    view: str = ""
    returns: str = ""

    @property
    def name(self) -> str:
        """Return the name under which clients call it."""
        return self.run.__name__

    @cached_property
    def description(self) -> str:
        """Return the docstring, which says when to use the tool."""
        return inspect.getdoc(self.run) or ""

    @cached_property
    def parameters(self) -> type[msgspec.Struct]:
        """Return the struct that arguments are converted to."""
        hints = get_type_hints(self.run, include_extras=True)
        signature = inspect.signature(self.run)
        fields = [
            (name, bounded(hints[name]), *([] if one.default is one.empty else [one.default]))
            for name, one in signature.parameters.items()
        ]
        return msgspec.defstruct(self.name, fields, frozen=True, kw_only=True)

    @cached_property
    def _types(self) -> dict[str, object]:
        hints = get_type_hints(self.run)
        return {
            name: next(part for part in get_args(hints[name]) if part is not NoneType)
            if isinstance(hints[name], UnionType)
            else hints[name]
            for name in inspect.signature(self.run).parameters
        }

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """Return the parameters by every name that means one of them, without case and dashes."""
        names = {name: name for name in self._types} | dict(self.aliases)
        return {name.translate(_DASHES).lower(): meant for name, meant in names.items()}

    @cached_property
    def input_schema(self) -> Json:
        """Return the JSON Schema of the arguments, without defaults that are empty."""
        shape = self.parameters
        _, parts = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
        schema = parts.pop(shape.__name__)
        schema |= {"$defs": parts} if parts else {}
        del schema["title"]
        for parameter in schema["properties"].values():
            if not parameter.get("default", True):
                del parameter["default"]
        return schema

    @property
    def output_schema(self) -> Row:
        """Return the JSON Schema of the result: the JSON type of each field, but not of rows."""
        pairs = (one.split(":") for one in self.returns.split())
        fields = {name: {"type": kind} for name, kind in pairs}
        return {"type": "object", **({"properties": fields} if fields else {})}

    def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Check the arguments and run the tool.

        Models write null for what they leave out, a list or object as JSON text, a list as text
        with commas or as its only element, an id as a number, a name in any spelling: all are
        accepted. A parameter that there is none of is ignored with a word: clients add their own.

        Raises:
            Incomplete: a required argument is missing.
            BadInput: an argument is of the wrong type or out of range.
            ObserverError: as the tool's function raises.
        """
        spellings = self._spellings
        named = {
            name
            if name in self._types
            else spellings.get(name.translate(_DASHES).lower(), name): value
            for name, value in arguments.items()
        }
        given = {
            name: _coerced(value, self._types[name])
            for name, value in named.items()
            if value is not None and name in self._types
        }
        about = ignored((name for name in named if name not in self._types), self._types)
        try:
            check(given)
            checked = msgspec.convert(given, self.parameters, strict=False)
        except msgspec.ValidationError as error:
            fields = msgspec.structs.fields(self.parameters)
            required = {each.name for each in fields if each.required}
            refusal = BadInput if required <= given.keys() else Incomplete
            raise refusal(
                f"{self.name} refused its arguments: {error}",
                hint=about or f"it takes {', '.join(self._types)}",
            ) from error
        answer = self.run(**msgspec.structs.asdict(checked))
        if not about:
            return answer
        return replace(answer, notice="; ".join(filter(None, (answer.notice, about))))


def offered(title: str, **facts: Any) -> Callable[[Method], Method]:  # noqa: ANN401 - of a `Tool`
    """Return what makes a method of a `Tools` class a tool: its title, and more of `Tool`."""

    def mark(method: Method) -> Method:
        vars(method)["tool"] = {"title": title, **facts}
        return method

    return mark


class Tools:
    """Base of classes whose methods are tools, marked by `offered`.

    Args:
        memory: what they read and write.
        here: returns the folder that the asking client works in, empty if it is not known.
    """

    def __init__(self, memory: Memory, here: Callable[[], str]) -> None:
        self._memory = memory
        self._here = here

    @classmethod
    def of(cls, memory: Memory, here: Callable[[], str]) -> tuple[Tool, ...]:
        """Return the tools of a memory, in the order of their definition, a base's behind."""
        made = cls(memory, here)
        return tuple(
            Tool(run=getattr(made, name), **vars(method)["tool"])
            for owner in cls.__mro__
            for name, method in vars(owner).items()
            if "tool" in getattr(method, "__dict__", ())
        )

    def _view(self) -> Memory:
        return self._memory.at(self._here())


def _coerced(value: object, wanted: object) -> object:
    if wanted is str and type(value) is int:
        return str(value)
    if wanted in _PLAIN_LISTS and type(value) is int:
        return [value]
    if wanted in _PLAIN_LISTS and isinstance(value, str) and not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    if (get_origin(wanted) or wanted) in {list, dict} and isinstance(value, str):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


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
"""More than `MOST_REPEATED` characters of an argument hold so many whole blocks in a row."""
_NAMED = 5


def bounded(hint: object) -> object:
    """Return an annotation in which every integer and number has a smallest and a largest value."""
    origin, parts = get_origin(hint), get_args(hint)
    inner, *meta = parts if origin is Annotated else (hint,)
    if inner is int or inner is float:
        known = [each for each in meta if isinstance(each, Meta)]
        low = any(each.ge is not None or each.gt is not None for each in known)
        high = any(each.le is not None or each.lt is not None for each in known)
        missing = Meta(ge=None if low else -LARGEST_INTEGER, le=None if high else LARGEST_INTEGER)
        return Annotated[inner, *meta, *([] if low and high else [missing])]
    if origin is Annotated:
        return Annotated[bounded(inner), *meta]
    if origin is UnionType or origin is Union:
        return Union[tuple(bounded(part) for part in parts)]  # noqa: UP007 - of a computed tuple
    return list[bounded(parts[0])] if origin is list else hint  # type: ignore[misc]  # computed


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


def _fault(value: Json, depth: int) -> str:  # noqa: PLR0911 - a line for each fault
    if isinstance(value, str):
        if len(value) > MOST_CHARS:
            return f"is longer than {MOST_CHARS:,} characters"
        if "\0" in value:
            return "holds a NUL character"
        return "" if is_utf8(value) else "is not valid UTF-8: it holds half of a surrogate pair"
    if isinstance(value, int | float):
        is_fine = abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value)
        return "" if is_fine else "is a number out of range"
    if not isinstance(value, list | dict):
        return ""
    if not depth:
        return f"is nested more than {DEEPEST} levels deep"
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    return next(filter(None, (_fault(each, depth - 1) for each in inner)), "")


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
        given = strings(arguments, names=True)
        self._long = [text for _, text in given if len(text) > MOST_REPEATED]

    def taken_out(self, answer: str) -> str:
        """Return a text with the beginning and an … of each stretch of an argument that is longer.

        It takes one look for each 50 characters.
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
        return mapped(value, self.taken_out) if self._long else value


def _cut(answer: str, argument: str) -> str:
    goes_on = 0

    def holds(block: str) -> bool:
        # Where a block goes on as the argument does the argument is not searched again: a megabyte
        # that is repeated whole would be, 20,000 times.
        nonlocal goes_on
        if not argument.startswith(block, goes_on):
            goes_on = max(argument.find(block), 0)
            if not argument.startswith(block, goes_on):
                return False
        goes_on += len(block)
        return True

    blocks = [answer[at : at + _BLOCK] for at in range(0, len(answer), _BLOCK)]
    kept: list[str] = []
    for is_repeated, run in groupby(blocks, key=holds):
        found = list(run)
        kept += [found[0], "…"] if is_repeated and len(found) >= _RUN else found
    return "".join(kept)
