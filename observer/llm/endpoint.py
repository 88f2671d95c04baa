"""The endpoint of the language model, and its key, which is no setting: none can print it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from observer.core.config import Settings
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home, open_plain

_PATH = "/chat/completions"
_MOST_KEY_BYTES = 16_384


class Endpoint(NamedTuple):
    """An address to post to, and the model to name there; `repr` leaves the key out."""

    url: str
    model: str
    key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint({self.shown!r}, {self.model!r})"

    @property
    def shown(self) -> str:
        """The address without what may be secret in it."""
        return urlsplit(self.url)._replace(query="").geturl().removesuffix(_PATH)


def endpoint(settings: Settings, home: Home, environ: Mapping[str, str] = os.environ) -> Endpoint:
    """Return the endpoint that the settings name; raise ConfigInvalid if they are unfit."""
    if not settings.llm_url:
        raise ConfigInvalid(
            "no language model is configured",
            hint="run: observer config set llm_url URL, observer config set llm_model NAME",
        )
    if not settings.llm_model:
        raise ConfigInvalid(
            "llm_url is set and llm_model is not", hint="run: observer config set llm_model NAME"
        )
    key = environ.get(settings.llm_key_env, "") if settings.llm_key_env else ""
    key = (key or _key_in_file(home)).strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigInvalid("the language model's key is not one line of ASCII text")
    return Endpoint(url=address(settings.llm_url), model=settings.llm_model, key=key)


def address(given: str) -> str:
    """Return where a base URL has its completions; raise ConfigInvalid for none or a login."""
    hint = "give the base URL of the API, such as http://127.0.0.1:11434/v1"
    try:
        parts = urlsplit(given)
        named = parts.hostname and (parts.port or True)
    except ValueError as error:
        raise ConfigInvalid(f"llm_url is not a URL: {error}", hint=hint) from error
    if parts.scheme not in {"http", "https"} or not named or not given.isprintable():
        raise ConfigInvalid("llm_url is not an http or https URL", hint=hint)
    if "@" in parts.netloc:
        raise ConfigInvalid(
            "llm_url holds a name or password", hint="keep the key apart: see llm_key_env"
        )
    path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
    return parts._replace(path=path, fragment="").geturl()


def _key_in_file(home: Home) -> str:
    try:
        with os.fdopen(open_plain(home.llm_key, os.O_RDONLY), "rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise ConfigInvalid(
                    f"{home.llm_key} is open to others", hint=f"run: chmod 600 {home.llm_key}"
                )
            return file.read(_MOST_KEY_BYTES).decode("ascii", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigInvalid(f"{home.llm_key} cannot be read: {error.strerror}") from error
