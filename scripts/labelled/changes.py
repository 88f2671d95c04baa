r"""The labelled edits: which symbols they added, changed, resigned, renamed or removed.

A file of the set holds the cases of one language, separated by lines that begin with ``%%``:

    %% case a-new-function auth.py
    %% old
    (text before the edit)
    %% new
    (text after it)
    %% added verify_token | resigned login

A case may have several pairs of ``old`` and ``new``: the edits of one event.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from labelled.score import Case
from observer.code.edits import summarize_write
from observer.core.events import Edit, FileWrite

MARK = "%% "


def cases(folder: Path) -> Iterator[Case]:
    """Yield the cases of every file of a folder, analyzed, beside their labels."""
    for file in sorted(folder.glob("*.txt")):
        for written in file.read_text(encoding="utf-8").split(f"{MARK}case ")[1:]:
            yield _case(written)


def _case(written: str) -> Case:
    head, *parts = written.split(f"\n{MARK}")
    name, path = head.split()
    *texts, labels = parts
    sides = [text.partition("\n")[2] for text in texts]
    pairs = zip(sides[::2], sides[1::2], strict=True)
    edits = tuple(Edit(old=old, new=new) for old, new in pairs)
    return Case(
        name=f"{path} {name}",
        found=_claims(FileWrite(path=path, edits=edits)),
        wanted=frozenset(
            label.strip() for label in labels.split("|") if label.strip() != "nothing"
        ),
    )


def _claims(write: FileWrite) -> frozenset[str]:
    change = summarize_write(write)
    named = {
        "added": change.new,
        "changed": change.changed,
        "resigned": change.resigned,
        "removed": change.gone,
        "renamed": [f"{old} to {new}" for old, new in change.renamed],
        "commented": change.commented,
    }
    return frozenset(f"{word} {name}" for word, names in named.items() for name in names)
