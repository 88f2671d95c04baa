"""Where the model is and the key to it: read from settings, refused where unsafe, never shown."""

from __future__ import annotations

import pytest

from observer.core.config import Settings
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home
from observer.llm.endpoint import Endpoint, endpoint
from observer.local import client

KEY = "sk-" + "t3stk3y" * 4


def settings(url: str = "http://127.0.0.1:11434/v1", **given: str) -> Settings:
    return Settings(llm_url=url, **{"llm_model": "tiny"} | given)  # type: ignore[arg-type]  # text settings


def write_key(home: Home, text: str, *, mode: int = 0o600) -> None:
    home.root.mkdir(parents=True)
    home.llm_key.write_text(text)
    home.llm_key.chmod(mode)


@pytest.mark.parametrize(
    ("url", "posted"),
    [
        ("http://h:1/v1", "http://h:1/v1/chat/completions"),
        ("http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("https://h", "https://h/chat/completions"),
        ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
        ("https://h/d/gpt?api-version=1", "https://h/d/gpt/chat/completions?api-version=1"),
        ("http://[::1]:8080/v1#x", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_the_base_of_the_api_is_enough(home: Home, url: str, posted: str) -> None:
    assert endpoint(settings(url), home, {}).url == posted


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        pytest.param("", "no language model is configured", id="empty"),
        pytest.param("localhost:11434", "not an http or https URL", id="no scheme"),
        pytest.param("ftp://h/v1", "not an http or https URL", id="ftp"),
        pytest.param("file:///etc/passwd", "not an http or https URL", id="file"),
        pytest.param("http:///v1", "not an http or https URL", id="no host"),
        pytest.param("http://h:x/v1", "llm_url is not a URL", id="port"),
        pytest.param("http://h\x00/v1", "not an http or https URL", id="NUL"),
        pytest.param("http://me:" + "pw" + "@h/v1", "holds a name or password", id="password"),
    ],
)
def test_what_is_no_address_is_refused(home: Home, url: str, complaint: str) -> None:
    with pytest.raises(ConfigInvalid, match=complaint):
        endpoint(settings(url), home, {})


def test_a_model_must_be_named(home: Home) -> None:
    with pytest.raises(ConfigInvalid, match="llm_model is not"):
        endpoint(settings(llm_model=""), home, {})


def test_the_key_is_in_the_variable_that_is_named(home: Home) -> None:
    assert endpoint(settings(llm_key_env="MY_KEY"), home, {"MY_KEY": KEY}).key == KEY


def test_or_in_a_file_of_the_home(home: Home) -> None:
    write_key(home, f"{KEY}\n")
    assert endpoint(settings(llm_key_env="MY_KEY"), home, {}).key == KEY


def test_or_nowhere(home: Home) -> None:
    assert endpoint(settings(), home, {"OPENAI_API_KEY": KEY}).key == ""


def test_a_file_that_others_can_read_is_refused(home: Home) -> None:
    write_key(home, KEY, mode=0o640)
    with pytest.raises(ConfigInvalid, match="is open to others"):
        endpoint(settings(), home, {})


def test_a_key_that_cannot_be_read_is_shown(home: Home) -> None:
    home.llm_key.mkdir(parents=True)
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        endpoint(settings(), home, {})


@pytest.mark.parametrize("key", ["a\nb", "schlüssel", "a\x00b"])
def test_what_no_header_can_hold_is_refused_unseen(home: Home, key: str) -> None:
    with pytest.raises(ConfigInvalid) as raised:
        endpoint(settings(llm_key_env="K"), home, {"K": key})
    assert key not in str(raised.value)


def test_neither_key_nor_query_is_shown() -> None:
    made = Endpoint("https://h/v1/chat/completions?key=abc", "tiny", KEY)
    assert repr(made) == "Endpoint('https://h/v1', 'tiny')"


@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_daemon_inherits_the_key_and_no_other(
    home: Home, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    if where == "file":
        home.root.mkdir(parents=True)
        home.config.write_text('llm_key_env = "MY_KEY"\n')
    else:
        monkeypatch.setenv("OBSERVER_LLM_KEY_ENV", "MY_KEY")
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("OTHER_KEY", KEY)
    kept = client._environment(home)
    assert kept["MY_KEY"] == KEY
    assert "OTHER_KEY" not in kept


@pytest.mark.parametrize("text", ["not toml", "", "llm_key_env = 7"])
def test_a_daemon_inherits_none_that_is_not_named(
    home: Home, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    home.root.mkdir(parents=True)
    home.config.write_text(text)
    monkeypatch.setenv("MY_KEY", KEY)
    assert "MY_KEY" not in client._environment(home)
