"""Addresses that anybody who knows them may post to: the part that nobody can guess.

Part of step 4 (redaction), a table of `passages`.

Source: the services' documentation of incoming webhooks.
"""

from __future__ import annotations

import re

from observer.capture.passage import NO_MORE, Passage
from observer.capture.secrets import LOWER_UUID, is_one_draw


def _tells(_match: re.Match[str]) -> bool:
    """Return True: the address alone tells."""
    return True


def _is_drawn(match: re.Match[str]) -> bool:
    return is_one_draw(match["secret"])


WEBHOOKS = tuple(
    Passage("webhook", anchor, re.compile(f"(?i:{re.escape(anchor)}){pattern}"), accept, NO_MORE)
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
