"""Which commands check code, by which of their words, and what kind of check they run.

Tests, type checks, linters, formatters that only check, and builds are checks; a built program or a
one-off script is not. The name of a task says what it checks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from observer.commands.runners import program_name
from observer.core.text import word_set

Kind = Literal["test", "types", "lint", "format", "build", "all", ""]
"""What is checked; `all` is a task that does several of these."""
STATIC = frozenset({"lint", "format", "types"})

ALWAYS: dict[Kind, str] = {
    "test": "pytest unittest nose2 trial tox nox jest vitest mocha ava tap jasmine karma rspec"
    " minitest phpunit pest paratest codecept prove bats ctest gotestsum ginkgo cypress",
    "types": "mypy dmypy pyright basedpyright ty pyre tsc vue-tsc svelte-check phpstan psalm srb"
    " dialyzer",
    "lint": "flake8 pylint eslint oxlint stylelint golangci-lint staticcheck revive rubocop"
    " standardrb reek phpcs shellcheck hadolint yamllint markdownlint markdownlint-cli2 actionlint"
    " ktlint detekt checkstyle swiftlint bandit semgrep tflint ansible-lint lint-imports vulture"
    " pycodestyle pyflakes pydocstyle pre-commit prek lefthook knip jshint standard xo codespell",
    "build": "webpack rollup esbuild tsup ninja javac",
}
ALIASES = {
    "py.test": "pytest", "basedpyright": "pyright",
    "dmypy": "mypy", "vue-tsc": "tsc", "mvnw": "mvn", "gradlew": "gradle", "pest": "phpunit",
    "paratest": "phpunit", "prek": "pre-commit", "docker-compose": "docker", "podman": "docker",
}  # fmt: skip
RUNNING = {"gotestsum": "go test", "ginkgo": "go test"}
RUNNING_OTHERS = word_set("pre-commit lefthook tox nox")
_SUBCOMMANDS: dict[Kind, str] = {
    "test": """
        go test; cargo test t nextest; dotnet test; deno test; bun test; flutter test; dart test
        swift test; zig test; mix test; sbt test; stack test; cabal test; bazel test
        bazelisk test: bazel test; rails test: minitest; rails spec: rspec; artisan test: phpunit
        manage.py test: django test; playwright test; meson test; ng test; hatch test: pytest
    """,
    "types": "deno check; mix dialyzer: dialyzer; astro check; flow check: flow",
    "lint": """
        go vet; cargo clippy; cargo deny; deno lint; ruff check; biome check lint ci: biome
        flutter analyze: dart analyze; dart analyze; mix credo; manage.py check: django check
        next lint: eslint; ng lint; terraform validate; helm lint; buf lint
    """,
    "format": """
        cargo fmt; dotnet format; deno fmt; ruff format; biome format; mix format; hatch fmt
        terraform fmt
    """,
    "build": """
        go build install; cargo build check b; cargo doc; dotnet build publish; bun build
        swift build; zig build; mix compile; sbt compile; stack build; cabal build; bazel build
        bazelisk build: bazel build; meson compile
        vite build; next build; nuxt build; astro build; ng build; docker build
    """,
}
"""Programs and those of their subcommands that check; a checker is called by the first of these."""
VERBS: dict[str, dict[str, tuple[Kind, str]]] = {}
for _kind, _rows in _SUBCOMMANDS.items():
    for _row in re.split(r";|\n", _rows):
        _words, _, _checker = _row.strip().partition(": ")
        _program, *_verbs = _words.split() or [""]
        for _verb in _verbs:
            VERBS.setdefault(_program, {})[_verb] = _kind, _checker or f"{_program} {_verbs[0]}"
BY_OPTION: dict[tuple[str, str], tuple[Kind, str]] = {
    ("cmake", "--build"): ("build", "cmake --build"),
    ("node", "--test"): ("test", "node --test"),
    ("ruby", "-Itest"): ("test", "minitest"),
}
FORMATTERS = word_set(
    "black isort prettier gofmt gofumpt goimports rustfmt dprint shfmt php-cs-fixer pint"
    " clang-format"
)
SCRIPTS = word_set("npm pnpm yarn bun turbo lerna composer")
RUN = word_set("run run-script r")
TASKS = {
    **dict.fromkeys(("make", "gmake"), "make"),
    **{name: name for name in word_set("just task rake poe grunt gulp ant invoke earthly nx")},
    "inv": "invoke",
}
RUNNING_TASKS = {
    "mise": word_set("run r"), "hatch": word_set("run"), "pdm": word_set("run"),
    "rye": word_set("run"), "pixi": word_set("run"), "deno": word_set("task"),
    "moon": word_set("run"),
}  # fmt: skip
LIFECYCLE: dict[str, list[str]] = {
    "mvn": ["compile", "test-compile", "test", "package", "integration-test", "verify", "install",
            "deploy"],
    "gradle": ["classes", "compile", "assemble", "lint", "test", "check", "build"],
}  # fmt: skip
KIND_WORDS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("test", word_set("test tests spec specs unittest unittests e2e unit integration pytest jest")),
    ("types", word_set("typecheck types tsc typing typings mypy pyright")),
    ("lint", word_set("lint linter lints eslint ruff clippy vet biome rubocop golangci")),
    ("format", word_set("format fmt prettier formatting spotless")),
    ("build", word_set("build compile bundle dist")),
    ("all", word_set("check checks ci verify validate qa precommit prepush all quality")),
)
PROGRAMS = (
    frozenset(" ".join(ALWAYS.values()).split())
    | frozenset(ALIASES)
    | frozenset(VERBS)
    | FORMATTERS
    | frozenset(TASKS)
    | word_set(
        "npm pnpm yarn mvn gradle python python3 node ruby php rails manage.py uv poetry turbo"
    )
)

SELECTING = {
    "": word_set(
        "-k -t -run --run --testNamePattern --testPathPattern --testPathPatterns --filter -p"
        " --package --grep -g -e --test --tests --example --only -pl --projects -w --workspace -F"
        " --testsuite --group --exclude-group -n --name --bench --bin --lib"
        " --test-name-pattern"
    ),
    "pytest": word_set("-k -m"),
    "vitest": word_set("-t --testNamePattern --project"),
    "tox": word_set("-e -m -f"),
    "nox": word_set("-e -s --session --sessions -k -t --tags"),
    "mypy": word_set("-p -m --package --module"),
    "go test": word_set("-run -skip"),
    "cargo test": word_set("-p --package --test --bin --example -E"),
    "cargo build": word_set("-p --package --bin --example"),
    "cargo clippy": word_set("-p --package --bin --example"),
    "ruff check": word_set("--select --extend-select"),
    "eslint": word_set("--rule"),
}
"""Checker -> options whose value chooses a part of what it looks at; "" is any other checker."""
NEUTRAL_VALUED = word_set(
    "-n -j --tb --maxfail --durations --reporter --reporters --cov-report --timeout -timeout -count"
    " -parallel --jobs --max-workers --maxWorkers --workers --output --format"
    " --output-format --output-file --seed --retry --retries --env --log-level --verbosity --logger"
    " --threads --target --profile --out-dir --outdir --ext --parser --ignore-path"
    " --cache-location --python-version --hook-stage --memory-limit --concurrency"
)
"""Options whose value says how, not what."""
NEUTRAL = {
    "pytest": word_set("-p -W -o --rootdir --basetemp --junitxml"),
    "mypy": word_set("--python-executable --cache-dir"),
}
_CONFIGURED = word_set("--config --rcfile --config-file --features --tags -tags")
EXACT = {
    "": _CONFIGURED,
    "tsc": _CONFIGURED | {"-p", "--project"},
    **dict.fromkeys(("jest", "vitest", "eslint", "playwright test"), _CONFIGURED | {"-c"}),
}
"""Checker -> options whose value makes it another one: each sees what the other does not."""
STRICT = word_set(
    "--strict -race --all-features --release --pedantic --deny-warnings -Werror --run-slow --slow"
    " --runslow --integration --ignored --include-ignored --all-targets --error-on-warnings"
    " -warnaserror --warnaserror /warnaserror --warnings-as-errors"
    " -Dwarnings --fail-on-warning --warning-mode=fail --error-on-warning"
)
STRICT_VALUES = {
    "--max-warnings": "",
    **dict.fromkeys(("-D", "--deny", "-F", "--forbid"), "warnings"),
    "-W": "error",
}
"""Options with which more can fail, and how their value begins then."""
RECURSIVE = (
    "ruff", "black", "isort", "flake8", "prettier", "eslint", "biome", "gofmt", "shellcheck",
    "rubocop", "cargo", "mvn", "gradle", "dotnet",
)  # fmt: skip
"""Checkers that look at all folders below, whatever these configure; tests are counted instead."""
WIDER: dict[str, frozenset[str]] = {
    "go build": frozenset({"go test", "go vet"}),
    "cargo build": frozenset({"cargo test", "cargo clippy"}),
    "dotnet build": frozenset({"dotnet test"}),
    "mix compile": frozenset({"mix test"}),
    "swift build": frozenset({"swift test"}),
    "sbt compile": frozenset({"sbt test"}),
    **{
        f"mvn {goal}": frozenset(f"mvn {later}" for later in LIFECYCLE["mvn"][at + 1 :])
        for at, goal in enumerate(LIFECYCLE["mvn"])
    },
    **dict.fromkeys(
        ("gradle compileJava", "gradle compileKotlin", "gradle classes"),
        frozenset({"gradle test", "gradle check", "gradle build"}),
    ),
    "gradle assemble": frozenset({"gradle build"}),
    "gradle test": frozenset({"gradle check", "gradle build"}),
    "gradle check": frozenset({"gradle build"}),
}
"""Checker -> those whose pass says that this one would pass too."""
_KIND_OF_PROGRAM = {name: kind for kind, names in ALWAYS.items() for name in names.split()}
KIND_OF_CHECKER = _KIND_OF_PROGRAM | {
    base: kind for verbs in VERBS.values() for kind, base in verbs.values()
}
"""Checker that is a program or a subcommand -> the kind of its check."""
CHECKER_BY_OUTPUT: dict[str, tuple[Kind, str]] = {
    **dict.fromkeys(("compiler", "linker"), ("build", "compiler")),
    **{name: (KIND_OF_CHECKER[f"{name} test"], f"{name} test") for name in ("deno", "bun")},
    "maven": ("test", "mvn test"),
    "gradle": ("test", "gradle test"),
    "node": ("test", "node --test"),
    "playwright": ("test", "playwright test"),
    "ruff": ("lint", "ruff check"),
    "vite": ("build", "vite build"),
    **{name: ("format", name) for name in ("prettier", "black")},
}
"""Name of an output parser -> (kind, checker); checkers that share its name are left out."""
CHECKER_BY_COUNTS: dict[str, tuple[tuple[Kind, str], tuple[Kind, str]]] = {
    "go": (("test", "go test"), ("build", "go build")),
    "cargo": (("test", "cargo test"), ("build", "cargo build")),
    "dotnet": (("test", "dotnet test"), ("build", "dotnet build")),
}
"""The same of tools that test where tests are counted, and else build."""


class Checker(NamedTuple):
    """A checker: `base` is the same for equal checks, `rest` the words that are left."""

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


_ASKING = word_set("--help --version -h --list --collect-only --co --listTests --init --showConfig"
                   " --show-config --print-config --dry-run --watch --watchAll --ui")  # fmt: skip
"""With these words nothing is judged, or no end of it is waited for."""
_VALUED = word_set("-C --manifest-path --color")
_NONE: frozenset[str] = frozenset()
_BEFORE_WORDS = word_set("run lint check tc analyse analyze")
_ONLY_SHOWING = {
    **dict.fromkeys(("make", "gmake"), word_set("-n --just-print --recon -q --question")),
    "tox": word_set("-l -a -av --listenvs --listenvs-all --notest list config devenv depends"),
    "nox": word_set("-l --list-sessions"),
}
_MASKED = word_set("--dry-run --list")
_TEST_FILE = re.compile(r"(?:test_\w+|\w+_test)\.(?:py|rb|pl|php|sh)\Z")
_SCRIPT_FILE = re.compile(r"(?:\./)?(?:[\w.-]+/)*([\w-]+?)(?:\.(?:sh|bash|py|rb|js|mjs|ts|ps1))?\Z")


def checker_of(words: Sequence[str]) -> Checker | None:
    """Return the checker that a simple command runs; None if it runs none."""
    name = program_name(words[0])
    name, rest = ALIASES.get(name, name), list(words[1:])
    if name.startswith("python") and rest[1:] and program_name(rest[0]) == "manage.py":
        name, rest = "manage.py", rest[1:]
    if not _ONLY_SHOWING.get(name, _NONE).isdisjoint(rest):
        return None
    found = _known(name, rest) or _task(name, rest) or _script(words)
    if found is None or not _ASKING.isdisjoint(rest):
        is_checking = found is not None and found.kind == "format" and "--help" not in rest
        return found if is_checking and _ASKING.intersection(rest) <= _MASKED else None
    return found


def _known(name: str, rest: list[str]) -> Checker | None:
    if name in _KIND_OF_PROGRAM:
        left = rest[1:] if rest[:1] and rest[0] in _BEFORE_WORDS else rest
        base, is_task = RUNNING.get(name, name), name in RUNNING_OTHERS
        return Checker(_KIND_OF_PROGRAM[name], base, left, is_task)
    if name in FORMATTERS:
        return Checker("format", name, [word for word in rest if word not in {"-w", "--write"}])
    if name in LIFECYCLE:
        return _built(name, rest)
    if option := next((one for one in rest if (name, one) in BY_OPTION), ""):
        return Checker(*BY_OPTION[name, option], [word for word in rest if word != option])
    before = ["", *rest]
    place = next(
        (at for at, word in enumerate(rest) if word[0] not in "-+" and before[at] not in _VALUED), 0
    )
    verb = "".join(rest[place : place + 1])
    kind, base = VERBS.get(name, {}).get(verb, ("", ""))
    after = rest[place + 2 if verb == "nextest" else place + 1 :]
    return Checker(kind, base, [*rest[:place], *after]) if kind else None


def _built(name: str, rest: list[str]) -> Checker | None:
    goals = {word: word.rpartition(":")[2] for word in rest}
    reached = [word for word in rest if goals[word] in LIFECYCLE[name]]
    if reached:
        goal = max(map(goals.__getitem__, reached), key=LIFECYCLE[name].index)
        kind: Kind = "test" if goal not in {"compile", "classes", "assemble", "lint"} else "build"
        projects = [word.rpartition(":")[0] for word in reached if ":" in word]
        left = [word for word in rest if word not in reached]
        return Checker(kind, f"{name} {goal}", [*left, *(f"-p={one}" for one in projects if one)])
    plain = [word for word in rest if word[0] != "-" and kind_from_name(goals[word])]
    if not plain:
        return None
    project, _, called = plain[-1].rpartition(":") if plain[-1][0] == ":" else ("", "", plain[-1])
    called = re.sub(r"(?:Check|:check|Apply|:apply|Format)\Z", "", called)
    left = [*(word for word in rest if word not in plain), *([f"-p={project}"] if project else ())]
    return Checker(kind_from_name(plain[-1]), f"{name} {called}", left)


def _task(name: str, rest: list[str]) -> Checker | None:
    if name in SCRIPTS:
        return _package_script(name, rest)
    if name == "mise" and rest and kind_from_name(rest[0]):
        rest = ["run", *rest]
    if name in RUNNING_TASKS:
        at = next((at for at, word in enumerate(rest) if word in RUNNING_TASKS[name]), None)
        return None if at is None else _first_task(f"{name} {rest[at]}", rest[:at], rest[at + 1 :])
    if name == "nx":  # `nx run app:test`, `nx test app`, `nx affected -t test`
        parts = (part for word in rest for part in reversed(word.split(":", 1)))
        words = [one for one in parts if one not in _OF_NX]
        rest = sorted(words, key=lambda one: one[:1] == "-" or not kind_from_name(one))
    return _first_task(TASKS[name], [], rest) if name in TASKS else None


_OF_NX = word_set("run run-many -t --target --targets")


def _first_task(name: str, before: list[str], rest: list[str]) -> Checker | None:
    valued = {"-C", "-f", "-d", "--directory", "--justfile", "-p"}
    for at, word in enumerate(rest):
        if word[0] == "-" or word.isdigit() or "=" in word or (at and rest[at - 1] in valued):
            continue
        kind = kind_from_name(word.lstrip("+"))
        left = [*before, *rest[:at], *rest[at + 1 :]]
        others = [one for one in left if kind_from_name(one) and one[0] != "-" and "/" not in one]
        if others and kind:
            several = " ".join([word, *others])
            left = [one for one in left if one not in others]
            return Checker("all", f"{name} {several}", left, is_task=True)
        return Checker(kind, f"{name} {base_task_name(word)}", left, is_task=True) if kind else None
    return Checker("build", name, rest, is_task=True) if name in {"make", "ant"} else None


def _package_script(name: str, rest: list[str]) -> Checker | None:
    words = [word for word in rest if word[0] != "-"]
    if name == "yarn" and words[:1] == ["workspace"]:
        words = words[2:]
        rest = [*(f"-w={one}" for one in rest[1:2]), *rest[2:]]
    is_run = bool(words) and (words[0] in RUN or words[:1] == ["workspaces"])
    named = next((word for word in words if word not in RUN and kind_from_name(word)), "")
    first = words[1:2] if is_run else words[:1]
    if not named or (name == "npm" and not is_run and named != "test"):
        return None
    if first != [named] and "-w" not in rest and not any(one in rest for one in _PACKAGE):
        return None
    if "/" in named or named.endswith((".ts", ".js", ".tsx", ".mjs")):
        return None
    place = rest.index(named)
    left = [word for word in rest[:place] if word not in RUN] + rest[place + 1 :]
    return Checker(kind_from_name(named), f"script {base_task_name(named)}", left, is_task=True)


_PACKAGE = word_set("--filter -F --workspace -w --prefix -C --cwd --dir")


def _script(words: Sequence[str]) -> Checker | None:
    shells = word_set("bash sh zsh python python3 ruby perl php node tsx bun")
    is_given = program_name(words[0]) in shells
    path = next((word for word in words[1:] if word[0] != "-"), "") if is_given else words[0]
    found = _SCRIPT_FILE.fullmatch(path)
    if found is None or (not is_given and "/" not in path):
        return None
    rest = [word for word in words[1:] if word != path]
    if is_given and _TEST_FILE.fullmatch(path.rpartition("/")[2]):
        return Checker("test", path, rest)
    if is_given and program_name(words[0]) not in {"bash", "sh", "zsh"}:
        return None
    words_of_name = {part.lower() for part in NAME_PART.findall(found.group(1))}
    is_named = words_of_name <= _OF_SCRIPTS and bool(kind_from_name(found.group(1)))
    named = path.removeprefix("./")
    return Checker(kind_from_name(found.group(1)), named, rest, is_task=True) if is_named else None


_OF_SCRIPTS = frozenset(word for _, known in KIND_WORDS for word in known) | word_set(
    "run all the code style type py js ts go rust"
)
