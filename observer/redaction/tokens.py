"""Secrets told by their own form: where the tokens of issuers and services stand in a text.

Part of step 4 (redaction). The formats are in `issuers` and `services`.
"""

from __future__ import annotations

from collections.abc import Iterator

from observer.redaction.issuers import ISSUED, TokenFormat
from observer.redaction.secrets import Span
from observer.redaction.services import SERVICES, SPLIT

TOKENS = (*ISSUED, *SERVICES)
_ANCHORS = [(anchor, token) for token in TOKENS for anchor in token.anchors]
_SHAPES = [token for token in TOKENS if not token.anchors]
_SPLIT_ANCHORS = [(anchor, token) for token in SPLIT for anchor in token.anchors]

_RUN_CHARACTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_RUNS = bytes(97 if code in _RUN_CHARACTERS else 32 for code in range(256))
_LONG = b"a" * 20
_WORDS = b"abcdefghijklmnopqrstuvwxyz_-."
"""What is made of these alone was drawn by nobody."""


def tokens(text: str) -> Iterator[Span]:
    """Yield the tokens in a text.

    All but those of `SPLIT` hold a run of 20 word characters. Most text holds few such runs, and
    finding them is one search for a constant; only the runs are then asked for anchors.
    """
    if len(text) < len(_LONG):
        return
    for token in _present(text):
        for match in token.pattern.finditer(text):
            if token.name != "jwt" or "secret" not in match.re.groupindex or match["secret"]:
                yield Span(match.start(), match.end(), token.name)


def _present(text: str) -> dict[TokenFormat, None]:
    """Return the tokens that may stand in a text, in the order of the tables."""
    runs = _long_runs(text.encode("utf-8", "surrogatepass"))
    found: dict[TokenFormat, None] = {}
    if runs:
        found = dict.fromkeys(token for anchor, token in _ANCHORS if anchor in runs)
        found |= dict.fromkeys(token for token in _SHAPES if token.pattern.search(runs))
    return found | dict.fromkeys(token for anchor, token in _SPLIT_ANCHORS if anchor in text)


def _long_runs(data: bytes) -> str:
    shape = data.translate(_RUNS) + b" "
    found = []
    end = 0
    while (start := shape.find(_LONG, end)) >= 0:
        end = shape.index(b" ", start)
        run = data[start:end]
        if run.strip(_WORDS):  # rulers and the names of source code are the commonest runs
            found.append(run)
    # As text: `in` on bytes costs five times as much, and it is asked for every anchor.
    return (b" " + b" ".join(found)).decode("ascii") if found else ""
