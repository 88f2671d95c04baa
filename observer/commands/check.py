"""What a command checks, which green run covers which red one, and what may change it.

A check is a checker (`pytest`, `go test`, a script `lint`) and a scope: folders and files, filters,
and options that make it stricter.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from observer.commands import check_tools as table
from observer.commands.command_line import SimpleCommand
from observer.commands.runners import XARGS, chosen_package, program_name, unquoted
from observer.core.text import distinct, one_line, relative, word_set
from observer.core.value import Value

_MOST = 20
_HERE = "*"
"""Last part of a Go package's path: this folder without those below."""
_NARROWING = re.compile(
    r"--(?:changed\w*|onlyChanged|affected|related|findRelatedTests|shard|lf|last-failed|onlyFailures"
    r"|only-failures|failed|rerun-failed|ignore|deselect|exclude|skip[\w-]*|fast|staged|cached)(?:=|\Z)"
    r"|-o\Z|-short\Z|-(?:only|skip)-testing:"
)
_NAME_END = re.compile(r"[:._-]")
_FROM_FILE = re.compile(r"\d?<.")
_AT = word_set(
    "-C --prefix --cwd --directory --dir --project-dir --working-directory --package-path"
)
_MANIFESTS = word_set("--manifest-path --justfile")
_PARTIAL = re.compile(r"unit|e2e|integration|smoke|quick|fast|watch|staged|changed|affected")


LAST_FAILED = word_set("--lf --last-failed --onlyFailures --only-failures --failed --rerun-failed")


class CheckIdentity(Value):
    """What a command checks. `base` is the same for equal checks, `tool` the program.

    `paths` are relative to the project, "" for all of it; a Go package without those below it ends
    in `*`. `filters` choose among what is there, `strict` make it harder to pass. `is_given` holds
    where the paths stand in the command, `is_task` for what the project itself defines. `task` ran
    it where only the output names the checker. A success of what `is_fixer`, which rewrites what it
    finds, is no pass.
    """

    kind: table.Kind
    base: str
    tool: str = ""
    folder: str = ""
    paths: tuple[str, ...] = ("",)
    filters: tuple[str, ...] = ()
    strict: tuple[str, ...] = ()
    is_given: bool = False
    is_task: bool = False
    task: str = ""
    is_fixer: bool = False


def check_of(part: SimpleCommand, folder: str, root: str = "") -> CheckIdentity | None:
    """Return what a simple command checks in a folder of the project; None if nothing of it."""
    checker = table.checker_of(part.words)
    if checker is None:
        return None
    scope = _Scope(checker, folder, root, chosen_package(part.wrapping))
    if not scope.paths or scope.folder.startswith("/"):
        return None
    filters = [*scope.filters, *([part.wrapping] if XARGS in part.wrapping.split() else [])]
    if checker.is_task and (partial := _PARTIAL.search(checker.base)):
        filters.append(partial.group())
    paths = sorted({one_line(path, 200) for path in scope.paths})
    return CheckIdentity(
        kind=checker.kind,
        base=one_line(checker.base, 80),
        tool=part.words[0].rpartition("/")[2][:40],
        folder=scope.folder,
        paths=("",) if "" in paths else tuple(paths[:_MOST]),
        filters=distinct((one_line(one, 120) for one in filters), _MOST),
        strict=distinct(scope.strict, _MOST),
        is_given=scope.is_given,
        is_task=checker.is_task,
        is_fixer=rewrites(part),
    )


def covers(green: CheckIdentity, red: CheckIdentity) -> bool:
    """Return True if all that the red run looked at was looked at by the green one."""
    is_wide = set(green.filters) <= set(red.filters) and is_within_scope(green, red)
    return is_wide and is_comparable(green, red)


def clears(green: CheckIdentity, red: CheckIdentity) -> bool:
    """Return True if the pass of one run proves that the other would pass now.

    Of what the tasks `lint` and `lint:all` ran, both of unknown scope, neither says anything about
    the other.
    """
    stems = [_NAME_END.split(one.task)[0] for one in (green, red)]
    is_variant = green.task != red.task and stems[0] == stems[1] != ""
    return covers(green, red) and (red.is_fixer or not green.is_fixer) and not is_variant


def answers(green: CheckIdentity, red: CheckIdentity, tests: Iterable[str], place: str) -> bool:
    """Return True if a pass answers a failure.

    `tests` are all that had failed, empty if they are not all known; `place` is where the one error
    was, empty if there were more.
    """
    left = tuple(one for one in green.filters if one not in LAST_FAILED)
    green = msgspec.structs.replace(green, filters=left)
    if green.is_fixer and not red.is_fixer:
        return False
    names = [*tests] or ([place] if place else [])
    is_chosen = bool(names) and all(selects_test(green, name) for name in names)
    return clears(green, red) or (is_chosen and is_comparable(green, red))


def is_comparable(green: CheckIdentity, red: CheckIdentity) -> bool:
    """Return True if what passes in one run would pass in the other, as far as both look at it."""
    is_vague = green.is_task or bool(green.task)
    if not is_same_checker(green, red) or not (is_vague or set(red.strict) <= set(green.strict)):
        return False
    return green.folder == red.folder or green.is_given or green.base.startswith(table.RECURSIVE)


def is_within_scope(green: CheckIdentity, red: CheckIdentity) -> bool:
    """Return True if the paths of a red run lie within those of a green one."""
    return all(any(_inside(path, place) for place in green.paths) for path in red.paths)


def is_same_checker(green: CheckIdentity, red: CheckIdentity) -> bool:
    """Return True if a pass of one checker says something about the other's failure."""
    return green.base == red.base or green.base in table.WIDER.get(red.base, ())


def selects_test(check: CheckIdentity, name: str, place: str = "") -> bool:
    """Return True if a run looks at a test, which failed when it ran last, or at its place."""
    filters = [one for one in check.filters if one not in LAST_FAILED]
    chosen = (one.partition("=")[2].strip("'\"^$") for one in filters)
    if filters and not any(one and one in name for one in chosen):
        return False
    is_bare = filters and "/" not in name and "::" not in name
    if is_bare or check.paths == ("",):
        return True
    below = f"{check.folder}/{name}" if check.folder else name
    return any(_inside(one, path) for one in (name, below, place) if one for path in check.paths)


def _inside(path: str, place: str) -> bool:
    if not place or path == place:
        return True
    return path.startswith(place) and path[len(place)] in "/:[."


class _Scope:
    """Reads the words behind a checker: where, what, through which filter, how strictly."""

    def __init__(
        self, checker: table.Checker, folder: str, root: str, around: Mapping[str, str]
    ) -> None:
        self._checker = checker
        self._root = root
        self.folder = folder
        self.filters: list[str] = []
        self.strict: list[str] = []
        self._targets: list[str] = []
        for name, value in around.items():
            if name in _AT:
                self._enter(unquoted(value), is_file=False)
            else:
                self.filters.append(f"in package={unquoted(value)}")
        words, at = checker.rest, 0
        while at < len(words):
            at += self._take(words[at], words[at + 1] if at + 1 < len(words) else "")
        self.is_given = bool(self._targets) and not checker.is_task
        self.paths = self._placed()

    def _take(self, word: str, following: str) -> int:
        """Take a word; return 2 where the next one is its value."""
        name, _, value = word.partition("=")
        steps, base = 1 if value else 2, self._checker.base
        value = unquoted(value or following)
        if word == "<":
            return 2
        if name in _AT or name in _MANIFESTS:
            self._enter(value, is_file=name in _MANIFESTS)
        elif name in table.STRICT_VALUES and value and value.startswith(table.STRICT_VALUES[name]):
            self.strict.append(f"{name}={value}")
        elif name in table.EXACT.get(base, table.EXACT[""]):
            self.filters.append(f"{name.lstrip('-')}={value}")
            self.strict.append(self.filters[-1])
        elif name in table.SELECTING.get(base, table.SELECTING[""]):
            self.filters.append(f"{name.lstrip('-')}={value}")
        elif name not in table.NEUTRAL_VALUED and name not in table.NEUTRAL.get(base, ()):
            self._take_alone(word)
            return 1
        return steps

    def _take_alone(self, word: str) -> None:
        is_chosen = word.startswith("-D") and "test" in word.partition("=")[0].lower()
        if _NARROWING.match(word) or is_chosen:
            self.filters.append(word)
        elif word.partition(":")[0] in table.STRICT:
            self.strict.append(word)
        elif word[0] not in "-+…" and "=" not in word and not _FROM_FILE.match(word):
            self._targets.append(unquoted(word))

    def _enter(self, place: str, *, is_file: bool) -> None:
        folder = posixpath.dirname(place) if is_file else place
        entered = posixpath.normpath(posixpath.join(self.folder, folder))
        if entered.startswith("/") and self._root:
            entered = relative(entered, self._root) if entered != self._root else "."
        self.folder = "" if entered == "." else entered

    def _placed(self) -> list[str]:
        is_go = self._checker.base.startswith("go ")
        if self._checker.is_task:
            self.filters += self._targets
            return [self.folder]
        if not self._targets:
            return [posixpath.join(self.folder, _HERE) if is_go else self.folder]
        return [path for one in self._targets if (path := self._path(one, is_go=is_go)) is not None]

    def _path(self, target: str, *, is_go: bool) -> str | None:
        is_deep = target.endswith("...")
        plain = target.removesuffix("...").rstrip("/") or "."
        if plain.startswith("/"):
            plain = relative(plain, self._root) if self._root else plain
            if plain == self._root:
                return ""
            if plain.startswith("/"):
                return None
            path = plain
        else:
            path = posixpath.normpath(posixpath.join(self.folder, plain))
        path = "" if path == "." else path
        if is_go and not is_deep and not path.endswith(".go"):
            return posixpath.join(path, _HERE)
        return None if path.startswith("..") else path


FixKind = Literal["", "fixer", "install", "generate", "service", "files", "git"]
"""What a command does about a failure; a `fixer` rewrites code, a `service` is started or
stopped."""

_TABLE: dict[FixKind, tuple[tuple[str, str], ...]] = {
    "fixer": (
        ("cargo go", "fmt fix"),
        ("dotnet ruff dart mix terraform buf deno zig gleam taplo dprint hatch", "format fmt"),
        ("golangci-lint", "fmt"),
        ("php-cs-fixer rector", "fix process"),
    ),
    "install": (
        ("pip pip3 uv poetry pdm conda mamba pipx", "install add sync update upgrade remove lock"),
        ("npm yarn pnpm bun", "install i ci add remove update upgrade dedupe link rebuild"),
        ("cargo", "add remove update install"),
        ("go", "get mod install work"),
        ("gem bundle composer", "install update require add"),
        ("apt apt-get brew dnf yum apk pacman choco winget", "install add upgrade update"),
        ("nvm fnm asdf mise rustup pyenv rbenv sdk volta", "install use add target component"),
        ("dotnet", "add restore tool workload"),
        ("playwright puppeteer cypress", "install"),
        ("flutter dart swift mix", "pub deps.get package"),
    ),
    "generate": (
        ("go protoc sqlc graphql-codegen openapi-generator buf mockery", "generate"),
        ("alembic prisma drizzle-kit knex sequelize typeorm", "upgrade migrate generate db push"),
        ("flyway sqlx diesel goose atlas", "migrate up run apply"),
        ("composer", "dump-autoload dumpautoload"),
    ),
    "service": (
        ("docker docker-compose podman", "build pull compose up start restart run"),
        ("systemctl service brew pg_ctl supervisorctl kubectl", "start restart services apply"),
    ),
    "files": (("cargo dotnet flutter swift go", "clean"),),
    "git": (("git", "apply am pull merge cherry-pick rebase submodule lfs"),),
}
_VERBS: dict[str, dict[str, FixKind]] = {}
for _kind, _rows in _TABLE.items():
    for _tools, _verbs in _rows:
        for _tool in _tools.split():
            _VERBS.setdefault(_tool, {}).update(dict.fromkeys(_verbs.split(), _kind))
_ALWAYS: dict[str, FixKind] = {
    **dict.fromkeys(word_set("black isort rustfmt autopep8 pint phpcbf yapf swiftformat"), "fixer"),
    **dict.fromkeys(word_set("patch chmod mv cp touch mkdir ln tee"), "files"),
    **dict.fromkeys(word_set("protoc mockgen createdb"), "generate"),
    **dict.fromkeys(word_set("kill pkill killall"), "service"),
}
_WITH_OPTION: dict[str, tuple[FixKind, tuple[str, ...]]] = {
    **dict.fromkeys(word_set("gofmt goimports gofumpt shfmt"), ("fixer", ("-w",))),
    **dict.fromkeys(
        word_set(
            "eslint stylelint golangci-lint ruff oxlint standard xo standardrb swiftlint cargo"
            " markdownlint markdownlint-cli2 next ng"
        ),
        ("fixer", ("--fix",)),
    ),
    "prettier": ("fixer", ("--write", "-w")),
    "clang-format": ("fixer", ("-i",)),
    "biome": ("fixer", ("--write", "--apply", "--fix")),
    "ktlint": ("fixer", ("-F", "--format")),
    "rubocop": ("fixer", ("-a", "-A", "--autocorrect", "--auto-correct")),
    "sed": ("files", ("-i",)),
    "perl": ("files", ("-pi", "-i")),
    "jest": ("generate", ("-u", "--updateSnapshot")),
    "vitest": ("generate", ("-u", "--update")),
    "pytest": ("generate", ("--snapshot-update",)),
}
_RUNNERS = word_set(
    """
    npm yarn pnpm bun make just task mise nx turbo rake rails gradle gradlew mvn mvnw composer
    artisan manage.py php python mix deno grunt gulp invoke nox tox hatch pdm poe
    """
)
_SCRIPTS: dict[FixKind, re.Pattern[str]] = {
    "fixer": re.compile(
        r"(?i)(?:^|[:_.-])(?:auto)?(?:fix|fmt|write|prettify)(?:$|[:_.-])|^format$|^format:(?!check)"
        r"|(?:spotless|ktlint|scalafmt)\w*:?(?:apply|format|all)$|lint\w*fix$"
    ),
    "generate": re.compile(
        r"(?i)(?:^|[:_.-])(?:codegen|generate|gen|migrate|migrations?|seed|proto|sync)(?:$|[:_.-])"
        r"|^db:"
    ),
    "install": re.compile(r"(?i)^(?:install|deps|setup|bootstrap|restore|vendor)$"),
    "files": re.compile(r"(?i)^(?:clean|distclean|clobber|reset)$|:clean$"),
    "service": re.compile(
        r"(?i)^(?:up|services?|db-up|docker-up|dev|start|serve|server|runserver)$"
        r"|^(?:docker|db|services?|dev|start|serve):\w+$"
    ),
}
_FIXING = word_set("--fix --write --autofix --auto-correct")
_HARMLESS = word_set(
    "--check --abort --dry-run --diff --list-different --check-only --no-commit --check-formatted"
    " --verify-no-changes --set-exit-if-changed --test --lint --fix-dry-run"
)
_ONLY_CHECKING = {"isort": "-c", "prettier": "-c"}
_CHECKING_SCRIPT = re.compile(r"(?i)(?:^|[:_.-])(?:check|verify|diff|ci)(?:$|[:_.-])")


def fix_kind(part: SimpleCommand) -> FixKind:
    """Return what a simple command changes that a check may depend on; "" if nothing."""
    tool, words = program_name(part.words[0]), part.words[1:]
    options = {f"--{word.lstrip('-')}".partition("=")[0] for word in words if word[0] == "-"}
    if not _HARMLESS.isdisjoint(options) or _ONLY_CHECKING.get(tool) in words:
        return ""
    plain = [word for word in words if word[0] not in "-+"]
    verb = plain[0] if plain else ""
    if kind := _VERBS.get(tool, {}).get(verb, _ALWAYS.get(tool, "")):
        return kind
    kind, writing = _WITH_OPTION.get(tool, ("", ()))
    if writing and any(word.startswith(writing) for word in words):
        return kind
    if tool not in _RUNNERS:
        return ""
    if not _FIXING.isdisjoint(words):
        return "fixer"
    # What a script of the project does, its name says.
    names = [word for word in plain if word not in {"run", "run-script", "exec"}][:2]
    is_checking = any(map(_CHECKING_SCRIPT.search, names))
    kinds = (kind for name in names for kind, one in _SCRIPTS.items() if one.search(name))
    return "" if is_checking else next(kinds, "")


def rewrites(part: SimpleCommand) -> bool:
    """Return True for what mends what it finds: its success says nothing of what only looks."""
    return fix_kind(part) == "fixer"
