"""Patterns of secrets that their context gives away, and the table of webhook addresses.

Part of step 4 (redaction). Whoever knows a webhook address may post to it; its unguessable part is
the secret.

Source: the services' documentation of incoming webhooks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from observer.redaction.lazy_pattern import lazy
from observer.redaction.secrets import LOWER_UUID, is_generated_whole, is_placeholder, is_random


class ContextPattern(NamedTuple):
    """A class of secrets recognized by context; the group `secret` is the span.

    `pattern` is matched wherever the lower-case `anchor` occurs, then `accept` decides; an accepted
    span is extended by `tail`, so that a bounded pattern never leaves the rest of a long secret.
    """

    name: str
    anchor: str
    pattern: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool]
    tail: re.Pattern[str]


def is_literal(match: re.Match[str]) -> bool:
    """Return True unless the value is a placeholder."""
    return not is_placeholder(match["secret"])


def is_generated(match: re.Match[str]) -> bool:
    """Return True if the value looks machine-generated and is not a placeholder."""
    value = match["secret"]
    return is_random(value, at_least=16) and not is_placeholder(value)


NO_TAIL = lazy("")


def _always(_match: re.Match[str]) -> bool:
    """Return True: the address alone identifies the secret."""
    return True


def _is_generated(match: re.Match[str]) -> bool:
    return is_generated_whole(match["secret"])


WEBHOOK_PATTERNS = tuple(
    ContextPattern("webhook", anchor, lazy(f"(?i:{re.escape(anchor)}){pattern}"), accept, NO_TAIL)
    for anchor, pattern, accept in (
        ("hooks.slack.com/", r"(?:services|workflows|triggers)/(?P<secret>[\w+/-]{20,})", _always),
        ("/api/webhooks/", r"\d{5,25}/(?P<secret>[\w-]{40,})", _always),
        (
            "webhook.office.com/",
            r"webhookb2/[\w@-]{36,160}/IncomingWebhook/(?P<secret>[\w/-]{20,})",
            _always,
        ),
        ("hooks.zapier.com/", r"hooks/catch/\d{3,12}/(?P<secret>[\w/]{6,})", _always),
        ("hook.", r"(?:\w{1,8}\.)?(?:make|integromat)\.com/(?P<secret>[\w-]{20,})", _always),
        ("/hooks/", r"(?:[0-9a-f]{24}/)?(?P<secret>[A-Za-z0-9]{17,64})(?![\w.-])", _is_generated),
        ("/bot/v2/hook/", rf"(?P<secret>{LOWER_UUID})", _always),
        ("webhook/send?key=", rf"(?P<secret>{LOWER_UUID})", _always),
        (
            "maker.ifttt.com/",
            r"(?:trigger|use)/(?:[\w-]{1,64}/(?:json/)?with/key/)?(?P<secret>[\w-]{20,})",
            _always,
        ),
        ("hc-ping.com/", rf"(?P<secret>{LOWER_UUID})", _always),
    )
)
