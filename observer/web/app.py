"""The web face as an ASGI application: who may ask, what every answer forbids, which page answers.

Nothing is served to another host, origin or site, and nothing but the login without a cookie.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Hashable, Iterator
from contextvars import copy_context
from functools import lru_cache, partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import IO
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from observer.core import moment
from observer.core.errors import Ambiguous, NotFound, ObserverError, SecretRefused, StoreUnavailable
from observer.redaction.redact import redact_text
from observer.web.access import COOKIE_MS, TooManyTries
from observer.web.pages import CHANGES, PAGES
from observer.web.site import Handler, Query, Site, WebFile, WebPage, WebRequest
from observer.web.text import coloured, markdown, marked, shown, unlinked

logger = logging.getLogger(__name__)

FOLDER = Path(__file__).parent
BODY_BYTES = 1 << 20
LOOK_S = 0.5
"""How often a page that is open looks whether something was written: within a second it shows."""
STATUS_OF = ((NotFound, 404), (Ambiguous, 409), (SecretRefused, 422), (StoreUnavailable, 503))
"""The status of errors that are none of the request's form, which has 400."""
KEPT_AS = 'attachment; filename="{}"'
NOTHING = 404, "there is no such page", "begin at the first one"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class WebApp:
    """Serves the pages of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._hosts = {f"{name}:{site.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self._cookie = f"observer-{site.port}"
        self._seen: tuple[float, Hashable] = (-LOOK_S, None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        nonce = secrets.token_urlsafe(18)
        try:
            answer = await self._answer(request, nonce)
        except Exception:  # the door of a front: one request fails, the daemon stays
            logger.exception("%s %s failed", scope["method"], scope["path"])
            what = "something went wrong here"
            answer = self._problem(nonce, 500, what, "see: observer log --daemon")
        answer.headers.update(_headers(nonce, is_static=scope["path"].startswith("/static/")))
        await answer(scope, receive, send)

    async def _answer(self, request: Request, nonce: str) -> Response:
        if refusal := self._refusal(request):
            return self._problem(nonce, *refusal)
        path = request.url.path
        if path.startswith("/static/"):
            return _static(path.removeprefix("/static/")) or self._problem(nonce, *NOTHING)
        form = await _form(request) if request.method == "POST" else {}
        if form is None:
            return self._problem(nonce, 413, "that is too much at once", "")
        if path == "/login":
            return self._login(request, form, nonce)
        return await self._inside(request, form, nonce)

    async def _inside(self, request: Request, form: dict[str, str], nonce: str) -> Response:
        access, cookie = self._site.access, _cookie(request, self._cookie)
        if not access.holds(cookie):
            hint = "open it from a terminal with: observer web"
            return self._problem(nonce, 401, "this page is closed", hint)
        if request.client:
            self._site.admit((request.client.host, request.client.port))
        if request.url.path == "/changes":
            return StreamingResponse(self._watch(), media_type="text/event-stream")
        token = access.token(cookie)
        given = form.get("token", "").encode()
        if request.method == "POST" and not secrets.compare_digest(given, token.encode()):
            return self._problem(nonce, 403, "this form is too old", "load its page again")
        return await self._page(request, form, nonce=nonce, token=token)

    def _refusal(self, request: Request) -> tuple[int, str, str] | None:
        """Return why a request is refused for where it comes from; see Fetch Metadata (W3C)."""
        headers, own = request.headers, self._own(request)
        if not own:
            return 421, "this address is not served here", "see: observer web"
        site, origin = headers.get("sec-fetch-site", ""), headers.get("origin", "")
        is_ours = site == "same-origin" or (not site and origin == own)
        if origin not in {"", "null", own}:
            return 403, "another page may not ask here", ""
        if request.method not in {"GET", "HEAD", "POST"}:
            return 405, "nothing is done in that way here", ""
        if request.method == "POST":
            # A form of ours says `null`: its page sends no referrer.
            return None if is_ours else (403, "another page may change nothing here", "")
        is_opened = headers.get("sec-fetch-dest", "document") == "document"
        if site in {"cross-site", "same-site"} and not is_opened:
            return 403, "another page may not ask here", ""
        return None

    def _own(self, request: Request) -> str:
        """Return the origin that a request may come from; "" if there is none (DNS rebinding)."""
        host, proxy, client = request.headers.get("host", ""), self._site.proxy, request.client
        if host in self._hosts:
            is_ours = client is None or not self._site.is_of_others((client.host, client.port))
            return f"http://{host}" if is_ours else ""
        shown = request.headers.get("observer-proxy-secret", "").encode("utf-8", "replace")
        if not proxy or not secrets.compare_digest(shown, proxy[1].encode()):
            return ""
        return f"https://{host}" if host == proxy[0] else ""

    def _login(self, request: Request, form: dict[str, str], nonce: str) -> Response:
        if request.method == "GET":
            word = request.query_params.get("link", "")
            return self._rendered(WebPage("login.html", "Open", {"word": word}), nonce)
        try:
            cookie = self._site.access.login(form.get("link", ""))
        except TooManyTries as error:
            return self._problem(nonce, 429, error.message, error.hint)
        if not cookie:
            what = "this link was used, or is too old"
            return self._problem(nonce, 401, what, "make another with: observer web")
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            self._cookie,
            cookie,
            max_age=COOKIE_MS // 1000,
            httponly=True,
            samesite="strict",
            secure=request.headers["host"] not in self._hosts,  # else it is the proxy's, by TLS
        )
        return answer

    async def _page(
        self, request: Request, form: dict[str, str], *, nonce: str, token: str
    ) -> Response:
        first, _, name = request.url.path.strip("/").partition("/")
        handler = PAGES.get(first)
        if request.method == "POST":
            handler, name = CHANGES.get(request.url.path.strip("/")), ""
        if handler is None:
            return self._problem(nonce, *NOTHING)
        query = Query({key: value for key, value in request.query_params.items() if value.strip()})
        view = WebRequest(self._site, request.url.path, query, form, name)
        context = copy_context()
        return await run_in_threadpool(context.run, self._handled, handler, view, nonce, token)

    def _handled(self, handler: Handler, view: WebRequest, nonce: str, token: str) -> Response:
        moment.show_local()
        try:
            made = handler(view)
        except ObserverError as error:
            status = next((code for kind, code in STATUS_OF if isinstance(error, kind)), 400)
            return self._problem(nonce, status, error.message, error.hint, token=token)
        if isinstance(made, str):
            return RedirectResponse(made, 303)
        if isinstance(made, WebFile):
            named = {"Content-Disposition": KEPT_AS.format(made.name)}
            return StreamingResponse(_sent(made.content), headers=named)
        return self._rendered(made, nonce, view=view, token=token)

    async def _watch(self) -> AsyncIterator[str]:
        """Yield an event when something was written, as long as the page is open."""
        seen = await self._snapshot()
        yield "retry: 1000\n\n"
        while not self._site.leaving.is_set():
            try:
                await asyncio.wait_for(self._site.leaving.wait(), LOOK_S)
            except TimeoutError:
                now = await self._snapshot()
                if now != seen:
                    seen = now
                    yield "event: changed\ndata: \n\n"

    async def _snapshot(self) -> Hashable:
        """Return what grows with every write, and with nothing else; asked once for all pages."""
        taken_s, seen = self._seen
        if time.monotonic() - taken_s > LOOK_S / 2:
            seen = await run_in_threadpool(self._site.memory.written)
            self._seen = time.monotonic(), seen
        return seen

    def _problem(
        self, nonce: str, status: int, message: str, hint: str, *, token: str = ""
    ) -> Response:
        values = {"message": message, "hint": hint}
        return self._rendered(WebPage("problem.html", message, values, status), nonce, token=token)

    def _rendered(
        self, page: WebPage, nonce: str, *, view: WebRequest | None = None, token: str = ""
    ) -> Response:
        given = {"title": page.title, "nonce": nonce, "view": view, "token": token, **page.values}
        text = templates().get_template(page.template).render(given)
        if page.file:
            kind = "text/html" if page.file.endswith(".html") else "text/markdown"
            named = {"Content-Disposition": KEPT_AS.format(page.file)}
            return Response(redact_text(text), headers=named, media_type=kind)
        return Response(text, page.status, media_type="text/html")


def _sent(content: IO[bytes]) -> Iterator[bytes]:
    with content:
        yield from iter(partial(content.read, 1 << 16), b"")


def _headers(nonce: str, *, is_static: bool) -> dict[str, str]:
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}';"
        " img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
        "Cache-Control": "private, max-age=3600" if is_static else "no-store",
    }


def _static(name: str) -> Response | None:
    known = {file.name: file for file in (FOLDER / "static").iterdir() if file.suffix in TYPES}
    if file := known.get(name):
        return Response(file.read_bytes(), media_type=TYPES[file.suffix])
    return None


def _cookie(request: Request, name: str) -> str:
    try:
        found = SimpleCookie(request.headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


async def _form(request: Request) -> dict[str, str] | None:
    """Return a form's fields, those of one name joined with blanks; None if it is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES:
            return None
    found: dict[str, str] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        found[name] = f"{found[name]} {value}" if name in found else value
    return found


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Return what renders the pages and the views of tools."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=lambda name: not (name or "").endswith(".md"),  # noqa: S701 - a file to keep
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"markdown": markdown, "marked": marked, "unlinked": unlinked}
    made.filters |= {"minute": moment.minute, "localised": moment.localised, "coloured": coloured}
    return made
