"""The training pairs: commit subjects, and observations of the same commits taken into parts.

An observation is one text; training wants to leave parts of it out, so that no part becomes the
only one that counts.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import msgspec

PARTS = ("title", "size", "context", "notes", "strings", "introduced", "dropped", "facts", "places")
"""Parts of an observation: its title, how much changed, the definitions around the change, prose of
comments and documents, string literals, new and gone identifiers, changed definitions, folders and
files."""

_HEAD = re.compile(
    r"(.*?\.) (\d+ file\(s\) changed, \d+ lines added, \d+ removed\.)\s?(.*)$", re.DOTALL
)
_FACT = re.compile(
    r"(?:^|\s)(?=(?:Added|Changed|Removed) (?:def|class|func|function|const|let|var|type|struct|"
    r"interface|enum|trait|impl|fn|mod|module|macro|method|fun|public|private|protected|static|"
    r"export|async|pub|template|namespace|abstract|final)\b)"
)
_NEXT_FACT = re.compile(r"\s(?=(?:Added|Changed|Removed) \w+ )")
_NEXT_PART = re.compile(r" (?=(?:Notes: |Strings: |Introduces |Drops ))")
_OPENINGS = {
    "Notes: ": "notes",
    "Strings: ": "strings",
    "Introduces ": "introduced",
    "Drops ": "dropped",
}
_MOST_NAMES = 8


class Pair(msgspec.Struct, frozen=True):
    """A commit: its subject, the parts of its observation, the names that it defines."""

    subject: str
    repository: str
    parts: dict[str, str]
    names: tuple[str, ...]


class _Line(msgspec.Struct):
    q: str
    d: str
    r: str


def read(file: Path) -> list[Pair]:
    """Return the pairs of a compressed JSONL file with `q`, `d` and `r` on every line."""
    decoder = msgspec.json.Decoder(_Line)
    with gzip.open(file) as lines:
        return [_pair(decoder.decode(line)) for line in lines]


def text(pair: Pair) -> str:
    """Return the observation as one text again."""
    return " ".join(pair.parts.values())


def _pair(line: _Line) -> Pair:
    head = _HEAD.match(line.d)
    if head is None:
        return Pair(line.q, line.r, {"title": line.d}, ())
    narrative, facts, places = _apart(head[3])
    parts = {"title": head[1], "size": head[2]}
    for part in _NEXT_PART.split(f" {narrative}"):
        opening = next((o for o in _OPENINGS if part.startswith(o)), "")
        if shown := part.removeprefix(opening).strip():
            parts[_OPENINGS.get(opening, "context")] = shown
    parts |= {"facts": " ".join(facts), "places": places}
    names = tuple(fact.split(" ")[2] for fact in facts[:_MOST_NAMES])
    return Pair(line.q, line.r, {name: shown for name, shown in parts.items() if shown}, names)


def _apart(rest: str) -> tuple[str, list[str], str]:
    """Take apart narrative, facts of three words each, and the folders and files behind them."""
    if first := _FACT.search(rest):
        *facts, last = _NEXT_FACT.split(rest[first.start() :].strip())
        words = last.split(" ")
        return rest[: first.start()], [*facts, " ".join(words[:3])], " ".join(words[3:])
    narrative, _, places = rest.rpartition(".  ")
    return narrative, [], places
