"""The kinds of secrets that are planted, read from `tuning.kinds` and `held.kinds`.

Source: the issuers' documentation, and what tools, languages and programs print and read. A file
of kinds is plain text:

    == FAMILY | GROUP                   group: issuer, decided, or nothing
    .. TEXT                             one of the places of the family's kinds without a text
    -- NAME | as LABEL | is TEMPLATE | at PATH | after START | by ROUTE, ROUTE
    TEXT                                of several lines; `~~ ROUTE` begins the next event

`as` is the name of the value in snake case (drawn if absent), `is` its template (drawn from six
alphabets if absent), `at` the file that it stands in, `after` what stands before it in a URL.
Guillemets in texts are explained in `rendering`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

Half: TypeAlias = Literal["tuning", "held"]
Group: TypeAlias = Literal["plain", "issuer", "decided"]
HALVES: tuple[Half, ...] = get_args(Half)

_FIELD = re.compile(r"\A(as|is|at|after|by) (.*)\Z")


class Kind(NamedTuple):
    """A kind of secret: how its values are drawn, what it is called, and where it stands."""

    name: str
    family: str
    half: Half
    group: Group
    template: str
    label: str
    texts: tuple[str, ...]
    path: str
    start: str
    routes: tuple[str, ...]


def read(half: Half, text: str) -> Iterator[Kind]:
    """Yield the kinds of a file's text."""
    for family in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, *kinds = re.split(r"^-- ", family, flags=re.MULTILINE)
        title, *places = head.rstrip("\n").split("\n")
        name, _, group = title.partition(" | ")
        shared = tuple(place[3:] for place in places if place.startswith(".. "))
        for each in kinds:
            yield _kind(each, half, (name, group or "plain"), shared)


def _kind(text: str, half: Half, family: tuple[str, str], places: tuple[str, ...]) -> Kind:
    head, _, body = text.partition("\n")
    name, *rest = head.split(" | ")
    fields = {found[1]: found[2] for each in rest if (found := _FIELD.match(each))}
    group: Group = "issuer" if family[1] == "issuer" else "plain"
    return Kind(
        name=name,
        family=family[0],
        half=half,
        group="decided" if family[1] == "decided" else group,
        template=fields.get("is", ""),
        label=fields.get("as", ""),
        texts=(body.strip("\n"),) if body.strip() else places,
        path=fields.get("at", ""),
        start=fields.get("after", ""),
        routes=tuple(fields["by"].split(", ")) if "by" in fields else (),
    )


KINDS: tuple[Kind, ...] = tuple(
    kind
    for half in HALVES
    for kind in read(half, Path(__file__).with_name(f"{half}.kinds").read_text(encoding="utf-8"))
)
"""Every kind of both halves."""
