"""Which commands may make a check pass."""

from __future__ import annotations

import pytest

from observer.commands import command_line
from observer.commands.check import fix_kind


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pip install requests", True),
        ("npm ci", True),
        ("cargo add serde", True),
        ("sed -i s/a/b/ x.py", True),
        ("ruff check --fix .", True),
        ("ruff format .", True),
        ("black .", True),
        ("git pull --rebase", True),
        ("git merge --abort", False),
        ("black --check .", False),
        ("sed -n 1p x.py", False),
        ("ruff check .", False),
        ("bun run lint:fix", True),
        ("npm run lint -- --fix", True),
        ("npm run format", True),
        ("npm run format:check", False),
        ("make fmt", True),
        ("./gradlew spotlessApply", True),
        ("bundle exec rubocop -A", True),
        ("gofmt -w .", True),
        ("go mod tidy", True),
        ("npx prisma generate", True),
        ("php artisan migrate", True),
        ("docker compose up -d", True),
        ("npm run dev", True),
        ("make clean", True),
        ("cargo clippy --fix", True),
        ("npm run build", False),
        ("pytest", False),
        ("terraform fmt -check", False),
        ("dotnet format --verify-no-changes", False),
        ("mix format --check-formatted", False),
        ("dart format --set-exit-if-changed .", False),
        ("pint --test", False),
        ("isort -c .", False),
        ("swiftformat --lint .", False),
        ("npx eslint --fix-dry-run .", False),
        ("make fmt-check", False),
        ("npm run check:fmt", False),
        ("shfmt -w .", True),
        ("shfmt -d .", False),
        ("clang-format -i a.c", True),
        ("clang-format a.c", False),
        ("npx standard --fix", True),
        ("zig fmt src", True),
        ("golangci-lint run --fix", True),
        ("npm test", False),
    ],
)
def test_a_remedy_changes_something(command: str, expected: bool) -> None:
    (part,) = command_line.simple_commands(command)
    assert bool(fix_kind(part)) is expected
