"""Subjects of commits as queries: which of them say something, and what of them is said. Pure."""

from __future__ import annotations

import re

_MOST = 300
"""Characters of a subject that are looked at."""

_PREFIX = re.compile(r"(?:\[[^\]]{1,40}\]|[a-zA-Z]{2,12}(?:\([^)]{1,60}\))?!?:)\s+")
"""`feat(cart):` or `[cart]`: how a commit is filed, not what it does."""
_SUFFIX = re.compile(r"\s*\((?:#|GH-)\d{1,9}\)$")
_SILENT = re.compile(
    r"(?:(?:fixup|squash|amend)!|(?:merged?|revert(?:ed|s)?|bump(?:ed|s)?|releas(?:e|ed|es|ing)"
    r"|version|prepare (?:for )?(?:release|version)|v?\d+\.\d)\b)",
    re.IGNORECASE,
)
"""How a subject begins that repeats another one, or names a version."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_EMPTY_WORDS = (
    "a add added adding adds address after again all also an and another are as at be bit bug bugs"
    " bugfix bugfixes build by change changelog changed changes chore ci clean cleaned cleaning"
    " cleanup code comment comments commit correct corrected do doc docs documentation error errors"
    " few file files final first fix fixed fixes fixing for format formatting from further hotfix"
    " improve improved improvement improvements in initial into is issue issues it last lint linter"
    " linting little make merge minor misc more move new nit nits no not now of off old on one oops"
    " or out refactor refactored refactoring remove removed removes rename review small some sort"
    " still stuff style temp test testing tests that the them things this tidy tmp to try tweak"
    " tweaks typo typos up update updated updates use various warning warnings wip with work"
    " working"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
"""Words by which one commit cannot be told from another."""


def query_of(subject: str) -> str:
    """Return what a subject asks for: without its prefix and number; empty if it says too little.

    It says enough with two words that tell commits apart, or with four letters of a script other
    than Latin, which may stand without spaces.
    """
    text = _SUFFIX.sub("", subject[:_MOST].strip())
    text = _PREFIX.sub("", text, count=1) if _PREFIX.match(text) else text
    if _SILENT.match(text):
        return ""
    words = {word.casefold() for word in _WORD.findall(text)} - _EMPTY
    has_other_script = any(len(word) >= 4 and not word.isascii() for word in words)
    return text if len(words) > 1 or has_other_script else ""
