#!/usr/bin/env python3
"""Make pictures of the pages, from the documentation's sample memory and two live sessions.

    python scripts/screenshots.py [FOLDER]      docs/images, unless a folder is named

Everything runs for real: hooks, daemon and Chromium, which has to be installed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sample
from playwright.sync_api import Browser, sync_playwright

DESK, PHONE = (1120, 720), (375, 720)
SHOTS = (
    ("web-now", "/", DESK, "light"),
    ("web-session", "session", DESK, "dark"),
    ("web-given", "/given", DESK, "light"),
    ("web-now-phone", "/", PHONE, "dark"),
)
"""Names of the pictures, what they show, how large, and in which colours."""
MOST_BYTES = 120_000
MONEY = "Prices are kept net; gross ones are computed where they are shown"


def two_at_work(made: sample.Sample) -> None:
    """Have two sessions go on: one whose check is red, one that asks for help beside it."""
    made.observer("remember", MONEY, "--type", "decision")
    prices = {"file_path": str(made.shop / "prices.py")}
    check = {"command": "pytest -q tests/test_prices.py"}
    asked = "finish the exact gross prices, and cover a rate of zero"
    made.report("three", "SessionStart", source="startup")
    made.report("three", "UserPromptSubmit", prompt=asked, prompt_id="v0")
    for number, (old, new) in enumerate((("rate):", "rate: Decimal):"), ("net *", "net * 1 *"))):
        edit = {**prices, "old_string": old, "new_string": new}
        used = {"tool_name": "Edit", "tool_use_id": f"v{number + 1}", "tool_input": edit}
        made.report("three", "PostToolUse", **used)
    ran = {"tool_name": "Bash", "tool_use_id": "v3", "tool_input": check, "error": sample.RED}
    made.report("three", "PostToolUseFailure", **ran)
    made.report("four", "SessionStart", source="startup")
    made.report(
        "four", "UserPromptSubmit", prompt="describe the cart in the README", prompt_id="w0"
    )
    readme = {
        "file_path": str(made.shop / "README.md"),
        "content": "# Shop\n\nA cart with totals.\n",
    }
    made.report("four", "PostToolUse", tool_name="Write", tool_use_id="w1", tool_input=readme)
    made.settle()


@contextmanager
def browsing() -> Iterator[Browser]:
    """Lend Debian's Chromium."""
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("chromium is not installed: apt-get install chromium")
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


def shoot(made: sample.Sample, browser: Browser, folder: Path) -> None:
    """Write the pictures, each by a browser that has just followed a link."""
    for name, page, (width, height), scheme in SHOTS:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        seen = context.new_page()
        url = str(json.loads(made.observer("web", "--no-open", "--json"))["url"])
        base = url.partition("/login")[0]
        seen.goto(url)
        seen.wait_for_url(f"{base}/")
        if page == "session":
            seen.goto(f"{base}/sessions")
            seen.get_by_role("link", name="differ by a cent").first.click()
            seen.wait_for_url(f"{base}/session/*")
        else:
            seen.goto(base + page)
        if not seen.get_by_role("navigation").count():
            raise SystemExit(f"{page} shows no page: {seen.title()}")
        path = folder / f"{name}.png"
        seen.screenshot(path=path)
        context.close()
        if path.stat().st_size > MOST_BYTES:
            raise SystemExit(f"{path.name} is larger than {MOST_BYTES:,} bytes")


def main() -> None:
    """Make the memory, and its pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else sample.IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with sample.playing() as made, browsing() as browser:
        two_at_work(made)
        shoot(made, browser, folder)


if __name__ == "__main__":
    main()
