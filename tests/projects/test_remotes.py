"""Every spelling of a remote is one name, and no credential survives."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.projects.worktree import normalise

TOKEN = "ghp_" + "x" * 36


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:ana/shop.git",
        "git@github.com:ana/shop",
        "github.com:ana/shop.git",
        "git@GitHub.com:/ana/shop.git",
        "git@github.com:Ana/Shop.git",
        "https://github.com/ana/Shop",
        "ssh://git@ssh.github.com:443/ana/shop.git",
        "git@[github.com:2222]:ana/shop.git",
        "ssh://git@github.com/ana/shop.git",
        "ssh://git@github.com:22/ana/shop.git",
        "ssh://git@github.com:2222/ana/shop",
        "git+ssh://git@github.com/ana/shop",
        "git://github.com/ana/shop.git",
        "https://github.com/ana/shop.git",
        "https://github.com/ana/shop/",
        "https://github.com//ana//shop.git/",
        "HTTPS://GITHUB.COM/ana/shop",
        "https://github.com:443/ana/shop",
        "http://github.com:80/ana/shop",
        f"https://ana:{TOKEN}@github.com/ana/shop.git",
        f"https://{TOKEN}@github.com/ana/shop.git",
        f"https://github.com/ana/shop.git?access_token={TOKEN}",
        f"https://github.com/ana/shop#{TOKEN}",
        "https://ana:p@ss@github.com/ana/shop.git",
        "https://ana:pa/ss@github.com/ana/shop.git",
        "  https://github.com/ana/shop.git\n",
        "gcrypt::https://github.com/ana/shop.git",
    ],
)
def test_one_remote_has_one_name(url: str, tmp_path: Path) -> None:
    assert normalise(url, base=str(tmp_path)) == "github.com/ana/shop"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        pytest.param("https://git.corp:8443/o/n", "git.corp:8443/o/n", id="own-port"),
        pytest.param("ssh://git@[::1]:22/o/n.git", "::1/o/n", id="ipv6"),
        pytest.param("git@[::1]:o/n.git", "::1/o/n", id="ipv6-scp"),
        pytest.param("https://host/Owner/Name", "host/Owner/Name", id="path-keeps-case"),
        pytest.param("git@host:a/b/c/n.git", "host/a/b/c/n", id="sub-groups"),
        pytest.param("https://host/.git", "host/.git", id="nothing-but-the-ending"),
        pytest.param("https://host", "host", id="host-only"),
        pytest.param("ext::sh -c whatever", "", id="command"),
        pytest.param("", "", id="empty"),
    ],
)
def test_odd_remotes(url: str, name: str, tmp_path: Path) -> None:
    assert normalise(url, base=str(tmp_path)) == name


@pytest.mark.parametrize("form", ["{0}", "file://{0}", "{0}/", "{0}/.git", "../there", "link"])
def test_a_local_remote_is_its_absolute_path(form: str, tmp_path: Path) -> None:
    base, there = tmp_path / "here", tmp_path / "there"
    base.mkdir()
    there.mkdir()
    (base / "link").symlink_to(there)
    assert normalise(form.format(there), base=str(base)) == str(there)


@given(st.text(), st.text(alphabet=st.characters(whitelist_categories=["L", "N"]), min_size=12))
def test_no_password_survives(user: str, password: str) -> None:
    host = user.replace("/", "").replace("#", "").replace("?", "")
    assert f":{password}@" not in normalise(f"https://{host}:{password}@host/o/n", base="/")


@given(st.text())
def test_any_text_has_a_name_or_none(url: str) -> None:
    try:
        assert isinstance(normalise(url, base="/"), str)
    except ValueError:
        assert "\0" in url
