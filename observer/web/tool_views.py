"""The pages that a client of MCP Apps shows beside a tool's results.

Each is one document that loads nothing: its policy allows its own sheet and script by their hashes.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode

from markupsafe import Markup

from observer.web.app import FOLDER, templates
from observer.web.pages import SIGNALS

_TITLES = {"search": "Search", "timeline": "Timeline", "review": "Review"}
_BLANK: dict[str, str | int] = dict.fromkeys(("type", "title", "branch", "author"), "")
_BLANK |= dict.fromkeys(("id", "created_ms", "project_id"), 0)


def tool_view(name: str) -> str:
    """Return the HTML of a view: `search`, `timeline` or `review`."""
    style = (FOLDER / "static" / "observer.css").read_text(encoding="utf-8")
    script = (FOLDER / "templates" / "view.js").read_text(encoding="utf-8")
    text = templates().get_template("view.html").render(
        name=name, title=_TITLES[name],
        style=Markup(style), style_hash=_hash(style),  # noqa: S704 - ours
        script=Markup(script), script_hash=_hash(script),  # noqa: S704 - ours
        signals=SIGNALS,
        blank=_BLANK, no_name=lambda _: "", no_labels=lambda _: (),
    )  # fmt: skip
    return text.lstrip()


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
