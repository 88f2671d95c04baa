"""The port of the pages, and what is purged and mended through it: nothing not shown first."""

from __future__ import annotations

import asyncio
import http.cookiejar
import json
import os
import re
import socket
import stat
import subprocess
import sys
import urllib.request
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode

import pytest

from observer.cli.doctor.command import HomeDoctor
from observer.core.errors import CapturedUserOnly
from observer.core.events import Prompt
from observer.core.paths import Home, make_private
from observer.local import client
from observer.memory.api import Memory
from observer.serve.servers import WebDoor, listen_tcp, proxy_of
from observer.tools.status import from_disk
from observer.upkeep.carry_out import begun
from observer.web.access import Access
from observer.web.site import HomePages, Site
from tests.support import Observer, Until
from tests.tools.test_reminders import Happening
from tests.web.conftest import Browser, memory, store

__all__ = ["memory", "store"]


class Person:
    """Somebody with a browser that keeps cookies."""

    def __init__(self) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)

    def get(self, url: str, headers: dict[str, str] | None = None, **form: str) -> tuple[int, str]:
        sent = urlencode(form).encode() if form else None
        came = {"Sec-Fetch-Site": "same-origin", **(headers or {})}
        asked = urllib.request.Request(url, sent, came)
        try:
            with self._opener.open(asked) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()


@pytest.mark.slow
def test_a_cookie_outlives_the_daemon_and_ends_with_a_logout(observer: Observer) -> None:
    made = json.loads(observer("web", "--no-open", "--json").stdout)
    base, _, word = made["url"].partition("/login?link=")
    person = Person()
    assert person.get(f"{base}/")[0] == 401
    status, text = person.get(f"{base}/login", link=word)
    assert (status, "Nothing has happened today" in text) == (200, True)
    observer("down")
    observer("up")
    assert person.get(f"{base}/health")[0] == 200
    assert "logged out" in observer("web", "--logout").stdout
    assert person.get(f"{base}/health")[0] == 401
    assert Person().get(f"{base}/login", link=word)[0] == 401


@pytest.mark.slow
def test_the_pages_are_imported_with_the_first_request(home: Home, observer: Observer) -> None:
    observer("up")
    maps = Path(f"/proc/{client.daemon_pid(home)}/maps")
    url = observer("web", "--no-open").stdout.split()[0]
    assert "nh3" not in maps.read_text()
    Person().get(url)
    assert "nh3" in maps.read_text()


@pytest.mark.slow
def test_both_addresses_are_served_and_a_proxy_only_by_its_secret(
    home: Home, observer: Observer
) -> None:
    observer("config", "set", "web_proxy_host", "memory.example.org")
    made = json.loads(observer("web", "--no-open", "--json").stdout)
    base, _, word = made["url"].partition("/login?link=")
    assert made["proxied"] == f"https://memory.example.org/login?link={word}"
    secret = home.web_secret.read_text().strip()
    assert stat.S_IMODE(home.web_secret.stat().st_mode) == 0o600
    assert secret not in observer("config", "list", "--json").stdout
    person, ipv6 = Person(), base.replace("127.0.0.1", "[::1]")
    assert person.get(f"{ipv6}/", {"Host": "evil.example"})[0] == 421
    assert person.get(f"{ipv6}/login", link=word)[0] == 200
    assert person.get(f"{ipv6}/health")[0] == 200
    shown = {"Host": "memory.example.org", "Observer-Proxy-Secret": secret}
    assert Person().get(f"{base}/health", shown)[0] == 401
    assert Person().get(f"{base}/health", shown | {"Observer-Proxy-Secret": secret[1:]})[0] == 421


@pytest.mark.parametrize(
    ("text", "mode"), [("x" * 31, 0o600), ("x" * 32, 0o640), ("ü" * 32, 0o600)]
)
def test_a_secret_that_is_none_lets_no_proxy_in(tmp_path: Path, text: str, mode: int) -> None:
    file = tmp_path / "web_secret"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    with pytest.raises((ValueError, OSError), match=r"fewer than 32|open to others|not ASCII"):
        proxy_of("memory.example.org", file)
    assert proxy_of("", file) is None


def test_an_agent_gets_no_link(observer: Observer) -> None:
    ran = observer("web", "--no-open", CLAUDECODE="1")
    assert (ran.returncode, ran.stdout) == (CapturedUserOnly.exit_code, "")
    assert "an agent opens no pages" in ran.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_turned_away() -> None:
    knock = "import encodings.idna, os, socket, sys; os.setuid(12345)"
    knock += "; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
    knock += "; print(s.recv(12).decode())"
    with closing(listen_tcp(0, only=os.getuid())) as opened:
        door, port = opened.listeners[0], str(opened.number)
        stranger = subprocess.Popen(
            [sys.executable, "-c", knock, port], stdout=subprocess.PIPE, text=True
        )
        door.settimeout(0.2)
        while stranger.poll() is None:
            with pytest.raises((TimeoutError, BlockingIOError)):
                door.accept()
        assert stranger.communicate()[0] == "HTTP/1.1 503\n"
        with closing(socket.create_connection(door.getsockname())):
            door.accept()[0].close()


async def door_of(home: Home, memory: Memory) -> WebDoor:
    return WebDoor(HomePages(home), memory, lambda: from_disk(home))


def test_a_taken_port_is_given_up_for_another(home: Home, memory: Memory) -> None:
    async def life() -> str:
        door = await door_of(home, memory)
        url = str(door.link()["url"])
        door.leave()
        await door.run()
        return url

    with closing(listen_tcp(0)) as taken:
        Access(home.web, lambda: 0).keep_port(taken.number)
        assert f":{taken.number}/" not in asyncio.run(life())


def test_who_never_asked_for_a_link_has_nothing_open(home: Home, memory: Memory) -> None:
    async def life() -> None:
        door = await door_of(home, memory)
        assert door.logout() == {"logged_out": False}
        door.leave()
        await door.run()

    asyncio.run(life())
    assert not home.web.exists()


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
