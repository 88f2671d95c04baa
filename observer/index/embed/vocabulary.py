"""The words that the model that ships with observer knows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import orjson

TOKENIZER = Path(__file__).parent / "models/instant/tokenizer.json"


@cache
def known_words() -> frozenset[str]:
    """Return the words that the instant model has a token for, in lower case: 33,000."""
    return frozenset(orjson.loads(TOKENIZER.read_bytes())["model"]["vocab"])
