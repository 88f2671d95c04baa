"""Time words of a query: which days "yesterday", "last Friday" or "in March" mean; pure.

Days are those of a zone, weeks begin on Monday. A day, month or year by its name counts only behind
a word that makes it a time ("on Friday", "since May"): "may" and "march" are verbs too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from observer.core.patterns import lazy_pattern

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "few": 3, "a few": 3,
    "several": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}

Days = tuple[date, date]
"""The first day, and the first that is behind the last."""
Match = re.Match[str]


class Dated(NamedTuple):
    """A query with time words: `rest` without them, `days` as they are shown, the time they mean.

    `since_ms` is inclusive, `until_ms` exclusive, as in `Filters`; None does not restrict.
    """

    rest: str
    days: str
    since_ms: int | None
    until_ms: int | None


def dated(text: str, *, now_ms: int, zone: tzinfo | None = None) -> Dated | None:
    """Return which time a query is about, by its first time words; None for any.

    Args:
        text: as it was written; in quotation marks words are but words.
        now_ms: now.
        zone: where the person is; that of this machine if None.
    """
    if '"' in text:
        return None
    today = datetime.fromtimestamp(now_ms / 1000, zone).date()
    found = next(_found(text, today), None)
    if found is None:
        return None
    match, (first, end) = found
    bound = (match["bound"] or "").lower()
    since = {"before": None, "until": None, "till": None, "after": end}.get(bound, first)
    until = {"before": first, "until": end, "till": end, "since": None, "after": None}.get(
        bound, end
    )
    rest = f"{text[: match.start()]} {text[match.end() :]}"
    return Dated(
        rest=" ".join(rest.split()),
        days=_shown(since, until),
        since_ms=_start_ms(since, zone) if since else None,
        until_ms=_start_ms(until, zone) if until else None,
    )


def day_start_ms(*, now_ms: int, ago: int = 0, zone: tzinfo | None = None) -> int:
    """Return when today began, or the day so many days ago, in a zone (as in `dated`)."""
    today = datetime.fromtimestamp(now_ms / 1000, zone).date()
    return _start_ms(today - timedelta(days=ago), zone)


def _found(text: str, today: date) -> Iterator[tuple[Match, Days]]:
    for pattern, read in _WORDS:
        for match in pattern.finditer(text):
            try:
                yield match, read(match, today)
            except (ValueError, OverflowError):
                continue  # no day of any calendar: 2026-13-40, 900 years ago


def _start_ms(day: date, zone: tzinfo | None) -> int:
    return int(datetime.combine(day, time(), zone).timestamp() * 1000)


def _shown(since: date | None, until: date | None) -> str:
    last = until and until - timedelta(days=1)
    if since is None:
        return f"until {last}"
    if last is None:
        return f"from {since}"
    return str(since) if since == last else f"{since} to {last}"


def _of_unit(day: date, unit: str) -> Days:
    """Return the day, week, month or year that a day is in."""
    if unit == "day":
        return day, day + timedelta(days=1)
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=7)
    if unit == "month":
        return day.replace(day=1), _months(day, 1)
    return date(day.year, 1, 1), date(day.year + 1, 1, 1)


def _months(day: date, count: int) -> date:
    """Return the first day of the month that is so many months later."""
    number = day.year * 12 + day.month - 1 + count
    return date(number // 12, number % 12 + 1, 1)


def _back(day: date, unit: str, count: int) -> date:
    """Return a day of the unit that is so many units earlier."""
    if unit in {"day", "week"}:
        return day - timedelta(days=count * _DAYS[unit])
    return _months(day, -count * (12 if unit == "year" else 1))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else NUMBERS[" ".join(text.lower().split())]


def _near(match: Match, today: date) -> Days:
    return _of_unit(today - timedelta(days=match["day"].lower() == "yesterday"), "day")


def _ago(match: Match, today: date) -> Days:
    unit = match["unit"].lower()
    return _of_unit(_back(today, unit, _number(match["count"])), unit)


def _lately(match: Match, today: date) -> Days:
    days = _number(match["count"]) * _DAYS[match["unit"].lower()]
    return today - timedelta(days=days), today + timedelta(days=1)


def _whole(match: Match, today: date) -> Days:
    unit = match["unit"].lower()
    return _of_unit(_back(today, unit, int(_which(match) != "this")), unit)


def _weekday(match: Match, today: date) -> Days:
    back = (today.weekday() - WEEKDAYS.index(match["name"].lower())) % 7
    if _which(match) == "last" and not back:
        back = 7
    return _of_unit(today - timedelta(days=back), "day")


def _month(match: Match, today: date) -> Days:
    number = MONTHS.index(match["name"].lower()) + 1
    newest = today.month - (_which(match) == "last")
    year = int(match["year"] or today.year - (number > newest))
    return _of_unit(date(year, number, 1), "month")


def _which(match: Match) -> str:
    return (match["which"] or "").strip().lower()


def _iso(match: Match, _: date) -> Days:
    return _of_unit(date.fromisoformat(match["iso"]), "day")


def _year(match: Match, _: date) -> Days:
    return _of_unit(date(int(match["year"]), 1, 1), "year")


_PLAIN = r"(?:in|on|of|from|during|within|over)\s+(?:the\s+)?"
_BEFORE = rf"(?:(?P<bound>since|after|before|until|till)\s+(?:the\s+)?|{_PLAIN})"
_NAMED = rf"(?:{_BEFORE}|(?=(?:last|this)\s))(?P<which>(?:last|this)\s+)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|month|year)"
_OF_YEAR = r"(?P<year>(?:19|20)\d\d)"

_PATTERNS = (
    (rf"{_BEFORE}?(?P<day>today|yesterday)", _near),
    (rf"{_BEFORE}?{_COUNT}\s+{_UNIT}s?\s+ago", _ago),
    (rf"{_BEFORE}?(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}s?", _lately),
    (rf"{_BEFORE}?(?P<which>this|last|past|previous)\s+(?P<unit>week|month|year)", _whole),
    (rf"{_NAMED}(?P<name>{'|'.join(WEEKDAYS)})", _weekday),
    (rf"{_NAMED}(?P<name>{'|'.join(MONTHS)})(?:\s+{_OF_YEAR})?", _month),
    (rf"{_BEFORE}(?P<iso>\d{{4}}-\d\d-\d\d)", _iso),
    (rf"{_BEFORE}{_OF_YEAR}", _year),
)
_WORDS: tuple[tuple[re.Pattern[str], Callable[[Match, date], Days]], ...] = tuple(
    (lazy_pattern(rf"(?<![\w-]){words}(?:'s)?(?![\w-])", re.IGNORECASE), read)
    for words, read in _PATTERNS
)
