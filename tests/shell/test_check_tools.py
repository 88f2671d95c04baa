"""Which commands judge code, and which runs of them are the same judgement."""

from __future__ import annotations

import pytest

from observer.shell.check_tools import checker_of
from observer.shell.command_line import simple_commands

CHECKS = [
    # Python
    ("uv run pytest -q tests/a.py", "test", "pytest", "-q tests/a.py"),
    ("python -m unittest", "test", "unittest", ""),
    ("python manage.py test shop", "test", "django test", "shop"),
    ("python tests/test_cart.py", "test", "tests/test_cart.py", ""),
    ("poetry run mypy --strict .", "types", "mypy", "--strict ."),
    ("make -n test", None, "", ""),
    ("ruff check --fix .", "lint", "ruff check", "--fix ."),
    ("black --check .", "format", "black", "--check ."),
    ("tox -e py312", "test", "tox", "-e=py312"),
    ("tox run -e lint -- --fix", "lint", "tox", "-e=lint -- --fix"),
    ("tox -e py312,lint", "all", "tox", "-e=lint,py312"),
    ("tox -p", "all", "tox", "-p"),
    ("tox -l", None, "", ""),
    ("nox -s tests-3.12 lint", "all", "nox", "-e=lint,tests-3.12"),
    ("nox --session=tests", "test", "nox", "-e=tests"),
    ("nox -s docs", "all", "nox", "-e=docs"),
    ("nox --list", None, "", ""),
    ("hatch run test", "test", "hatch run test", ""),
    ("hatch run pytest -q", "test", "pytest", "-q"),
    ("uv run poe lint", "lint", "poe lint", ""),
    ("pre-commit run --all-files", "lint", "pre-commit", "--all-files"),
    # JavaScript, TypeScript
    ("npm test", "test", "script test", ""),
    ("npm run lint:fix", "lint", "script lint", ""),
    ("npm run format:check", "format", "script format", ""),
    ("make fmt-check", "format", "make fmt", ""),
    ("npm run lint:check", "lint", "script lint:check", ""),
    ("npm run typecheck -w web", "types", "script typecheck", "-w web"),
    ("rtk test bun run test", "test", "script test", ""),
    ("bun test src/ --timeout 9", "test", "bun test", "src/ --timeout 9"),
    ("pnpm --filter web test", "test", "script test", "--filter web"),
    ("pnpm vitest run src/a.test.ts", "test", "vitest", "src/a.test.ts"),
    ("yarn workspace web test", "test", "script test", "-w=web"),
    ("yarn workspace", None, "", ""),
    ("yarn tsc --noEmit", "types", "tsc", "--noEmit"),
    ("npx nx run-many -t test", "test", "nx test", ""),
    ("nx test app --watch=false", "test", "nx test", "-p=app"),
    ("pnpm nx run app:test:ci", "test", "nx test", "-p=app"),
    ("nx run-many -t test lint --exclude=docs", "all", "nx lint test", "--exclude=docs"),
    ("nx run-many --target=build -p web,api", "build", "nx build", "-p=api,web"),
    ("nx affected -t lint --base main", "lint", "nx lint", "--affected"),
    ("nx affected:test", "test", "nx test", "--affected"),
    ("nx serve app", None, "", ""),
    ("nx graph", None, "", ""),
    ("nx", None, "", ""),
    ("npx turbo run test --filter=web", "test", "script test", "--filter=web"),
    ("deno task test", "test", "deno task test", ""),
    ("node --test", "test", "node --test", ""),
    ("prettier --write src", "format", "prettier", "src"),
    # Go, Rust
    ("go test ./... -run TestX", "test", "go test", "./... -run TestX"),
    ("go build ./cmd/x", "build", "go build", "./cmd/x"),
    ("gotestsum ./...", "test", "go test", "./..."),
    ("cargo nextest run -p cart", "test", "cargo test", "-p cart"),
    ("cargo +nightly clippy", "lint", "cargo clippy", "+nightly"),
    ("golangci-lint run", "lint", "golangci-lint", ""),
    # JVM, .NET
    ("mvn -pl core test", "test", "mvn test", "-pl core"),
    ("./mvnw -q compile verify", "test", "mvn verify", "-q"),
    ("./gradlew :app:test --tests X", "test", "gradle test", "--tests X -p=:app"),
    ("gradle dependencies", None, "", ""),
    ("gradle compileJava", "build", "gradle compileJava", ""),
    ("gradle assemble", "build", "gradle assemble", ""),
    ("./gradlew spotlessApply", "format", "gradle spotless", ""),
    ("dotnet test --filter Cart", "test", "dotnet test", "--filter Cart"),
    # Ruby, PHP, others
    ("bundle exec rspec spec/a_spec.rb:3", "test", "rspec", "spec/a_spec.rb:3"),
    ("bin/rails test", "test", "minitest", ""),
    ("ruby -Itest test/cart_test.rb", "test", "minitest", "test/cart_test.rb"),
    ("rake spec", "test", "rake spec", ""),
    ("php artisan test", "test", "phpunit", ""),
    ("vendor/bin/pest", "test", "phpunit", ""),
    ("composer test", "test", "script test", ""),
    ("mix test", "test", "mix test", ""),
    ("cmake --build build", "build", "cmake --build", "build"),
    ("swift test --filter CartTests", "test", "swift test", "--filter CartTests"),
    ("swift run", None, "", ""),
    ("xcodebuild test -scheme App -sdk macosx", "test", "xcodebuild test", "-scheme=App"),
    (
        "xcodebuild -scheme 'My App' test -only-testing:AppTests/Cart",
        "test",
        "xcodebuild test",
        "-scheme=My App -only-testing=AppTests/Cart",
    ),
    ("xcodebuild -project A.xcodeproj", "build", "xcodebuild build", "-project=A.xcodeproj"),
    ("xcodebuild clean build", "build", "xcodebuild build", ""),
    ("xcodebuild clean", None, "", ""),
    ("xcodebuild -list", None, "", ""),
    ("xcodebuild docbuild -scheme App", None, "", ""),
    ("Invoke-Pester -Path tests -CI", "test", "pester", "-Path tests -CI"),
    ("pwsh -c 'Invoke-Pester -Tag Unit'", "test", "pester", "-Tag Unit"),
    # tasks of a project
    ("FOO='a b' make test", "test", "make test", ""),
    ("make -C api test", "test", "make test", "-C api"),
    ("make -j4 lint test", "all", "make lint test", "-j4"),
    ("make", "build", "make", ""),
    ("make V=1 install", None, "", ""),
    ("just", None, "", ""),
    ("task lint", "lint", "task lint", ""),
    ("mise run ci", "all", "mise run ci", ""),
    ("mise lint", "lint", "mise run lint", ""),
    ("mise ls", None, "", ""),
    ("mise", None, "", ""),
    ("gradle :app:testDebugUnitTest", "test", "gradle testDebugUnitTest", "-p=:app"),
    ("inv test", "test", "invoke test", ""),
    ("./scripts/run-tests.sh -v", "test", "scripts/run-tests.sh", "-v"),
    ("bash scripts/check", "all", "scripts/check", ""),
    # runs of programs, one-off commands, questions
    ("go run .", None, "", ""),
    ("cargo run", None, "", ""),
    ("./bin/shop --help", None, "", ""),
    ("bun run scripts/build.ts", None, "", ""),
    ("bun run dev", None, "", ""),
    ("npm install", None, "", ""),
    ("npm i test", None, "", ""),
    ("npm run dev -- test", None, "", ""),
    ("python -c 'import x'", None, "", ""),
    ("python scripts/load.py", None, "", ""),
    ("node -e 'x()'", None, "", ""),
    ("/tmp/try/test.sh", None, "", ""),
    ("curl localhost:1/test", None, "", ""),
    ("git commit -m test", None, "", ""),
    ("pytest --help", None, "", ""),
    ("pytest --collect-only -q", None, "", ""),
    ("terraform plan", None, "", ""),
    ("php-cs-fixer fix --dry-run", "format", "php-cs-fixer", "fix --dry-run"),
    ("prettier --help", None, "", ""),
    ("npm run test/unit", None, "", ""),
]


@pytest.mark.parametrize(
    ("command", "kind", "base", "rest"), CHECKS, ids=[case[0] for case in CHECKS]
)
def test_what_a_command_judges(command: str, kind: str | None, base: str, rest: str) -> None:
    (part,) = simple_commands(command)
    found = checker_of(part.words)
    if kind is None:
        assert found is None
    else:
        assert found is not None
        assert (found.kind, found.base, " ".join(found.rest)) == (kind, base, rest)
