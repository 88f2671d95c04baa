"""What the name of a task says of it: what it judges, and that it repairs.

Part of interpretation (step 6); read by `check_tools` and `check_targets`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from observer.interpret.check_tables import NAMED, Kind


class Judge(NamedTuple):
    """What judges: `base` is the same for equal judgements, `rest` the words that are left.

    `is_task` holds where a project defines what is run, such as `make test`.
    """

    kind: Kind
    base: str
    rest: list[str]
    is_task: bool = False


_FIXING = re.compile(r"[:_-]?(?:auto)?(?:fix|write|apply|update)(?:able)?\Z", re.IGNORECASE)
_CHECKING = re.compile(r"[:_-]check\Z|\Acheck[:_-]", re.IGNORECASE)
NAME_PART = re.compile(r"[A-Za-z][a-z0-9]*")


def kind_named(name: str) -> Kind:
    """Return what a task of this name is likely to judge."""
    parts = {part.lower() for part in NAME_PART.findall(name)}
    parts.add(name.replace("-", "").lower())
    return next((kind for kind, known in NAMED if not known.isdisjoint(parts)), "")


def plain_name(name: str) -> str:
    """Return the name of a task without the word that has it repair what it can, or only look."""
    plain = _CHECKING.sub("", name)
    if plain != name and kind_named(plain) == "format":
        return plain
    return _FIXING.sub("", name) or name
