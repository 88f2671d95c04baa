"""Who may look at the pages: a link that opens once, a cookie for a day, a token on each change.

Cookies are signed with a key in the home: they outlive a daemon, and no other port makes one.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from observer.core.errors import ObserverError
from observer.core.paths import make_private, read_plain
from observer.core.value import Value, decode_json

COOKIE_MS = 24 * 3_600_000
TRIES, TRIES_MS = 10, 60_000
"""Wrong links within that time, from which on none is looked at."""
KEY_BYTES = 32


class WebState(Value):
    """What the home keeps: the port of the pages, the key of cookies, until when one may hold."""

    port: int = 0
    key: str = ""
    until_ms: int = 0


class TooManyTries(ObserverError):
    """Somebody guesses links."""

    code = "too-many"


class Access:
    """The logins of one home, kept in a file as `WebState`, mode 0600; for one thread."""

    def __init__(self, file: Path, now_ms: Callable[[], int]) -> None:
        self._file = file
        self._now_ms = now_ms
        self._links: dict[str, int] = {}
        self._tries: list[int] = []
        self.state = _read(file)
        if not self.state.key:
            self.logout()

    @property
    def is_open(self) -> bool:
        """Whether somebody may have a cookie that still holds."""
        return self.state.until_ms > self._now_ms()

    @property
    def port(self) -> int:
        """The port of before, 0 for none."""
        return self.state.port

    def keep_port(self, port: int) -> None:
        """Note the port, so that the addresses of pages stay what they are."""
        if port != self.state.port:
            self._keep(replace(self.state, port=port))

    def link(self, seconds: int) -> str:
        """Return a word that logs in once, within so many seconds."""
        now = self._now_ms()
        self._links = {one: until for one, until in self._links.items() if until > now}
        word = secrets.token_urlsafe(32)
        self._links[_digest(word)] = now + seconds * 1000
        return word

    def login(self, word: str) -> str:
        """Return a cookie for a link's word, used up then; "" if wrong. Raises TooManyTries."""
        now = self._now_ms()
        self._tries = [at for at in self._tries if at > now - TRIES_MS]
        if len(self._tries) >= TRIES:
            raise TooManyTries("too many links were wrong", hint="wait a minute, and try again")
        if self._links.pop(_digest(word), 0) <= now:
            self._tries.append(now)
            return ""
        until_ms = now + COOKIE_MS
        self._keep(replace(self.state, until_ms=until_ms))
        said = f"{until_ms}.{secrets.token_urlsafe(16)}"
        return f"{said}.{self._signed('cookie', said)}"

    def holds(self, cookie: str) -> bool:
        """Return True for a cookie that was given here, and neither is too old nor logged out."""
        said, _, signed = cookie.rpartition(".")
        until = said.partition(".")[0]
        is_ours = hmac.compare_digest(self._signed("cookie", said).encode(), signed.encode())
        return is_ours and int(until) > self._now_ms()

    def token(self, cookie: str) -> str:
        """Return what each change of whoever has a cookie has to come with."""
        return self._signed("change", cookie)

    def logout(self) -> None:
        """Let no link and no cookie that was given hold any more."""
        self._links.clear()
        self._keep(WebState(port=self.state.port, key=secrets.token_hex(KEY_BYTES)))

    def _signed(self, purpose: str, text: str) -> str:
        key = bytes.fromhex(self.state.key)
        return hmac.new(key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()

    def _keep(self, state: WebState) -> None:
        self.state = state
        make_private(self._file.parent)
        fresh = self._file.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(state))
        fresh.replace(self._file)


def _digest(word: str) -> str:
    return hashlib.sha256(word.encode("utf-8", "replace")).hexdigest()


def _read(file: Path) -> WebState:
    """Return what is kept, or nothing: of a file that cannot be read another is made."""
    try:
        found = decode_json(read_plain(file), WebState)
        return found if len(bytes.fromhex(found.key)) == KEY_BYTES else WebState()
    except (OSError, ValueError):
        return WebState()
