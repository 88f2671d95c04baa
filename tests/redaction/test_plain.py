"""A secret is found in whatever its text is written, and the bytes that hold it go."""

from __future__ import annotations

import base64
import html
import json
import quopri
from collections.abc import Callable
from urllib.parse import quote

import pytest

from observer.redaction.redact import redact_text

DRAWN = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"
TEXT = f'{{"user": "ana", "db_password": "{DRAWN}", "port": 5432}}'

WRITTEN: dict[str, Callable[[str], str]] = {
    "json": json.dumps,
    "json-in-json": lambda text: json.dumps(json.dumps(text)),
    "unicode-escapes": lambda text: text.replace('"', "\\u0022").replace(":", "\\u003a"),
    "hexadecimal-escapes": lambda text: text.replace('"', "\\x22"),
    "octal-escapes": lambda text: text.replace('"', "\\042"),
    "url": lambda text: quote(text, safe=""),
    "url-twice": lambda text: quote(quote(text, safe=""), safe=""),
    "html": lambda text: html.escape(text).replace(":", "&#x3a;"),
    "quoted-printable": lambda text: quopri.encodestring(text.encode(), quotetabs=True).decode(),
    "base64": lambda text: "data " + base64.b64encode(text.encode()).decode(),
    "base64-url": lambda text: "state=" + base64.urlsafe_b64encode(text.encode()).decode(),
    "base32": lambda text: "data " + base64.b32encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal-of-sql": lambda text: f"'\\x{text.encode().hex()}'",
    "numbers": lambda text: str(list(text.encode())),
    "calls": lambda text: " + ".join(f"chr({ord(sign)})" for sign in text),
    "coloured": lambda text: text.replace('"', '\x1b[0;32m"').replace(":", "\x1b[0m:\x1b[1m"),
    "escaped-colours": lambda text: text.replace('"', "\\x1b[32m'").replace(":", "\\u001b[0m:"),
    "titled": lambda text: f'\x1b]0;the \\"shop\\"\x07 {text}',
    "zero-width": lambda text: text.replace("db_pass", "db_\u200bpa\u200dss"),
    "soft-hyphen-in-value": lambda text: text.replace(DRAWN, DRAWN[:9] + "\u00ad" + DRAWN[9:]),
    "continued-line": lambda text: text.replace(DRAWN, f"{DRAWN[:9]}\\\n{DRAWN[9:]}"),
    "shell-escapes": lambda text: text.replace("db_password", r"db\-password"),
    "joined-strings": lambda text: text.replace(DRAWN, f'{DRAWN[:9]}" +\n    "{DRAWN[9:]}'),
}


@pytest.mark.parametrize("write", [pytest.param(way, id=key) for key, way in WRITTEN.items()])
def test_a_secret_is_found_however_its_text_is_written(write: Callable[[str], str]) -> None:
    cleaned = redact_text(write(TEXT))
    assert "[redacted:" in cleaned
    assert not any(piece in cleaned for piece in (write(DRAWN[9:]).strip('"\\'), DRAWN[9:]))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\x1b[32mok\x1b[0m 3 passed in 0.12s", id="coloured"),
        pytest.param('print("a" + "b", "c\\n", f"{x}\\"")', id="code"),
        pytest.param("GET /a%20b?x=%7B%22page%22%3A1%7D", id="url"),
        pytest.param(base64.b64encode(b"a sentence of plain words, no more").decode(), id="base64"),
        pytest.param("[104, 101, 108, 108, 111, 32, 119, 111, 114, 108, 100]", id="numbers"),
    ],
)
def test_what_holds_no_secret_stays_as_it_is_written(text: str) -> None:
    assert redact_text(text) == text


def test_what_stands_around_an_escaped_secret_stays() -> None:
    numbers = ", ".join(map(str, b"otter-maple-comet-ember"))
    cleaned = redact_text(f"password = bytes([{numbers}])")
    assert cleaned == "password = bytes([[redacted:password]])"
    secret = f"db_password%3D{DRAWN}"
    cleaned = redact_text(f"GET /x?q={secret}%26page%3D2 done")
    assert cleaned == "GET /x?q=db_password%3D[redacted:password]%26page%3D2 done"
    cleaned = redact_text(f"%20 {'plain words ' * 90}{secret} {'plain words ' * 90} %20")
    assert DRAWN not in cleaned
    assert cleaned.count("plain words") == 180
