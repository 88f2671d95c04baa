"""An outcome reader for `lintel`, a made-up linter; see "Add an outcome reader" in CONTRIBUTING.md.

lintel prints one line per finding, and a summary:

    src/cart.py:7: E12 unused name total
    src/cart.py:9: E31 line too long
    lintel: 2 findings in 14 files
"""

from __future__ import annotations

from observer.commands.parsers.parser import Format, OutputParser
from observer.commands.result import line_pattern

_LINTEL = Format(
    "lintel",
    bad=line_pattern(r"(?P<place>\S+:\d+): (?P<words>E\d+ [^\n]+)$"),
    end=line_pattern(r"lintel: (?P<errors>\d+) findings in \d+ files$"),
)

PARSERS = (OutputParser(_LINTEL.read, ("lintel",), ("\nlintel: ",)),)
