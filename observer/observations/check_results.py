"""What a command line that ended is told to have checked, by its result.

Part of interpretation (step 6), of the arcs. Of a chain it is the command that failed. Of git only
a commit counts that its hooks have judged, and a form that it does not know.

Which files of the project an output names: where a check says that something is wrong.

Part of interpretation (step 6).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from observer.code.languages import language_of
from observer.core.events import Command
from observer.core.model import Recorded
from observer.core.text import distinct, one_line, relative, word_set
from observer.outcomes import same_check
from observer.outcomes.check_runs import CheckResults
from observer.outcomes.not_started import Unstarted
from observer.outcomes.outcome import plain
from observer.outcomes.result import CommandResult
from observer.outcomes.same_check import Invocation
from observer.shell import command_line

FILES = 30
"""Most files that are kept of one output."""
_PATH = re.compile(
    r"(?<![\w@:/.-])(?:[A-Za-z]:)?[\w@~.+()\[\]/\\-]{2,300}?\.[A-Za-z]\w{0,9}(?![\w/\\.-]|\.\w)"
)
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo|go/pkg|usr/lib)/"
)
_LEADING = "([.-@"


def named_in(output: str, *, root: str, cwd: str) -> tuple[str, ...]:
    """Return the files that an output names, relative to the project, in its order.

    Only names with the extension of a known language count, and none of installed packages.
    """
    found = (match.group().lstrip("([-") for match in _PATH.finditer(plain(output)))
    return distinct(
        (
            relative(name, root, cwd)
            for name in found
            if language_of(name) and not _FOREIGN.search(name)
        ),
        FILES,
    )


COMMIT = "git commit"
"""What is checked by the hooks of a commit that git refused."""
_HOOK_CHARS = 600
"""What git itself says on refusing a commit is shorter."""
_NOTHING_TO_COMMIT = re.compile(r"nothing (?:added )?to commit|no changes added to commit")
_BYPASSING = word_set("--no-verify -n")


def invocation_of(
    body: Command, recorded: Recorded, result: CommandResult, why: Unstarted, runs: CheckResults
) -> Invocation | None:
    """Return what was checked; None where nothing was.

    Args:
        body: the command.
        recorded: its event.
        result: how it went.
        why: the reason if it could not do its work.
        runs: which checks of the line are known to have passed or failed.
    """
    able = [
        part
        for part in command_line.parts_of(body.command)
        if not part.looks and part.sign != "|" and part.words[0] != "cd"
    ]
    gits = [part.words for part in able if "git" in part.words[:2]]
    if any("stash" in words[1:3] for words in gits):
        return None  # what is checked meanwhile is not the work
    if gits and len(gits) == len(able):
        return _of_git(gits, recorded, body, result, why)
    run = same_check.read(body.command, result, root=recorded.root, cwd=recorded.event.cwd)
    if run is None or len(able) == 1 or not runs.head:
        return run
    failed = same_check.read(runs.head.partition(same_check.BELOW)[0], result, root="", cwd="")
    return replace(failed, folder=run.folder) if failed else run


def _of_git(
    gits: Sequence[Sequence[str]],
    recorded: Recorded,
    body: Command,
    result: CommandResult,
    why: Unstarted,
) -> Invocation | None:
    if why.reason:
        return Invocation(program=one_line(" ".join(gits[-1]), 300), tool="git")
    commits = [words for words in gits if "commit" in words[1:6]]
    if not commits or not _BYPASSING.isdisjoint(commits[-1]):
        return None
    has_hooks = result.tool not in ("", "git") or len(body.output) > _HOOK_CHARS
    if not (result.ok or has_hooks) or _NOTHING_TO_COMMIT.search(body.output):
        return None
    # Two sessions may each have a commit that was refused: only its own next one answers it.
    return Invocation(program=COMMIT, tool="git", targets=(str(recorded.session_id),))
