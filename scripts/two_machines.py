"""Plays the tutorial of two machines for real: two homes with daemons, and a folder of both.

python scripts/two_machines.py      write anew what its commands print
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sample import CART, NAMED, ROOT, SHOWN_HOME, Sample, in_this_run

PAGE = ROOT / "docs" / "two-machines.md"
EXAMPLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAYED = re.compile(r"^(laptop|desktop)\$ (.*)\n((?:(?!(?:laptop|desktop)\$ ).*\n)*)", re.MULTILINE)
CODE = re.compile(r"(?<=--code )(?!CODE)\S+")
Machines = dict[str, Sample]


@contextmanager
def machines() -> Iterator[Machines]:
    """Make two machines with the same repository and a folder in common; end their daemons."""
    # A table leaves out what does not fit: paths are as short wherever TMPDIR is.
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        folder = Path(place).resolve()
        (folder / "Sync").mkdir()
        both = {name: Sample(folder / name) for name in ("laptop", "desktop")}
        for one in both.values():
            one.folder.mkdir()
            one.environment["OBSERVER_OWNER"] = "ana"
            (one.folder / "Sync").symlink_to(folder / "Sync")
        laptop, desktop = both.values()
        laptop.shop.mkdir()
        laptop.run("git", "init", "-q", "-b", "main")
        laptop.write("cart.py", CART)
        laptop.commit("Add a cart with a total")
        clone = ["git", "clone", "-q", str(laptop.shop), str(desktop.shop)]
        subprocess.run(clone, check=True, env=laptop.environment)
        try:
            yield both
        finally:
            for one in both.values():
                one.observer("down")


def answers(both: Machines, page: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield each machine, its command as of this run, what the page prints, and what it prints now.

    Ids and the code of the invitation are those of this run.
    """
    ids: dict[str, dict[str, str]] = {name: {} for name in both}
    code = ""
    for example in EXAMPLE.findall(page):
        for name, line, printed in PLAYED.findall(example):
            asked = in_this_run(line, ids[name]).replace("--code CODE", f"--code {code}")
            now = both[name].answer(asked)
            now = now.replace(str(both[name].folder.parent / "Sync"), f"{SHOWN_HOME}/Sync")
            code = found[0] if (found := CODE.search(now)) else code
            now = CODE.sub("CODE", now)
            named = zip(NAMED.findall(printed), NAMED.findall(now), strict=False)
            ids[name].update((old, new) for old, new in named)
            yield name, CODE.sub("CODE", asked), printed, now


def main() -> None:
    """Write the page anew."""
    page = PAGE.read_text(encoding="utf-8")
    parts = [(found.start(), found.end()) for found in PLAYED.finditer(page)]
    with machines() as both:
        said = [f"{name}$ {line}\n{now}" for name, line, _, now in answers(both, page)]
    for (start, end), text in reversed([*zip(parts, said, strict=True)]):
        fence = page[start:end].find("```")
        rest = page[start:end][fence:] if fence >= 0 else ""
        page = page[:start] + text + rest + page[end:]
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
