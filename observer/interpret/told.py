"""An observation's words before it becomes an item, and the lengths its fields may have.

Part of interpretation (step 6). The tellers (`files`, `commands`, `happenings`) return `Told`;
`classify` turns it into an `Item`.
"""

from __future__ import annotations

from observer.events import Value

TITLE = 120
SUBTITLE = 200
NARRATIVE = 1200
FACT = 300
FACTS = 40
FAILED = "failed"
"""Category of a command or tool call that failed."""
PATHS = 200


class Told(Value):
    """What an observation says. `chars` is the length of the original text that it stands for.

    `signature` is that of the error that it tells of, `category` as in `Item`.
    """

    type: str
    title: str
    subtitle: str = ""
    narrative: str = ""
    facts: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    signature: str = ""
    category: str = ""
    chars: int = 0


class Where(Value):
    """Against what paths are shown: the project's folder and the event's working folder."""

    root: str = ""
    cwd: str = ""
