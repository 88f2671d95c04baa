"""The work tree that an answer is given in, which git is asked about.

What is not committed is a question to git at the moment of the answer; what sessions remember of it
is only the list of files to ask about.
"""

from __future__ import annotations

from functools import partial

from observer.capture.repository.uncommitted import uncommitted
from observer.model import Project
from observer.paths import is_inside
from observer.recall.past import Uncommitted


def uncommitted_at(project: Project, folder: str) -> Uncommitted | None:
    """Return what asks git which files differ from the last commit; None without a work tree.

    The work tree is the root of the project around the folder, else the newest root.
    """
    here = [root for root in project.roots if folder and is_inside(folder, root)]
    root = max(here or project.roots[-1:], key=len, default="")
    return partial(uncommitted, root) if root else None
