"""The pages that a client of MCP Apps shows beside a tool's results.

Each is one document of the pages' parts, sheet and a script, which fills it with what its host
hands it. It loads nothing: its policy allows its own sheet and script by their hashes, and no
address.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode

import msgspec
from markupsafe import Markup

from observer.tools.rows import HitReasons
from observer.web.app import FOLDER, templates
from observer.web.pages import signal_name

_TITLES = {"search": "Search", "timeline": "Timeline", "review": "Review"}
_BLANK = {"id": 0, "type": "", "title": "", "created_ms": 0, "project_id": 0, "branch": ""}


def tool_view(name: str) -> str:
    """Return the HTML of a view: `search`, `timeline` or `review`."""
    style = (FOLDER / "static" / "observer.css").read_text(encoding="utf-8")
    script = (FOLDER / "templates" / "view.js").read_text(encoding="utf-8")
    signals = [field.name for field in msgspec.structs.fields(HitReasons) if field.name != "id"]
    text = (
        templates()
        .get_template("view.html")
        .render(
            name=name,
            title=_TITLES[name],
            style=Markup(style),  # noqa: S704 - ours
            script=Markup(script),  # noqa: S704 - ours
            style_hash=_hash(style),
            script_hash=_hash(script),
            signals={signal: signal_name(signal) for signal in signals},
            blank={**_BLANK, "author": ""},
            no_name=lambda _: "",
            no_labels=lambda _: (),
        )
    )
    return text.lstrip()


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
