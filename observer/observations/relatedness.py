"""Whether a change can have to do with a failure, and how likely it is its cause.

Part of interpretation (step 6), of the arcs. A change is a likely cause where the failure names
its file, the test of its file or one of its symbols, or where it is what such a failure calls for:
a formatter for a linter, an installation for a module that is missing. Prose, and the code of
other languages than the one that is checked, have nothing to do with it unless it names them.

Which changes are told as the cause that a check passes again.

Part of interpretation (step 6), of the arcs. What was changed since the last failing run counts,
and before it what changed the failure. Where some of it is a likely cause (`relation`), only that
is told; else all that was changed in the sessions that saw the failure. A check that was left red
and passes in a later session needs a likely cause: without one nobody knows what mended it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from observer.code.languages import PROSE, language_of
from observer.core.model import Recorded
from observer.core.text import base_name, relative
from observer.observations.project_state import ProjectState, TrackedEdit, TrackedFailure
from observer.outcomes.same_check import FAMILIES

UNRELATED, POSSIBLE, LIKELY = 0, 1, 2
"""How a change stands to a failure."""

_PROSE_FILE = re.compile(
    r"(?i)\.(?:adoc|png|jpe?g|svg|gif|pdf|log)$|(?:^|/)(?:LICENSE|NOTICE|CHANGELOG|README)[^/]*$"
    r"|(?:^|/)(?!requirements|constraints|cmakelists)[^/]*\.txt$"
)
_LANGUAGES = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "vue": "javascript",
    "svelte": "javascript",
    "css": "javascript",
    "scss": "javascript",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "kotlin": "java",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
}
"""Language of a file -> the family of programs that judge it."""
_STYLE = re.compile(
    r"(?i)lint|fmt|format|prettier|biome|\bruff|\bblack\b|isort|clippy|rubocop|cs-fixer|phpcs|pint"
    r"|spotless|checkstyle|\bxo\b|standard|credo|flake8|\bcheck\b"
)
_STYLE_SAID = re.compile(
    r"(?i)\bformat|reformat|prettier|not sorted|unsorted|\blint|whitespace|indent"
    r"|unused (?:import|var)"
)
_MISSING = re.compile(
    r"(?i)cannot find (?:module|package)|no module named|modulenotfound|importerror|loaderror"
    r"|not found|could not (?:resolve|find)|can't resolve|cannot (?:resolve|load)|unresolved"
    r"|not installed|no required module|eresolve|peer dep|does not exist|no such file|missing"
)
_UNREACHABLE = re.compile(
    r"(?i)econnrefused|connection (?:refused|reset|error)"
    r"|(?:could not|can't|cannot|failed to) connect"
    r"|timed? ?out|eaddrinuse|address already in use|\bport\b|docker daemon|no such host|enotfound"
    r"|is the server running|server closed|operationalerror"
)
_STALE = re.compile(
    r"(?i)migrat|schema|prisma|generated|codegen|no such (?:table|column)|relation .{0,80}does not"
    r"|unknown column|snapshot|\bproto|out of date|obsolete"
)
_CALLED_FOR = {"install": _MISSING, "service": _UNREACHABLE, "generate": _STALE}
_TEST = re.compile(r"(?:^|[._-])(?:tests?|spec|e2e|it)(?=[._-]|$)|(?<=[a-z])(?:Tests?|Spec|IT)$")
_IN_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|testdata|fixtures|conftest\.py)(?:/|$)"
)
_MANIFEST = re.compile(
    r"(?i)(?:^|/)(?:package\.json|[\w.-]*\.toml|makefile|justfile|taskfile\.ya?ml|composer\.json"
    r"|gemfile|rakefile|build\.gradle(?:\.kts)?|pom\.xml|go\.mod|setup\.(?:py|cfg)|mix\.exs"
    r"|requirements[\w.-]*\.txt)$"
)
"""Files that say which scripts a project has and what it needs."""
_TEST_PARTS = re.compile(r"::| > |[ (\[]")
_STEM_CHARS = 4
_BEFORE, _BEHIND = r"(?<=['\"`.])", r"(?=['\"`(])"
"""What stands around a plain word where it is a name."""


def is_related(edit: TrackedEdit, trouble: TrackedFailure) -> bool:
    """Return True if an edit can have mended a failure, or can have been meant to."""
    return strength(edit, trouble) > UNRELATED


def strength(edit: TrackedEdit, trouble: TrackedFailure) -> int:
    """Return how likely a change is the cause that a failing check passes."""
    if trouble.unstarted:
        return LIKELY if _lets_start(edit, trouble.unstarted) else UNRELATED
    if edit.sort == "command":
        return _of_command(edit, trouble)
    path = relative(edit.path, trouble.ground.root) if edit.path else ""
    if is_named(edit, trouble) or (path and _is_meant(path, trouble)):
        return LIKELY
    if edit.sort == "undo":
        return POSSIBLE
    if _names_symbol(edit.symbols, trouble):
        return LIKELY
    return POSSIBLE if _is_judged(path, trouble) else UNRELATED


def _is_judged(path: str, trouble: TrackedFailure) -> bool:
    """Return True if a file of the project may be part of what is checked."""
    language = language_of(path)
    if path.startswith(("/", "~")) or language in PROSE or _PROSE_FILE.search(path):
        return False
    family = _LANGUAGES.get(language, "")
    return not family or not trouble.of.family or family == trouble.of.family


def is_style(trouble: TrackedFailure) -> bool:
    """Return True if the failure is one that formatters and autofixes are made for."""
    words = trouble.of.program
    return bool(_STYLE.search(words)) or any(map(_STYLE_SAID.search, _errors(trouble)))


def _of_command(edit: TrackedEdit, trouble: TrackedFailure) -> int:
    family, other = trouble.of.family, FAMILIES.get(edit.said.split(" ", 1)[0], "")
    if family and other and family != other:
        return UNRELATED
    if edit.remedy == "fixer":
        return LIKELY if is_style(trouble) else UNRELATED
    called = _CALLED_FOR.get(edit.remedy)
    if called and any(map(called.search, _errors(trouble))):
        return LIKELY
    is_about = any(base_name(name) in edit.said for name in trouble.files)
    return LIKELY if is_about and edit.remedy == "files" else POSSIBLE


def _lets_start(edit: TrackedEdit, reason: str) -> bool:
    """Return True if a change lets a command start that could not."""
    if reason == "stopped":
        return False  # nobody knows what it would have come to
    if reason == "service":
        return edit.remedy == "service"
    if edit.sort == "command":
        return edit.remedy == "install" or (edit.remedy == "files" and reason != "usage")
    return bool(_MANIFEST.search(edit.path)) and reason in ("script", "missing", "folder")


def _errors(trouble: TrackedFailure) -> tuple[str, ...]:
    return (trouble.error, trouble.last_error)


def is_named(edit: TrackedEdit, trouble: TrackedFailure) -> bool:
    """Return True if the failure, or the command, names the file of an edit."""
    name = base_name(edit.path)
    said = (trouble.head, *_errors(trouble), *trouble.tests)
    return bool(name) and any(name in text for text in said)


def _is_meant(path: str, trouble: TrackedFailure) -> bool:
    """Return True if a failing file is this one, lies in this folder, or tests this one."""
    if any(_is_at(name, path) for name in trouble.files):
        return True
    stem = stem_of(path)
    tested = (trouble.place, *trouble.tests)
    return len(stem) >= _STEM_CHARS and any(_tells(stem, name) for name in tested)


def _is_at(name: str, path: str) -> bool:
    return name == path or name.startswith(f"{path}/") or path.endswith(f"/{name}")


def _tells(stem: str, test: str) -> bool:
    """Return True if a test is told by the name of the file that it tests."""
    return stem in _stems_in(test)


@lru_cache(maxsize=2048)
def _stems_in(test: str) -> frozenset[str]:
    return frozenset(stem_of(part) for part in _TEST_PARTS.split(test) if part)


@lru_cache(maxsize=2048)
def stem_of(path: str) -> str:
    """Return the name of a file without its ends and what marks it as a test, in lower case."""
    bare = base_name(path).partition(".")[0] if "." in base_name(path) else base_name(path)
    return _TEST.sub("", bare).strip("._-").lower()


def is_test(path: str) -> bool:
    """Return True if a file holds tests or what only they use."""
    stem = base_name(path).rpartition(".")[0] or base_name(path)
    return bool(_TEST.search(stem) or _IN_TESTS.search(path))


def _names_symbol(symbols: Iterable[str], trouble: TrackedFailure) -> bool:
    """Return True if a failure names a symbol, not only uses its name as a word."""
    said = " ".join((*_errors(trouble), *trouble.tests))
    names = (symbol.rpartition(".")[2] for symbol in symbols)
    # Compiling a pattern costs far more than looking for the name.
    return any(
        len(name) >= _STEM_CHARS and re.search(rf"{_BEFORE}{re.escape(name)}{_BEHIND}", said)
        if name.islower() and name.isalpha()
        else re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said)
        for name in names
        if name and name in said
    )


_FILES = 4
"""Most files of which none is a likely cause: more than these is the work, not the repair."""


def causes_of(
    known: ProjectState, trouble: TrackedFailure, recorded: Recorded
) -> list[TrackedEdit]:
    """Return what mended a failure, as far as anything tells."""
    changes = [edit for edit in known.edits if _can_count(edit, trouble)]
    rated = [(edit, strength(edit, trouble)) for edit in changes]
    since = [(edit, rate) for edit, rate in rated if edit.seq > trouble.last_seq and rate]
    likely = [edit for edit, rate in since if rate == LIKELY]
    if likely:
        earlier = [edit for edit, rate in rated if edit.seq < trouble.last_seq and rate == LIKELY]
        found = [edit for edit in earlier if edit.seq > trouble.tried] + _until_fixed(likely)
    elif recorded.session_id in trouble.sessions:
        own = [edit for edit, _ in since if edit.session in (None, recorded.session_id)]
        found = _last_files(own)
    else:
        found = []
    helped = [edit for edit in changes if edit.seq in trouble.helped and edit not in found]
    return sorted([*helped, *found], key=lambda edit: edit.seq)


def _can_count(edit: TrackedEdit, trouble: TrackedFailure) -> bool:
    return (
        trouble.seq < edit.seq
        and not edit.reverted_by
        and edit.sort != "probe"
        and not (edit.has_failed and edit.remedy != "fixer")
        and not _is_retry(edit, trouble)
        and edit.ground == trouble.ground
        and trouble.of.program not in edit.fixed
        and (edit.sort != "undo" or edit.since < trouble.seq)
    )


def _is_retry(edit: TrackedEdit, trouble: TrackedFailure) -> bool:
    """Return True if a command is what had failed, run once more, and no `--fix` of it."""
    if edit.remedy == "fixer":
        return trouble.of.mends and trouble.head.endswith(edit.said)
    return edit.sort == "command" and edit.said == trouble.head


def _until_fixed(likely: list[TrackedEdit]) -> list[TrackedEdit]:
    """Return the changes up to the last fixer that got through: it left nothing to mend."""
    fixers = [
        place for place, edit in enumerate(likely) if edit.remedy == "fixer" and not edit.has_failed
    ]
    return likely[: fixers[-1] + 1] if fixers else likely


def _last_files(edits: Sequence[TrackedEdit]) -> list[TrackedEdit]:
    """Return the changes of the files that were changed last, commands with them."""
    files = list(dict.fromkeys(edit.path for edit in reversed(edits) if edit.path))
    told = set(files[:_FILES])
    return [edit for edit in edits if not edit.path or edit.path in told]
