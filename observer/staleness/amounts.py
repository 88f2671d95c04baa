"""Word stems, and the numbers, dates and durations of a statement in comparable form; pure."""

from __future__ import annotations

import re
from functools import lru_cache

from observer.core.value import Value
from observer.staleness import phrases

Words = frozenset[str]

_DOUBLING = frozenset({"ing", "ings", "ed", "er", "ers", "able", "ables"})
_DOUBLED = frozenset({"bb", "dd", "gg", "mm", "nn", "pp", "rr", "tt"})
"""Before these endings English doubles a last consonant."""


def stems(text: str) -> Words:
    """Return the stems of the words that say something."""
    return frozenset(
        stem(word)
        for word in phrases.WORD.findall(text.lower().replace("'s ", " "))
        if word not in phrases.EMPTY
        and word not in phrases.NUMBERS
        and not word[0].isdigit()
        and unit_of(word) is None
    )


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return what the forms of a word share, or nearly."""
    word = phrases.IRREGULAR.get(word, word)
    for _ in range(2):
        ending = next((end for end in phrases.ENDINGS if word.endswith(end) and word[:-3]), "")
        if ending == "s" and word.endswith("ss"):
            break
        if len(word) - len(ending) < 3:
            break
        word = word.removesuffix(ending)
        if ending in _DOUBLING and len(word) > 3 and word[-2:] in _DOUBLED:
            word = word[:-1]
    return word


def unit_of(word: str) -> str | None:
    """Return what a unit measures; None for other words."""
    return phrases.UNITS.get(word) or phrases.UNITS.get(word.removesuffix("s"))


_MONTH = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec"
)
_DATE = re.compile(
    rf"""\b(?P<iso>\d{{4}}-\d\d(?:-\d\d)?)\b
    |\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s(?:of\s)?(?P<month>{_MONTH})\b(?:,?\s\d{{4}}\b)?
    |\b(?P<first>{_MONTH})\s(?P<then>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s\d{{4}}\b)?
    |\b(?:in|by|to|until|till|from|of|since|before|after|for)\s(?P<only>{_MONTH})\b
    |\b(?P<half>q[1-4]|h[12])\b(?:\s\d{{4}}\b)?""",
    re.IGNORECASE | re.VERBOSE,
)
_ORDINALS = {
    "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7", "eighth": "8",
    "ninth": "9", "tenth": "10", "eleventh": "11", "twelfth": "12",
}  # fmt: skip
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)})\b(?=\s[a-z])", re.IGNORECASE)
_HALF = re.compile(r"\bhalf\s(?:of\s)?(?:an?|the)\s(?=[a-z])", re.IGNORECASE)
_SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0,
    "minute": 60.0, "h": 3600.0, "hour": 3600.0, "hourly": 3600.0, "day": 86400.0,
    "daily": 86400.0, "night": 86400.0, "week": 604800.0, "weekly": 604800.0, "month": 2592000.0,
    "monthly": 2592000.0, "year": 31536000.0, "yearly": 31536000.0, "annually": 31536000.0,
}  # fmt: skip


class Quantity(Value):
    """A number with what it counts or is measured in, empty where nothing says it."""

    number: str
    unit: str = ""


def amounts_of(text: str) -> tuple[Quantity, ...]:
    """Return the amounts of a text: dates by month and day, lengths of time in seconds."""
    dates = tuple(_date(found) for found in _DATE.finditer(text))
    rest = _ORDINAL.sub(lambda found: _ORDINALS[found[1].lower()], _DATE.sub(" ", text))
    rest = _HALF.sub("0.5 ", rest)
    found = [_counted(*each) for each in phrases.AMOUNT.findall(rest)]
    counted = tuple(each for each in found if each)
    return dates + counted if dates or counted else tuple(_lengths(rest))


def _date(found: re.Match[str]) -> Quantity:
    day = found["day"] or found["then"] or ""
    month = (found["month"] or found["first"] or found["only"] or found["half"] or "").lower()
    return Quantity(number=found["iso"] or f"{month[:3]} {day.lstrip('0')}".strip(), unit="date")


def _counted(number: str, unit: str, noun: str) -> Quantity | None:
    named = (unit or noun).lower()
    if number[0].isalpha() and (not named or named in phrases.EMPTY):
        return None
    kind = "clock" if ":" in number else unit_of(named)
    plain = phrases.NUMBERS.get(number.lower(), number.replace("_", "").replace(",", ""))
    if kind == "time":
        return Quantity(number=_length(plain, named), unit=kind)
    measured = f"{plain} {named.removesuffix('s')}" if kind else plain
    counted = "" if noun.lower() in phrases.EMPTY else stem(noun.lower())
    return Quantity(number=measured, unit=kind or counted)


def _length(number: str, unit: str) -> str:
    seconds = _SECONDS.get(unit) or _SECONDS.get(unit.removesuffix("s"))
    if seconds is None or not number.replace(".", "", 1).isdigit():
        return f"{number} {unit}".strip()
    return f"{float(number[:12]) * seconds:g} s"


def _lengths(text: str) -> list[Quantity]:
    """Return the lengths of time, and the days of the week, that stand without a number."""
    named = [word for word in phrases.WORD.findall(text.lower()) if len(word) > 2]
    kinds = [(word, unit_of(word)) for word in named]
    return [
        Quantity(number=_length("1", word), unit=kind)
        if kind == "time"
        else Quantity(number=word, unit=f"per {kind}")
        for word, kind in kinds
        if kind and not (kind == "time" and word.endswith("s"))
    ]
