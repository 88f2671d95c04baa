"""The parsers of tools' output.

Part of interpretation (step 6). `PARSERS` goes from the tools' own summaries to what many programs
print: the first that finds a result is believed. A new tool is a row in the table of a module.
"""

from __future__ import annotations

from observer.commands.parsers import checkers, compiled, javascript, more, python, runners
from observer.commands.parsers.parser import OutputParser

_EVERY = (
    *python.PARSERS,
    *checkers.PARSERS,
    *javascript.PARSERS,
    *more.PARSERS,
    *compiled.PARSERS,
    *runners.PARSERS,
)
PARSERS: tuple[OutputParser, ...] = tuple(sorted(_EVERY, key=lambda reader: reader.is_raised))
