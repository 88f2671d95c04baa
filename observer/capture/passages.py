"""Secrets told by what stands around them: headers, URLs, command lines.

Part of step 4 (redaction). A pattern spends a bounded number of characters on a place that turns
out to be harmless, and the search goes on behind its first character: hostile text costs linear
time and cannot hide a secret behind a false start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from observer.capture.secrets import Span, is_placeholder, is_random


class Passage(NamedTuple):
    """A class told by its surroundings: group `secret` is the span.

    `pattern` is tried wherever the lower-case `anchor` stands; `accept` has the last word; an
    accepted span grows by `more`, so that a bounded pattern never leaves the rest of a long secret.
    """

    name: str
    anchor: str
    pattern: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool]
    more: re.Pattern[str]


def _is_given(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"])


def _is_drawn(match: re.Match[str]) -> bool:
    value = match["secret"]
    return is_random(value, at_least=16) and not is_placeholder(value)


_MIXED = re.compile(r"\d|[a-z][A-Z]|[+/=]")


def _is_credential(match: re.Match[str]) -> bool:
    value = match["secret"]
    telling = len(value) >= 24 or (len(value) >= 6 and _MIXED.search(value) is not None)
    return telling and not is_placeholder(value)


def _is_for_curl(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 400) : match.start()]
    return "curl" in before and _is_given(match)


def _is_for_mysql(match: re.Match[str]) -> bool:
    return _is_given(match) and not _PORTS.fullmatch(match["secret"]) and _follows(match, _MYSQL)


def _is_in_sql(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 200) : match.start()]
    return _is_given(match) and _ACCOUNT.search(before.rpartition(";")[2]) is not None


def _follows(match: re.Match[str], program: re.Pattern[str]) -> bool:
    """Tell whether a program is named before the match, in the same command."""
    before = match.string[max(0, match.start() - 200) : match.start()]
    return program.search(_COMMAND_END.split(before)[-1]) is not None


_COMMAND_END = re.compile(r"(?<!\\)\r?\n|[;|&]")
_MYSQL = re.compile(r"\b(?:mysql(?:dump|admin|import)?|mariadb(?:-dump|-admin)?)(?:\s|\Z)")
_ACCOUNT = re.compile(r"(?i:\b(?:create|alter)\s+(?:user|role|login)|\bset\s+password)\s")
_PORTS = re.compile(r"[\d.]*:[\d.:]+(?:/(?:tcp|udp))?")
_NO_MORE = re.compile("")
_ARGUMENT = (
    r"(?P<quote>[\"'])?"
    r"(?P<secret>(?(quote)[^\"'\r\n]{1,1024}|(?!-)[^\s\"'`;|&<>()\\]{1,1024}))"
)
_WORD = re.compile(r"[^\s\"'`\\<>,;]*")


def _option(name: str, programs: str, *, is_joined: bool = False) -> Passage:
    """Return the class of what some programs are given behind an option, or joined to it."""
    program = re.compile(rf"\b(?:{programs})(?:\s|\Z)")
    gap = "" if is_joined else r"[ \t]{1,4}"
    return Passage(
        "password",
        name.lower(),
        re.compile(rf"{name}(?<=\s{name}){gap}{_ARGUMENT}"),
        lambda match: _is_given(match) and _follows(match, program),
        _NO_MORE,
    )


PASSAGES = (
    Passage(
        "authorization",
        "authorization",
        re.compile(
            r"(?i:authorization)\\{0,3}[\"'`]?\]?[ \t]{0,8}(?::=|=>|[:=,])[ \t]{0,8}"
            r"\\{0,3}[\"'`]?[ \t]{0,8}(?i:bearer|basic|token|negotiate|ntlm|apikey)[ \t]{1,8}"
            r"(?P<secret>[^\s\"'`\\<>,;]{1,256})"
        ),
        _is_credential,
        _WORD,
    ),
    Passage(
        "authorization",
        "authorization",
        re.compile(
            r"(?i:authorization)\\{0,3}[\"'`]?[ \t]{0,8}[:=][ \t]{0,8}[\"'`]?[ \t]{0,8}"
            r"(?i:digest|aws4-hmac-sha256|hawk|oauth)[ \t]{1,8}(?P<secret>[A-Za-z_-]{1,32}=)"
        ),
        _is_given,
        re.compile(r"(?:[^\r\n\"'`\\]|(?<==)\"[^\"\r\n]{0,512}\")*"),
    ),
    Passage(
        "authorization",
        "authorization",
        re.compile(
            r"(?i:authorization)\\{0,3}[\"'`]?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}[\"'`]?"
            r"(?P<secret>[^\s\"'`\\<>,;(){}$]{16,256})"
        ),
        _is_drawn,
        _WORD,
    ),
    Passage(
        "authorization",
        "bearer",
        re.compile(r"(?i:bearer)[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,256})"),
        _is_drawn,
        re.compile(r"[A-Za-z0-9._~+/=-]*"),
    ),
    Passage(
        "cookie",
        "cookie",
        re.compile(
            r"(?i:cookie)\\{0,3}[\"'`]?(?:[ \t]{0,8}:[ \t]{0,8}|(?<=--cookie)[ =])"
            r"\\{0,3}[\"'`]?[ \t]{0,8}(?P<secret>[\w!#$%&*+.^|~-]{1,128}=[^\s;\"'`\\]{4,256})"
        ),
        lambda match: not is_placeholder(match["secret"].partition("=")[2]),
        re.compile(r"[^\s;\"'`\\]*(?:;[ \t]{0,4}[^\s;\"'`\\]+)*"),
    ),
    Passage(
        "url-credentials",
        "://",
        re.compile(
            r"://[^\s/?#@:\"'<>`\\]{0,256}:(?P<secret>[^\s/\"'<>`\\]{1,256}(?=@)"
            r"|(?!\d{1,5}[/?#])(?:[^\s/\"'<>`\\]|/(?!/)){1,256}?(?=@))"
        ),
        _is_given,
        _NO_MORE,
    ),
    Passage(
        "url-credentials",
        "://",
        re.compile(r"://(?P<secret>[^\s/?#@:\"'<>`\\]{20,512})(?=@)"),
        _is_drawn,
        _NO_MORE,
    ),
    Passage(
        "webhook",
        "hooks.slack.com/",
        re.compile(
            r"(?i:hooks\.slack\.com)/(?:services|workflows|triggers)/(?P<secret>[\w+/-]{20,})"
        ),
        lambda match: True,  # noqa: ARG005 - the address alone tells
        _NO_MORE,
    ),
    Passage(
        "webhook",
        "/api/webhooks/",
        re.compile(r"/api/webhooks/\d{5,25}/(?P<secret>[\w-]{40,})"),
        lambda match: True,  # noqa: ARG005 - the address alone tells
        _NO_MORE,
    ),
    Passage(
        "password",
        "-u",
        re.compile(
            r"-u(?:(?:ser)?(?:[ \t]{1,4}|=)|(?<=\s-u)(?!ser))[\"']?"
            r"[^\s:\"'@/]{1,128}:(?P<secret>[^\s\"']{1,256})"
        ),
        _is_for_curl,
        re.compile(r"[^\s\"']*"),
    ),
    Passage("password", "-p", re.compile(rf"-p(?<=\s-p){_ARGUMENT}"), _is_for_mysql, _NO_MORE),
    _option("-p", r"(?:docker|podman|nerdctl|buildah|skopeo|oras|helm registry|az|az acr) login"),
    _option("-p", "mongo(?:sh|dump|restore|export|import)?"),
    _option("-p", "7z[az]?", is_joined=True),
    _option("-P", "sqlcmd|bcp|zip|unzip"),
    _option("-a", "redis-cli|valkey-cli"),
    _option("-w", "ldap(?:search|add|modify|delete|whoami|passwd)"),
    _option("-storepass", "keytool|jarsigner"),
    _option("-keypass", "keytool|jarsigner"),
    _option("pass:", "openssl", is_joined=True),
    Passage(
        "password",
        "password",
        re.compile(r"(?i:password)(?:\s{1,4}|\s{0,4}\(\s{0,4})'(?P<secret>[^'\r\n]{1,256})'"),
        _is_in_sql,
        _NO_MORE,
    ),
    Passage(
        "password",
        "identified",
        re.compile(
            r"(?i:identified)\s{1,4}(?i:with\s{1,4}\S{1,64}\s{1,4})?(?i:by)\s{1,4}"
            r"(?i:password\s{1,4})?(?P<quote>[\"'])(?P<secret>[^\"'\r\n]{1,256})(?P=quote)"
        ),
        _is_given,
        _NO_MORE,
    ),
    Passage(
        "password",
        "curl ",
        re.compile(
            r"(?i:curl)[ \t][^\r\n;|]{0,200}?(?<=\s)-[A-Za-z]{1,8}u[ \t]{1,4}[\"']?"
            r"[^\s:\"'@/-][^\s:\"'@/]{0,127}:(?P<secret>[^\s\"']{1,256})"
        ),
        _is_given,
        re.compile(r"[^\s\"']*"),
    ),
    Passage(
        "password",
        "sshpass",
        re.compile(r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?(?P<secret>[^\s\"']{1,256})"),
        _is_given,
        re.compile(r"[^\s\"']*"),
    ),
)


_BY_ANCHOR = {
    anchor: tuple(passage for passage in PASSAGES if passage.anchor == anchor)
    for anchor in dict.fromkeys(passage.anchor for passage in PASSAGES)
}


def passages(text: str, low: str) -> Iterator[Span]:
    """Yield the spans that their surroundings give away.

    `low` is the text in lower case, at equal offsets.
    """
    for anchor in filter(low.__contains__, _BY_ANCHOR):
        group = _BY_ANCHOR[anchor]
        at = low.find(anchor)
        while at >= 0:
            end = at + 1
            for passage in group:
                if span := _span_at(passage, text, at):
                    end = max(end, span.end)
                    yield span
            at = low.find(anchor, end)


def _span_at(passage: Passage, text: str, at: int) -> Span | None:
    match = passage.pattern.match(text, at)
    if match is None or not passage.accept(match):
        return None
    start, end = match.span("secret")
    more = passage.more.match(text, end)
    return Span(start, more.end() if more else end, passage.name)
