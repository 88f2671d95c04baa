"""Tables of the programs that check code, and of those that run the tasks of a project.

Part of interpretation (step 6); read by `check_tools`.
"""

from __future__ import annotations

from typing import Literal

from observer.core.text import word_set

Kind = Literal["test", "types", "lint", "format", "build", "all", ""]
"""What is checked; `all` is a task that does several of these."""

ALWAYS: dict[Kind, str] = {
    "test": "pytest unittest nose2 trial tox nox jest vitest mocha ava tap jasmine karma rspec"
    " minitest phpunit pest paratest pester codecept prove bats ctest gotestsum ginkgo cypress",
    "types": "mypy dmypy pyright basedpyright ty pyre tsc vue-tsc svelte-check phpstan psalm srb"
    " dialyzer",
    "lint": "flake8 pylint eslint oxlint stylelint golangci-lint staticcheck revive rubocop"
    " standardrb reek phpcs shellcheck hadolint yamllint markdownlint markdownlint-cli2 actionlint"
    " ktlint detekt checkstyle swiftlint bandit semgrep tflint ansible-lint lint-imports vulture"
    " pycodestyle pyflakes pydocstyle pre-commit prek lefthook knip jshint standard xo codespell",
    "build": "webpack rollup esbuild tsup ninja javac",
    "format": "",
    "all": "",
}
"""Programs that only check."""
ALIASES = {
    "py.test": "pytest", "basedpyright": "pyright",
    "dmypy": "mypy", "vue-tsc": "tsc", "mvnw": "mvn", "gradlew": "gradle", "pest": "phpunit",
    "paratest": "phpunit", "prek": "pre-commit", "docker-compose": "docker", "podman": "docker",
    "Invoke-Pester": "pester", "invoke-pester": "pester",
}  # fmt: skip
RUNNING = {"gotestsum": "go test", "ginkgo": "go test"}
"""Programs that only run another's tests."""
RUNNING_OTHERS = word_set("pre-commit lefthook")
"""Programs that run what a project lists: the output is that of others."""
VERBS: dict[str, dict[str, tuple[Kind, str]]] = {
    "go": {
        "test": ("test", "go test"),
        "vet": ("lint", "go vet"),
        "build": ("build", "go build"),
        "install": ("build", "go build"),
    },
    "cargo": {
        "test": ("test", "cargo test"),
        "t": ("test", "cargo test"),
        "nextest": ("test", "cargo test"),
        "clippy": ("lint", "cargo clippy"),
        "check": ("build", "cargo build"),
        "build": ("build", "cargo build"),
        "b": ("build", "cargo build"),
        "fmt": ("format", "cargo fmt"),
        "doc": ("build", "cargo doc"),
        "deny": ("lint", "cargo deny"),
    },
    "dotnet": {
        "test": ("test", "dotnet test"),
        "build": ("build", "dotnet build"),
        "format": ("format", "dotnet format"),
        "publish": ("build", "dotnet build"),
    },
    "deno": {
        "test": ("test", "deno test"),
        "lint": ("lint", "deno lint"),
        "check": ("types", "deno check"),
        "fmt": ("format", "deno fmt"),
    },
    "bun": {"test": ("test", "bun test"), "build": ("build", "bun build")},
    "ruff": {"check": ("lint", "ruff check"), "format": ("format", "ruff format")},
    "biome": {
        "check": ("lint", "biome"),
        "lint": ("lint", "biome"),
        "ci": ("lint", "biome"),
        "format": ("format", "biome format"),
    },
    "flutter": {"test": ("test", "flutter test"), "analyze": ("lint", "dart analyze")},
    "dart": {"test": ("test", "dart test"), "analyze": ("lint", "dart analyze")},
    "swift": {"test": ("test", "swift test"), "build": ("build", "swift build")},
    "zig": {"test": ("test", "zig test"), "build": ("build", "zig build")},
    "mix": {
        "test": ("test", "mix test"),
        "credo": ("lint", "mix credo"),
        "dialyzer": ("types", "dialyzer"),
        "compile": ("build", "mix compile"),
        "format": ("format", "mix format"),
    },
    "sbt": {"test": ("test", "sbt test"), "compile": ("build", "sbt compile")},
    "stack": {"test": ("test", "stack test"), "build": ("build", "stack build")},
    "cabal": {"test": ("test", "cabal test"), "build": ("build", "cabal build")},
    "bazel": {"test": ("test", "bazel test"), "build": ("build", "bazel build")},
    "bazelisk": {"test": ("test", "bazel test"), "build": ("build", "bazel build")},
    "rails": {"test": ("test", "minitest"), "spec": ("test", "rspec")},
    "artisan": {"test": ("test", "phpunit")},
    "manage.py": {"test": ("test", "django test"), "check": ("lint", "django check")},
    "playwright": {"test": ("test", "playwright test")},
    "meson": {"test": ("test", "meson test"), "compile": ("build", "meson compile")},
    "vite": {"build": ("build", "vite build")},
    "next": {"build": ("build", "next build"), "lint": ("lint", "eslint")},
    "nuxt": {"build": ("build", "nuxt build")},
    "astro": {"build": ("build", "astro build"), "check": ("types", "astro check")},
    "ng": {
        "test": ("test", "ng test"),
        "build": ("build", "ng build"),
        "lint": ("lint", "ng lint"),
    },
    "docker": {"build": ("build", "docker build")},
    "hatch": {"test": ("test", "pytest"), "fmt": ("format", "hatch fmt")},
    "flow": {"check": ("types", "flow")},
    "terraform": {"validate": ("lint", "terraform validate"), "fmt": ("format", "terraform fmt")},
    "helm": {"lint": ("lint", "helm lint")},
    "buf": {"lint": ("lint", "buf lint")},
}
"""Program -> subcommand -> (kind, checker)."""
BY_OPTION: dict[tuple[str, str], tuple[Kind, str]] = {
    ("cmake", "--build"): ("build", "cmake --build"),
    ("node", "--test"): ("test", "node --test"),
    ("ruby", "-Itest"): ("test", "minitest"),
}
FORMATTERS = word_set(
    "black isort prettier gofmt gofumpt goimports rustfmt dprint shfmt php-cs-fixer pint"
    " clang-format"
)
"""Formatters: with an option they only check, without it they leave nothing to complain of."""
SCRIPTS = word_set("npm pnpm yarn bun turbo lerna composer")
"""What runs the scripts of a package, by their names."""
RUN = word_set("run run-script r")
TASKS = {
    **dict.fromkeys(("make", "gmake"), "make"),
    **{
        name: name
        for name in ["just", "task", "rake", "poe", "grunt", "gulp", "ant", "invoke", "earthly"]
    },
    "inv": "invoke",
}
"""What runs the tasks of a project, as words behind it."""
RUNNING_TASKS = {
    "mise": word_set("run r"), "hatch": word_set("run"), "pdm": word_set("run"),
    "rye": word_set("run"), "pixi": word_set("run"), "deno": word_set("task"),
    "moon": word_set("run"),
}  # fmt: skip
"""What runs the tasks of a project behind a word of its own."""
LIFECYCLE: dict[str, list[str]] = {
    "mvn": [
        "compile",
        "test-compile",
        "test",
        "package",
        "integration-test",
        "verify",
        "install",
        "deploy",
    ],
    "gradle": ["classes", "compile", "assemble", "lint", "test", "check", "build"],
}
KIND_WORDS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("test", word_set("test tests spec specs unittest unittests e2e unit integration pytest jest")),
    ("types", word_set("typecheck types tsc typing typings mypy pyright")),
    ("lint", word_set("lint linter lints eslint ruff clippy vet biome rubocop golangci")),
    ("format", word_set("format fmt prettier formatting spotless")),
    ("build", word_set("build compile bundle dist")),
    ("all", word_set("check checks ci verify validate qa precommit prepush all quality")),
)
PROGRAMS = (
    frozenset(name for names in ALWAYS.values() for name in names.split())
    | frozenset(ALIASES)
    | frozenset(VERBS)
    | FORMATTERS
    | frozenset(TASKS)
    | word_set(
        "npm pnpm yarn mvn gradle python python3 node ruby php rails manage.py uv poetry"
        " nx turbo xcodebuild"
    )
)
"""Programs that check code, or run others that do."""

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
    "nox": word_set("-e -k -t --tags"),
    "pester": word_set(
        "-Tag -TagFilter -ExcludeTag -ExcludeTagFilter -FullNameFilter -TestName -ExcludePath"
        " -Configuration"
    ),
    "swift test": word_set("--filter --skip --test-product -s --specifier"),
    "swift build": word_set("--product --target"),
    **dict.fromkeys(
        ("xcodebuild test", "xcodebuild build", "xcodebuild analyze"),
        word_set("-scheme -project -workspace -target -testPlan -only-testing -skip-testing"),
    ),
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
    "pester": word_set("-Output -Show -OutputFile -OutputFormat -CodeCoverage"),
    **dict.fromkeys(
        ("swift test", "swift build"),
        word_set(
            "-c --configuration --num-workers --xunit-output --scratch-path --build-path --triple"
            " --sdk -Xswiftc -Xcc -Xlinker --skip-build --skip-update"
        ),
    ),
}
"""Checker -> more of them."""
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
"""Options with which more can fail."""
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
    "xcodebuild build": frozenset({"xcodebuild test"}),
    "sbt compile": frozenset({"sbt test"}),
    "mvn compile": frozenset({"mvn test", "mvn package", "mvn verify", "mvn install"}),
    "mvn test-compile": frozenset({"mvn test", "mvn package", "mvn verify", "mvn install"}),
    "mvn test": frozenset({"mvn package", "mvn integration-test", "mvn verify", "mvn install"}),
    "mvn package": frozenset({"mvn verify", "mvn install", "mvn deploy"}),
    "mvn verify": frozenset({"mvn install", "mvn deploy"}),
    "gradle compileJava": frozenset({"gradle test", "gradle check", "gradle build"}),
    "gradle compileKotlin": frozenset({"gradle test", "gradle check", "gradle build"}),
    "gradle classes": frozenset({"gradle test", "gradle check", "gradle build"}),
    "gradle assemble": frozenset({"gradle build"}),
    "gradle test": frozenset({"gradle check", "gradle build"}),
    "gradle check": frozenset({"gradle build"}),
}
"""Checker -> those whose pass says that this one would pass too."""
KIND_OF_CHECKER = {base: kind for verbs in VERBS.values() for kind, base in verbs.values()}
"""Checker that is a subcommand -> the kind of its check."""
OUTPUT_NAMES = {"xcodebuild test": "swift test", "xcodebuild build": "swift build"}
"""Checker -> the name that its output shows."""
CHECKER_BY_OUTPUT: dict[str, tuple[Kind, str]] = {
    "compiler": ("build", "compiler"),
    "linker": ("build", "compiler"),
    "maven": ("test", "mvn test"),
    "gradle": ("test", "gradle test"),
    "ruff": ("lint", "ruff check"),
    "vite": ("build", "vite build"),
    "deno": ("test", "deno test"),
    "bun": ("test", "bun test"),
    "minitest": ("test", "minitest"),
    "node": ("test", "node --test"),
    "biome": ("lint", "biome"),
    "playwright": ("test", "playwright test"),
    "prettier": ("format", "prettier"),
    "black": ("format", "black"),
    "isort": ("format", "isort"),
}
"""Name of an output parser -> (kind, checker); checkers that share its name are left out."""
CHECKER_BY_COUNTS: dict[str, tuple[tuple[Kind, str], tuple[Kind, str]]] = {
    "go": (("test", "go test"), ("build", "go build")),
    "cargo": (("test", "cargo test"), ("build", "cargo build")),
    "dotnet": (("test", "dotnet test"), ("build", "dotnet build")),
    "swift": (("test", "swift test"), ("build", "swift build")),
}
"""The same of tools that test where tests are counted, and else build."""
