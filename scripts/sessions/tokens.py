"""Words and operators of a shell command: quotes, substitutions and here-documents understood."""

from __future__ import annotations

from collections.abc import Iterator

_OPERATORS = ";&|()<>\n"
_BLANK = " \t\r"


class Tokens:
    """Iterates over the tokens of a command; a quoted word comes without its quotes."""

    def __init__(self, command: str) -> None:
        self._text = command.replace("\\\n", " ")
        self._at = 0
        self._documents: list[str] = []

    def __iter__(self) -> Iterator[str]:
        awaits_delimiter = False
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in _BLANK:
                self._at += 1
            elif char == "#":
                self._at = self._find("\n")
            elif char in _OPERATORS:
                found = self._operator()
                awaits_delimiter = found.startswith("<<") and found != "<<<"
                yield found
            else:
                word = self._word()
                if awaits_delimiter:
                    self._documents.append(word.lstrip("-"))
                    awaits_delimiter = False
                yield word

    def _find(self, what: str) -> int:
        found = self._text.find(what, self._at)
        return len(self._text) if found < 0 else found

    def _operator(self) -> str:
        start, first = self._at, self._text[self._at]
        if first == "\n":
            self._at += 1
            self._skip_documents()
            return ";"
        if first in "()":
            self._at += 1
            return first
        same = "<>&" if first in "<>" else ";&|>"
        while self._at < len(self._text) and self._text[self._at] in same:
            self._at += 1
        return self._text[start : self._at]

    def _skip_documents(self) -> None:
        for delimiter in self._documents:
            while self._at < len(self._text):
                end = self._find("\n")
                line, self._at = self._text[self._at : end], end + 1
                if line.strip() == delimiter:
                    break
        self._documents.clear()

    def _word(self) -> str:
        word: list[str] = []
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in _BLANK or char in _OPERATORS:
                break
            if char in "'\"":
                word.append(self._quoted(char))
            elif char == "\\":
                word.append(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            elif self._text.startswith("$(", self._at):
                word.append(self._substitution())
            else:
                word.append(char)
                self._at += 1
        return "".join(word)

    def _quoted(self, quote: str) -> str:
        start = self._at + 1
        self._at = start
        while self._at < len(self._text) and self._text[self._at] != quote:
            if quote == '"' and self._text.startswith("$(", self._at):
                self._substitution()
            else:
                self._at += 2 if self._text[self._at] == "\\" and quote == '"' else 1
        inside = self._text[start : self._at]
        self._at += 1
        return inside

    def _substitution(self) -> str:
        """Return ``$(...)`` as it stands; what is inside runs too, but judges nothing."""
        start, self._at = self._at, self._at + 2
        inner = Tokens(self._text[self._at :])
        depth = 1
        for found in inner:
            depth += (found == "(") - (found == ")")
            if not depth:
                break
        self._at += inner._at
        return self._text[start : self._at]
