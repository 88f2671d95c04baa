"""Text to token ids: bounded, and a word's tokens looked up once.

Tokenising costs more than everything else that an instant model does. Where a model's card tells
how to find the words of a text, their tokens are remembered, which makes it three times as fast.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from observer.embed.card import TOKENIZER, Card
from observer.errors import ConfigInvalid

_CHARS_A_TOKEN = 16
"""Text beyond this many characters for every token that a model takes is not looked at."""
_REMEMBERED = 32768
_REMEMBERED_CHARS = 32

Ids = NDArray[np.uint32]
"""Ids of tokens, in their order."""


class Tokens:
    """The tokenizer of one model; safe to share between threads."""

    def __init__(self, folder: Path, card: Card) -> None:
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        self._find = re.compile(card.words).findall if card.words else None
        self._most = card.most_tokens
        self._most_chars = card.most_tokens * _CHARS_A_TOKEN
        # Their ids as bytes: a third of what lists of numbers would take.
        self._known: dict[str, bytes] = {}
        if not card.words:
            self._tokenizer.enable_truncation(card.most_tokens)

    @property
    def vocabulary(self) -> int:
        """How many ids there are; every id is below it."""
        return self._tokenizer.get_vocab_size()

    def ids(self, text: str) -> Ids:
        """Return the ids of a text's tokens, at most `most_tokens`; none for a text of blanks."""
        # Tokenizers take no lone surrogates.
        text = text[: self._most_chars].encode("utf-8", "replace").decode()
        if self._find is None:
            encoded = self._tokenizer.encode(text)
            ids = encoded.ids if 0 in encoded.special_tokens_mask else []
            return np.array(ids, np.uint32)
        known = self._known
        words = self._find(text)
        try:
            found = [known[word] for word in words]
        except KeyError:
            found = [self._word(word) for word in words]
        return np.frombuffer(b"".join(found), np.uint32)[: self._most]

    def _word(self, word: str) -> bytes:
        ids = self._known.get(word)
        if ids is None:
            encoded = self._tokenizer.encode(word, add_special_tokens=False)
            ids = np.array(encoded.ids, np.uint32).tobytes()
            if len(word) <= _REMEMBERED_CHARS:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[word] = ids
        return ids


def _tokenizer(file: Path) -> Tokenizer:
    try:
        made = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises nothing narrower
        raise ConfigInvalid(f"{file.name} is no tokenizer: {error}") from error
    # Some files have a fixed padding baked in, which would make every text as long.
    made.no_padding()
    made.no_truncation()
    return made
