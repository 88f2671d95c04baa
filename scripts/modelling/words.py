"""The vocabulary of *instant*: BERT's words, then the words of software that BERT takes apart."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

_SINGLE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Kana, Han and Hangul, which are written without spaces: a character is a word."""
WORDS = rf"[{_SINGLE}]|[A-Z]+(?![^\W\dA-Z_])|[A-Z]?[^\W\dA-Z_{_SINGLE}]+|\d+"
"""What is a word: `getUserName`, `user_name` and `HTTPServer` are three, two and two."""
PADDING, UNKNOWN = "[PAD]", "[UNK]"
_LETTERS = range(3, 25)
_LONGEST = 60


class Vocabulary:
    """Tokens in the order of their ids; the first stands for no token."""

    def __init__(self, bert: bytes, added: Iterable[str]) -> None:
        every = bert_words(bert)
        kept = [token for token in every if not (token[0] == "[" and token[-1] == "]" != token)]
        self.kept = [PADDING, UNKNOWN, *kept]
        self.added = list(added)
        self.tokens = [*self.kept, *self.added]
        self.tokenizer = self._made()
        self._find = re.compile(WORDS).findall
        self._known: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text's tokens."""
        found: list[int] = []
        for word in self._find(text):
            if word not in self._known:
                encoded = self.tokenizer.encode(word, add_special_tokens=False)
                self._known[word] = encoded.ids
            found += self._known[word]
        return found

    def _made(self) -> Tokenizer:
        ids = {token: number for number, token in enumerate(self.tokens)}
        made = Tokenizer(
            models.WordPiece(ids, unk_token=UNKNOWN, max_input_chars_per_word=_LONGEST)
        )
        made.normalizer = normalizers.BertNormalizer()
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return made


def bert_words(bert: bytes) -> dict[str, int]:
    """Return the vocabulary in the file of BERT's tokenizer."""
    found: dict[str, int] = json.loads(bert)["model"]["vocab"]
    return found


def of_software(texts: Iterable[tuple[str, str]], bert: bytes, *, at_least: int) -> list[str]:
    """Return the words that BERT lacks, commonest first and equals by the alphabet.

    Args:
        texts: pairs of a text and the repository it is from.
        bert: the file of BERT's tokenizer.
        at_least: texts that must have the word, from two repositories or more.
    """
    lacking = bert_words(bert)
    find = re.compile(WORDS).findall
    counts: Counter[str] = Counter()
    places: dict[str, set[str]] = {}
    for text, repository in texts:
        for word in {word.lower() for word in find(text)}:
            if word not in lacking and len(word) in _LETTERS and not word.isdigit():
                counts[word] += 1
                places.setdefault(word, set()).add(repository)
    found = [word for word, n in counts.items() if n >= at_least and len(places[word]) > 1]
    return sorted(found, key=lambda word: (-counts[word], word))
