"""How text, counts, lists and paths are shown: short, printable, relative.

No text that reaches an item or a session's state holds control characters, lone surrogates or a
megabyte.
"""

from __future__ import annotations

import posixpath
import re
import shlex
import sys
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

ENDS = ".!?\u061f\u0964"
"""What ends a sentence before a blank, the question mark of Arabic and the danda included."""
WIDE_ENDS = "\u3002\uff01\uff1f"
"""What ends a sentence of Chinese or Japanese, with no blank behind it."""
_JOINER = re.compile("((?<=[^\0-\x7f])[\u200c\u200d](?=[^\0-\x7f]))")
"""What joins or parts letters that are not ASCII, as in Persian and Hindi, and makes emoji."""

_COLOUR = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[(-+][0-9A-Z]|[@-Z\\-_])"
)


def uncoloured(text: str) -> str:
    """Return what a program printed without a terminal's colours and movements."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


MOST_CHARS = 60_000
"""Most characters of one text on a page or screen; both stall on lines of megabytes."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, marks of direction, what takes no room, and halves of characters."""


def plain(text: str) -> str:
    """Return a text without colours, its hidden characters visible as U+FFFD, cut if it is huge."""
    shown = _HIDDEN.sub("\ufffd", uncoloured(text[:MOST_CHARS].replace("\r\n", "\n")))
    left_out = len(text) - MOST_CHARS
    return f"{shown}\n… {left_out:,} more characters" if left_out > 0 else shown


def one_line(text: str, limit: int) -> str:
    """Return the text on one line, printable, of at most `limit` characters, ending in … if cut."""
    if len(text) <= limit and text.isprintable() and "  " not in text:
        return text.strip(" ")
    shown = text[: limit * 4].strip()
    if "  " in shown or not shown.isprintable():
        shown = " ".join(shown.split())
        if not shown.isprintable():
            shown = " ".join(_apart(shown).split())
    if len(shown) > limit or len(text) > limit * 4:
        return shown[: limit - 1].rstrip() + "…"
    return shown


NAME_CHARS, NAME_WORDS = 80, 6
"""A name that is longer, or has a part of more words, is no name that is shown as it is."""
_MANY_WORDS = re.compile(rf"(?:[\s._-]+[^\s._/-]+){{{NAME_WORDS - 1}}}[\s._-]")


def did_you_mean(near: Sequence[str], otherwise: str = "") -> str:
    """Return the question whether one of some names is meant, and what else there is."""
    return f"did you mean {' or '.join(near)}? {otherwise}".rstrip() if near else otherwise


def quoted(text: str) -> str:
    """Return what somebody else wrote in quotation marks, on one line, of `NAME_CHARS` at most."""
    return '"' + one_line(text, NAME_CHARS).replace('"', "'") + '"'


def named(name: str) -> str:
    """Return the name of a file or branch; quoted where it could be read as more than a name.

    Whoever's repository it is may give any sentence as a name, with the marks of scripts that write
    sentences without spaces too.
    """
    marks = (unicodedata.category(sign)[0] == "P" for sign in name if not sign.isascii())
    is_name = len(name) <= NAME_CHARS and "".join(name.split()) == name
    return name if is_name and not (_MANY_WORDS.search(name) or any(marks)) else quoted(name)


def block(text: str, limit: int) -> str:
    """Return the text with its line breaks and joiners, printable, at most `limit` characters."""
    shown = text[: limit + 1].strip()
    if not shown.isprintable():
        lines = shown.split("\n")
        for number, line in enumerate(lines):
            if not line.replace("\t", "").isprintable():
                parts = _JOINER.split(line)
                parts[::2] = map(_apart, parts[::2])
                lines[number] = "".join(parts).rstrip(" ")
        shown = "\n".join(lines)
    return shown[: limit - 1].rstrip() + "…" if len(shown) > limit else shown


MARKS = "#>*- "
"""What may stand before the words of a line: of a heading, a quotation, a list."""


def first_line(text: str, limit: int) -> str:
    """Return the first line that says anything, shortened; headings lose their marks."""
    for line in text[: limit * 8].lstrip().split("\n", 8)[:8]:
        if shown := one_line(line, limit).lstrip(MARKS):
            return shown
    return ""


def counted(number: int, noun: str) -> str:
    """Return ``"1 line"``, ``"12 lines"``, ``"1,024 files"``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def breakdown(counts: Mapping[str, int]) -> str:
    """Return ``": 3 edit, 1 prompt"``, to follow a total; "" for no counts."""
    return ": " + ", ".join(f"{count} {name}" for name, count in counts.items()) if counts else ""


def size_text(size_bytes: int) -> str:
    """Return a size as a person says it, ``"24.5 MiB"``, in powers of 1,024 as `du -h` has it."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:,.1f} {name}"
    return f"{size_bytes} B"


def age_text(milliseconds: int) -> str:
    """Return a length of time in its largest unit: ``"40 s"``, ``"5 min"``, ``"2 d"``."""
    seconds = max(milliseconds, 0) // 1000
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


def span_text(milliseconds: int) -> str:
    """Return a length of time in words, its largest unit: ``"3 days"``; "" below a minute."""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if number := max(milliseconds, 0) // 1000 // unit:
            return counted(number, name)
    return ""


def ago(milliseconds: int) -> str:
    """Return how long ago something was, ``"3 days ago"``; ``"just now"`` below a minute."""
    return f"{span_text(milliseconds)} ago" if milliseconds >= 60_000 else "just now"


def listed(names: Sequence[str], at_most: int = 4) -> str:
    """Return ``"a"``, ``"a and b"``, ``"a, b and 3 more"``."""
    if len(names) < 2:
        return "".join(names)
    shown = names
    if len(names) > at_most:
        shown = [*names[: at_most - 1], f"{len(names) - at_most + 1:,} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def distinct(names: Iterable[str], at_most: int) -> tuple[str, ...]:
    """Return the first `at_most` different names, in order, empty ones left out."""
    if not names:
        return ()
    return tuple(filter(None, dict.fromkeys(names)))[:at_most]


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set: how word lists are written here."""
    return frozenset(text.split())


@lru_cache(maxsize=4096)
def relative(path: str, root: str, cwd: str = "") -> str:
    """Return a path with forward slashes, from `cwd` on, relative to `root` where it is inside."""
    shown, base = _slashed(path), _slashed(root).rstrip("/")
    is_absolute = shown[:1] in ("/", "~") or shown[1:3] == ":/" or "://" in shown[:12]
    if cwd and not is_absolute:
        shown = f"{_slashed(cwd)}/{shown}"
    if "/." in shown or "//" in shown or shown.startswith("./"):
        shown = posixpath.normpath(shown)
    folded, inside = (shown, base) if shown[:1] == "/" else (shown.lower(), base.lower())
    if base and folded.startswith(inside + "/"):
        shown = shown[len(base) + 1 :]
    return one_line(shown, 1000)


def is_within(path: str, places: Collection[str]) -> bool:
    """Return True if a path is, or lies in, one of `places`; no places admit every path."""
    return not places or any(path == place or path.startswith(f"{place}/") for place in places)


def is_utf8(text: str) -> bool:
    """Return True if a text can be written as UTF-8: it holds no half of a surrogate pair."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def base_name(path: str) -> str:
    """Return the last part of a path with forward slashes."""
    return path.rstrip("/").rpartition("/")[2] or path


def _apart(text: str) -> str:
    """Put a space for what cannot be seen: the halves of a secret must not come together."""
    return "".join(sign if sign.isprintable() or sign == "\t" else " " for sign in text)


def _slashed(path: str) -> str:
    is_windows = path[1:3] in (":\\", ":/") or ("\\" in path and "/" not in path)
    return path.replace("\\", "/") if is_windows else path


def extra_hint(extra: str) -> str:
    """Return the command that installs an extra of observer's into this very environment."""
    return f"{shlex.quote(sys.executable)} -m pip install 'observer-memory[{extra}]'"
