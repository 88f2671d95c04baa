"""The open steps of a session: what an agent said is still to do, until it is done.

A step stays open until a reply, commit or to-do list says that it is done, until the person asked
for it and work followed, or until a newer plan replaces it. Other prompts do not close it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from observer.core.text import word_set
from observer.core.value import Value

MOST = 8
"""Most steps that a session keeps; the oldest are dropped."""
SHARE = 0.6
"""Share of a step's words that a text must contain to be about the step."""

_WORD = re.compile(r"[^\W_]{3,}")
_STOP_WORDS = word_set(
    """
    the and for with that this these those are was were has have had not yet todo next step steps
    still open remaining remains left done follow ups deferred need needs needed missing also should
    would could will can may might must now later soon add adds added make makes made into from them
    its it's our your out scope what which when then some any all more other und der die das les des
    los las pending future work one thing things carry plan
    """
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ied", "ies", "ed", "es", "s", "e", "y")


class OpenStep(Value):
    """A step still to do; `is_asked` for by the person, `is_worked` on since."""

    text: str
    is_asked: bool = False
    is_worked: bool = False


def stated(
    steps: tuple[OpenStep, ...], texts: Iterable[str], *, is_whole: bool
) -> tuple[OpenStep, ...]:
    """Return the steps after a reply named some.

    Args:
        steps: those open before it.
        texts: what it names.
        is_whole: it lists all that is left, so that other steps are no longer open.
    """
    new = tuple(OpenStep(text=text) for text in texts)
    kept = [] if is_whole else [one for one in steps if not _is_among(one, new)]
    return tuple({one.text: one for one in (*kept, *new)}.values())[-MOST:]


def asked(steps: tuple[OpenStep, ...], prompt: str, *, is_consent: bool) -> tuple[OpenStep, ...]:
    """Return the steps after a prompt: those that it asks for are marked; all if it agrees."""
    return tuple(
        replace(one, is_asked=True) if is_consent or is_about(one.text, prompt) else one
        for one in steps
    )


def worked(steps: tuple[OpenStep, ...]) -> tuple[OpenStep, ...]:
    """Return the steps after a file was changed: work on those that were asked for has begun."""
    if not any(one.is_asked and not one.is_worked for one in steps):
        return steps
    return tuple(replace(one, is_worked=True) if one.is_asked else one for one in steps)


def ended(steps: tuple[OpenStep, ...]) -> tuple[OpenStep, ...]:
    """Return the steps after a turn: what was worked on is done, unless the reply names it."""
    return tuple(one for one in steps if not one.is_worked)


def without_done(steps: tuple[OpenStep, ...], done: Iterable[str]) -> tuple[OpenStep, ...]:
    """Return the steps without those that a text reports as done."""
    texts = tuple(done)
    return tuple(one for one in steps if not any(is_about(one.text, text) for text in texts))


def is_about(step: str, text: str) -> bool:
    """Return True if a text holds most words of a step."""
    wanted = _stems(step)
    if not wanted:
        return False
    shared = len(wanted & _stems(text))
    return shared >= SHARE * len(wanted) and shared >= min(2, len(wanted))


def _is_among(step: OpenStep, others: Iterable[OpenStep]) -> bool:
    return any(is_about(step.text, one.text) or is_about(one.text, step.text) for one in others)


@lru_cache(maxsize=4096)  # each step is held against the same titles and replies again and again
def _stems(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS)
    return frozenset(map(_stem, words))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
