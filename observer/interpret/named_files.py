"""Which files of the project an output names: where a check says that something is wrong.

Part of interpretation (step 6).
"""

from __future__ import annotations

import re

from observer.interpret.outcome import plain
from observer.interpret.wording import distinct, relative
from observer.languages import language_of

FILES = 30
"""Most files that are kept of one output."""
_PATH = re.compile(
    r"(?<![\w@:/.-])(?:[A-Za-z]:)?[\w@~.+()\[\]/\\-]{2,300}?\.[A-Za-z]\w{0,9}(?![\w/\\.-]|\.\w)"
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo|go/pkg|usr/lib)/"
)
_LEADING = "([.-@"


def named_in(output: str, *, root: str, cwd: str) -> tuple[str, ...]:
    """Return the files that an output names, relative to the project, in its order.

    Only names with the extension of a known language count, and none of installed packages.
    """
    found = (match.group().lstrip("([-") for match in _PATH.finditer(plain(output)))
    return distinct(
        (
            relative(name, root, cwd)
            for name in found
            if language_of(name) and not _FOREIGN.search(name)
        ),
        FILES,
    )
