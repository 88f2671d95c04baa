"""A secret that the text around it gives away, and how it is told.

Part of step 4 (redaction), shared by the tables of such secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from observer.capture.secrets import is_placeholder, is_random


class Passage(NamedTuple):
    """A class told by its surroundings: group `secret` is the span.

    `pattern` is tried wherever the lower-case `anchor` stands; `accept` has the last word; an
    accepted span grows by `more`, so that a bounded pattern never leaves the rest of a long secret.
    """

    name: str
    anchor: str
    pattern: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool]
    more: re.Pattern[str]


def is_given(match: re.Match[str]) -> bool:
    """Tell whether it is no variable, dummy or name."""
    return not is_placeholder(match["secret"])


def is_drawn(match: re.Match[str]) -> bool:
    """Tell whether a machine seems to have drawn it."""
    value = match["secret"]
    return is_random(value, at_least=16) and not is_placeholder(value)


NO_MORE = re.compile("")
