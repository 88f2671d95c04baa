"""Tools that print nothing if all is well, and what their silence proves.

Part of interpretation (step 6). `tsc | tail` ends as `tail` does, but had there been an error, its
last line would have been seen. Runners print which command they start (`$ tsc --noEmit`): that is
no output of the tool's, and names it.
"""

from __future__ import annotations

import re

from observer.interpret import commandline
from observer.interpret.commandline import Line
from observer.interpret.runners import name_of
from observer.interpret.verdict import Verdict
from observer.interpret.visible import Visible
from observer.interpret.wording import word_set

_QUIET = word_set(
    "tsc vue-tsc eslint gofmt goimports staticcheck flake8 pyflakes pycodestyle javac"
)
_QUIET_WITH = {"go": word_set("build vet"), "cargo": word_set("fmt")}
_BANNER = re.compile(
    r"(?:\[[\w:./@-]+\] )?\$ (?P<run>\S[^\n]*)|> \S+@\S+ [^\n]*|> (?P<npm>\S[^\n]*)"
    r"|yarn run v[\d.]+|Done in [\d.]+m?s\.?|npm (?:warn|WARN) [^\n]*"
    r"|\[[\w:./@-]+\] Finished in [\d.]+m?s|Finished in [\d.]+m?s"
)


def read(text: str, line: Line, seen: Visible) -> Verdict | None:
    """Return a success if nothing was printed by tools that print what is wrong; None else."""
    if seen.is_lost or not seen.shows_end(text):
        return None
    run: list[str] = []
    for said in filter(None, map(str.strip, text.split("\n"))):
        banner = _BANNER.fullmatch(said)
        if banner is None:
            return None
        run += filter(None, (banner["run"], banner["npm"]))
    if not run and not seen.is_whole(text):
        return None
    tools = _quiet_tools(" && ".join(run) or line.head)
    return Verdict(tool=tools, ok=True, said="no errors") if tools else None


def _quiet_tools(command: str) -> str:
    """Return the last tool of a command line all of whose tools are quiet, or ""."""
    last = ""
    for part in commandline.parts_of(command):
        words = part.words
        name = name_of(words[0])
        verbs = _QUIET_WITH.get(name)
        if not (name in _QUIET if verbs is None else words[1:2] and words[1] in verbs):
            return ""
        last = name
    return last
