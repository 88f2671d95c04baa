"""Health and purging: what doctor finds and mends, and what is taken out for good."""

from __future__ import annotations

import hashlib
import secrets

import msgspec

from observer.core.errors import BadInput
from observer.core.paths import home
from observer.tools.status import status_rows
from observer.upkeep import carry_out
from observer.upkeep.choose import Criteria
from observer.web.view import WebPage, WebRequest

MOST_PURGED = 1_000
"""Items that one form names."""


def health(view: WebRequest, mended: str = "") -> WebPage:
    """Show how the daemon is, what it keeps, and when asked what doctor finds."""
    status = view.site.status()
    doctor = view.site.doctor if mended or view.query["look"] else None
    values = {
        "rows": status_rows(status),
        "degraded": status.degraded,
        "findings": doctor().look() if doctor else None,
        "can_look": view.site.doctor is not None,
        "mended": mended,
    }
    return WebPage("health.html", "Health", values)


def mend(view: WebRequest) -> WebPage:
    """Do one thing that doctor has found and can mend."""
    fix, doctor = view.form.get("fix", ""), view.site.doctor
    if doctor is None or fix not in {one.fix for one in doctor().look() if one.fix}:
        raise BadInput("there is nothing of that to mend", hint="look again")
    return health(view, mended=doctor().mend(fix))


def purge(view: WebRequest) -> WebPage:
    """Show exactly what would go; with the word of that preview, have it go."""
    form, memory = view.form, view.memory
    asked = Criteria(
        ids=tuple(memory.resolve(one) for one in form.get("id", "").split()[:MOST_PURGED]),
        text=form.get("text", "").strip(),
        session=form.get("session", ""),
        owner=memory.owner,
    )
    shown, order = memory.purge_plan(home(), asked)
    # What has come since the preview, or gone, is shown before it goes.
    word = hashlib.sha256(msgspec.json.encode((order, shown.files))).hexdigest()
    if not secrets.compare_digest(form.get("sure", "").encode(), word.encode()):
        fields = {name: form[name] for name in ("id", "text", "session") if form.get(name)}
        values = {
            "lines": list(shown.lines()),
            "events": shown.events,
            "can_go": bool(shown.events or shown.files),
            "fields": {**fields, "sure": word},
            "is_other": bool(form.get("sure")),
        }
        return WebPage("purge.html", "Purge", values)
    carry_out.begin(home(), order)
    view.site.restart()
    return purged(view)


def purged(_view: WebRequest) -> WebPage:
    """Say whether what was to be taken out is gone."""
    return WebPage("purged.html", "Purge", {"is_going": home().purging.exists()})
