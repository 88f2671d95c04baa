"""Settings: defaults, file, environment; what is misspelt is refused."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path

import pytest

from observer.core import client_variables
from observer.core.client_variables import client_variable
from observer.core.config import (
    RETAINED,
    Settings,
    confirm,
    describe,
    load,
    owner,
    unconfirmed,
    written,
)
from observer.core.errors import ConfigInvalid
from observer.core.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_no_file_means_defaults_whatever_other_variables_are_set(home: Home) -> None:
    others = ("OBSERVER_HOME", "OBSERVER_PRIVATE", "OBSERVER_SESSION", "OTHER")
    assert load(home, dict.fromkeys(others, "x")) == Settings()
    for variable, text in (("HTP_PORT", "1"), ("HTTP_PORT", "x")):
        with pytest.raises(ConfigInvalid, match=variable.lower()) as refused:
            load(home, {f"OBSERVER_{variable}": text})
        assert "in the environment" in refused.value.message


def test_the_file_overrides_defaults_and_the_environment_the_file(home: Home) -> None:
    home.config.write_text('http_port = 1000\nowner = "ana"\nexclude = ["/x"]\n')
    settings = load(home, {"OBSERVER_HTTP_PORT": "2000", "OBSERVER_EXCLUDE": "/a:/b"})
    assert settings == Settings(http_port=2000, owner="ana", exclude=("/a", "/b"))
    assert load(home, {"OBSERVER_EXCLUDE": ""}).exclude == ()


@pytest.mark.parametrize("folder", ["private", "./private", '["/private"]', "", "~/a,~/b"])
def test_a_folder_that_would_exclude_nothing_is_refused(home: Home, folder: str) -> None:
    home.config.write_text(f"exclude = ['/a', '{folder}']\n")
    with pytest.raises(ConfigInvalid, match=re.escape(repr(folder))):
        load(home, {})


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        pytest.param("htp_port = 1", "unknown setting 'htp_port'", "http_port", id="misspelt"),
        pytest.param("http_port = 70000", "65535", "Loopback TCP port", id="too-large"),
        pytest.param('http_port = "x"', "http_port", "Loopback TCP port", id="wrong-type"),
        pytest.param('log_level = "loud"', "log_level", "warning or error", id="not-a-choice"),
        pytest.param("exclude = [1]", "exclude", "of which nothing is recorded", id="in-a-list"),
        pytest.param("http_port =", "not valid TOML", "", id="not-toml"),
        pytest.param("a = '\x00'", "not valid TOML", "", id="control-character"),
        pytest.param(f"http_port = {'9' * 5000}", "not valid TOML", "", id="too-many-digits"),
        pytest.param(f"exclude = {'[' * 5000}", "not valid TOML", "", id="too-deep"),
    ],
)
def test_what_cannot_be_used_is_named(home: Home, text: str, says: str, hint: str) -> None:
    home.config.write_text(text)
    with pytest.raises(ConfigInvalid, match=says) as refused:
        load(home, {})
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Path.mkdir, "cannot be read: Is a directory"),
        (lambda file: file.symlink_to("dotfiles/observer.toml"), "a link to what is not there"),
        (lambda file: file.write_bytes(b"owner = '\xff'"), "not valid TOML"),
    ],
    ids=["folder", "link", "not UTF-8"],
)
def test_what_is_no_file_is_refused(home: Home, make: Callable[[Path], None], says: str) -> None:
    make(home.config)
    with pytest.raises(ConfigInvalid, match=says):
        load(home, {})


def test_every_setting_has_a_default_and_help() -> None:
    described = describe()
    assert [name for name, _, _ in described] == list(Settings.__struct_fields__)
    assert [name for name, _, text in described if not text.endswith((".", "none."))] == []
    assert ", ".join(RETAINED) in {name: text for name, _, text in described}["retention_by_type"]


def test_the_owner_is_the_setting_or_the_login_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert owner(Settings(owner="ana")) == "ana"
    assert owner(Settings()) == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(os, "getuid", lambda: 4_123_456)  # without an entry
    assert owner(Settings()) == "4123456"


def test_a_limit_holds_once_it_is_confirmed(home: Home) -> None:
    home.confirmed.write_text("{")  # which confirms nothing
    home.config.write_text('retention_days = 30\nretention_by_type = ["command=9", "reply=0"]\n')
    waiting = unconfirmed(home, written(home, {}))
    assert waiting == ("retention_days 30", "retention_by_type command=9 reply=0")
    confirm(home, "retention_by_type", ["command=9", "reply=0"])
    assert load(home, {}) == Settings()
    confirm(home, "retention_days", 30)
    assert load(home, {}).retention_days == 30
    home.config.write_text("retention_days = 30\n")  # one that is taken back waits
    assert unconfirmed(home, written(home, {})) == ("retention_by_type ''",)
    home.config.write_text("")
    assert unconfirmed(home, written(home, {})) == ()


def test_a_variable_is_that_of_the_tasks_client() -> None:
    def value(name: str) -> str:
        client_variables.enter(["MEMEX_FLASHBACK_LIMIT= 3=4 ", "MEMEX=2"])
        return client_variable(name)

    names = ("MEMEX_FLASHBACK_LIMIT", "MEMEX", "MEMEX_FLASHBACK")
    assert [copy_context().run(value, name) for name in names] == ["3=4", "2", ""]
    assert client_variable("MEMEX") == ""
