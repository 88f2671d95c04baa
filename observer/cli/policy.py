"""`observer policy`: what the policy of a repository keeps from being recorded, and why."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from observer.cli.output import as_json, fields, json_option, say
from observer.core import config
from observer.core.clock import now_ms
from observer.core.config import Settings
from observer.core.paths import home, working_folder
from observer.local.spool import Spool
from observer.projects import detect_place, work_tree_of
from observer.projects.policy import FILE, Policies, Policy
from observer.projects.policy.apply import Exclusion


class PolicyDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What applies to a path; `file` is "" without a policy, `why` is "" if it is recorded."""

    path: str
    root: str
    file: str = ""
    exclude: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    retention_days: int | None = None
    name: str = ""
    sharing: str = "all"
    problem: str = ""
    hint: str = ""
    is_recorded: bool = True
    why: str = ""


@click.command("policy", epilog="Example: observer policy src/fixtures/customers.csv")
@click.argument("path", default=".", type=click.Path(path_type=Path))
@json_option
def policy_command(*, path: Path) -> int:
    """Show a repository's policy, and whether a path is recorded."""
    answer = decision(Path(os.path.abspath(working_folder() / path)))  # noqa: PTH100 - links count
    if not as_json(answer):
        _show(answer)
    return 1 if answer.problem else 0


def decision(path: Path) -> PolicyDecision:
    """Return what applies to an absolute path.

    Raises:
        ConfigInvalid: the settings cannot be used.
    """
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
    bare = PolicyDecision(path=str(path), root=place.root, is_recorded=not why, why=why)
    if not policy.root:
        return bare
    own = f"{place.root}/{FILE}"
    problem = policy.problem
    return msgspec.structs.replace(
        bare,
        file=problem.path if problem else own,
        exclude=policy.exclude,
        never=tuple(sorted(policy.never)),
        retention_days=policy.retention_days,
        name=policy.name,
        sharing=policy.sharing,
        problem=str(problem) if problem else "",
        hint=problem.hint if problem else "",
    )


def _why(path: Path, policy: Policy, settings: Settings, *, root: str, is_folder: bool) -> str:
    """Return why a path is not recorded, "" if it is."""
    if Exclusion(settings.exclude).holds(str(path)):
        return "`exclude` in config.toml"
    if policy.problem:
        return "the policy cannot be used"
    for name in (str(path), os.path.realpath(path)):
        if root and name.startswith(f"{root}/"):
            pattern = policy.excluding(name[len(root) :], is_folder=is_folder)
            if pattern:
                return f"`{pattern}` in {FILE}"
    return ""


def _show(answer: PolicyDecision) -> None:
    say(answer.file or "no policy here")
    if answer.problem:
        say(f"cannot be used: {answer.problem}\nwhat to do: {answer.hint}")
    rows = [
        ("exclude", ", ".join(answer.exclude)),
        ("never", ", ".join(answer.never)),
        ("retention_days", str(answer.retention_days or "")),
        ("name", answer.name),
        ("sharing", answer.sharing if answer.file and not answer.problem else ""),
    ]
    fields([row for row in rows if row[1]])
    say(f"{answer.path}: {f'not recorded: {answer.why}' if answer.why else 'recorded'}")
