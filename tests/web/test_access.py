"""Who may look at the pages, and who gets nothing."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from observer.serve.servers import Proxy
from observer.web.access import COOKIE_MS, TRIES, Access, TooManyTries
from observer.web.site import Site
from tests.web.conftest import OWN, Browser, Clock


def test_a_link_opens_once(access: Access) -> None:
    word = access.link(60)
    assert access.holds(access.login(word))
    assert access.login(word) == ""


def test_a_link_opens_for_a_minute_and_its_cookie_for_a_day(access: Access, clock: Clock) -> None:
    word = access.link(60)
    clock.now_ms += 60_000
    assert access.login(word) == ""
    cookie = access.login(access.link(60))
    clock.now_ms += COOKIE_MS - 1
    assert access.holds(cookie)
    clock.now_ms += 1
    assert not access.holds(cookie)
    until, *rest = access.login(access.link(60)).split(".")
    assert not access.holds(".".join((str(int(until) + 1), *rest)))


def test_cookies_outlive_the_daemon_and_end_with_a_logout_and_the_key_is_private(
    tmp_path: Path, clock: Clock
) -> None:
    file = tmp_path / "web.json"
    cookie = _logged_in(file, clock)
    again = Access(file, clock)
    assert again.holds(cookie)
    again.logout()
    assert not Access(file, clock).holds(cookie)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_cookie_that_is_made_up_or_of_another_home_opens_nothing(
    access: Access, tmp_path: Path, clock: Clock
) -> None:
    for cookie in ("", ".", "9.x.y", "99999999999999.a.b", "\x00.é.ü"):
        assert not access.holds(cookie), cookie
    assert not access.holds(_logged_in(tmp_path / "other" / "web.json", clock))


def _logged_in(file: Path, clock: Clock) -> str:
    access = Access(file, clock)
    return access.login(access.link(60))


def test_guesses_are_counted(access: Access, clock: Clock) -> None:
    assert [access.login("guess") for _ in range(TRIES)] == [""] * TRIES
    with pytest.raises(TooManyTries):
        access.login(access.link(60))
    clock.now_ms += 60_000
    assert access.login(access.link(60))


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"key": "zz"}', b'{"key": "00"}'])
def test_a_damaged_key_is_made_anew(tmp_path: Path, clock: Clock, damage: bytes) -> None:
    file = tmp_path / "web.json"
    file.write_bytes(damage)
    assert _logged_in(file, clock)


def test_without_a_cookie_nothing_is_shown_and_looking_at_a_link_uses_nothing_up(
    stranger: Browser,
) -> None:
    answers = [stranger.get(path) for path in ("/", "/search?q=jwt", "/item/40", "/changes")]
    assert [answer.status_code for answer in answers] == [401] * 4
    assert not any("auth.ts" in answer.text for answer in answers)
    """What looks ahead, as a mail program does, opens links too."""
    word = stranger.site.access.link(60)
    assert word in stranger.get(f"/login?link={word}").text
    assert stranger.site.access.login(word)
    shown = {"host": PROXY.host, "observer-proxy-secret": ""}
    assert stranger.get("/login", headers=shown).status_code == 421


def test_the_cookie_is_for_this_site_and_no_script(stranger: Browser) -> None:
    answer = stranger.post("/login", data={"link": stranger.site.access.link(60)})
    said = answer.headers["set-cookie"].lower()
    assert all(part in said for part in ("httponly", "samesite=strict", "max-age=86400", "path=/"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.1:80", "[::]:4711", "evil.a"])
def test_a_name_that_was_bound_anew_is_refused(browser: Browser, host: str) -> None:
    assert browser.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:4711", "127.0.0.1:4711", "[::1]:4711"])
def test_each_name_of_the_loopback_is_an_origin_of_its_own(browser: Browser, host: str) -> None:
    named = {"host": host, "cookie": f"observer-4711={browser.cookies['observer-4711']}"}
    del browser.headers["sec-fetch-site"]
    for origin, status in ((f"http://{host}", 200), (f"https://{host}", 403), ("http://a:1", 403)):
        assert browser.get("/", headers={**named, "origin": origin}).status_code == status
    others = browser.get("/", headers={**named, "origin": "http://localhost:4711"})
    assert others.status_code == (200 if host == "localhost:4711" else 403)


PROXY = Proxy("memory.example.org", "s" * 32)


@pytest.fixture
def proxied(site: Site) -> Browser:
    """A browser that asks through a reverse proxy of another user, without a cookie yet."""
    made = Browser(replace(site, proxy=PROXY, is_of_others=lambda _: True))
    made.base_url = f"https://{PROXY.host}"  # type: ignore[assignment] - httpx takes a text
    made.headers["observer-proxy-secret"] = PROXY.secret
    return made


def test_a_proxy_that_shows_the_secret_is_let_in(proxied: Browser) -> None:
    said = proxied.post("/login", data={"link": proxied.site.access.link(60)})
    assert said.status_code == 303
    assert "secure" in said.headers["set-cookie"].lower()
    origins = (f"https://{PROXY.host}", 200), (f"http://{PROXY.host}", 403), (OWN, 403)
    for origin, status in origins:
        assert proxied.get("/health", headers={"origin": origin}).status_code == status


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"observer-proxy-secret": ""}, id="no secret"),
        pytest.param({"observer-proxy-secret": PROXY.secret[:-1]}, id="a part of it"),
        pytest.param({"observer-proxy-secret": b"\xff" * 32}, id="no ASCII"),
        pytest.param({"host": "evil.example"}, id="another name"),
        pytest.param({"host": "127.0.0.1:4711"}, id="another user under a local name"),
    ],
)
def test_a_proxy_without_the_secret_or_the_name_gets_nothing(
    proxied: Browser, changed: dict[str, str]
) -> None:
    word = proxied.site.access.link(60)
    for path in ("/", f"/login?link={word}", "/static/observer.css"):
        assert proxied.get(path, headers=changed).status_code == 421
    assert proxied.post("/login", headers=changed, data={"link": word}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:9", "null"])
def test_a_form_of_another_site_changes_nothing(browser: Browser, origin: str) -> None:
    sent = {"origin": origin, "sec-fetch-site": "cross-site"}
    assert browser.post("/pause", headers=sent).status_code == 403


@pytest.mark.parametrize("from_where", ["cross-site", "same-site"])
@pytest.mark.parametrize("dest", ["iframe", "image", "script", "empty"])
def test_another_page_embeds_nothing(browser: Browser, from_where: str, dest: str) -> None:
    sent = {"sec-fetch-site": from_where, "sec-fetch-dest": dest}
    assert browser.get("/search", headers=sent).status_code == 403


def test_a_program_that_names_no_site_changes_nothing(browser: Browser) -> None:
    del browser.headers["sec-fetch-site"]
    assert browser.post("/pause").status_code == 403
    assert browser.post("/pause", headers={"origin": OWN}).status_code == 403  # no token


@pytest.mark.parametrize("token", ["", "x", "é"])
def test_a_change_needs_its_token(browser: Browser, token: str) -> None:
    assert browser.post("/pause", data={"token": token}).status_code == 403


def test_nothing_changes_by_looking_or_by_other_methods(browser: Browser) -> None:
    for path in ("/pause", "/logout", "/note/forget", "/resume"):
        assert browser.get(path).status_code == 404, path
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert browser.request(method, "/").status_code == 405, method


def test_guessing_over_http_is_slowed(stranger: Browser) -> None:
    answers = [stranger.post("/login", data={"link": "guess"}) for _ in range(TRIES + 1)]
    assert [answer.status_code for answer in answers] == [401] * TRIES + [429]


def test_every_answer_forbids_what_it_does_not_need_and_a_nonce_is_used_once(
    browser: Browser,
) -> None:
    for path in ("/", "/nowhere", "/static/observer.css", "/login"):
        headers = browser.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["referrer-policy"] == "no-referrer"

    first, second = (browser.get("/").headers["content-security-policy"] for _ in range(2))
    assert first != second
    assert browser.change("/privacy", text="x" * (1 << 20)).status_code == 413
    assert browser.change("/logout").status_code == 303
    assert browser.get("/").status_code == 401


@pytest.mark.parametrize("name", ["../access.py", "..%2faccess.py", "SHA256SUMS", "nothing.js"])
def test_only_what_pages_load_is_served(stranger: Browser, name: str) -> None:
    assert stranger.get(f"/static/{name}").status_code in {401, 404}
