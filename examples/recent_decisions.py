"""Print the decisions of a project, newest first: a script on the Python API.

    python examples/recent_decisions.py [FOLDER]

It reads the database directly, so that it also works while the daemon is down. `OBSERVER_HOME`
selects the home.
"""

from __future__ import annotations

import sys
from pathlib import Path

from observer.core.errors import ObserverError
from observer.core.model import iso
from observer.core.paths import home
from observer.memory import SearchOptions, open_memory

MOST = 20


def main(folder: str) -> None:
    """Print the decisions of the project around a folder."""
    with open_memory(home(), folder=folder) as memory:
        project = memory.project_at(folder)
        if project is None:
            print(f"nothing is recorded of {folder}")
            return
        # A search without words lists the newest items.
        found = memory.search(
            "", project=project.uuid, limit=MOST, narrow=SearchOptions(types=("decision",))
        )
        for hit in found.hits:
            item = hit.item
            labels = [item.status] if item.status == "proposed" else []
            labels += [validity.reason for validity in item.validity]
            print(" · ".join([f"#{item.id}", iso(item.created_ms), item.title, *labels]))


if __name__ == "__main__":
    try:
        main(str(Path(sys.argv[1] if len(sys.argv) > 1 else ".").absolute()))
    except ObserverError as error:
        sys.exit(f"error: {error.message}\nhint: {error.hint}")
