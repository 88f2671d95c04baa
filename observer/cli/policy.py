"""What is recorded: of a path (`policy`), in this project (`status`), at all (`up --explain`)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from observer.cli import output
from observer.cli.commands import command
from observer.cli.session import reading
from observer.clients.config_files.context import current_context
from observer.clients.installers import evidence, installed
from observer.clients.registry import clients
from observer.core import config
from observer.core.clock import iso_ms, now_ms
from observer.core.config import Settings
from observer.core.errors import ObserverError
from observer.core.model import iso
from observer.core.paths import Home, home, working_folder
from observer.core.text import age_text
from observer.local.spool import Spool
from observer.projects import detect_place, work_tree_of
from observer.projects.policy import FILE, Policies, Policy
from observer.projects.policy.apply import Exclusion


@command("policy", "observer policy src/fixtures/customers.csv")
@click.argument("path", default=".", type=click.Path(path_type=Path))
def policy_command(*, path: Path) -> int:
    """Show a repository's policy, and whether a path is recorded."""
    answer = decision(Path(os.path.abspath(working_folder() / path)))  # noqa: PTH100 - links count
    if not output.as_json(answer):
        output.say(answer["file"] or "no policy here")
        if answer["problem"]:
            output.say(f"cannot be used: {answer['problem']}\nwhat to do: {answer['hint']}")
        rows = [
            *((name, ", ".join(answer[name])) for name in ("exclude", "never")),
            *((name, str(answer[name] or "")) for name in ("retention_days", "name")),
            ("sharing", answer["sharing"] if answer["file"] and not answer["problem"] else ""),
        ]
        output.fields([row for row in rows if row[1]])
        recorded = f"not recorded: {answer['why']}" if answer["why"] else "recorded"
        output.say(f"{answer['path']}: {recorded}")
    return 1 if answer["problem"] else 0


def decision(path: Path) -> dict[str, Any]:
    """Return what applies to an absolute path. Raises ConfigInvalid: settings cannot be used."""
    is_folder = path.is_dir()
    folder = str(path) if is_folder else work_tree_of(str(path), "/") or str(path.parent)
    place = detect_place(folder)
    policy = Policies().of(place)
    at_ms, here = now_ms(), [place.root or folder]
    pauses = [one for one in Spool(home().spool).pauses.now(at_ms) if one.covers(at_ms, here)]
    why = _why(path, policy, config.load(home()), root=place.root, is_folder=is_folder)
    if pauses and not why:
        from observer.tools.status import paused, paused_text  # noqa: PLC0415 - of pauses only

        why = f"paused {paused_text(paused(pauses[0]))}"
    if not why and os.environ.get("OBSERVER_PRIVATE", "0") not in {"", "0"}:
        why = "OBSERVER_PRIVATE is set in this shell"
    wrong = policy.problem if policy.root else None
    return {
        "path": str(path),
        "root": place.root,
        "file": wrong.path if wrong else f"{place.root}/{FILE}" if policy.root else "",
        "exclude": policy.exclude,
        "never": tuple(sorted(policy.never)),
        "retention_days": policy.retention_days,
        "name": policy.name,
        "sharing": policy.sharing,
        "problem": str(wrong or ""),
        "hint": wrong.hint if wrong else "",
        "is_recorded": not why,
        "why": why,
    }


def _why(path: Path, policy: Policy, settings: Settings, *, root: str, is_folder: bool) -> str:
    if Exclusion(settings.exclude).holds(str(path)):
        return "`exclude` in config.toml"
    if policy.problem:
        return "the policy cannot be used"
    for name in (str(path), os.path.realpath(path)):
        inside = name[len(root) :] if root and name.startswith(f"{root}/") else ""
        if inside and (pattern := policy.excluding(inside, is_folder=is_folder)):
            return f"`{pattern}` in {FILE}"
    return ""


OWN = "observer"
"""The client of what observer itself stores, such as notes."""


def here(home: Home) -> dict[str, Any] | None:
    """Return what holds here, whom it is `heard` of and what was `given`; None in no project."""
    try:
        rule = decision(working_folder())
    except OSError:  # as it stands above
        return None
    if not rule["root"]:
        return None
    found = {**rule, "heard": {}, "given": "", "given_at": None, "given_to": ""}
    with suppress(ObserverError, OSError):  # what is wrong with the store stands above
        found |= _heard(home, rule["root"])
    return found


def _heard(home: Home, root: str) -> dict[str, Any]:
    from observer.search.handles import around  # noqa: PLC0415 - half a second, as below
    from observer.tools.hook_output import ANYONES, SESSIONS, mirror  # noqa: PLC0415

    with reading(home) as reader:
        project = around(reader.projects(), root)
        if project is None:
            return {}
        last_ms = sorted(reader.last_reports(project.id).items(), key=lambda one: -one[1])
        heard = {client: iso(at_ms) for client, at_ms in last_ms if client != OWN}
        sessions = reader.sessions(project_id=project.id, limit=SESSIONS)
    known = clients()
    files = {one.client: known[one.client].context_file for one in sessions if one.client in known}
    last = next((one for one in sessions if one.client in heard and files.get(one.client)), None)
    file = mirror(home, root) / (files[last.client] if last else ANYONES)
    given: dict[str, Any] = {"given": str(file)} if file.is_file() else {}
    if last:
        given |= {"given_to": last.client, "given_at": iso(last.started_ms)}
    return {"heard": heard, **given}


def described(here: dict[str, Any]) -> list[tuple[str, str]]:
    """Return it as rows for a person."""
    parts = [", ".join(part) for part in (here["never"], here["exclude"]) if part]
    but = f", but no {', nor '.join(parts)}" if parts and not here["why"] else ""
    recorded = f"not recorded: {here['why']}" if here["why"] else f"recorded{but}"

    def ago(at: str) -> str:
        return f"{age_text(now_ms() - (iso_ms(at) or 0))} ago"

    heard = ", ".join(f"{name} {ago(at)}" for name, at in here["heard"].items())
    lines = [("this folder", f"{here['root']}: {recorded}")]
    lines.append(("reported by", heard or "nobody yet; connect your clients: observer install"))
    if here["given"]:
        whom, of = "no agent yet", ""
        if here["given_at"]:
            whom = f"{here['given_to']} {ago(here['given_at'])}"
            changed_ms = Path(here["given"]).stat().st_mtime_ns // 1_000_000
            whom += ", changed since" if iso(changed_ms) > here["given_at"] else ""
            of = f" --client {here['given_to']}"
        lines.append(("context to", f"{whom}; see: observer context{of}"))
    return lines


def explained(home: Home) -> list[tuple[str, str]]:
    """Return what was found, is recorded and is not, where it lies and how to stop, as rows."""
    context, settings = current_context(home), config.load(home)
    known = [one for one in clients().values() if one.installer]
    found = [one.name for one in known if evidence(one, context)]
    heard = installed(context)
    kept_out = "secrets of known forms, <private>…</private>"
    kept_out += "".join(f", {folder}" for folder in settings.exclude)
    sent = f"summaries go to {settings.llm_url}" if settings.llm_url else "nothing is sent anywhere"
    waits = "nothing yet but commits that are imported; connect: observer install"
    does = f"prompts, replies, edits, commands and commits of {', '.join(heard)}"
    return [
        ("found", ", ".join(found) or "no client that observer knows"),
        ("recorded", does if heard else waits),
        ("not recorded", f"{kept_out}; more: observer config set exclude FOLDER"),
        ("lies in", f"{home.root}, readable by you alone; {sent}"),
        ("to stop", "observer pause, for good: observer uninstall --all"),
    ]
