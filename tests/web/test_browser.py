"""The pages in Debian's Chromium, over a daemon that real hooks feed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from observer.core.paths import Home
from observer.local.given import GivenLog, Giving
from tests.conftest import ROOT, _end_daemon

pytestmark = pytest.mark.slow

PAGES = (
    *("/", "/search?q=cart", "/timeline", "/sessions", "/notes", "/review", "/signals", "/given"),
    *("/why", "/usage", "/privacy", "/health?look=1", "/nowhere"),
)
RED = "FAILED tests/test_cart.py::test_total - assert 1 == 2\n=== 1 failed, 2 passed in 0.1s ==="
GREEN = "=== 3 passed in 0.1s ==="
HOSTILE = "<img src=x onerror=window.ran=1><script>window.ran=1</script> [x](javascript:ran=1)"

LOOKS = """where => {
    Object.defineProperty(document, "hidden", {value: where == "away", configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""


class Live(NamedTuple):
    """A home with a daemon, and how its hooks and commands are run."""

    hook: Callable[..., None]
    link: Callable[[], str]
    run: Callable[..., str]
    mcp: Callable[[], subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    env = os.environ | {"OBSERVER_HOME": str(folder / "o"), "PYTHONPATH": str(ROOT)}
    shop = folder / "shop"
    subprocess.run(["git", "init", "-q", shop], check=True)

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "observer", *words]
        done = subprocess.run(command, env=env, cwd=shop, capture_output=True, check=True)
        return done.stdout.decode()

    def hook(event: str, session: str = "one", **fields: Any) -> None:
        payload = {"session_id": session, "cwd": str(shop), "hook_event_name": event, **fields}
        words = ["/bin/sh", str(ROOT / "hooks" / "post"), "claude-code", event]
        subprocess.run(words, input=json.dumps(payload).encode(), env=env, cwd=shop, check=True)

    run("up")
    run("remember", "Prices in the cart are net", "--type", "decision", "--tag", "cart")
    run("remember", "Whole, as [[Prices in the cart are net]]", "--title", "Sums")
    hook("UserPromptSubmit", session="beside", prompt="Draw the cart")
    hook("UserPromptSubmit", prompt="Sum the cart in cents")
    hook("Stop", last_assistant_message="The cart is **summed** in cents.")
    (shop / "cart.py").write_text("def total(): return 1\n")
    wrote = {"file_path": str(shop / "cart.py"), "content": "def total(): return 1\n"}
    hook("PostToolUse", tool_name="Write", tool_input=wrote)
    tests = {"tool_input": {"command": "pytest tests"}, "tool_response": {"stdout": RED}}
    hook("PostToolUse", tool_name="Bash", **tests)
    tried = {"tool_name": "Bash", "tool_input": {"command": "wrap bun run test"}}
    hook("PostToolUseFailure", **tried, error="error: unrecognized subcommand 'bun'")
    tried["tool_input"] = {"command": "bun run test"}
    hook("PostToolUse", **tried, tool_response={"stdout": " 3 pass\n 0 fail\nRan 3 tests"})
    for name in ("shop.py", "gate.py"):
        (shop / name).write_text("open = True\n")
        subprocess.run(["git", "-C", shop, "add", name], check=True)
    subprocess.run(["git", "-C", shop, "commit", "-qm", "Open the shop"], env=env, check=True)
    items = tuple(hit["id"] for hit in json.loads(run("search", "cart", "--json"))["observations"])
    at_ms, given = time.time_ns() // 1_000_000, GivenLog(Home(folder / "o").given)
    for sort in ("start", "form"):
        given.add(Giving(at_ms=at_ms, client="claude-code", session="one", sort=sort, items=items))

    def mcp() -> subprocess.Popen[bytes]:
        command, pipe = [sys.executable, "-m", "observer", "mcp"], subprocess.PIPE
        return subprocess.Popen(command, env=env, cwd=shop, stdin=pipe, stdout=pipe)

    yield Live(hook, lambda: str(json.loads(run("web", "--no-open", "--json"))["url"]), run, mcp)
    _end_daemon(Home(folder / "o"))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed")
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def axe() -> str:
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        script = folder.parent / "axe-core" / "axe.min.js"
        if folder.name == ".bin" and script.is_file():
            return script.read_text(encoding="utf-8")
    pytest.skip("axe-core is not installed")


class Watched:
    """A page that says nothing, fails nowhere and asks nobody else."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.heard: list[str] = []
        self.base = base
        self.page: Page = context.new_page()
        self.page.on("console", lambda said: self.heard.append(said.text))
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.on("request", lambda asked: self._asked(asked.url))

    def _asked(self, url: str) -> None:
        if not url.startswith(f"{self.base}/"):
            self.heard.append(url)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page


@pytest.fixture
def enter(live: Live, chromium: Browser) -> Iterator[Callable[..., Watched]]:
    """Open the pages by a link, in a browser of its own that sees what it is given."""
    seen: list[tuple[BrowserContext, Watched]] = []

    def made(*, width: int = 1280, **options: Any) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": 800}, **options)
        link = live.link()
        watched = Watched(context, link.partition("/login")[0])
        seen.append((context, watched))
        watched.page.goto(link)
        if options.get("java_script_enabled", True):
            watched.page.wait_for_url(f"{watched.base}/")
        return watched

    yield made
    for context, watched in seen:
        assert watched.heard == []
        context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_every_page_is_accessible_and_fits(
    enter: Callable[..., Watched], axe: str, width: int, scheme: str
) -> None:
    watched = enter(width=width, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    first = watched.open("/sessions").locator("[data-row] a").first.get_attribute("href")
    shop = watched.open("/project").locator("[data-row] a").first.get_attribute("href")
    project = str(shop).rpartition("/")[2]
    of_shop = (f"/given?project={project}", f"/why?project={project}&target=shop.py", str(shop))
    of_first = (str(first), str(first).replace("session", "edits"))
    for path in (*PAGES, *of_shop, *of_first):
        page = watched.open(path)
        watched.heard = [one for one in watched.heard if "404 (Not Found)" not in one]
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        page.add_script_tag(content=axe)
        found = page.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
        assert found == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_what_happens_is_seen_without_reloading(live: Live, enter: Callable[..., Watched]) -> None:
    page = enter().page
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    live.hook("UserPromptSubmit", session="two", prompt="Paint the shed green")
    live.hook("Stop", session="two", last_assistant_message="Painted.")
    expect(page.get_by_text("Paint the shed green").first).to_be_visible(timeout=15_000)


def test_what_fails_and_is_not_committed_is_seen_until_it_is_mended(
    live: Live, enter: Callable[..., Watched]
) -> None:
    page = enter().page
    left = page.locator("h2:text-is('Left open') + .card")
    expect(left.get_by_text("fails")).to_be_visible(timeout=15_000)
    expect(left.get_by_text("assert 1 == 2")).to_be_visible()
    expect(left.get_by_text("not committed")).to_be_visible()
    expect(left.get_by_text("cart.py", exact=True).first).to_be_visible()
    given = {"tool_name": "Bash", "tool_input": {"command": "pytest tests"}}
    live.hook("PostToolUse", **given, tool_response={"stdout": GREEN})
    expect(left.get_by_text("fails")).to_have_count(0, timeout=15_000)
    live.hook("PostToolUse", **given, tool_response={"stdout": RED})
    expect(left.get_by_text("fails")).to_be_visible(timeout=15_000)


def test_a_page_that_nobody_sees_lets_go_and_catches_up(
    live: Live, enter: Callable[..., Watched]
) -> None:
    page = enter().page
    page.evaluate(LOOKS, "away")
    expect(page.locator("#live")).to_have_count(0)
    live.hook("UserPromptSubmit", session="six", prompt="Count the hidden apples")
    live.hook("Stop", session="six", last_assistant_message="Counted.")
    page.evaluate(LOOKS, "back")
    expect(page.get_by_text("Count the hidden apples").first).to_be_visible(timeout=15_000)


def test_a_search_answers_as_it_is_typed_and_by_keys(enter: Callable[..., Watched]) -> None:
    watched = enter()
    page = watched.page
    page.keyboard.press("/")
    page.wait_for_url("**/search")
    page.keyboard.type("cents")
    expect(page.locator("#found mark").first).to_be_visible()
    page.wait_for_url(re.compile("[?]q=cents(&|$)"))
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/item/*")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("**/health")


def test_everything_works_without_javascript(enter: Callable[..., Watched]) -> None:
    page = enter(java_script_enabled=False).page
    page.get_by_role("button", name="Open").click()
    page.get_by_role("link", name="Search").click()
    page.get_by_placeholder("what was tried").fill("cart net")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#found .chip-decision")).to_be_visible()
    page.get_by_role("link", name="Privacy").click()
    page.get_by_role("button", name="Pause for an hour").click()
    page.get_by_role("button", name="Record again").click()
    expect(page.get_by_role("button", name="Pause for an hour")).to_be_visible()


def test_a_line_of_the_next_start_is_hidden_and_shown_again(enter: Callable[..., Watched]) -> None:
    page = enter().open("/given")
    line = page.locator(".given li").filter(has_text="Whole, as")
    line.get_by_role("button", name="Pin").click()
    expect(page.locator(".given li").first).to_contain_text("Whole, as")
    line.get_by_role("button", name="Hide").click()
    expect(page.get_by_role("heading", name="Hidden")).to_be_visible()
    expect(line).to_have_count(0)
    page.get_by_role("button", name="Show again").click()
    expect(line).to_have_count(1)
    expect(page.get_by_role("heading", name="Hidden")).to_have_count(0)


def test_hostile_text_runs_nothing(live: Live, enter: Callable[..., Watched]) -> None:
    live.hook("UserPromptSubmit", session="bad", prompt=HOSTILE)
    live.hook("Stop", session="bad", last_assistant_message=HOSTILE)
    watched = enter()
    page = watched.open("/timeline")
    expect(page.get_by_text("onerror").first).to_be_visible(timeout=15_000)
    page.get_by_role("link", name="onerror").first.click()
    page.wait_for_url("**/item/*")
    assert page.evaluate("window.ran") is None
    assert page.locator("a[href^='javascript']").count() == 0


def test_the_session_is_read_by_its_prompts(enter: Callable[..., Watched]) -> None:
    watched = enter()
    page = watched.open("/sessions")
    page.get_by_role("link", name="Sum the cart in cents").first.click()
    page.get_by_role("navigation", name="Prompts").get_by_role("link").first.click()
    expect(page.locator(".turn:target")).to_be_in_viewport()
    expect(page.locator(".reply strong").first).to_have_text("summed")


def test_a_session_is_replayed_step_by_step(live: Live, enter: Callable[..., Watched]) -> None:
    live.hook("UserPromptSubmit", session="seven", prompt="List the plums")
    for name in ("first", "second"):
        given = {"file_path": f"{name}.py", "content": f"{name} = 1"}
        live.hook("PostToolUse", session="seven", tool_name="Write", tool_input=given)
    live.hook("Stop", session="seven", last_assistant_message="Listed.")
    watched = enter()
    expect(watched.page.get_by_text("Changed second.py").first).to_be_visible(timeout=15_000)
    page = watched.open("/sessions")
    page.locator("[data-row] a").first.click()
    expect(page.locator(".steps > li")).to_have_count(2)
    page.keyboard.press("r")
    expect(page.locator(".steps > li:visible")).to_have_count(0)
    page.keyboard.press("j")
    expect(page.locator(".steps > li:visible")).to_have_count(1)
    expect(page.locator(".lines .add:visible")).to_have_text("+first = 1")
    page.keyboard.press("r")
    expect(page.locator(".steps > li:visible")).to_have_count(2)
