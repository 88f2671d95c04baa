"""What a command line that ended is told to have checked, by its verdict.

Part of interpretation (step 6), of the arcs. Of a chain it is the command that failed. Of git only
a commit counts that its hooks have judged, and a form that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from observer.events import Command
from observer.interpret import commandline, invocation
from observer.interpret.check_runs import Runs
from observer.interpret.invocation import Invocation
from observer.interpret.unstarted import Unstarted
from observer.interpret.verdict import Verdict
from observer.interpret.wording import one_line, word_set
from observer.model import Recorded

COMMIT = "git commit"
"""What is checked by the hooks of a commit that git refused."""
_HOOK_CHARS = 600
"""What git itself says on refusing a commit is shorter."""
_NOTHING_TO_COMMIT = re.compile(r"nothing (?:added )?to commit|no changes added to commit")
_BYPASSING = word_set("--no-verify -n")


def invocation_of(
    body: Command, recorded: Recorded, verdict: Verdict, why: Unstarted, runs: Runs
) -> Invocation | None:
    """Return what was checked; None where nothing was.

    Args:
        body: the command.
        recorded: its event.
        verdict: how it went.
        why: the reason if it could not do its work.
        runs: which checks of the line are known to have passed or failed.
    """
    able = [
        part
        for part in commandline.parts_of(body.command)
        if not part.looks and part.sign != "|" and part.words[0] != "cd"
    ]
    gits = [part.words for part in able if "git" in part.words[:2]]
    if any("stash" in words[1:3] for words in gits):
        return None  # what is checked meanwhile is not the work
    if gits and len(gits) == len(able):
        return _of_git(gits, recorded, body, verdict, why)
    run = invocation.read(body.command, verdict, root=recorded.root, cwd=recorded.event.cwd)
    if run is None or len(able) == 1 or not runs.head:
        return run
    failed = invocation.read(runs.head.partition(invocation.BELOW)[0], verdict, root="", cwd="")
    return replace(failed, folder=run.folder) if failed else run


def _of_git(
    gits: Sequence[Sequence[str]],
    recorded: Recorded,
    body: Command,
    verdict: Verdict,
    why: Unstarted,
) -> Invocation | None:
    if why.reason:
        return Invocation(program=one_line(" ".join(gits[-1]), 300), tool="git")
    commits = [words for words in gits if "commit" in words[1:6]]
    if not commits or not _BYPASSING.isdisjoint(commits[-1]):
        return None
    has_hooks = verdict.tool not in ("", "git") or len(body.output) > _HOOK_CHARS
    if not (verdict.ok or has_hooks) or _NOTHING_TO_COMMIT.search(body.output):
        return None
    # Two sessions may each have a commit that was refused: only its own next one answers it.
    return Invocation(program=COMMIT, tool="git", targets=(str(recorded.session_id),))
