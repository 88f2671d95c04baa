"""Secrets in names: `fix/api-token-Zk9K…`, `backup_password_hC8p….txt`.

Part of step 4 (redaction). Names of branches and files join what is drawn to the secret's name as
they join words, so it must look drawn by itself, or hold a long piece that does.
"""

from __future__ import annotations

import re

from observer.capture.secret_names import SecretName
from observer.capture.secrets import UUID, Span, is_placeholder, is_random

_REST = re.compile(r"(?:w(?:or)?d|wort|phrase|code)?s?[_-](?P<value>[A-Za-z0-9+=~_-]{16,512}+)")
_JOINT = re.compile("[_-]+")
_PIECE = 14


def joined(text: str, found: re.Match[str], word: SecretName) -> Span | None:
    """Return the secret that is joined to its name by `-` or `_`; None if a word or nothing is."""
    rest = _REST.match(text, found.end())
    if rest is None or not _is_drawn(rest["value"]):
        return None
    return Span(*rest.span("value"), word.name)


def _is_drawn(value: str) -> bool:
    if is_placeholder(value) or not is_random(value, at_least=_PIECE):
        return False
    longest = max(map(_drawn_length, _JOINT.split(value)))
    return longest >= _PIECE or UUID.search(value) is not None


def _drawn_length(piece: str) -> int:
    return len(piece) if is_random(piece, at_least=_PIECE) else 0
