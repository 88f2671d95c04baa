"""How large the house is: lines, modules, rooms, floors, functions, tests and words of docs.

    python scripts/size.py              print the table
    python scripts/size.py --check      fail where a figure is above its limit in scripts/size.toml
    python scripts/size.py --lower      set each limit that is higher to the figure of today

A room is a package or module of `observer/`; its floor is one above the highest that it imports.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMITS = Path(__file__).with_name("size.toml")
SHORT = 4
"""Most lines of a short function, its `def` included."""


def modules() -> dict[str, Path]:
    """Return the modules of the package by dotted name."""
    return {name_of(path): path for path in sorted((ROOT / "observer").rglob("*.py"))}


def name_of(path: Path) -> str:
    """Return a module's dotted name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def lines_of(path: Path) -> int:
    """Return how many lines a file has, blank ones too."""
    return len(path.read_text(encoding="utf-8").splitlines())


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_by(path: Path, names: dict[str, Path]) -> set[str]:
    """Return the modules of the package that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                found.add(below if below in names else node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & names.keys()


def needs_of(names: dict[str, Path]) -> dict[str, set[str]]:
    """Return the other modules of the package that each imports."""
    return {name: imported_by(path, names) - {name} for name, path in names.items()}


def floors_of(needs: dict[str, set[str]]) -> dict[str, int]:
    """Return the floor of each room, from 1; `needs` has no cycle (a test holds that)."""

    @cache
    def floor(room: str) -> int:
        return 1 + max(map(floor, needs[room]), default=0)

    return {room: floor(room) for room in needs}


def figures() -> dict[str, int]:
    """Return all figures, by the name of their limit."""
    names = modules()
    needs = needs_of(names)
    importers = Counter(target for targets in needs.values() for target in targets)
    rooms: dict[str, set[str]] = {}
    for name, targets in needs.items():
        if "." in name and name != "observer.__main__":
            below = {target.split(".")[1] for target in targets if "." in target}
            rooms.setdefault(name.split(".")[1], set()).update(below - {name.split(".")[1]})
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for path in names.values()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    pages += (ROOT / "docs").rglob("*.md")
    return {
        "lines": sum(map(lines_of, names.values())),
        "modules": len(names),
        "rooms": len(rooms),
        "floors": max(floors_of(rooms).values()),
        "modules_with_one_importer": sum(count == 1 for count in importers.values()),
        "percent_of_functions_that_are_short": round(
            100 * sum(lines <= SHORT for lines in functions) / len(functions)
        ),
        "lines_of_tests": sum(map(lines_of, (ROOT / "tests").rglob("*.py"))),
        "words_of_docs": sum(len(page.read_text(encoding="utf-8").split()) for page in pages),
    }


def limits() -> dict[str, dict[str, int]]:
    """Return `limit` and `aim` of each figure."""
    return tomllib.loads(LIMITS.read_text(encoding="utf-8"))


def check(found: dict[str, int], of: dict[str, dict[str, int]]) -> list[str]:
    """Return a line for each figure that is above its limit."""
    return [
        f"{name}: {figure:,}, limit {of[name]['limit']:,}"
        for name, figure in found.items()
        if figure > of[name]["limit"]
    ]


def main() -> int:
    """Print, check or lower; return the exit status."""
    found, of = figures(), limits()
    if "--lower" in sys.argv:
        rows = [
            f"{name} = {{ limit = {min(found[name], row['limit'])}, aim = {row['aim']} }}"
            for name, row in of.items()
        ]
        LIMITS.write_text("\n".join((*rows, "")), encoding="utf-8")
    elif "--check" in sys.argv:
        if above := check(found, of):
            print("\n".join(above), file=sys.stderr)
            print("say it in less; or raise the limit in scripts/size.toml", file=sys.stderr)
        return bool(above)
    else:
        for name, figure in found.items():
            row = of[name]
            called = name.replace("_", " ")
            print(f"{called:<38}{figure:>8,}  limit {row['limit']:>8,}  aim {row['aim']:>8,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
