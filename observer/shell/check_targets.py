"""Checkers chosen by targets, environments or schemes (nx, tox, nox, xcodebuild), and task names.

Part of interpretation (step 6). Their words say which of a project's tasks run, and for what of it:
`nx run app:test` is the test of one part, `tox -e lint` a linter. `kind_from_name` reads what the
name of a task says: what it checks, and `base_task_name` drops the part that says it fixes files.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from observer.core.text import word_set
from observer.shell.check_tables import KIND_WORDS, Kind
from observer.shell.words import unquoted


class Checker(NamedTuple):
    """A checker: `base` is the same for equal checks, `rest` the words that are left.

    `is_task` holds where a project defines what is run, such as `make test`.
    """

    kind: Kind
    base: str
    rest: list[str]
    is_task: bool = False


_FIXING = re.compile(r"[:_-]?(?:auto)?(?:fix|write|apply|update)(?:able)?\Z", re.IGNORECASE)
_CHECKING = re.compile(r"[:_-]check\Z|\Acheck[:_-]", re.IGNORECASE)
NAME_PART = re.compile(r"[A-Za-z][a-z0-9]*")


def kind_from_name(name: str) -> Kind:
    """Return what a task of this name is likely to check."""
    parts = {part.lower() for part in NAME_PART.findall(name)}
    parts.add(name.replace("-", "").lower())
    return next((kind for kind, known in KIND_WORDS if not known.isdisjoint(parts)), "")


def base_task_name(name: str) -> str:
    """Return the name of a task without the word that has it repair what it can, or only look."""
    plain = _CHECKING.sub("", name)
    if plain != name and kind_from_name(plain) == "format":
        return plain
    return _FIXING.sub("", name) or name


_NX_TARGETS = word_set("-t --target --targets")
_NX_PROJECTS = word_set("-p --project --projects")
_NX_VALUED = word_set("-c --configuration --parallel --base --head --runner --output-style")
_ENVIRONMENTS = {"tox": word_set("-e"), "nox": word_set("-s -e --session --sessions")}
_ASKING = word_set(
    "-l --list --list-sessions --listenvs -a -av --listenvs-all --notest list config devenv depends"
)
_RUNNING = word_set("run run-parallel r p")
_PYTHON = re.compile(r"(?:py|pypy)[\d.]*\Z", re.IGNORECASE)
_ACTIONS: Mapping[str, tuple[Kind, str]] = {
    "test": ("test", "xcodebuild test"),
    "test-without-building": ("test", "xcodebuild test"),
    "analyze": ("lint", "xcodebuild analyze"),
    "build-for-testing": ("build", "xcodebuild build"),
    "build": ("build", "xcodebuild build"),
    "archive": ("build", "xcodebuild build"),
}
_XCODE_VALUED = word_set(
    "-scheme -project -workspace -target -destination -configuration -sdk -arch -testPlan"
    " -derivedDataPath -resultBundlePath -xcconfig -toolchain -jobs -archivePath"
    " -maximum-parallel-testing-workers -parallel-testing-enabled -enableCodeCoverage"
)
_XCODE_CHOOSING = word_set("-scheme -project -workspace -target -testPlan")
_XCODE_TESTS = ("-only-testing:", "-skip-testing:")
_XCODE_ASKING = word_set("-list -version -showBuildSettings -showsdks -showdestinations -help")


def _nx(rest: list[str]) -> Checker | None:
    """Read `nx test app`, `nx run app:test`, `nx run-many -t test lint`, `nx affected -t test`."""
    targets, projects = [*_values(rest, _NX_TARGETS)], [*_values(rest, _NX_PROJECTS)]
    verb, *named = [*_plain(rest, _NX_TARGETS | _NX_PROJECTS | _NX_VALUED)] or [""]
    left = [word for word in rest if word.startswith("--exclude")]
    if verb == "run":
        project, _, target = (named or [""])[0].partition(":")
        targets, projects = [target.partition(":")[0]], [project]
    elif verb.partition(":")[0] == "affected":
        targets += [verb.partition(":")[2]] if ":" in verb else []
        left.append("--affected")
    elif verb != "run-many":
        targets, projects = [verb], [*projects, *named[:1]]
    left += [f"-p={','.join(sorted(projects))}"] if any(projects) else []
    names = [base_task_name(one) for one in targets if kind_from_name(one)]
    if not names:
        return None
    kind = kind_from_name(targets[0]) if len(targets) == 1 else "all"
    return Checker(kind, f"nx {' '.join(sorted(names))}", left, is_task=True)


def _of_environments(name: str, rest: list[str]) -> Checker | None:
    """Read which environments run: one named as a Python tests; with none chosen, all run."""
    own = rest[: rest.index("--")] if "--" in rest else rest
    if not _ASKING.isdisjoint(own):
        return None
    options = _ENVIRONMENTS[name]
    chosen = sorted(_values(own, options))
    kinds = {"test" if _PYTHON.match(one) else kind_from_name(one) or "all" for one in chosen}
    left = [word for word in own if word.partition("=")[0] not in _RUNNING | options]
    left = [word for word in left if not {*unquoted(word).split(",")} <= {*chosen}]
    left += [f"-e={','.join(chosen)}"] if chosen else []
    left += rest[len(own) :]
    return Checker(kinds.pop() if len(kinds) == 1 else "all", name, left, is_task=True)


def _xcodebuild(rest: list[str]) -> Checker | None:
    """Read the action of xcodebuild, which builds without one, and what its options choose."""
    plain = {*_plain(rest, _XCODE_VALUED)}
    if not _XCODE_ASKING.isdisjoint(rest) or plain == {"clean"}:
        return None
    action = next((one for one in _ACTIONS if one in plain), "" if plain else "build")
    if not action:
        return None
    pairs = itertools.pairwise(rest)
    choosing = [f"{word}={unquoted(then)}" for word, then in pairs if word in _XCODE_CHOOSING]
    choosing += [word.replace(":", "=", 1) for word in rest if word.startswith(_XCODE_TESTS)]
    return Checker(*_ACTIONS[action], choosing)


def _values(words: list[str], options: frozenset[str]) -> Iterator[str]:
    """Yield the values of options: behind `=`, or the words up to the next option; commas part."""
    is_value = False
    for word in words:
        name, _, value = word.partition("=")
        if word[0] == "-":
            is_value = word in options
        given = (value if name in options else "") if word[0] == "-" else word if is_value else ""
        yield from (one for one in unquoted(given).split(",") if one)


def _plain(words: list[str], valued: frozenset[str]) -> Iterator[str]:
    """Yield the words that are neither options nor the value of one."""
    for before, word in itertools.pairwise(["", *words]):
        if word[0] != "-" and before not in valued:
            yield word


READ: Mapping[str, Callable[[list[str]], Checker | None]] = MappingProxyType(
    {
        "nx": _nx,
        "tox": partial(_of_environments, "tox"),
        "nox": partial(_of_environments, "nox"),
        "xcodebuild": _xcodebuild,
    }
)
"""Program -> what reads the words behind it."""
