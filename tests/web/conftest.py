"""Pages over a real memory: in this process, and in a daemon that a browser looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from observer.core.paths import Home
from observer.memory.api import Memory
from observer.tools.status import from_disk
from observer.web.access import Access
from observer.web.app import WebApp
from observer.web.site import Site
from tests.tools.conftest import memory, store

__all__ = ["memory", "store"]

PORT = 4711
OWN = f"http://127.0.0.1:{PORT}"


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now_ms = 1_742_050_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(tmp_path: Path, clock: Clock) -> Access:
    return Access(tmp_path / "access" / "web.json", clock)


@pytest.fixture
def site(memory: Memory, access: Access, home: Home) -> Site:
    return Site(memory=memory, status=lambda: from_disk(home), access=access, port=PORT)


class Browser(TestClient):
    """A browser's requests, which name the site that they come from."""

    def __init__(self, site: Site) -> None:
        super().__init__(WebApp(site), base_url=OWN, follow_redirects=False)
        self.site = site
        self.headers |= {"sec-fetch-site": "same-origin", "sec-fetch-dest": "document"}

    def log_in(self) -> Browser:
        answer = self.post("/login", data={"link": self.site.access.link(60)})
        assert answer.status_code == 303
        return self

    def change(self, path: str, **fields: Any) -> Any:
        cookie = self.cookies[f"observer-{self.site.port}"]
        return self.post(path, data={"token": self.site.access.token(cookie), **fields})


@pytest.fixture
def stranger(site: Site) -> Browser:
    return Browser(site)


@pytest.fixture
def browser(site: Site) -> Browser:
    return Browser(site).log_in()
