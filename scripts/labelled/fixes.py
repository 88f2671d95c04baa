"""The labelled sessions: the fixes and links to be found in them.

A file of the set holds several sessions, separated by lines that begin with ``%% case NAME``; the
steps are those of `replay.steps`. Below the line ``%% expected`` are the claims:

    fix FAILURE <- CHANGES -> PASS
    SOURCE reverts TARGET        and so for replaces

A change is named by its files or its command, a commit by its subject, a fix by its failure. Claims
are read from the links of items, so that a wrong link is a wrong claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from labelled.replay import Stage
from labelled.score import Case
from observer.commands import command_line
from observer.core.model import Item, Link

HOOKS = Path(__file__).parents[2] / "hooks"
_BETWEEN_COMMITS = ("reverts", "replaces")


def cases(folder: Path) -> Iterator[Case]:
    """Yield the sessions of every file of a folder, replayed, beside their labels."""
    for file in sorted(folder.glob("*.txt")):
        for written in file.read_text(encoding="utf-8").split("%% case ")[1:]:
            name, _, rest = written.partition("\n")
            session, _, labels = rest.partition("%% expected\n")
            yield Case(
                name=name.strip(),
                found=_played(session),
                wanted=frozenset(line.strip() for line in labels.splitlines() if line.strip()),
            )


def _played(session: str) -> frozenset[str]:
    with TemporaryDirectory() as folder:
        stage = Stage(Path(folder), HOOKS)
        with closing(stage.store):
            return claims(stage.play(session))


def claims(items: list[Item]) -> frozenset[str]:
    """Return the claims that items make by their links."""
    known = {item.id: item for item in items}
    found: set[str] = set()
    for item in items:
        if item.type == "fix":
            failure, changes = _ends(item, known, "fixes")[0], _ends(item, known, "edit")
            passed = _ends(item, known, "evidence")
            found.add(f"fix {failure} <- {', '.join(sorted(changes))} -> {passed[0]}")
        else:
            for kind in _BETWEEN_COMMITS:
                found |= {f"{item.type} {kind} {end}" for end in _ends(item, known, kind)}
    return frozenset(found)


def _ends(item: Item, known: dict[int, Item], kind: str) -> list[str]:
    ends = [link for link in item.links if link.kind == kind]
    return list(dict.fromkeys(_named(known.get(link.target), link) for link in ends))


def _named(target: Item | None, link: Link) -> str:
    if target is None:
        return link.excerpt or f"({link.title})"
    if target.type == "command":
        return command_line.parse_command_line(target.facts[0].removeprefix("$ ")).head
    if target.type == "fix":
        return f"fix of {target.facts[0].removeprefix('$ ')}"
    return target.files_modified[0] if target.type == "file-write" else target.title
