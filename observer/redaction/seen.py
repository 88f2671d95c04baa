"""Values that were recognised once in a home, and are known from then on wherever they stand.

Part of step 4 (redaction). Of a value nothing is kept but a keyed hash of its letters and digits in
lower case, so it is found again in a branch's name, in a URL, folded over lines. Only what looks
drawn, or mixes signs as passwords do, is remembered, and no UUID, nor a digest that git knows.
"""

from __future__ import annotations

import hashlib
import os
import secrets as randomness
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from observer.redaction import shapes
from observer.redaction.patterns import Patterns
from observer.redaction.shapes import BREAKS, SHAPES, Span

_IS = Patterns("seen")

KNOWN = "known-secret"
"""The class of a value that is known by nothing but its having been recognised before."""
MOST = 10_000
"""Values that are remembered; the newest."""
_KEY_BYTES, _MARK_BYTES = 32, 16
_PREFIX = 2
"""Bytes before the hash: how many letters and digits there are, and how many before a sign."""
_SHORTEST, _LONGEST = 10, 128
"""Letters and digits of a value."""
_MOST_RUNS = 4
"""Parts between signs that a value has: else most of minified code would have to be looked up."""
_LEAST = 4
"""Characters of a part of a value that a line holds."""
_MOST_CLEAR = 20_000
_MOST_LINES, _WIDEST = 24, 100
"""Lines over which a value may be folded, and characters of one of them."""
_INDENT, _FRAME = 25, " \t\n>|+\"'#*"
_MOST_JOINTS, _JOINT = 4, "\"'\\+ \r"
"""What may stand where a line begins, and ends, that a value is folded at."""
_OF_GIT = frozenset({10, 11, 12, 40, 64})
"""Hexadecimal digits of git's names for objects; shorter ones are too short anyway."""

_LONG = 13
"""Letters and digits of what is made of words."""
_LEAST_CHANGES = 3
"""Between kinds of signs inside the words of a value: names and versions have fewer."""
_SHORT_WORDS = 3
"""Mean length of the words of a name that may be the key of a message: `mustBeAtLeast6Chars`."""
_SHAPES = bytes(
    32 if code in BREAKS or code < 32 else 48 if chr(code).isdigit() else 97 for code in range(256)
)


class Seen:
    """The values that the home in use knows; none before `use`."""

    _size: int
    version = 0
    """Another one whenever a text that held no known value may hold one."""

    def __init__(self) -> None:
        self.doubtful: set[str] = set()
        """Recognised values that may be git's names of objects."""
        self._file: Path | None = None
        self._clear: set[str] = set()
        self._begin(b"")

    def __len__(self) -> int:
        return len(self._marks)

    @property
    def state(self) -> str:
        """How much is known: another text whenever something was learned."""
        return f"{self._size}{self._marks[-1].hex() if self._marks else ''}"

    def use(self, file: Path) -> None:
        """Take up what a home has learned: a file with a key and a mark of each value, or none."""
        size = 0
        with suppress(OSError):
            size = file.stat().st_size
        if (file, size) != (self._file, self._size):
            if file != self._file:
                self.doubtful.clear()
            self._file = file
            self._read(file)

    def close(self) -> None:
        """Forget all, until the next `use`."""
        self._file = None
        self._begin(b"")

    def learn(self, values: Iterable[str]) -> None:
        """Remember values that no ordinary text holds; what may be git's waits for `settle`."""
        if self._file is None:
            return
        new: dict[str, int] = {}
        for value in values:
            normal = _normal(value[: 2 * _LONGEST])
            if not _SHORTEST <= len(normal) <= _LONGEST or not _stands_out(value, normal):
                continue
            if len(normal) in _OF_GIT and _IS.hex.fullmatch(normal):
                self.doubtful.add(normal)
            else:
                new[normal] = len(_IS.run.findall(value)[0])
        self._add(new)

    def settle(self, of_git: Iterable[str]) -> None:
        """Remember the doubtful values, but for git's."""
        doubtful, self.doubtful = self.doubtful, set()
        self._add({each: len(each) for each in doubtful.difference(of_git)})

    def forget(self, texts: Iterable[str]) -> None:
        """Forget values that are texts, or words of them. Raises OSError: the home is read-only."""
        words = {_normal(word) for text in texts for word in (text, *text.split())}
        gone = set(map(self._digest, words))
        if self._file and gone & self._digests:
            kept = [mark for mark in self._marks if mark[_PREFIX:] not in gone]
            self._begin(self._key)
            self._take_up(kept)
            self._rewrite(self._file)

    def within(self, text: str) -> Iterator[Span]:
        """Yield where known values stand in a text."""
        if not self._marks:
            return
        shape = text.encode("ascii", "replace").translate(_SHAPES)
        end = 0
        while (digit := shape.find(b"0", end)) >= 0:
            start = shape.rfind(b" ", 0, digit) + 1
            end = shape.find(b" ", digit)
            end = len(shape) if end < 0 else end
            if end - start < _LEAST or shape.find(b"a", start, end) < 0:
                continue
            first, last = _folded_from(text, shape, start), _folded_to(text, shape, end)
            word = text[first:last]
            if len(word) >= _SHORTEST and word not in self._clear:
                is_folded = last - first > end - start
                yield from self._known(word, first, is_folded=is_folded)
            end = max(end, last)

    def _known(self, word: str, at: int, *, is_folded: bool) -> Iterator[Span]:
        """Yield where runs of letters and digits are together a known value."""
        runs = [run.span() for run in _IS.run.finditer(word)]
        is_clear = True
        for place, (start, end) in enumerate(runs):
            lengths = self._lengths if is_folded else self._firsts.get(end - start)
            if not lengths:
                continue
            length = 0
            stop = place + _MOST_RUNS if place and not is_folded else None
            for first, last in runs[place:stop]:
                length += last - first
                if length > _LONGEST:
                    break
                if length in lengths and self._digest(_normal(word[start:last])) in self._digests:
                    is_clear = False
                    yield Span(at + start, at + last, KNOWN)
        if is_clear:
            if len(self._clear) >= _MOST_CLEAR:
                self._clear.clear()
            self._clear.add(word)

    def _digest(self, normal: str) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(normal.encode("utf-8", "surrogatepass"))
        return keyed.digest()

    def _add(self, found: Mapping[str, int]) -> None:
        """Add normal forms, each with the length of its first run."""
        if not found or self._file is None:
            return
        if not self._size:  # make a key, or take that of another process which was first
            self._begin(randomness.token_bytes(_KEY_BYTES))
            self._size = 0
            try:
                self._append(self._file, self._key, os.O_EXCL)
            except FileExistsError:
                self._read(self._file)
            except OSError:
                self._size = _KEY_BYTES  # of a home that cannot be written
        made = (bytes([len(each), first]) + self._digest(each) for each, first in found.items())
        if new := [mark for mark in made if mark[_PREFIX:] not in self._digests]:
            self._take_up(new)
            with suppress(OSError):  # known while this process lives
                self._append(self._file, b"".join(new))
            if len(self) > 2 * MOST:
                self._read(self._file)

    def _take_up(self, marks: Iterable[bytes]) -> None:
        for mark in marks:
            self._marks.append(mark)
            self._digests.add(mark[_PREFIX:])
            self._lengths.add(mark[0])
            self._firsts.setdefault(mark[1], set()).add(mark[0])
        self._clear.clear()
        self.version += 1

    # --- the file --------------------------------------------------------------------------------

    def _begin(self, key: bytes) -> None:
        self._key = key
        self._keyed = hashlib.blake2b(key=key, digest_size=_MARK_BYTES - _PREFIX)
        self._size = len(key)
        self._marks: list[bytes] = []
        self._digests: set[bytes] = set()
        self._lengths: set[int] = set()
        self._firsts: dict[int, set[int]] = {}
        self._take_up(())

    def _read(self, file: Path) -> None:
        held = b""
        with suppress(OSError):
            held = file.read_bytes()
        if held and len(held) < _KEY_BYTES:  # a disk that was full, or lost power
            held = b""
            with suppress(OSError):
                file.unlink()
        self._begin(held[:_KEY_BYTES])
        self._size = len(held)
        marks = held[_KEY_BYTES : len(held) - len(held) % _MARK_BYTES][-_MARK_BYTES * MOST :]
        self._take_up(marks[at:][:_MARK_BYTES] for at in range(0, len(marks), _MARK_BYTES))
        if len(held) % _MARK_BYTES or len(held) > _KEY_BYTES + 2 * _MARK_BYTES * MOST:
            with suppress(OSError):
                self._rewrite(file)

    def _rewrite(self, file: Path) -> None:
        shorter = file.with_name(f".{file.name}")
        shorter.unlink(missing_ok=True)
        self._append(shorter, b"".join((self._key, *self._marks)))
        shorter.replace(file)

    def _append(self, file: Path, data: bytes, flags: int = 0) -> None:
        into = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | flags, 0o600)
        try:
            os.write(into, data)
            size = os.fstat(into).st_size
        finally:
            os.close(into)
        if size == self._size + len(data):  # else another process wrote as well: to be read
            self._size = size


SEEN = Seen()
"""What this process knows: of one home, which is whose texts it redacts."""


def _normal(value: str) -> str:
    return "".join(_IS.run.findall(value)).lower()


def _stands_out(value: str, normal: str) -> bool:
    """Return True for what nothing but itself looks like."""
    is_plain = normal.isalpha() or normal.isdigit() or SHAPES.uuid.fullmatch(value)
    if is_plain or _IS.no_value.search(value) or shapes.is_placeholder(value):
        return False
    changes = sum(len(_IS.change.findall(run)) for run in _IS.run.findall(_IS.hump.sub("a", value)))
    is_drawn = changes >= _LEAST_CHANGES and shapes.is_random(value, at_least=_SHORTEST)
    is_numbered = len(_IS.numbers.findall(value)) > 1
    if is_drawn and (is_numbered or not shapes.is_name(value, mean=_SHORT_WORDS)):
        return True
    if len(normal) >= _LONG and shapes.is_unspoken(value):
        return True
    if SHAPES.phrase.fullmatch(value) or (is_numbered and SHAPES.made_up.fullmatch(value)):
        return len(normal) >= _LONG
    return _IS.mixed.fullmatch(value) is not None


def _folded_from(text: str, shape: bytes, start: int) -> int:
    """Return where a word begins that may be folded, and whose last line begins at `start`."""
    for _ in range(_MOST_LINES):
        line = text.rfind("\n", max(0, start - _INDENT), start)
        if line < 0 or text[line:start].strip(_FRAME):
            break
        lead = max(0, line - _MOST_JOINTS - 1)
        end = lead + len(text[lead:line].rstrip(_JOINT))
        before = shape.rfind(b" ", 0, end) + 1
        if not _LEAST <= end - before <= _WIDEST:
            break
        start = before
    return start


def _folded_to(text: str, shape: bytes, end: int) -> int:
    """Return where a word ends that may be folded, and whose first line ends at `end`."""
    for _ in range(_MOST_LINES):
        line = text.find("\n", end, end + _MOST_JOINTS + 1)
        if line < 0 or text[end:line].strip(_JOINT):
            break
        indented = text[line : line + _INDENT]
        start = line + len(indented) - len(indented.lstrip(_FRAME))
        after = shape.find(b" ", start)
        after = len(shape) if after < 0 else after
        if not _LEAST <= after - start <= _WIDEST:
            break
        end = after
    return end
