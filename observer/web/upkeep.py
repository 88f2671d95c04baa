"""Health, privacy, and what is taken out: what is kept, and what a person has a say in."""

from __future__ import annotations

import hashlib
import secrets
import tempfile

import msgspec

from observer.core.clock import now_ms
from observer.core.errors import BadInput
from observer.core.moment import coming_ms, day
from observer.core.paths import home
from observer.local.pauses import EVERYWHERE, UNENDING_MS
from observer.local.spool import Spool
from observer.memory.values import exported_line
from observer.projects.policy import Policies
from observer.redaction.redact import redact_text
from observer.redaction.seen import SEEN
from observer.tools.status import paused, paused_text, status_rows
from observer.upkeep import carry_out
from observer.upkeep.choose import Criteria
from observer.web.site import WebFile, WebPage, WebRequest, projects, shared


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
        ids=tuple(memory.resolve(one) for one in form.get("id", "").split()[:1_000]),
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


def privacy(view: WebRequest) -> WebPage:
    """Show what is recorded of each project, pauses, and a box in which redaction can be tried."""
    tried = view.form.get("text", "")
    policies = Policies()
    captured = [
        (one, next((found for root in one.roots if (found := policies.at(root)).root), None))
        for one in projects(view.memory)
    ]
    values = {
        "captured": captured,
        "known": len(SEEN),
        "pauses": pauses_now(),
        "tried": tried,
        "redacted": redact_text(tried) if tried else "",
    }
    return WebPage("privacy.html", "Privacy", {**shared(view.memory), **values})


def pauses_now() -> list[str]:
    """Return what is not recorded now, and until when."""
    return [paused_text(paused(one)) for one in Spool(home().spool).pauses.now(now_ms())]


def pause(view: WebRequest) -> str:
    """Record nothing for a while."""
    at_ms = now_ms()
    until_ms = coming_ms(view.form.get("for", ""), now_ms=at_ms) or UNENDING_MS
    Spool(home().spool).pauses.begin([EVERYWHERE], from_ms=at_ms, until_ms=until_ms)
    return "/privacy"


def resume(_view: WebRequest) -> str:
    """Record again."""
    Spool(home().spool).pauses.end(None, now_ms=now_ms())
    return "/privacy"


def export(view: WebRequest) -> WebFile:
    """Return all that is stored, one JSON object a line, as `observer export` prints it."""
    # Not written into the answer at once: a browser that stands still would keep the store lent.
    content = tempfile.TemporaryFile(dir=home().root)  # noqa: SIM115 - closed when it is sent
    for value in view.memory.export():
        content.write(exported_line(value) + b"\n")
    content.seek(0)
    return WebFile(f"observer-{day(now_ms())}.jsonl", content)


def logout(view: WebRequest) -> str:
    """Let no cookie hold any more."""
    view.site.access.logout()
    return "/"
