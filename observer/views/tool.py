"""Tools: typed functions over the memory, with the metadata that clients need.

Knows JSON and its schemas but no protocol; `api.mcp` serves the tools. Promises that a tool's
function only ever gets values of the types and ranges that its signature states.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
import orjson

from observer.core.errors import BadInput, Incomplete, ObserverError
from observer.views.arguments import bounded, check, ignored

Result = TypeVar("Result", bound=msgspec.Struct)

_PLAIN_LISTS = (list[int], list[str], list[int | str])

Schema = dict[str, Any]  # JSON Schema is a document, not a value of ours


@dataclass(frozen=True, slots=True)
class PersonQuestion:
    """A question to the person, not to the agent; `yes` does it, and returns the answer then.

    `key` is another one for each question; `label` stands beside what is ticked.
    """

    key: str
    text: str
    label: str
    yes: Callable[[], ToolResult[Any]]


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[Result]):
    """A tool's answer: text for a model to read, and the same as a typed result.

    `is_error` marks a refusal whose result says what to do instead; `is_json` marks a text that
    clients parse. `notice` says what the answer does not know. `question` is for the person, where
    their client can ask them. `image` is shown beside the text: its media type, and its bytes in
    base64.
    """

    text: str
    result: Result
    is_error: bool = False
    is_json: bool = False
    notice: str = ""
    question: PersonQuestion | None = None
    image: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class JsonRpcError:
    """The error object of JSON-RPC; `data` is any JSON."""

    code: int
    message: str
    data: dict[str, Any]  # the toolset's own JSON


@dataclass_transform(kw_only_default=True, frozen_default=True)
class ResultRow(msgspec.Struct, frozen=True, kw_only=True):
    """Base of results: null where a field's type says so; `UNSET` fields are left out."""


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
    """

    run: Callable[..., ToolResult[Any]]  # each tool has its own result
    title: str
    is_read_only: bool = True
    is_destructive: bool = False
    is_always_loaded: bool = False
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    refusal: Callable[[ObserverError], JsonRpcError] | None = None
    is_fenced: bool = True

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
            (name, bounded(hints[name]))
            if parameter.default is parameter.empty
            else (name, bounded(hints[name]), parameter.default)
            for name, parameter in signature.parameters.items()
        ]
        return msgspec.defstruct(self.name, fields, frozen=True, kw_only=True)

    @cached_property
    def _types(self) -> dict[str, object]:
        hints = get_type_hints(self.run, include_extras=True)
        return {name: _bare(hints[name]) for name in inspect.signature(self.run).parameters}

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """Return the parameters by every name that means one of them, as `_spelled` writes it."""
        names = {name: name for name in self._types} | dict(self.aliases)
        return {_spelled(name): meant for name, meant in names.items()}

    @cached_property
    def input_schema(self) -> Schema:
        """Return the JSON Schema of the arguments, without defaults that are empty."""
        schema = _schema(self.parameters)
        del schema["title"]
        for parameter in schema["properties"].values():
            if not parameter.get("default", True):
                del parameter["default"]
        return schema

    @cached_property
    def output_schema(self) -> Schema:
        """Return the JSON Schema of the result: its fields and the JSON type of each.

        The fields of rows are not described: clients that show a model this schema pay for it with
        every request, and a row explains itself.
        """
        (result,) = get_args(get_type_hints(self.run)["return"])
        fields: Schema = {}
        for each in get_args(result) or (result,):
            fields |= _schema(each)["properties"]
        return {"type": "object", "properties": {name: _outer(fields[name]) for name in fields}}

    def call(self, arguments: Mapping[str, Any]) -> ToolResult[Any]:
        """Check the arguments and run the tool.

        Models write null for what they leave out, a list or object as JSON text, a list as text
        separated by commas or as its only element, and an id as a number where text is expected;
        all of these are accepted.

        A parameter is known in any case, with or without hyphens and underscores. One that the tool
        does not have is ignored, and the answer or the refusal says so: clients add their own.

        Raises:
            Incomplete: a required argument is missing.
            BadInput: an argument is of the wrong type or out of range.
            ObserverError: as the tool's function raises.
        """
        named = {self._meant(name): value for name, value in arguments.items()}
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
            required = {
                each.name for each in msgspec.structs.fields(self.parameters) if each.required
            }
            refusal = BadInput if required <= given.keys() else Incomplete
            raise refusal(
                f"{self.name} refused its arguments: {error}",
                hint=about or f"it takes {', '.join(self._types)}",
            ) from error
        answer = self.run(**msgspec.structs.asdict(checked))
        if not about:
            return answer
        return replace(answer, notice="; ".join(filter(None, (answer.notice, about))))

    def _meant(self, name: str) -> str:
        return name if name in self._types else self._spellings.get(_spelled(name), name)


def _spelled(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _bare(annotation: object) -> object:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if isinstance(annotation, UnionType):
        annotation = next(part for part in get_args(annotation) if part is not NoneType)
    return annotation


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


def _outer(field: Schema) -> Schema:
    """Return the JSON type of a field as a schema; empty if it varies."""
    kind = "object" if "$ref" in field else field.get("type")
    return {"type": kind} if kind else {}


def _schema(type_: type) -> Schema:
    (root,), parts = msgspec.json.schema_components([type_], ref_template="#/$defs/{name}")
    name = root["$ref"].rpartition("/")[2]
    schema: Schema = parts.pop(name)
    return {**schema, "$defs": parts} if parts else schema
