"""What a statement does to an older one: the rules; pure.

Rules on what statements are about and how they speak, which would rather miss than mistake. A
replacement supersedes; what adds to a statement or exempts something from it amends it, and both
hold. Source: the labelled pairs under tests/data/succession; the rules were made with one half of
them and are held to the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from observer.staleness import contrasts, phrases
from observer.staleness.amounts import Words, stems
from observer.staleness.statements import TEXT_CHARS, Statement, read

Relation = Literal["supersedes", "amends"]

NEARLY = 0.75
"""Share of it that an exemption has."""
SAME = 0.6
"""Share of the older statement's words that the newer one has, where its form says the rest."""

NAME_WORDS = 2
"""Most words of a name that joins a list."""
MOST_PARTS = 4
"""So many sentences of a text are compared behind its first."""
_BETWEEN = re.compile(r"(?<=[.!?])\s+|,\s(?:and\s)?(?:so|hence|therefore)\s(?!that\b)")
_OPEN = stems("offers supports accepts covers allows includes targets")


def relation(newer: str, older: str) -> Relation | None:
    """Return what a statement does to an older one; None where both are about different things."""
    old = read(older)
    if old.is_question or old.is_report:
        return None
    for said in _sentences(newer):
        new = read(said)
        if new.words & old.words and (what := _compared(new, old)):
            return what
    return None


@lru_cache(maxsize=8192)
def _sentences(text: str) -> tuple[str, ...]:
    """Return a text, its later sentences and what it concludes: there, too, it may decide."""
    parts = [part for part in _BETWEEN.split(text[:TEXT_CHARS]) if part]
    return (text, *parts[1 : 1 + MOST_PARTS])


def _compared(new: Statement, old: Statement) -> Relation | None:
    if new.sequence == old.sequence or new.is_question or new.is_report or new.is_repetition:
        return None
    for rule, what in _RULES:
        if rule(new, old):
            return what
    if contrasts.adds_only(new, old) or contrasts.only_measures(new, old):
        return None
    return "supersedes" if any(rule(new, old) for rule in _CONTRASTS) else None


def joins_list(newer: str, older: str) -> bool:
    """Return True if a statement adds a name to a list that nothing but its names describes."""
    new, old = read(newer), read(older)
    is_joining = new.is_open and old.is_open and new.is_extension and not old.is_extension
    names_only = new.subject - _OPEN and len(new.subject - _OPEN) <= NAME_WORDS
    return bool(is_joining and names_only and old.subject <= old.listed)


def _answers_again(new: Statement, old: Statement) -> bool:
    """Return True if the same question is answered otherwise."""
    if not new.question or not old.question:
        return False
    shared = len(new.question & old.question)
    return shared >= 0.8 * max(len(new.question), len(old.question))


def _reverses_order(new: Statement, old: Statement) -> bool:
    """Return True if what came first comes second."""
    if not new.order or not old.order:
        return False
    (first, second), (was_first, was_second) = new.order, old.order
    crossed = min(len(first & was_second), len(second & was_first))
    straight = max(len(first & was_first), len(second & was_second))
    return crossed > 0 and crossed >= straight and len(new.words & old.words) > 1


def _exempts(new: Statement, old: Statement) -> bool:
    """Return True if a part of what a general statement covers is taken out of it."""
    if new.is_exception and old.is_universal and old.known <= new.known:
        return True
    shared = new.words & old.subject
    least = SAME if new.is_exception else NEARLY
    if len(shared) < least * len(old.subject) or len(shared) < 2:
        return False
    ours, theirs = _left(new, old)
    if new.is_exemption or (new.is_exception and not (ours and theirs)):
        return old.is_universal or new.is_universal
    permits = new.is_permission and not (new.is_negative and old.is_negative)
    contradicts = permits or _other_amount(new, old)
    return old.is_universal and bool(new.scope - old.words) and contradicts


def _narrows(new: Statement, old: Statement) -> bool:
    """Return True if some of what a statement is of has another amount or value."""
    is_part = old.reach == "all" and not new.reach and old.frame.topic < new.frame.topic
    if not is_part or new.frame.verb != old.frame.verb:
        return False
    is_same = not old.nouns - new.known and _other_amount(new, old)
    return is_same or contrasts.has_other_slot(new, old)


def _takes_back(new: Statement, old: Statement) -> bool:
    """Return True if what was demanded or forbidden is so no more."""
    shared = new.words & old.words
    is_over = new.allows_again and old.is_universal
    most = max(len(old.subject), len(new.words))
    return is_over and len(shared) > 1 and len(shared) >= NEARLY * most


def _opposes(new: Statement, old: Statement) -> bool:
    """Return True if what was demanded is forbidden, or what was forbidden demanded."""
    is_opposite = new.is_negative != old.is_negative and new.is_absolute and old.is_absolute
    return is_opposite and len(new.subject) > 1 and not any(_left(new, old))


def _replaces(new: Statement, old: Statement) -> bool:
    """Return True if it says to be over what the older one says."""
    named = new.replaced & old.words
    if not named or len(named) < SAME * len(new.replaced):
        return False
    if new.replaced - old.known and old.subject - new.known:
        return False
    if _takes_out(new, old) or (len(named) > 1 and _says_only(new, old, named)):
        return True
    ours, theirs = new.nouns - old.known, old.nouns - new.known
    ours -= new.choice[1] if new.choice else frozenset()
    is_about_same = not (theirs - new.replaced) or not ours
    if len(named) >= SAME * len(old.subject) and len(named) > 1:
        return is_about_same
    rest = (new.words & old.words) - new.replaced
    is_about_same |= len(rest) > 1 or _has_same_topic(new, old, is_strict=False)
    return bool(rest) and is_about_same


def _takes_out(new: Statement, old: Statement) -> bool:
    """Return True if what is over is one of those that the older statement lists."""
    if new.replaced <= old.words and new.is_open and old.is_open:
        return True
    if new.replaced <= old.words and new.replaced & old.listed and len(new.replaced) > 1:
        return True
    return new.replaced <= old.listed and not phrases.SWAPS.search(new.text)


def _says_only(new: Statement, old: Statement, named: Words) -> bool:
    """Return True if it says nothing but that what an older statement is about is over."""
    return old.frame.topic <= named and not new.subject - old.known


def _adds(new: Statement, old: Statement) -> bool:
    """Return True if something joins what the older one lists."""
    if not new.is_extension or old.is_extension or not (old.listed or old.is_open):
        return False
    is_listing = new.is_open or "add" in new.sequence or not old.is_open
    if old.frame.topic and not old.frame.topic & new.nouns:
        return False
    return (
        is_listing
        and bool(_shared(new, old) - _OPEN - old.listed)
        and 0 < len(new.subject - old.words - _OPEN) <= NAME_WORDS
    )


def _changes_amount(new: Statement, old: Statement) -> bool:
    """Return True if the same is measured otherwise."""
    ours, theirs = _left(new, old)
    least = 1 if new.is_change else max(len(new.subject), len(old.subject)) / 2
    is_same = len(_shared(new, old)) >= least and not (ours and theirs)
    is_near = len(_shared(new, old)) > 1 or bool(new.frame.topic & old.frame.topic)
    is_same &= (new.is_change and is_near) or contrasts.is_one_measure(new, old)
    is_same |= contrasts.is_same_measure(new, old)
    return is_same and _other_amount(new, old)


def _other_amount(new: Statement, old: Statement) -> bool:
    if not new.amounts or not old.amounts:
        return False
    units = {each.unit for each in new.amounts} & {each.unit for each in old.amounts}
    if new.is_change and {each.unit for each in (*new.amounts, *old.amounts)} == {"clock", "time"}:
        return True
    ours = {each.number for each in new.amounts if each.unit in units}
    theirs = {each.number for each in old.amounts if each.unit in units}
    return bool(units) and ours != theirs


def _changes_choice(new: Statement, old: Statement) -> bool:
    """Return True if it says to be a change of what was chosen for the same thing."""
    if not new.is_change or not new.choice or not old.choice or old.is_negative:
        return False
    if 2 * len(new.replaced & old.words) < len(new.replaced):
        return False
    if not contrasts.is_same_verb(new, old):
        return False
    is_other = not new.choice[1] <= old.choice[1] and bool(new.amounts) == bool(old.amounts)
    return is_other and _has_same_topic(new, old)


def _has_same_topic(new: Statement, old: Statement, *, is_strict: bool = True) -> bool:
    """Return True if both choose for one thing, of which either may say more."""
    if not new.choice or not old.choice:
        return False
    topic, was_about = new.choice[0], old.choice[0]
    ours, theirs = topic - old.words, was_about - new.words
    is_alike = len(topic & was_about) > (len(ours) + len(theirs)) * is_strict
    return is_alike and not (ours and theirs)


def _gives_up(new: Statement, old: Statement) -> bool:
    """Return True if its reason names what was chosen before for the same thing."""
    if not old.choice or not _has_same_topic(new, old):
        return False
    return 2 * len(old.choice[1] & (new.words - new.subject)) >= len(old.choice[1])


def _shared(new: Statement, old: Statement) -> Words:
    return new.subject & old.subject


def _left(new: Statement, old: Statement) -> tuple[Words, Words]:
    """Return what each of two subjects has for itself."""
    return new.subject - old.words, old.subject - new.words


_RULES: tuple[tuple[Callable[[Statement, Statement], bool], Relation], ...] = (
    (_answers_again, "supersedes"),
    (_exempts, "amends"),
    (_narrows, "amends"),
    (contrasts.permits, "supersedes"),
    (contrasts.lets_off, "amends"),
    (_reverses_order, "supersedes"),
    (_takes_back, "supersedes"),
    (_opposes, "supersedes"),
    (_replaces, "supersedes"),
    (_adds, "amends"),
)
_CONTRASTS = (
    _changes_amount,
    _changes_choice,
    _gives_up,
    contrasts.renames,
    contrasts.has_other_reach,
    contrasts.says_otherwise,
    contrasts.gives_reason,
    contrasts.has_other_pole,
    contrasts.turns,
)
"""Rules of which what says the same, and more, is no case."""
