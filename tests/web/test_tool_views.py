"""The views of tools in Chromium, in the sandbox of a page that plays the host of MCP Apps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Frame, expect

from observer.local.pump import VIEW_TYPE, VIEWS
from tests.hostile import HOSTILE
from tests.web.test_browser import Live, axe, chromium, live

__all__ = ["axe", "chromium", "live"]
pytestmark = pytest.mark.slow

HOST = """<!doctype html><html lang="en"><title>host</title><body style="margin: 0">
<iframe title="view" sandbox="allow-scripts" style="border: 0; width: 100%"></iframe><script>
const frame = document.querySelector("iframe"), heard = [];
const send = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", async ({source, data}) => {
  if (source !== frame.contentWindow) return;
  heard.push(data.method || data);
  if (data.method === "ui/initialize") {
    const hostInfo = {name: "host", version: "1"}, protocolVersion = "2026-01-26";
    send({id: data.id, result: {protocolVersion, hostInfo, hostCapabilities: {}, hostContext}});
  } else if (data.method === "ui/notifications/initialized") {
    send({method: "ui/notifications/tool-input", params: {arguments: input}});
    send({method: "ui/notifications/tool-result", params: output});
  } else if (data.method === "ui/notifications/size-changed") {
    frame.style.height = data.params.height + "px";
  } else if (data.id !== undefined && data.method) {
    send({id: data.id, ...await server(data.method, data.params)});
  }
});
</script>"""
FILL = """([html, ...given]) => {
    [window.input, window.output, window.hostContext] = given;
    frame.srcdoc = html;
}"""


class Server:
    """What a host has of us: `observer mcp`, to which it says that it shows views."""

    def __init__(self, live: Live) -> None:
        self._process = live.mcp()
        self._asked = 0
        self.calls: list[Any] = []
        able = {"extensions": {VIEWS: {"mimeTypes": [VIEW_TYPE]}}}
        client = {"name": "host", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": able, "clientInfo": client}
        self.opened = self.ask("initialize", opening)["result"]

    def ask(self, method: str, params: Any) -> Any:
        self._asked += 1
        body = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(body).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return {key: answer[key] for key in ("result", "error") if key in answer}

    def passed_on(self, method: str, params: Any) -> Any:
        self.calls.append(params)
        return self.ask(method, params)

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not result["isError"], result
        return result

    def close(self) -> None:
        self._process.communicate(timeout=20)


@pytest.fixture
def server(live: Live) -> Iterator[Server]:
    made = Server(live)
    yield made
    made.close()


Show = Callable[..., Frame]


@pytest.fixture
def show(chromium: Browser, server: Server) -> Iterator[Show]:
    """Show a tool's result in its view; nothing is said on the console or asked of anybody."""
    contexts, heard = [], []

    def made(tool: str, *, result: Any = None, width: int = 800, theme: str = "light",
             **arguments: Any) -> Frame:  # fmt: skip
        (link,) = [
            each["_meta"]["ui"]["resourceUri"]
            for each in server.ask("tools/list", {})["result"]["tools"]
            if each["name"] == tool
        ]
        (document,) = server.ask("resources/read", {"uri": link})["result"]["contents"]
        context = chromium.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        for event in ("console", "pageerror", "request"):
            page.on(event, lambda said: heard.append(str(getattr(said, "text", said))))
        page.expose_function("server", server.passed_on)
        page.set_content(HOST)
        output = result or server.call(tool, **arguments)
        page.evaluate(FILL, [document["text"], arguments, output, {"theme": theme}])
        frame = page.frames[1]
        expect(frame.locator("#found > *").first).to_be_attached()
        frame.locator("h1").click()
        return frame

    yield made
    for context in contexts:
        context.close()
    assert heard == []


def test_a_search_explains_its_hits_and_goes_on(show: Show, server: Server) -> None:
    view = show("search", query="cart", limit=1)
    rows = view.locator("[data-row]")
    shown = len(rows.all())
    expect(rows.locator("mark").first).to_be_visible()
    rows.first.get_by_text("Why this hit").click()
    expect(rows.first.locator(".signals dt").first).to_have_text("score")
    view.page.keyboard.press("n")
    expect(rows.nth(shown)).to_be_visible()
    view.page.keyboard.press("j")
    view.page.keyboard.press("Enter")
    expect(view.locator("pre")).to_contain_text("cart")
    view.page.keyboard.press("/")
    view.page.keyboard.press("Control+a")
    view.page.keyboard.type("zebra")
    view.page.keyboard.press("Enter")
    expect(view.get_by_role("heading", name="Nothing found")).to_be_visible()
    asked = [call["arguments"] for call in server.calls if call["name"] == "search"]
    assert asked == [{"query": "cart", "limit": 21}, {"query": "zebra", "limit": 21}]


def test_a_timeline_goes_further(show: Show, server: Server) -> None:
    hits = server.call("search", query="cart")["structuredContent"]["observations"]
    whole = server.call("timeline", anchor_id=hits[0]["id"], depth_before=50, depth_after=50)
    ids = [entry["id"] for entry in whole["structuredContent"]["timeline"]]
    middle = len(ids) // 2
    view = show("timeline", anchor_id=ids[middle], depth_before=0, depth_after=0)
    rows = view.locator(".day [data-row]")
    expect(rows).to_have_count(1)
    view.page.keyboard.press("n")
    expect(rows).to_have_count(len(ids) - middle)
    view.page.keyboard.press("o")
    expect(rows).to_have_count(len(ids))
    expect(rows.locator("[aria-current]")).to_have_count(1)
    view.page.keyboard.press("o")
    expect(view.locator("#said")).to_have_text("nothing more")
    shown = rows.locator("a").evaluate_all("links => links.map((one) => one.id)")
    assert shown == [f"i{number}" for number in ids]


def test_a_pair_is_settled_by_one_key(live: Live, show: Show, server: Server) -> None:
    live.run("remember", "Prices in the cart are gross", "--type", "decision")
    view = show("resolve")
    pair = view.locator(".pair").filter(has_text="gross").first
    expect(pair).to_contain_text("Prices in the cart are net")
    pair.get_by_role("button", name="Newer replaces older").focus()
    view.page.keyboard.press("1")
    expect(view.locator("#said")).to_contain_text("replaces")
    (settled,) = server.calls[0]["arguments"]["pairs"]
    left = server.call("resolve")["structuredContent"]["open"]
    assert (settled["id"], settled["other"]) not in [(each["id"], each["other"]) for each in left]


ITEM = ("type", "title", "text", "project", "created_at", "why")
TAGS = {
    *("SECTION", "ARTICLE", "H2", "P", "SPAN", "A", "MARK", "TIME", "PRE", "DIV", "BUTTON", "KBD"),
    *("DETAILS", "SUMMARY", "DL", "DT", "DD", "svg", "rect"),
}


@pytest.mark.parametrize("tool", ["search", "timeline", "resolve"])
def test_hostile_text_is_only_text(show: Show, server: Server, tool: str) -> None:
    texts = [text[:20_000].encode("utf-8", "replace").decode() for text in HOSTILE]
    lines = [
        {"id": place, "score": 1, "position": place, "validity": [text]} | dict.fromkeys(ITEM, text)
        for place, text in enumerate(texts)
    ]
    pairs = [
        {"id": place, "other": 99} | dict.fromkeys(("said", "at", "other_said", "other_at"), text)
        for place, text in enumerate(texts)
    ]
    content = {"observations": lines, "summaries": [], "notice": texts[0], "timeline": lines}
    content |= {"open": pairs, "settled": [], "total": len(pairs)}
    why = [{"id": place, "terms": [text]} for place, text in enumerate(texts)]
    result = {"structuredContent": content, "_meta": {"observer/why": why}, "content": []}
    whole = {"answers": dict.fromkeys(texts[:4], texts[1]), "narrative": texts[0]}
    answer = {"result": {"structuredContent": {"observations": [whole]}}}
    server.passed_on = lambda *_: answer  # type: ignore[method-assign]
    view = show(tool, result=result)
    expect(view.locator("[data-row]")).to_have_count(len(texts))
    if tool != "resolve":
        view.locator("[data-row] a").first.click()
        expect(view.locator("pre")).to_contain_text("<script>")
    tags = "[...document.querySelectorAll('#found *')].map((one) => one.tagName)"
    assert set(view.evaluate(tags)) <= TAGS
    assert view.evaluate("window.ran") is view.page.evaluate("window.ran") is None


@pytest.mark.parametrize(("width", "theme"), [(800, "light"), (375, "dark")])
@pytest.mark.parametrize("tool", ["search", "timeline", "resolve"])
def test_a_view_is_accessible_and_follows_its_host(
    show: Show, server: Server, axe: str, tool: str, *, width: int, theme: str
) -> None:
    hits = server.call("search", query="cart")["structuredContent"]["observations"]
    given = {"search": {"query": "cart"}, "timeline": {"anchor_id": hits[0]["id"]}, "resolve": {}}
    view = show(tool, width=width, theme=theme, **given[tool])
    view.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    view.evaluate(axe)
    found = view.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
    assert found == []
    assert view.evaluate("document.documentElement.scrollWidth") <= width
    ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(247, 247, 245)" if theme == "light" else "rgb(22, 24, 26)")
