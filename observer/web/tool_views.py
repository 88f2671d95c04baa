"""The pages of MCP Apps beside a tool's results: each allows its own sheet and script by hash."""

from __future__ import annotations

import hashlib
from base64 import b64encode

from markupsafe import Markup

from observer.web.app import FOLDER, templates
from observer.web.pages import SIGNALS

_BLANK: dict[str, str | int] = dict.fromkeys(("type", "title", "branch", "author"), "")
_BLANK |= dict.fromkeys(("id", "created_ms", "project_id"), 0)


def tool_view(name: str) -> str:
    """Return the HTML of a view: `search`, `timeline` or `review`."""
    style = (FOLDER / "static" / "observer.css").read_text(encoding="utf-8")
    script = (FOLDER / "templates" / "view.js").read_text(encoding="utf-8")
    digests = (hashlib.sha256(text.encode()).digest() for text in (style, script))
    hashes = [f"sha256-{b64encode(digest).decode()}" for digest in digests]
    text = templates().get_template("view.html").render(
        name=name, title=name.capitalize(),
        style=Markup(style), style_hash=hashes[0],  # noqa: S704 - ours
        script=Markup(script), script_hash=hashes[1],  # noqa: S704 - ours
        signals=SIGNALS,
        blank=_BLANK, no_name=lambda _: "", no_labels=lambda _: (),
    )  # fmt: skip
    return text.lstrip()
