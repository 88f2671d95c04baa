"""A secret that the text around it gives away, and how it is told.

Part of step 4 (redaction), shared by the tables of such secrets.

Addresses that anybody who knows them may post to: the part that nobody can guess.

Part of step 4 (redaction), a table of `passages`.

Source: the services' documentation of incoming webhooks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from observer.redaction.secrets import LOWER_UUID, is_generated_whole, is_placeholder, is_random


class ContextPattern(NamedTuple):
    """A class told by its surroundings: group `secret` is the span.

    `pattern` is tried wherever the lower-case `anchor` stands; `accept` has the last word; an
    accepted span grows by `more`, so that a bounded pattern never leaves the rest of a long secret.
    """

    name: str
    anchor: str
    pattern: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool]
    more: re.Pattern[str]


def is_literal(match: re.Match[str]) -> bool:
    """Tell whether it is no variable, dummy or name."""
    return not is_placeholder(match["secret"])


def is_generated(match: re.Match[str]) -> bool:
    """Tell whether a machine seems to have drawn it."""
    value = match["secret"]
    return is_random(value, at_least=16) and not is_placeholder(value)


NO_TAIL = re.compile("")


def _tells(_match: re.Match[str]) -> bool:
    """Return True: the address alone tells."""
    return True


def _is_drawn(match: re.Match[str]) -> bool:
    return is_generated_whole(match["secret"])


WEBHOOK_PATTERNS = tuple(
    ContextPattern(
        "webhook", anchor, re.compile(f"(?i:{re.escape(anchor)}){pattern}"), accept, NO_TAIL
    )
    for anchor, pattern, accept in (
        ("hooks.slack.com/", r"(?:services|workflows|triggers)/(?P<secret>[\w+/-]{20,})", _tells),
        ("/api/webhooks/", r"\d{5,25}/(?P<secret>[\w-]{40,})", _tells),
        (
            "webhook.office.com/",
            r"webhookb2/[\w@-]{36,160}/IncomingWebhook/(?P<secret>[\w/-]{20,})",
            _tells,
        ),
        ("hooks.zapier.com/", r"hooks/catch/\d{3,12}/(?P<secret>[\w/]{6,})", _tells),
        ("hook.", r"(?:\w{1,8}\.)?(?:make|integromat)\.com/(?P<secret>[\w-]{20,})", _tells),
        ("/hooks/", r"(?:[0-9a-f]{24}/)?(?P<secret>[A-Za-z0-9]{17,64})(?![\w.-])", _is_drawn),
        ("/bot/v2/hook/", rf"(?P<secret>{LOWER_UUID})", _tells),
        ("webhook/send?key=", rf"(?P<secret>{LOWER_UUID})", _tells),
        (
            "maker.ifttt.com/",
            r"(?:trigger|use)/(?:[\w-]{1,64}/(?:json/)?with/key/)?(?P<secret>[\w-]{20,})",
            _tells,
        ),
        ("hc-ping.com/", rf"(?P<secret>{LOWER_UUID})", _tells),
    )
)
