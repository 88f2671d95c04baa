"""Whether one command is another form of the same, or mends what the other found."""

from __future__ import annotations

import pytest

from observer.commands import command_line
from observer.commands.check import fix_kind
from observer.commands.command_forms import (
    InvocationForm,
    adds_settings,
    forms_of,
    is_other_form,
    is_same_form,
)


def form(command: str, folder: str = "") -> InvocationForm:
    (found,) = forms_of(command, folder=folder)
    return found


def test_what_sets_a_command_up_is_part_of_its_form() -> None:
    found = form("cd api && source .venv/bin/activate && pytest -q", "api")
    assert found.line == "cd api && source .venv/bin/activate && pytest -q"


@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        ("wrap bun run test 2>&1 | tail -5", "bun run test"),
        ("wrap bun run test", "wrap test bun run test"),
        ("npm run test", "npm test"),
        ("pytest -q", "python -m pytest -q"),
        ("pytest", "uv run pytest"),
        ("tsc --noEmit", "npx tsc --noEmit"),
        ("python x.py", "python3 x.py"),
        ("gradle test", "./gradlew test"),
        ("docker-compose up -d", "docker compose up -d"),
        ("phpunit", "vendor/bin/phpunit"),
        ("git -C /r add a b", "wrap git add a b"),
    ],
)
def test_another_form_of_the_same(failed: str, worked: str) -> None:
    assert is_other_form(form(failed), form(worked), "unexpected argument '-C' found")


@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        ("pytest -q", "pytest -q"),
        ("wrap bun run typecheck", "bun run test"),
        ("npm run lint", "npm run test"),
        ("npm test", "bun test"),
        ("cargo test -p a", "cargo test -p b"),
        ("pytest tests/a.py", "pytest tests/b.py"),
        ("git commit -m x", "git commit --no-verify -m x"),
        ("npm test -- --coverage", "npm test"),
    ],
)
def test_something_else_or_less(failed: str, worked: str) -> None:
    assert not is_other_form(form(failed), form(worked), "error: unrecognized subcommand 'bun'")


def test_the_same_in_another_folder_is_another_form() -> None:
    here, below = form("go test ./..."), form("go test ./...", "api")
    assert is_other_form(here, below, "")
    assert below.line == "cd api && go test ./..."
    assert form("go test ./...", "/elsewhere").line == "go test ./..."


def test_a_path_may_be_shown_from_another_folder() -> None:
    assert is_other_form(form("pytest api/tests/x.py"), form("pytest tests/x.py", "api"), "")


@pytest.mark.parametrize(
    ("failed", "worked", "expected"),
    [
        ("pytest", "DATABASE_URL=x pytest", True),
        ("python a.py", "source .venv/bin/activate && python a.py", True),
        ("npm test", "export CI=1 && npm test", True),
        ("npm install", "npm install --legacy-peer-deps", True),
        ("npm install", "npm install left-pad", False),
        ("pytest", "pytest --collect-only", False),
        ("pytest", "pytest", False),
        ("npm install", "npm install --force", False),
        ("npm install a", "npm install", False),
    ],
)
def test_one_setting_more(failed: str, worked: str, expected: bool) -> None:
    assert adds_settings(form(failed), form(worked)) is expected


def test_what_runs_in_another_folder_has_not_only_a_setting_more() -> None:
    assert not adds_settings(form("npm test"), form("CI=1 npm test", "web"))


def test_only_what_does_something_has_a_form() -> None:
    found = forms_of("cd api && git status && timeout 60 pytest -q | tail -5")
    assert [one.line for one in found] == ["pytest -q"]
    assert is_same_form(found[0], form("pytest -q"))


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
