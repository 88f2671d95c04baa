"""An outcome reader for `lintel`, a made-up linter; see "Add an outcome reader" in CONTRIBUTING.md.

lintel prints one line per finding, and a summary:

    src/cart.py:7: E12 unused name total
    src/cart.py:9: E31 line too long
    lintel: 2 findings in 14 files
"""

from __future__ import annotations

from observer.outcomes.parsers.parser import OutputParser
from observer.outcomes.result import CommandResult, Diagnostic, line_pattern, problem_result

_FINDING = line_pattern(r"(\S+:\d+): (E\d+ [^\n]+)$")
_SUMMARY = line_pattern(r"lintel: (\d+) findings in \d+ files$")


def lintel(text: str) -> CommandResult | None:
    """Read lintel's findings; None unless its summary is there."""
    summary = _SUMMARY.search(text)
    if summary is None:
        return None
    found = _FINDING.search(text)
    first = Diagnostic(words=found[2], place=found[1]) if found else Diagnostic()
    return problem_result("lintel", int(summary[1]), first=first)


READERS = (OutputParser(lintel, ("lintel",), ("\nlintel: ",)),)
