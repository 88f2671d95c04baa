"""Which checks are red after which commands, how long that is shown, and what clears them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from observer.commands.check import CheckIdentity
from observer.commands.check_runs import check_results_of
from observer.commands.result import CommandResult
from observer.core.events import AnyBody, Checkout, Command, Commit, FileChange, FileWrite
from observer.core.model import Recorded
from observer.core.text import word_set
from observer.observations import session_state
from observer.observations.failure_tracker import (
    LIKELY,
    POSSIBLE,
    TASKS,
    UNRELATED,
    is_test,
    strength,
)
from observer.observations.open_failures import (
    FILES,
    FORGOTTEN_MS,
    MOST,
    OpenFailure,
    files_named_in,
    worth_showing,
)
from observer.observations.project_reducer import ProjectReducer
from observer.observations.project_state import STASHED_MS, TrackedEdit
from observer.observations.session_reducer import SessionReducer

Place = Callable[..., Recorded]
Step = AnyBody | Recorded

ROOT = "/home/ana/shop"


def red(command: str, output: str = "") -> Command:
    return Command(command=command, output=output, exit_code=1)


def green(command: str, output: str = "") -> Command:
    return Command(command=command, output=output, exit_code=0)


class Project:
    """A project to which things happen."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._data = b""
        self._arcs = ProjectReducer(b"")
        self._seq = 0

    def feed(self, *steps: Step) -> Project:
        for step in steps:
            self._seq += 1
            recorded = step if isinstance(step, Recorded) else self._place(step, self._seq)
            whole, made = SessionReducer(session_state.begin(recorded)).add_paired(recorded)
            self._arcs.add(whole, made)
            self._data = self._arcs.changed_state() or self._data
            self._arcs = ProjectReducer(self._data)
        return self

    @property
    def open(self) -> tuple[OpenFailure, ...]:
        return tuple(one for one in self._arcs.state.failures if one.is_red)

    @property
    def heads(self) -> list[str]:
        return [one.head for one in self.open]

    @property
    def fed(self) -> list[str]:
        now_ms = max((one.last_ms for one in self.open), default=0)
        return [one.head for one in worth_showing(self.open, now_ms=now_ms, shown={})]


@pytest.fixture
def project(place: Place) -> Project:
    return Project(place)


PYTEST = "FAILED tests/test_cart.py::test_total - assert 0 == 5\n1 failed, 3 passed in 0.10s"
PASSED = "4 passed in 0.10s"
GO = "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: want 5\nFAIL\nFAIL\tshop/cart\t0.01s\nFAIL"
GO_OK = "ok  \tshop/cart\t0.01s\nok  \tshop/web\t0.02s"
CARGO = (
    "running 2 tests\ntest cart::total ... FAILED\ntest cart::empty ... ok\n\nfailures:\n\n"
    "    cart::total\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered"
    " out; finished in 0.00s"
)
CARGO_OK = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"
VITEST = (
    " FAIL  src/cart.test.ts > adds up\nAssertionError: expected 0 to be 5\n\n"
    " Test Files  1 failed (1)\n      Tests  1 failed | 3 passed (4)\n"
)
VITEST_OK = " Test Files  1 passed (1)\n      Tests  4 passed (4)\n"
TSC = "src/cart.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."
BUN = "src/cart.test.ts:\n(fail) cart > adds up [1.00ms]\n\n 3 pass\n 1 fail\n 4 expect() calls\n"
BUN_OK = "\n 4 pass\n 0 fail\n 4 expect() calls\nRan 4 tests across 1 files."
PLAYWRIGHT = (
    "  1) e2e/a.spec.ts:3:1 \u203a a\n\n  1 failed\n    e2e/a.spec.ts:3:1 \u203a a\n"
    "  2 passed (3.0s)\n"
)
MAVEN = (
    "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n"
    "[ERROR]   CartTest.total:9 expected: <5> but was: <0>\n[INFO] BUILD FAILURE"
)
MAVEN_OK = "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS"
DOTNET = "Failed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2, Duration: 9 ms"
DOTNET_OK = "Passed!  - Failed:     0, Passed:     2, Skipped:     0, Total:     2, Duration: 9 ms"
RSPEC = "rspec ./spec/cart_spec.rb:3 # Cart adds up\n\n2 examples, 1 failure\n"
RSPEC_OK = "2 examples, 0 failures\n"
PHPUNIT = "There was 1 failure:\n\n1) CartTest::total\nx\n\nTests: 2, Assertions: 2, Failures: 1.\n"
PHPUNIT_OK = "OK (2 tests, 2 assertions)\n"
LINT = "$ eslint .\n/home/ana/shop/a.ts\n  1:1  error  no  x\n\n✖ 1 problem (1 error, 0 warnings)\n"

CLEARED = [
    # a runner or a task in front
    ("uv run pytest tests/test_cart.py", PYTEST, "pytest -q", PASSED),
    ("pytest -q", PYTEST, "docker compose exec -T web python -m pytest", PASSED),
    ("poetry run pytest -k total", PYTEST, "make test", f"uv run pytest\n{PASSED}"),
    ("make test", f"pytest -q tests\n{PYTEST}", "pytest tests", PASSED),
    ("make test", PYTEST, "pytest", PASSED),
    ("just test", PYTEST, "mise run test", PASSED),
    ("tox -e py312", PYTEST, "tox", PASSED),
    ("pytest tests/test_cart.py::test_total", PYTEST, "pytest tests/", PASSED),
    ("pytest -x --lf", PYTEST, "pytest", PASSED),
    ("mypy --strict a.py", "a.py:1: error: no  [misc]\nFound 1 error", "mypy --strict .", ""),
    ("pytest", PYTEST, "out=$(pytest 2>&1); echo $?", "0"),
    # Go
    ("go test ./cart -run TestTotal", GO, "go test ./...", GO_OK),
    ("go test ./cart/...", GO, "mise run test", f"[test] $ go test ./...\n{GO_OK}"),
    ("cd cart && go test ./...", GO, "go test ./...", GO_OK),
    ("go build ./...", "cart/cart.go:3:5: undefined: x", "go test ./...", GO_OK),
    ("go test -v ./cart/...", GO, "mise run test", GO_OK),
    (
        "mise run lint",
        "a.go:1:1: no (errcheck)\n1 issues:\n* errcheck: 1",
        "golangci-lint run",
        "0 issues.",
    ),
    # Rust
    ("cargo test -p cart total", CARGO, "cargo nextest run", ""),
    ("cargo check", "error: could not compile `shop` (lib)", "cargo clippy --all-targets", ""),
    ("cargo fmt", "error: expected `;`\n --> src/a.rs:3:5", "cargo fmt", ""),
    ("black .", "error: cannot format a.py: Cannot parse: 3:5: x", "black --check .", ""),
    ("cd crates/cart && cargo test", CARGO, "cargo test --workspace", CARGO_OK),
    # JavaScript and TypeScript
    (
        "npx vitest run src/cart.test.ts",
        VITEST,
        "npm test",
        f"> shop@1.0.0 test\n> vitest run\n{VITEST_OK}",
    ),
    ("pnpm --filter web test", VITEST, "pnpm -r test", VITEST_OK),
    # a package by its name, and in its own folder
    ("pnpm --filter @shop/cart test", VITEST, "cd core/cart && pnpm test", VITEST_OK),
    ("pnpm --filter ./core/cart test", VITEST, "pnpm -C core/cart test", VITEST_OK),
    ("pnpm -F cart vitest run", VITEST, "pnpm --filter cart exec vitest run", VITEST_OK),
    ("yarn workspace cart vitest run", VITEST, "yarn workspace cart exec vitest run", VITEST_OK),
    ("npm -w cart exec vitest run", VITEST, "npm exec --workspace=cart -- vitest run", VITEST_OK),
    ("npm --prefix core/cart exec vitest", VITEST, "cd core/cart && npx vitest", VITEST_OK),
    ("pnpm --filter cart exec vitest run", VITEST, "npx vitest run", VITEST_OK),
    ("npm test -w cart", VITEST, f"npm --prefix {ROOT}/core/cart test", VITEST_OK),
    ("cd core/cart && cargo test", CARGO, "cargo test -p cart", CARGO_OK),
    ("npm test -w web", VITEST, "npm test", VITEST_OK),
    ("npx eslint --fix .", LINT, "npx eslint --fix .", ""),
    ("bun run test", BUN, "bun test", BUN_OK),
    ("bun test src/cart.test.ts", BUN, "rtk bun run test", f"$ bun test\n{BUN_OK}"),
    ("npx tsc --noEmit -p .", TSC, "npx tsc -p . --noEmit", ""),
    ("npm run typecheck", f"> tsc --noEmit\n{TSC}", "npx tsc --noEmit", ""),
    (
        "npx playwright test e2e/a.spec.ts",
        PLAYWRIGHT,
        "npx playwright test",
        "Running 9 tests using 1 worker\n\n  9 passed (9.0s)\n",
    ),
    # JVM, .NET, Ruby, PHP
    ("./mvnw -pl core test -Dtest=CartTest", MAVEN, "./mvnw verify", MAVEN_OK),
    (
        "./gradlew :app:test --tests CartTest",
        "* What went wrong:\nno",
        "./gradlew build",
        "BUILD SUCCESSFUL",
    ),
    ("dotnet test --filter Cart", DOTNET, "dotnet test", DOTNET_OK),
    ("dotnet build", "Cart.cs(3,5): error CS0103: no\n    1 Error(s)", "dotnet test", DOTNET_OK),
    ("bundle exec rspec spec/cart_spec.rb:3", RSPEC, "bin/rspec", RSPEC_OK),
    ("vendor/bin/phpunit --filter total", PHPUNIT, "composer test", f"> phpunit\n{PHPUNIT_OK}"),
    ("php artisan test --filter total", PHPUNIT, "./vendor/bin/pest", PHPUNIT_OK),
    # targets, environments
    ("npx nx test app", VITEST, "nx run-many -t test", " NX   Successfully ran target test"),
    ("nx run app:lint", LINT, "pnpm nx lint app", " NX   Successfully ran target lint"),
    ("tox -e lint", "  lint: FAIL code 1 (1 s)\n", "tox", "  lint: OK (1 s)\n  py311: OK (1 s)\n"),
    ("tox run -e py311", PYTEST, "tox -e py311", PASSED),
    ("nox -s tests", PYTEST, "nox", PASSED),
    # tests by name
    ("pytest", PYTEST, "pytest tests/test_cart.py", PASSED),
    ("pytest -x", PYTEST, "pytest --lf", "1 passed, 3 deselected in 0.1s"),
    ("pytest tests", PYTEST, "pytest < input.txt", PASSED),
    ("pytest", PYTEST, "pytest --ff", PASSED),
    ("go test ./...", GO, "go test ./cart -run TestTotal", GO_OK),
    ("npx tsc --noEmit", TSC, "npx tsc --noEmit src/cart.ts", ""),
]


@pytest.mark.parametrize(
    ("failing", "failed", "passing", "passed"),
    CLEARED,
    ids=[f"{one[0]} -- {one[2]}" for one in CLEARED],
)
def test_a_green_run_clears_what_it_covers(
    project: Project, failing: str, failed: str, passing: str, passed: str
) -> None:
    assert project.feed(red(failing, failed)).heads != []
    assert project.feed(green(passing, passed)).heads == []


KEPT = [
    ("pytest", PYTEST, green("pytest tests/test_web.py", PASSED)),
    ("pytest", PYTEST, green("pytest -k web", PASSED)),
    ("pytest", PYTEST, green("pytest --ignore tests/test_cart.py", PASSED)),
    ("pytest", PYTEST, green("pytest --lf tests/test_web.py", "1 passed in 0.1s")),
    ("pytest", PYTEST, green("pytest --lf -k web", "1 passed in 0.1s")),
    ("pytest", "1 failed, 3 passed in 0.10s", green("pytest --lf", "1 passed in 0.1s")),
    (
        "pytest",
        "FAILED t.py::cart - x\nFAILED t.py::user - y\n2 failed in 0.1s",
        green("pytest --lf", "1 passed in 0.1s"),
    ),
    (
        "mix test",
        "  1) test total (CartTest)\n     test/cart_test.exs:3\n     x\n2 tests, 1 failure",
        green("mix test --failed test/web_test.exs", "1 test, 0 failures"),
    ),
    ("pytest", PYTEST, red("timeout 5 pytest", "tests/test_cart.py ..")),
    ("pytest", PYTEST, green("ls tests/test_web.py | xargs pytest", PASSED)),
    ("pytest", PYTEST, green("pytest 2>&1 | tail -1")),
    ("pytest", PYTEST, green("pytest || true")),
    ("pytest", PYTEST, green("pytest", "no tests ran in 0.01s")),
    ("pytest", PYTEST, green("pytest --collect-only")),
    ("pytest", PYTEST, green("git stash && pytest && git stash pop", PASSED)),
    ("pytest", PYTEST, green("cd /elsewhere && pytest", PASSED)),
    ("pytest", PYTEST, green("cd $OTHER && pytest", PASSED)),
    ("pytest", PYTEST, green("cd - && pytest", PASSED)),
    ("pytest", PYTEST, green("cd .. && pytest", PASSED)),
    ("pytest", PYTEST, green("pushd && pytest", PASSED)),
    ("cd api && pytest", PYTEST, green("cd web && pytest", PASSED)),
    ("pnpm --filter cart lint", LINT, green("cd core/web && pnpm lint")),
    ("pnpm --filter cart lint", LINT, green("pnpm --filter web lint")),
    ("pnpm --filter cart exec eslint .", LINT, green("pnpm --filter web exec eslint .")),
    ("yarn workspace cart eslint .", LINT, green("yarn workspace web eslint .")),
    ("npx eslint .", LINT, green("pnpm --filter web exec eslint .")),
    ("cd core/cart && pnpm lint", LINT, green("pnpm --filter cart lint:quick")),
    ("pnpm lint", LINT, green("pnpm --filter cart lint")),
    ("npx tsc -p cart", TSC, green("cd core/cart && npx tsc")),
    ("task lint:all", "a.go:1:1: no (x)\n1 issues:\n* x: 1", green("task lint", "0 issues.")),
    ("cd api && pytest", PYTEST, green("pytest", "1 passed in 0.1s")),
    ("cd web && npx tsc", TSC, green("npx tsc")),
    ("pytest", PYTEST, green("make unit", PASSED)),
    ("pytest", PYTEST, green("make test", "2 passed in 0.1s")),
    ("pytest", PYTEST, green("make lint", "All checks passed!")),
    ("pytest", PYTEST, green("mypy .", "Success: no issues found in 3 source files")),
    ("pytest", PYTEST, red("uv run pytest", "bash: uv: command not found")),
    ("pytest", PYTEST, green("pytest > log.txt; tail -1 log.txt")),
    ("mypy --strict .", "a.py:1: error: no  [misc]\nFound 1 error", green("mypy .")),
    ("mypy .", "a.py:1: error: no  [misc]\nFound 1 error", green("mypy . | tail; pytest", PASSED)),
    ("go test -race ./...", GO, green("go test ./...", GO_OK)),
    ("go test -tags=integration ./...", GO, green("go test ./...", GO_OK)),
    ("npx tsc -p tsconfig.build.json", TSC, green("npx tsc --noEmit")),
    (
        "npx jest --config e2e.config.js",
        "Tests: 1 failed, 1 total",
        green("npx jest", "Tests: 9 passed, 9 total"),
    ),
    ("go test ./cart/...", GO, green("go test .", GO_OK)),
    ("go test ./...", GO, green("go test -short ./...", GO_OK)),
    ("npx vitest run", VITEST, green("npx vitest run src/web.test.ts", VITEST_OK)),
    ("npm test", VITEST, green("npm test -w web", VITEST_OK)),
    ("npm test", VITEST, green("npm run build")),
    ("npm test", VITEST, green("npm test -- src/web.test.ts", VITEST_OK)),
    ("./mvnw verify", MAVEN, green("./mvnw test -Dtest=WebTest", MAVEN_OK)),
    ("dotnet test", DOTNET, green("dotnet test --filter Web", DOTNET_OK)),
    ("bundle exec rspec", RSPEC, green("bundle exec rspec spec/web_spec.rb", RSPEC_OK)),
    ("bun run lint", LINT, green("bun run lint | tail -1")),
    ("go build ./...", "a.go:3:5: undefined: x", green("go build ./web")),
    ("nx test app", VITEST, green("nx test web", VITEST_OK)),
    ("nx run-many -t test -p app,web", VITEST, green("nx test app", VITEST_OK)),
    ("nx run-many -t test", VITEST, green("nx affected -t test", VITEST_OK)),
    ("nx affected -t test", VITEST, green("nx affected -t test", " NX   No tasks were run")),
    ("nx test app", VITEST, red("nx test ap", " NX   Cannot find project 'ap'")),
    ("nox -s lint tests", PYTEST, green("nox -s tests", PASSED)),
    ("tox -e py311", PYTEST, green("tox -e lint", "  lint: OK (1 s)\n")),
    ("tox", PYTEST, red("tox -e x", "provided environments not found in configuration file: x")),
    ("npx prettier --check .", "[warn] a.ts\n[warn] Code style", green("prettier --write b.ts")),
]


@pytest.mark.parametrize(
    ("failing", "failed", "then"), KEPT, ids=[f"{one[0]} -- {one[2].command}" for one in KEPT]
)
def test_what_is_not_covered_stays_red(
    project: Project, failing: str, failed: str, then: Command
) -> None:
    heads = project.feed(red(failing, failed)).heads
    assert heads == project.feed(then).heads != []


REPAIRED = [
    ("ruff check src", "a.py:1:1: F401 no\nFound 1 error.", "ruff check --fix ."),
    ("ruff format --check .", "Would reformat: a.py\n1 file would be reformatted", "ruff format"),
    ("black --check .", "would reformat a.py", "black ."),
    ("gofmt -l .", "", "gofmt -w ."),
    ("cargo fmt --all -- --check", "Diff in src/a.rs", "cargo fmt --all"),
    ("terraform fmt -check", "main.tf", "terraform fmt"),
    ("mix format --check-formatted", "** (Mix) mix format failed", "mix format"),
    ("npx prettier --check src", "[warn] src/a.ts\n[warn] Code style", "npx prettier --write src"),
    ("npx eslint .", LINT, "npx eslint --fix ."),
    ("npx biome check", "Found 1 error.", "npx biome check --write"),
    ("bun run lint", LINT, "bun run lint:fix"),
    ("npm run format:check", "[warn] a.ts\n[warn] Code style", "npm run format"),
    ("dotnet format --verify-no-changes", "a.cs(1,1): error WHITESPACE: no", "dotnet format"),
]


@pytest.mark.parametrize(
    ("checking", "failed", "writing"), REPAIRED, ids=[one[2] for one in REPAIRED]
)
def test_what_a_formatter_rewrote_is_neither_red_nor_green(
    project: Project, checking: str, failed: str, writing: str
) -> None:
    """Only the check itself says what the formatter has left."""
    project.feed(red(checking, failed), green(writing))
    assert project.heads == [checking]
    assert project.fed == []
    project.feed(red(checking, failed))
    assert project.fed == [checking]
    project.feed(green(writing), green(checking))
    assert project.heads == []


STASH, POP = green("git stash", "Saved working directory"), green("git stash pop", "Dropped")


def test_what_runs_while_work_that_nobody_saw_is_set_aside_says_nothing(project: Project) -> None:
    project.feed(red("pytest", PYTEST), STASH, green("pytest", PASSED), red("mypy .", "a.py:1: no"))
    assert project.heads == ["pytest"]
    assert project.feed(POP, green("pytest", PASSED)).heads == []


def test_work_that_was_given_up_is_not_red(project: Project) -> None:
    project.feed(red("pytest", PYTEST), STASH, green("git stash drop", "Dropped"))
    assert project.heads == []


def test_an_older_entry_that_is_given_up_leaves_the_work_red(project: Project) -> None:
    project.feed(STASH, POP, red("pytest", PYTEST), green("git stash drop", "Dropped"))
    assert project.heads == ["pytest"]


def test_who_left_work_in_the_stash_has_gone_on(project: Project, place: Place) -> None:
    late = place(red("pytest", PYTEST), 2, at_s=STASHED_MS / 1000 + 60)
    assert project.feed(STASH, late).heads == ["pytest"]


NO_CHECKS = [
    red(
        "cargo check", "error: could not find `Cargo.toml` in `/home/ana/shop` or any parent folder"
    ),
    red("go vet ./...", "go: go.mod file not found in current directory or any parent directory"),
    red("pnpm lint", 'ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND No package.json was found in "/home"'),
    red("npx tsc --noEmit", "sh: 1: tsc: not found"),
    red("docker compose exec app pytest", 'service "app" is not running'),
    red('go build -o /tmp/x . && (cd /tmp && ./x; echo "Exit: $?")', "Exit: 1"),
    red("python -c 'import shop; shop.total()'", "Traceback (most recent call last):\nKeyError: 1"),
    red("node -e 'total()'", "ReferenceError: total is not defined\n    at x (a.js:1:1)"),
    red("./bin/shop --help", "unknown flag"),
    red("curl -f localhost:1", "curl: (7) Failed to connect"),
    red("ls nowhere", "ls: cannot access 'nowhere'"),
    red("python /tmp/try/test_it.py", "AssertionError"),
    red("bun run scripts/seed.ts", "error: no database"),
    red("npx --no eslint x.js", "npm error npx canceled due to missing packages"),
    red(
        "pytest tests/no.py",
        "no tests ran in 0.00s\nERROR: file or directory not found: tests/no.py",
    ),
    red("pytest -k nothing", "8 deselected in 0.02s"),
    red("npx jest nothing", "No tests found, exiting with code 1"),
    red("npm ci && npm test", "npm error code ENOENT"),
    red("git merge topic", "CONFLICT (content): Merge conflict in a.py"),
    red("git commit -m x", "error: pathspec"),
    red("uv run pytest", "bash: line 1: uv: command not found"),
    red("make tset", "make: *** No rule to make target 'tset'.  Stop."),
    red("npm run lint", 'npm error Missing script: "lint"'),
    red("rtk bun run test", "error: unrecognized subcommand 'bun'"),
    red("cd web && bun run lint", 'error: Script not found "lint"'),
    Command(command="timeout 5 make test", exit_code=124),
    Command(command="pytest", output="Sibling tool call errored", failed=True),
    Command(command="pytest", output=PYTEST, interrupted=True, failed=True),
    red("cd /tmp/try && pytest", PYTEST),
    red("pytest /tmp/try", PYTEST),
    red("pytest ../other", PYTEST),
    red("pytest | grep -c FAILED"),
    red("docker run shop", "exited"),
    red("rm -rf build && frobnicate", "error: no"),
    red("shop test", PYTEST),
]


@pytest.mark.parametrize("body", NO_CHECKS, ids=[one.command for one in NO_CHECKS])
def test_what_judges_no_code_of_the_project_is_never_red(project: Project, body: Command) -> None:
    assert project.feed(body).heads == []


HEADS = [
    (red("cd api && CI=1 timeout 60 uv run pytest | tail -3", PYTEST), "uv run pytest (in api)"),
    (red("make -C api test", PYTEST), "make -C api test (in api)"),
    (red("npm --prefix=web test", VITEST), "npm --prefix=web test (in web)"),
    (red("cargo test --manifest-path crates/a/Cargo.toml", CARGO),
     "cargo test --manifest-path crates/a/Cargo.toml (in crates/a)"),
    (red("just --justfile justfile test", PYTEST), "just --justfile justfile test"),
    (red("npx tsc --noEmit && npm test", VITEST), "npm test"),
    (red("npm run lint && npm test", "> eslint .\nwhat?"), "npm run lint && npm test"),
    (red("npm test && npm run lint", f"{VITEST_OK}\nwhat?"), "npm run lint"),
    (red("npm test | tail -5 && npx eslint . | tail -5", f"{VITEST_OK}\n{LINT}"), "npx eslint ."),
    (red("cargo clippy", "error: x\n --> a.rs:1:1\nerror: could not compile `a`"), "cargo clippy"),
    (red("python manage.py test", f"FAIL: test_x (a.B)\n{'-' * 70}\nRan 1 test in 0.1s\n\nFAILED"
     " (failures=1)"), "python manage.py test"),
    (red("make all", "a.c:3:5: error: expected ';'\nmake: *** [all] Error 1"), "make all"),
    (red("git add -A && git commit -m x", f"husky\n{TSC}"), "git commit (hook)"),
    (red(f"pytest {ROOT}/tests > log.txt", PYTEST), f"pytest {ROOT}/tests"),
    (red(f"pytest {ROOT} >log.txt -- ", PYTEST), f"pytest {ROOT} --"),
    (red("cd /home/ana/shop/api && pytest", PYTEST), "pytest (in api)"),
    (red("cd ./api/.. && pytest", PYTEST), "pytest"),
    (red("cd $(git rev-parse --show-toplevel) && pytest", PYTEST), "pytest"),
    (red("pytest --cov=shop --cov-fail-under=90", PASSED), "pytest --cov=shop --cov-fail-under=90"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "head"), HEADS, ids=[one[1] for one in HEADS])
def test_a_failure_is_named_as_it_is_run_here(project: Project, body: Command, head: str) -> None:
    assert project.feed(body).heads == [head]


def test_what_ran_well_before_the_failure_is_cleared(project: Project) -> None:
    project.feed(red("npx tsc", TSC), red("npx tsc && npx vitest run", VITEST))
    assert project.heads == ["npx vitest run"]


def test_what_failed_where_it_has_no_manifest_and_passed_in_its_folder_is_not_red(
    project: Project,
) -> None:
    project.feed(red("cargo check", "error: could not find `Cargo.toml` in `/shop`"))
    project.feed(red("cd core/cart && cargo check", "error[E0425]: no `x`\n --> src/lib.rs:1:1"))
    project.feed(green("cd core/cart && cargo check", "    Finished `dev` profile in 0.1s"))
    assert project.fed == []


def test_a_failing_run_covers_all_narrower_ones(project: Project) -> None:
    project.feed(red("pytest tests/test_cart.py", PYTEST), red("pytest -q", PYTEST))
    (one,) = project.feed(red("pytest -q", PYTEST)).open
    assert (one.head, one.runs, one.since_ms < one.last_ms) == ("pytest -q", 2, True)


def test_narrower_failures_are_not_reported_twice(project: Project) -> None:
    project.feed(red("pytest", PYTEST), red("pytest tests/test_cart.py", PYTEST))
    fed = worth_showing(project.open, now_ms=project.open[0].last_ms, shown={ROOT: "main"})
    assert len(project.open) == 2
    assert [one.head for one in fed] == ["pytest tests/test_cart.py"]


def test_each_test_may_pass_by_itself(project: Project) -> None:
    two = "FAILED a.py::test_one - no\nFAILED b.py::test_two - no\n2 failed in 0.1s"
    project.feed(red("pytest", two), green("pytest a.py", "1 passed in 0.1s"))
    assert project.open[0].tests == ("b.py::test_two",)
    assert project.feed(green("pytest b.py", "1 passed in 0.1s")).heads == []


def test_where_not_all_failing_tests_are_known_only_a_wide_run_clears(project: Project) -> None:
    cut = "FAILED a.py::test_one - no\n9 failed in 0.1s"
    project.feed(red("pytest", cut), green("pytest a.py", "1 passed in 0.1s"))
    assert project.heads == ["pytest"]


def test_a_task_is_known_by_what_it_once_printed(project: Project) -> None:
    project.feed(green("make test", f"go test ./...\n{GO_OK}"), red("go test ./cart", GO))
    assert project.feed(green("make test")).heads == []


def test_what_a_task_checked_is_bounded(project: Project) -> None:
    project.feed(*(green(f"make test-{n}", "pytest a b") for n in range(TASKS + 2)))
    project.feed(red("pytest a", PYTEST), green("make test-0"))
    assert project.heads == ["pytest a"]


@pytest.mark.parametrize(
    ("commit", "is_open"),
    [
        pytest.param(green("git commit -m x", "[main abc1234] x"), False, id="hooks passed"),
        pytest.param(green("git commit -qm x"), False, id="quietly"),
        pytest.param(green("git commit --no-verify -m x", "[main abc1234] x"), True, id="no hooks"),
        pytest.param(green("git commit -m x", "x" * 500), True, id="nobody knows"),
    ],
)
def test_a_commit_that_gets_through_its_hooks_clears_what_they_check(
    project: Project, commit: Command, is_open: bool
) -> None:
    project.feed(red("git commit -m x", f"$ tsc --noEmit\n{TSC}"), commit)
    assert bool(project.heads) is is_open


def test_a_person_who_commits_leaves_no_hook_red(project: Project, place: Place) -> None:
    project.feed(red("git commit -m x", f"$ tsc --noEmit\n{TSC}"), red("pytest", PYTEST))
    person = place(Commit(hash="abc", subject="x"), 9, client="git", session="")
    assert project.feed(replace(person, session_id=None)).heads == ["pytest"]
    other = replace(person, session_id=None, branch="other")
    project.feed(red("git commit -m x", TSC), other)
    assert project.heads == ["pytest", "git commit (hook)"]


def test_files_changed_since_are_named_but_for_prose(project: Project) -> None:
    project.feed(FileWrite(path="early.py", operation="create"), red("pytest", PYTEST))
    project.feed(
        FileWrite(path=f"{ROOT}/cart.py"),
        FileWrite(path="README.md"),
        FileWrite(path="refused.py", error="no"),
        FileWrite(path="cart.py"),
        Commit(hash="abc", action="import", files=(FileChange(path="pulled.py"),)),
    )
    assert project.open[0].changed == ("pulled.py", "cart.py")


@pytest.mark.parametrize(
    ("check", "changed"),
    [
        (red("cd core/cart && pytest", PYTEST), ("core/cart/a.py",)),
        (red("pnpm --filter @shop/cart test", VITEST), ("core/cart/a.py",)),
        (red("pnpm --filter prices test", VITEST), ()),
    ],
)
def test_only_files_where_a_check_ran_are_changed_since(
    project: Project, check: Command, changed: tuple[str, ...]
) -> None:
    project.feed(
        check, *(FileWrite(path=path) for path in ("core/cart/a.py", "cart.py", "web/b.ts"))
    )
    assert project.open[0].changed == changed


@pytest.mark.parametrize(
    ("step", "is_open"),
    [
        (FileWrite(path="tests/test_cart.py", operation="delete"), False),
        (FileWrite(path="tests/test_web.py", operation="delete"), True),
        (green("rm tests/test_cart.py"), False),
        (green("rm -rf tests"), False),
        (green("rm -rf build"), True),
        (green("git reset --hard HEAD~1"), False),
        (green("git reset --hard"), False),
        (green("git checkout -q -- ."), False),
        (green("git restore ."), False),
        (green("git restore --staged ."), True),
        (green("git checkout -- docs"), True),
        (green("cd docs && git checkout -- ."), True),
    ],
)
def test_what_is_gone_is_not_red(project: Project, step: Step, *, is_open: bool) -> None:
    assert bool(project.feed(red("pytest", PYTEST), step).heads) is is_open


def test_a_failure_that_names_no_file_outlives_all_of_them(project: Project) -> None:
    project.feed(red("go vet ./...", "what?"), green("rm -rf src"))
    assert project.heads == ["go vet ./..."]


def test_another_branch_has_its_own_failures(project: Project, place: Place) -> None:
    project.feed(red("pytest", PYTEST))
    elsewhere = replace(place(green("pytest", PASSED), 5), branch="topic")
    assert project.feed(elsewhere).heads == ["pytest"]
    now_ms = project.open[0].last_ms
    assert worth_showing(project.open, now_ms=now_ms, shown={ROOT: "topic"}) == []
    assert worth_showing(project.open, now_ms=now_ms, shown={}) != []
    clone = replace(place(green("pytest", PASSED), 6), root="/home/ana/clone")
    assert project.feed(clone).heads == ["pytest"]
    in_clone = replace(
        place(green("pytest", PASSED), 7, cwd="/home/ana/clone"), root="/home/ana/clone"
    )
    assert project.feed(in_clone).heads == []


def test_a_new_branch_at_the_same_commit_takes_failures_along(project: Project) -> None:
    project.feed(red("pytest", PYTEST), Checkout(old="a", new="a", branch="topic"))
    assert [one.branch for one in project.open] == ["topic"]
    project.feed(Checkout(old="a", new="b", branch="other"))
    assert [one.branch for one in project.open] == ["topic"]


def test_failures_are_bounded_in_number_and_age(project: Project, place: Place) -> None:
    project.feed(*(red(f"pytest t{n}", PYTEST) for n in range(MOST + 2)))
    assert (len(project.open), project.heads[0]) == (MOST, "pytest t2")
    late = place(red("mypy .", "a.py:1: error: no\nFound 1 error"), 99, at_s=FORGOTTEN_MS / 500)
    assert project.feed(late).heads == ["mypy ."]


def test_outside_of_a_project_nothing_is_red(project: Project, place: Place) -> None:
    assert project.feed(replace(place(red("pytest", PYTEST)), root="")).heads == []


def test_a_scope_is_read_from_all_words(project: Project) -> None:
    """Values of options that say how are no targets; those that say what are filters."""
    project.feed(red("pytest -n 4 --tb=short -p no:x tests/test_cart.py -k 'a or b'", PYTEST))
    (one,) = project.open[0].checks
    assert (one.paths, one.filters) == (("tests/test_cart.py",), ("k=a or b",))


WORDS = word_set(
    """
    pytest make test lint npm run -k -p -C --config= cd .. '' "" > && | ; $( ) ( - -- = x=1 git
    commit -m stash go ./... cargo +nightly yarn workspace tox -e uv rtk bash -c 'a|b' xargs mvn
    -Dtest=x gradle :a:test just task mise /tmp/x . / ~ \\ #
    """
)


@given(
    words=st.lists(st.sampled_from(sorted(WORDS)), max_size=12),
    output=st.text("$> make:pytest[]1.\n", max_size=80),
    ok=st.booleans(),
)
def test_any_command_may_pass_or_fail(words: list[str], output: str, *, ok: bool) -> None:
    """No wording of a command or an output breaks the tracker."""
    body = Command(command=" ".join(words), output=output, exit_code=0 if ok else 1)
    runs = check_results_of(body, CommandResult(ok=ok), root=ROOT, cwd=ROOT, tasks={})
    assert not (runs.failed and ok)
    assert bool(runs.failed) == bool(runs.head)


class Check(NamedTuple):
    """A check, and what it prints when it fails and when it passes."""

    command: str
    failed: str
    passed: str


CHECKS = (
    Check("npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'x' is no 'y'.", ""),
    Check("pnpm typecheck", "$ tsc --noEmit\na.ts(3,5): error TS2322: x", "$ tsc --noEmit"),
    Check("pytest -q", "FAILED a.py::test_a - no\n1 failed, 3 passed in 0.1s", "4 passed in 0.1s"),
    Check("mypy .", "a.py:1: error: no  [misc]\nFound 1 error in 1 file (checked 2 source files)",
          "Success: no issues found in 2 source files"),
)  # fmt: skip
CHAINS = (
    "{}",
    "{} 2>&1 | tail -5",
    "{} 2>&1 | head -20",
    "{} 2>&1 | tee log",
    "{}; git status --short",
    "{} || true",
    "{} > log 2>&1",
    "{} 2>&1 | grep -v '^$'",
    "set -o pipefail; {} | tail -5",
    '{}; echo "exit: $?"',
)


def ran(check: Check, chain: str, *, is_ok: bool) -> Command:
    """Return how a chain with a check ends, as a shell would."""
    hides = ("|" in chain and "pipefail" not in chain) or "; git" in chain or "; echo" in chain
    said = check.passed if is_ok else check.failed
    said = "" if "> log" in chain else said
    said += f"\nexit: {int(not is_ok)}" if "echo" in chain else ""
    return Command(command=chain.format(check.command), output=said, failed=not (is_ok or hides))


def red_after(place: Place, *bodies: Command) -> list[str]:
    """Return the heads of what is red after these commands."""
    return Project(place).feed(*bodies).heads


@given(st.sampled_from(CHECKS), st.sampled_from(CHAINS), st.sampled_from(CHAINS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_pass_is_believed_in_a_chain_in_which_a_failure_is(
    place: Place, check: Check, first: str, then: str
) -> None:
    failure, again = (ran(check, chain, is_ok=False) for chain in (first, then))
    is_unsaid = "grep" in then and not check.passed  # what finds nothing prints nothing either
    if red_after(place, failure) and red_after(place, again) and not is_unsaid:
        assert red_after(place, failure, ran(check, then, is_ok=True)) == []


@given(st.sampled_from(CHECKS), st.sampled_from(CHAINS), st.sampled_from(CHAINS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_failure_in_any_chain_clears_nothing(
    place: Place, check: Check, first: str, then: str
) -> None:
    failure, again = (ran(check, chain, is_ok=False) for chain in (first, then))
    if red_after(place, failure):
        assert red_after(place, failure, again) != []


@pytest.mark.parametrize("chain", CHAINS)
def test_a_failure_that_is_seen_in_a_chain_is_red(place: Place, chain: str) -> None:
    assert red_after(place, ran(CHECKS[3], chain, is_ok=False)) == ["mypy ."]


def test_files_are_named_with_and_without_their_line() -> None:
    output = (
        " at src/a.ts format\n"
        "src/b.ts(3,1): error TS1: x\n"
        "/home/ana/shop/c.py:4: error\n"
        "    at run (/home/ana/shop/src/d.js:1:2)\n"
        " --> e/lib.rs:1:19\n"
        "src/a.ts again"
    )
    expected = ("src/a.ts", "src/b.ts", "c.py", "src/d.js", "e/lib.rs")
    assert files_named_in(output, root=ROOT, cwd=ROOT) == expected


def test_a_name_counts_from_the_folder_that_it_was_printed_in() -> None:
    assert files_named_in("cart_test.go:7: got 0", root=ROOT, cwd=f"{ROOT}/api") == (
        "api/cart_test.go",
    )


def test_packages_numbers_and_words_are_no_files() -> None:
    output = "node_modules/x/a.js 1.5 e.g. https://a.io/x.py v1.2.3 site-packages/y.py done."
    assert files_named_in(output, root=ROOT, cwd=ROOT) == ()


def test_only_so_many_are_kept() -> None:
    output = "\n".join(f"a{number}.py:1: error" for number in range(2 * FILES))
    assert len(files_named_in(output, root=ROOT, cwd=ROOT)) == FILES


def failure(program: str = "pytest", tool: str = "pytest", **fields: Any) -> OpenFailure:
    return OpenFailure(
        checks=(CheckIdentity(kind="", base=program, tool=tool),),
        head=program,
        root=ROOT,
        branch="main",
        since_ms=0,
        last_ms=0,
        item=4,
        sessions=(1,),
        **fields,
    )


def edit(path: str, *symbols: str) -> TrackedEdit:
    return TrackedEdit(seq=2, item=8, root=ROOT, branch="main", path=path, symbols=symbols)


def command(remedy: str, said: str) -> TrackedEdit:
    return TrackedEdit(seq=2, item=8, root=ROOT, kind="command", remedy=remedy, said=said)


FAILED = failure(
    error="tests/test_cart.py::test_total - NameError: name 'sum_up' is not defined",
    tests=("tests/test_cart.py::test_total",),
    files=("tests/test_cart.py", "shop/money.py"),
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(edit("tests/test_cart.py"), LIKELY, id="the test"),
        pytest.param(edit("shop/money.py"), LIKELY, id="a file of the output"),
        pytest.param(edit("shop/user.py", "User.name"), POSSIBLE, id="another file"),
        pytest.param(edit("pyproject.toml"), POSSIBLE, id="configuration"),
        pytest.param(edit("README.md"), UNRELATED, id="prose"),
        pytest.param(edit("docs/notes.txt"), UNRELATED, id="notes"),
        pytest.param(edit("/home/ana/.plans/a.py"), UNRELATED, id="outside"),
        pytest.param(command("install", "pip install x"), POSSIBLE, id="nothing is missing"),
        pytest.param(edit("web/user.ts"), UNRELATED, id="another language"),
        pytest.param(command("install", "npm install x"), UNRELATED, id="of another language"),
        pytest.param(command("service", "docker compose up -d"), POSSIBLE, id="a service"),
        pytest.param(command("fixer", "black ."), UNRELATED, id="a formatter for a test"),
        pytest.param(command("files", "mv a shop/money.py"), POSSIBLE, id="files"),
    ],
)
def test_how_a_change_stands_to_a_failing_test(change: TrackedEdit, expected: int) -> None:
    assert strength(change, FAILED) == expected


@pytest.mark.parametrize(
    ("failed", "change"),
    [
        (failure("ruff check .", "ruff"), command("fixer", "ruff check --fix .")),
        (failure("npx prettier --check .", "prettier"), command("fixer", "npx prettier -w .")),
    ],
)
def test_a_formatter_is_likely_to_mend_what_a_linter_finds(
    failed: OpenFailure, change: TrackedEdit
) -> None:
    assert strength(change, failed) == LIKELY


@pytest.mark.parametrize(
    ("reason", "change", "expected"),
    [
        ("missing", command("install", "pip install pytest"), LIKELY),
        ("permission", command("files", "chmod +x run.sh"), LIKELY),
        ("service", command("service", "docker compose up -d"), LIKELY),
        ("service", command("files", "chmod +x run.sh"), UNRELATED),
        ("stopped", command("install", "pip install x"), UNRELATED),
        ("missing", edit("shop/cart.py"), UNRELATED),
    ],
)
def test_what_lets_a_command_start(reason: str, change: TrackedEdit, expected: int) -> None:
    assert strength(change, failure(unstarted=reason)) == expected


def test_a_deleted_folder_is_the_cause_where_a_failing_file_lay_in_it() -> None:
    gone = TrackedEdit(seq=2, item=8, root=ROOT, kind="undo", path=f"{ROOT}/tmp/a", said="rm")
    failing = [failure(files=(f"{folder}/x.test.ts",)) for folder in ("tmp/a", "src")]
    assert [strength(gone, one) for one in failing] == [LIKELY, POSSIBLE]


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("tests/test_cart.py", True),
        ("cart_test.go", True),
        ("src/cart-total.test.ts", True),
        ("CartTest.java", True),
        ("spec/cart_spec.rb", True),
        ("Shop.Tests/CartTests.cs", True),
        ("tests/fixtures/prices.json", True),
        ("src/latest.py", False),
        ("src/attest.ts", False),
        ("Makefile", False),
    ],
)
def test_a_test_is_known_by_its_name_or_folder(path: str, tests: bool) -> None:
    assert is_test(path) is tests
