"""What is purged and mended in the browser: nothing that was not shown first."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from urllib.error import URLError

import pytest

from observer.cli.doctor.command import HomeDoctor
from observer.core.events import Prompt
from observer.core.paths import Home, make_private
from observer.memory.api import Memory
from observer.upkeep.carry_out import begun
from observer.web.site import Site
from tests.support import Observer, Until
from tests.tools.test_reminders import Happening
from tests.web.conftest import Browser
from tests.web.test_door import Person


@pytest.fixture
def shop(memory: Memory, home: Home) -> Happening:
    made = Happening(memory, home.root.parent / "shop")
    make_private(home.root)
    made.folder.mkdir()
    made.does(Prompt("Sell plums to zebediah"), Prompt("Paint the door"))
    return made


def word_in(text: str) -> str:
    return re.findall(r'name="sure" value="(\w+)"', text)[0]


def test_a_purge_shows_first_what_would_go_and_takes_it_once_confirmed(
    browser: Browser, shop: Happening, home: Home
) -> None:
    text = browser.change("/purge", text="zebediah").text
    assert "1 event: 1 prompt" in text
    assert "Sell plums" in text
    assert "Paint" not in text
    assert begun(home) is None

    asked = {"text": "zebediah"}
    word = word_in(browser.change("/purge", **asked).text)
    assert "being taken out" in browser.change("/purge", **asked, sure=word).text
    order = begun(home)
    assert order
    assert (len(order.seqs), order.texts) == (1, ("zebediah",))
    assert "being taken out" in browser.get("/purged").text


def test_what_came_since_is_shown_before_it_goes(
    browser: Browser, shop: Happening, home: Home
) -> None:
    word = word_in(browser.change("/purge", text="zebediah").text)
    shop.does(Prompt("Ask zebediah about figs"))
    text = browser.change("/purge", text="zebediah", sure=word).text
    assert "Nothing is purged yet" in text
    assert "2 events" in text
    assert begun(home) is None


def test_several_hits_or_a_session_are_purged_and_what_is_nowhere_has_no_button(
    browser: Browser, shop: Happening
) -> None:
    ids = re.findall(r'name="id" value="(\d+)"', browser.get("/search?type=turn").text)
    assert len(ids) == 2
    assert "2 events: 2 prompt" in browser.change("/purge", id=ids).text
    assert "1 event: 1 prompt" in browser.change("/purge", id=ids[0]).text
    assert "2 events" in browser.change("/purge", session="one").text
    assert "Nothing is stored of it" in browser.change("/purge", text="xylophone").text
    for fields in ({}, {"text": "ab"}, {"id": "999999999"}):
        assert browser.change("/purge", **fields).status_code in {400, 404}, fields


@pytest.fixture
def ward(site: Site, home: Home) -> Browser:
    """A browser at a home that others can enter, whose doctor is asked."""
    make_private(home.root).chmod(0o755)
    return Browser(replace(site, doctor=HomeDoctor)).log_in()


def test_what_doctor_finds_is_mended_by_a_button(ward: Browser, home: Home) -> None:
    assert "Mend it" not in ward.get("/health").text
    for fix in ("", "index", "install cursor", "retry"):
        assert ward.change("/mend", fix=fix).status_code == 400, fix
    assert 'name="fix" value="private"' in ward.get("/health?look=1").text
    assert "took the rights of others" in ward.change("/mend", fix="private").text
    assert home.root.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_word_that_leaked_is_gone_and_the_daemon_back(
    home: Home, observer: Observer, until: Until
) -> None:
    observer("remember", "the password of zebediah is plum")
    made = json.loads(observer("web", "--no-open", "--json").stdout)
    base, _, link = made["url"].partition("/login?link=")
    person = Person()
    person.get(f"{base}/login", link=link)
    page = person.get(f"{base}/privacy")[1]
    fields = {"token": re.findall(r'name="token" value="(\w+)"', page)[0], "text": "zebediah"}

    def is_taken_out() -> bool:  # what came into a copy since the preview is shown first
        word = word_in(person.get(f"{base}/purge", **fields)[1])
        return "being taken out" in person.get(f"{base}/purge", **fields, sure=word)[1]

    until(is_taken_out)

    def shows_that_it_went() -> bool:
        with suppress(URLError):  # the old daemon has left, the new one is not there
            return "Nothing is left" in person.get(f"{base}/purged")[1]
        return False

    until(shows_that_it_went)
    assert b"zebediah" not in home.database.read_bytes()
    assert "plum" not in observer("search", "zebediah").stdout
