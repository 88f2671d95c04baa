"""Which folders are watched: work trees in which there were sessions lately, the latest first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from observer.capture.project import ground
from observer.model import UNASSIGNED, Project, Session
from observer.paths import is_inside
from observer.store.interface import Reader

RECENT_MS = 14 * 86_400_000
"""A project without a session for this long is at rest."""
MOST_ROOTS = 12
MOST_SESSIONS = 300

MOUNTS = Path("/proc/self/mountinfo")
DISTANT = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "davfs", "autofs"}
)
"""File systems of other machines: what is written there, the kernel does not tell."""


def recent_roots(reader: Reader, *, now_ms: int) -> tuple[list[str], frozenset[int | None]]:
    """Return the roots of recent sessions, which need not exist any more, and their projects."""
    projects = {project.id: project for project in reader.projects()}
    recent = [
        session
        for session in reader.sessions(limit=MOST_SESSIONS)
        if session.last_ms >= now_ms - RECENT_MS and session.project_id in projects
    ]
    found = (_root_of(session, projects[session.project_id]) for session in recent)
    roots = list(dict.fromkeys(root for root in found if root))[:MOST_ROOTS]
    return roots, frozenset({None, UNASSIGNED, *(session.project_id for session in recent)})


def refusal(root: str, *, excluded: Iterable[str], mounts: Sequence[tuple[str, str]]) -> str | None:
    """Return why a root is not watched; "" if there is nothing to tell of, None if it is watched.

    Asks nothing of a file system that may not answer.
    """
    if any(is_inside(root, folder) for folder in excluded):
        return "excluded"
    if (kind := _file_system(root, mounts)) in DISTANT or kind.startswith("fuse."):
        return f"on a file system of another machine ({kind})"
    if root in ground() or not os.path.lexists(f"{root}/.git") or os.path.realpath(root) != root:
        return ""
    return None


def mounts() -> list[tuple[str, str]]:
    """Return where file systems are mounted, and of which kind each is; the last one counts."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return []
    # Source: proc_pid_mountinfo(5). Spaces in a path are written \040.
    parts = [line.partition(" - ") for line in lines]
    return [
        (left.split(" ")[4].replace("\\040", " "), right.split(" ")[0])
        for left, _, right in parts
        if right
    ]


def _root_of(session: Session, project: Project) -> str:
    around = [root for root in project.roots if is_inside(session.cwd, root)]
    return max(around, key=len, default=next(iter(project.roots), ""))


def _file_system(path: str, mounts: Sequence[tuple[str, str]]) -> str:
    around = [
        (len(where), number) for number, (where, _) in enumerate(mounts) if is_inside(path, where)
    ]
    return mounts[max(around)[1]][1] if around else ""
