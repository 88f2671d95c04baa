"""Texts with a secret in them: what guillemets in the texts of kinds stand for.

`«s»` is the secret, `«v»` one that can stand without quotes, `«w»` what stands before it in a URL;
`«name»`, `«NAME»`, `«camel»`, `«Pascal»`, `«kebab»`, `«dotted»`, `«words»` its name, `«hex:40»` and
the like what is drawn and no secret, `«esc»` and others characters that are not seen. `«b64(»…«)»`
and others rewrite what stands between, and may be nested.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import quopri
import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from leaks.drawing import Alphabet, draw, value
from leaks.kinds import Kind

_BEGIN, _END = "\ue000", "\ue001"
_INNERMOST = re.compile(r"«(\w+)\(»([^«»]*)«\)»", re.DOTALL)
_SIMPLE = re.compile(r"«([^«»()]+)»")
_MARKED = re.compile(f"{_BEGIN}([^{_BEGIN}{_END}]*){_END}", re.DOTALL)
_MILD = "«v»"
_CHARACTERS = {
    "esc": "\x1b",
    "bel": "\a",
    "cr": "\r",
    "tab": "\t",
    "nul": "\0",
    "zwsp": "\u200b",
    "zwj": "\u200d",
    "bom": "\ufeff",
    "shy": "\u00ad",
    "nbsp": "\u00a0",
    "lrm": "\u200e",
    "wj": "\u2060",
}
_PREFIXES = [
    "db",
    "smtp",
    "billing",
    "admin",
    "staging",
    "backup",
    "ldap",
    "mail",
    "shop",
    "proxy",
    "worker",
]
_SECRETS = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "auth_token",
    "client_secret",
    "access_token",
    "private_key",
    "secret_key",
    "credential",
    "passphrase",
    "access_key",
    "refresh_token",
    "signing_secret",
]


class Rendered(NamedTuple):
    """A secret, the events' texts that it stands in, and how it is written in them."""

    secret: str
    texts: tuple[tuple[str, str], ...]
    """The route that the text asks for, or nothing, and the text."""
    forms: frozenset[str]


def render(kind: Kind, text: str, alphabet: Alphabet, seed: str) -> Rendered:
    """Return a text of a kind with a secret drawn for it."""
    secret = (
        draw(kind.template, seed) if kind.template else value(alphabet, seed, is_mild=_MILD in text)
    )
    known = {**_names(kind.label or _label(seed)), **_CHARACTERS, "w": draw(kind.start, seed)}
    known["s"] = known["v"] = f"{_BEGIN}{secret}{_END}"
    known["user"] = draw("<word>", f"{seed}|user")

    def simple(found: re.Match[str]) -> str:
        if (stands := known.get(found[1])) is not None:
            return stands
        return draw(f"<{found[1]}>", f"{seed}|{found.start()}")

    filled = _SIMPLE.sub(simple, text)
    while found := _INNERMOST.search(filled):
        filled = filled[: found.start()] + _rewrite(found[1], found[2]) + filled[found.end() :]
    forms = frozenset({secret, *(found[1] for found in _MARKED.finditer(filled))})
    plain = filled.replace(_BEGIN, "").replace(_END, "")
    return Rendered(secret, tuple(_events(plain)), forms)


def _events(text: str) -> list[tuple[str, str]]:
    first, *rest = re.split(r"\n~~ ?([a-z ]*)\n", text)
    return [("", first), *zip(rest[::2], rest[1::2], strict=True)]


def _label(seed: str) -> str:
    digest = hashlib.sha256(f"label|{seed}".encode()).digest()
    return f"{_PREFIXES[digest[0] % len(_PREFIXES)]}_{_SECRETS[digest[1] % len(_SECRETS)]}"


def _names(label: str) -> dict[str, str]:
    words = label.split("_")
    camel = words[0] + "".join(map(str.title, words[1:]))
    return {
        "name": label,
        "NAME": label.upper(),
        "camel": camel,
        "Pascal": camel[:1].upper() + camel[1:],
        "kebab": "-".join(words),
        "dotted": ".".join(("app", *words)),
        "words": " ".join(words),
    }


def _rewrite(name: str, text: str) -> str:
    """Return a text rewritten, with the secret's marks around what became of the secret."""
    if name in _WHOLE:
        return _WHOLE[name](text)
    if name in _BYTEWISE:
        return re.sub(f"[^{_BEGIN}{_END}]+", lambda found: _BYTEWISE[name](found[0]), text)
    return _in_groups(text, _GROUPED[name])


def _in_groups(text: str, encode: Callable[[bytes], bytes]) -> str:
    """Return an encoding by groups of bytes, such as base64."""
    plain = text.replace(_BEGIN, "").replace(_END, "").encode()
    encoded = encode(plain).decode()
    per_byte = len(encode(b"\0" * 15)) / 15
    for found in reversed(list(_MARKED.finditer(text))):
        before = text[: found.start()].replace(_BEGIN, "").replace(_END, "").encode()
        start = -int(-len(before) * per_byte // 1)
        end = int((len(before) + len(found[1].encode())) * per_byte)
        encoded = f"{encoded[:start]}{_BEGIN}{encoded[start:end]}{_END}{encoded[end:]}"
    return encoded


def _each(form: Callable[[int], str]) -> Callable[[str], str]:
    return lambda text: "".join(form(byte) for byte in text.encode())


def _folded(width: int, joint: str) -> Callable[[str], str]:
    """Return what breaks a secret after so many characters; its parts are marked apart."""

    def fold(text: str) -> str:
        def broken(found: re.Match[str]) -> str:
            parts = [found[1][at : at + width] for at in range(0, len(found[1]), width)]
            return joint.join(f"{_BEGIN}{part}{_END}" for part in parts)

        return _MARKED.sub(broken, text)

    return fold


def _halved(joint: str) -> Callable[[str], str]:
    def halve(text: str) -> str:
        def broken(found: re.Match[str]) -> str:
            middle = len(found[1]) // 2
            parts = (found[1][:middle], found[1][middle:])
            return joint.join(f"{_BEGIN}{part}{_END}" for part in parts)

        return _MARKED.sub(broken, text)

    return halve


def _wrapped(text: str) -> str:
    """Return lines of at most 76 characters; marks are none."""
    lines, width = [""], 0
    for character in text:
        if width == 76:
            lines.append("")
            width = 0
        lines[-1] += character
        width += character not in {_BEGIN, _END}
    return "\n".join(lines)


_WHOLE: dict[str, Callable[[str], str]] = {
    "indent": lambda text: textwrap.indent(text, "    "),
    "plus": lambda text: textwrap.indent(text, "+", lambda _: True),
    "minus": lambda text: textwrap.indent(text, "-", lambda _: True),
    "quoted": lambda text: textwrap.indent(text, "> ", lambda _: True),
    "numbered": lambda text: "\n".join(
        f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), start=1)
    ),
    "wrap": _wrapped,
    "lines": _folded(20, "\n"),
    "concat": _halved('" + "'),
    "continued": _halved("\\\n"),
    "adjacent": _halved('"\n    "'),
    "zwsp_in": _halved("\u200b"),
    "coloured": _halved("\x1b[0m\x1b[33m"),
    "oneline": lambda text: text.replace("\n", "\\n"),
}
_BYTEWISE: dict[str, Callable[[str], str]] = {
    "url": lambda text: quote(text, safe=""),
    "urlall": _each(lambda byte: f"%{byte:02X}"),
    "json": lambda text: json.dumps(text)[1:-1],
    "jsontwice": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "jsonslash": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "unicode": lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
    "hexescape": _each(lambda byte: f"\\x{byte:02x}"),
    "octal": _each(lambda byte: f"\\{byte:03o}"),
    "html": html.escape,
    "htmlall": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "htmlhex": lambda text: "".join(f"&#x{ord(character):x};" for character in text),
    "qp": lambda text: quopri.encodestring(text.encode(), quotetabs=False).decode().rstrip("\n"),
    "hexbytes": _each(lambda byte: f"{byte:02x}"),
    "spacedhex": _each(lambda byte: f"{byte:02x} "),
    "decimals": _each(lambda byte: f"{byte}, "),
    "shell": lambda text: re.sub(r"([^\w])", r"\\\1", text),
    "upper": str.upper,
}
_GROUPED: dict[str, Callable[[bytes], bytes]] = {
    "b64": base64.b64encode,
    "b64url": base64.urlsafe_b64encode,
    "b32": base64.b32encode,
    "utf16b64": lambda text: base64.b64encode(text.decode().encode("utf-16-le")),
}
