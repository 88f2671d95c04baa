"""Which commands change what is checked, so that a check may pass after them, and how.

Part of interpretation (step 6): package managers, fixers and formatters, generators, services,
in-place editors and deletions, and git where it brings in other work. Scripts of a project count
by their names: `lint:fix`, `db:migrate`.
"""

from __future__ import annotations

import re
from typing import Literal

from observer.core.text import word_set
from observer.shell.command_line import SimpleCommand
from observer.shell.runners import program_name

FixKind = Literal["", "fixer", "install", "generate", "service", "files", "git"]
"""What a command does about a failure.

`fixer` rewrites code (formatters, `--fix`), `install` changes what is installed, `generate` makes
code, schemas or data, `service` starts or stops something that runs, `files` changes or deletes
files, `git` brings in other work.
"""

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
    "sed": ("files", ("-i",)),
    "perl": ("files", ("-pi", "-i")),
    "gofmt": ("fixer", ("-w",)),
    "goimports": ("fixer", ("-w",)),
    "gofumpt": ("fixer", ("-w",)),
    "prettier": ("fixer", ("--write", "-w")),
    "eslint": ("fixer", ("--fix",)),
    **dict.fromkeys(
        word_set(
            "stylelint golangci-lint ruff oxlint standard xo standardrb swiftlint markdownlint"
            " markdownlint-cli2 next ng"
        ),
        ("fixer", ("--fix",)),
    ),
    "shfmt": ("fixer", ("-w",)),
    "clang-format": ("fixer", ("-i",)),
    "biome": ("fixer", ("--write", "--apply", "--fix")),
    "rubocop": ("fixer", ("-a", "-A", "--autocorrect", "--auto-correct")),
    "ktlint": ("fixer", ("-F", "--format")),
    "cargo": ("fixer", ("--fix",)),
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
"""Programs whose words name scripts, tasks or targets of the project."""
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
    return "fixer" if not _FIXING.isdisjoint(words) else _of_script(plain)


def rewrites(part: SimpleCommand) -> bool:
    """Return True for a formatter or linter that fixes what it finds, and a script named so.

    Its success says that it could do so, and nothing about a check that only looks.
    """
    return fix_kind(part) == "fixer"


def _of_script(words: list[str]) -> FixKind:
    """Return what a script of the project does, as its name says."""
    names = [word for word in words if word not in {"run", "run-script", "exec"}][:2]
    if any(map(_CHECKING_SCRIPT.search, names)):
        return ""
    return next(
        (kind for name in names for kind, pattern in _SCRIPTS.items() if pattern.search(name)),
        "",
    )
