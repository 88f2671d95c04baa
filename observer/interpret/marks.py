"""The marks of a write: by which it is known when the same text goes back again.

Part of interpretation (step 6). A mark is two digests, of what left and of what came, without the
lines that both have around it: an edit and its undoing have each other's, whatever was quoted
with them. A whole file has the mark of its content.
"""

from __future__ import annotations

import hashlib
import re

from observer.events import FileWrite, Value
from observer.interpret.changes import differing

MARKS = 40
"""Most edits of one write that are marked; one with more is known by none."""
_PROBE = re.compile(
    r"\s*(?:(?:print|pprint|pp|p|puts|printf|var_dump|error_log|dbg!|e?println!|eprint!)(?:\s*\(| )"
    r"|console\.(?:log|debug|error|warn|dir)\(|log(?:ger|ging)?\.[a-z]+\(|fmt\.Print[a-z]*\("
    r"|System\.(?:out|err)\.print|breakpoint\(|debugger\b|i?pdb\.set_trace\("
    r"|import (?:pdb|ipdb|pprint|logging)\b)"
)


class Marks(Value):
    """What a write is known by: the marks of its edits in order, and whether it only probes.

    A probe adds what prints or stops and nothing else: it looks for a fault, it mends none.
    """

    edits: tuple[str, ...] = ()
    is_probe: bool = False


def of(write: FileWrite) -> Marks:
    """Return what a write is known by."""
    if not write.edits:
        whole = write.content
        return Marks() if whole is None else Marks(edits=(f"={_digest([whole])}",))
    cores = [differing(edit) for edit in write.edits[:MARKS]]
    marks = [f"{_digest(old)}:{_digest(new)}" for old, new in cores if old != new]
    came = [line for _, new in cores for line in new if line.strip()]
    return Marks(
        edits=tuple(marks) if len(write.edits) <= MARKS else (),
        is_probe=bool(came) and not any(old for old, _ in cores) and all(map(_PROBE.match, came)),
    )


def undoing(mark: str) -> str:
    """Return the mark of the edit that takes back the one of this mark."""
    old, _, new = mark.partition(":")
    return f"{new}:{old}"


def _digest(lines: list[str]) -> str:
    text = "\n".join(lines)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
