"""What became of each shell command, by its raw output and the client's own report.

The oracle of the scorers. It shares no code with the product and says `undecided` rather than
guess: what it is unsure of is scored by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sessions.checks import Check, checks
from sessions.kept import Kept
from sessions.outputs import failed, plain, shown_code
from sessions.shell import Part, parts
from sessions.timeline import Step
from sessions.transcript import Json

Verdict = Literal["passed", "failed", "unknown", "undecided"]
"""`unknown` never ran, or nobody can know how it ended; `undecided` is what the oracle
cannot read."""

_NEVER_RAN = (
    "Sibling tool call errored",
    "Cancelled: parallel tool call",
    "Permission to use",
    "This command requires approval",
    "Claude requested permissions",
    "Blocked:",
    "InputValidationError",
    "[Request interrupted",
)
_VERDICTS: Mapping[bool | None, Verdict] = {
    True: "failed",
    False: "passed",
    None: "undecided",
}
_MISUSED = re.compile(
    r"\A(?:error: un(?:expected|recognized) |[\w./-]+: (?:illegal|invalid|unrecognized) option)"
    r"|^FAILED: git \w+$",
    re.MULTILINE,
)
"""How programs refuse their arguments, and a wrapper says that git failed, whatever it returns."""
_NEVER_CHECKED = re.compile(
    r"\A(?:\$ .*\n)*(?:Exit code \d+\n)?(?:error: unrecognized subcommand|error: Script not found"
    r"|.*: command not found|.*: No such file or directory$|npm ERR! Missing script)",
    re.MULTILINE,
)
"""How a command ends that does not get as far as its check."""
HOOKED = ("test", "lint")
_SETTING = "Shell cwd was reset to"
_LINE_FILTERS = frozenset({"grep", "rg", "awk", "sed", "cut", "sort", "uniq", "wc", "jq", "egrep"})
_NAMES_OF_LOOKING = (
    "awk basename cat cd comm cut date diff dirname du echo egrep env false fd fgrep file "
    "find grep head id jq less ls nl od printf pwd readlink realpath rg sed sleep sort stat "
    "strings tail tee test tr tree true type uname uniq wc which whoami xargs xxd yq ["
)
_LOOKING = frozenset(_NAMES_OF_LOOKING.split())

_GIT_LOOKS = frozenset(
    ["blame", "branch", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"]
)


class Ran(NamedTuple):
    """A shell command that a session ran, and what became of it."""

    step: Step
    call: str
    command: str
    output: str
    is_error: bool
    verdict: Verdict
    parts: Sequence[Part]

    @property
    def is_hidden(self) -> bool:
        """Whether it failed though the client reported success."""
        return self.verdict == "failed" and not self.is_error

    def results(self) -> Iterator[tuple[Check, Verdict]]:
        """Yield what became of each check in it, those of git's hooks included."""
        found = list(checks(list(self.parts)))
        text = plain(self.output)
        for part, check in found:
            if _NEVER_CHECKED.search(text):
                yield check, "unknown"
            elif self.verdict == "passed" and (part.is_proven or len(found) == 1):
                yield check, "passed"
            elif self.verdict in {"passed", "failed"}:
                yield check, self._result(check, found)
            else:
                yield check, self.verdict
        if self.verdict == "passed" and any(map(commits, self.parts)):
            for kind in HOOKED:
                if failed(text, {kind}, filtered=True) is False:
                    yield Check(kind, "git commit"), "passed"

    def _result(self, check: Check, found: list[tuple[Part, Check]]) -> Verdict:
        if self.verdict == "failed" and len(found) == 1:
            return "failed"
        text = plain(self.output)
        said = failed(text, {check.kind}, filtered=True)
        others = {other.kind for _, other in found} - {check.kind}
        if said and not all(failed(text, {kind}, filtered=True) is False for kind in others):
            return "undecided"
        return _VERDICTS[said]


def commands(kept: Kept) -> list[Ran]:
    """Return all shell commands of a corpus, in order."""
    return [_ran(step, step.happened.payload) for step in kept.calls("Bash")]  # type: ignore[union-attr]


def verdict_of(command: str, output: str, *, is_error: bool, response: Json) -> Verdict:
    """Return what became of a command.

    Args:
        command: as the agent wrote it.
        output: standard output, then standard error; or the error.
        is_error: whether the client reported a failure.
        response: what else the client reported.
    """
    if is_error:
        return "unknown" if _never_ran(output) else "failed"
    if response.get("interrupted") or response.get("backgroundTaskId"):
        return "unknown"
    return _VERDICTS[_has_failed(command, output)]


def _has_failed(command: str, output: str) -> bool | None:
    """Return whether a command failed that ended with 0; None if the output does not show it."""
    if _MISUSED.search(output):
        return True
    found = parts(command)
    hidden = [part for part in found if not part.is_proven and not _only_looks(part)]
    code = shown_code(command, output)
    if code is not None:
        return code != 0
    if not hidden:
        return False
    judged = [check.kind for _, check in checks(hidden)]
    if not judged:
        return None
    is_filtered = any(part.program in _LINE_FILTERS for part in found)
    return failed(plain(output), set(judged), filtered=is_filtered)


def commits(part: Part) -> bool:
    """Return True if a part commits through git's hooks, and the line ends as it does."""
    is_hooked = {"--no-verify", "-n"}.isdisjoint(part.words)
    return part.program == "git" and part.is_proven and "commit" in part.words and is_hooked


def _only_looks(part: Part) -> bool:
    if part.program == "git":
        verbs = [word for word in part.words[1:] if not word.startswith("-")]
        return not _GIT_LOOKS.isdisjoint(verbs[:2])
    return part.program in _LOOKING


def _never_ran(error: str) -> bool:
    return error.startswith(_NEVER_RAN) or error.strip().startswith(_SETTING)


def _placed(part: Part, root: Path) -> Part:
    """Return a part with its folder relative to the repository; "" is the repository itself."""
    folder = part.folder.rstrip("/")
    if folder in {".", str(root)}:
        return part._replace(folder="")
    return part._replace(folder=folder.removeprefix(f"{root}/"))


def _ran(step: Step, payload: Json) -> Ran:
    is_error = payload["hook_event_name"] == "PostToolUseFailure"
    response = payload.get("tool_response")
    response = response if isinstance(response, dict) else {}
    said = (response.get("stdout") or "", response.get("stderr") or "")
    output = payload["error"] if is_error else "\n".join(filter(None, said))
    command = payload["tool_input"].get("command", "")
    return Ran(
        step=step,
        call=payload["tool_use_id"],
        command=command,
        output=output,
        is_error=is_error,
        verdict=verdict_of(command, output, is_error=is_error, response=response),
        parts=[_placed(part, step.repository.folder) for part in parts(command)],
    )
