"""The parsers of tools' output, from tools' own summaries to what many print: the first counts."""

from __future__ import annotations

from observer.commands.parsers import checkers, compiled, javascript, more, python, runners
from observer.commands.parsers.parser import OutputParser

PARSERS: tuple[OutputParser, ...] = tuple(
    sorted(
        (
            *(*python.PARSERS, *checkers.PARSERS, *javascript.PARSERS),
            *(*more.PARSERS, *compiled.PARSERS, *runners.PARSERS),
        ),
        key=lambda reader: reader.is_raised,
    )
)
