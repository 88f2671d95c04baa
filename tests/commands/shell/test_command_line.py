"""Command lines: what they run, which are forms of the same, and which mend."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.commands import command_line, runners
from observer.commands.check import fix_kind
from observer.commands.check_tools import checker_of
from observer.commands.command_line import (
    InlineScript,
    InvocationForm,
    adds_settings,
    forms_of,
    inline_script,
    is_other_form,
    simple_commands,
)

HEADS = [
    ("cd api && CI=1 timeout 60 python -m pytest -q tests | tail -5", "python -m pytest -q tests",
     "pytest"),
    ("sudo -E docker compose up -d", "sudo -E docker compose up -d", "docker"),
    ("uv run --with httpx -p 3.12 --no-project pytest -q",
     "uv run --with httpx -p 3.12 --no-project pytest -q", "pytest"),
    ("nice -n 10 make all", "make all", "make"),
    ("sudo -u postgres psql shop", "sudo -u postgres psql shop", "psql"),
    ("env -i -u HOME A=1 make", "make", "make"),
    ("npx -y -p typescript tsc", "npx -y -p typescript tsc", "tsc"),
    ("npx -p", "npx -p", "-p"),
    ("uvx --from 'pyright[nodejs]' pyright src", "uvx --from 'pyright[nodejs]' pyright src",
     "pyright"),
    ("pnpm dlx vitest run", "pnpm dlx vitest run", "vitest"),
    ("coverage run -m pytest -q && coverage report", "coverage run -m pytest -q && coverage report",
     "pytest"),
    ("export A=1; source .venv/bin/activate; make test", "make test", "make"),
    ("timeout -s KILL 5 make", "make", "make"),
    ("timeout -k 5", "timeout -k 5", "timeout"),
    ("cat > t.py <<'EOF'\nrm -rf /\nEOF\npytest t.py", "cat > t.py; pytest t.py", "cat"),
    ("cat <<EOF | psql shop\nselect 1\nEOF", "cat", "cat"),
    ("python - <<-E && make\n\tprint(1)\n\tE\n", "python - && make", "python"),
    ("cat > a <<X\n" + "x\n" * 2000 + "X\nmake", "cat > a; make", "cat"),
    ("git commit -m \"$(cat <<'EOF'\nFix\nEOF\n)\" && git push", "git commit -m … && git push",
     "git"),
    ("git commit -F - <<EOF\nFix (a)\nEOF\ngit push", "git commit -F -; git push", "git"),
    ("python -c 'print(1 << 2)'", "python -c 'print(1 << 2)'", "python"),
    ("cat <<< hello", "cat <<< hello", "cat"),
    ("(cd a; go test ./...)", "go test ./...", "go"),
    (r"C:\tools\make.exe all", r"C:\tools\make.exe all", "make"),
    ("ls\npytest -q | tail -3; git status", "pytest -q", "pytest"),
    ("make || true; make install", "make; make install", "make"),
    ("make || make all", "make || make all", "make"),
    ("make & make install", "make; make install", "make"),
    ("git commit -m 'a && b; c'", "git commit -m 'a && b; c'", "git"),
    ("for i in 1 2; do pytest -q; done", "pytest -q", "pytest"),
    ("if [ -f a ]; then make; else cmake .; fi", "make; cmake .", "make"),
    ("while true; do make; sleep 1; done | tail", "make", "make"),
    ("git ls-files '*.py' | xargs -n 9 -r ruff check", "xargs -n 9 -r ruff check", "ruff"),
    ("find . -name '*.pyc' | xargs -I {} rm {}", "xargs -I {} rm {}", "rm"),
    ("ls | xargs grep -l x", "ls", "ls"),
    ("cat a | xargs", "cat a", "cat"),
    ("set -x CI 1; and pytest; or echo bad", "pytest", "pytest"),
    ("bash -lc 'cd api && pytest -q | tail'", "pytest -q", "pytest"),
    ('/bin/sh -c "make all"', "make all", "make"),
    ('powershell.exe -NoProfile -Command "cd C:\\a; npm test"', "npm test", "npm"),
    ('cmd /c "npm test"', "npm test", "npm"),
    ("bash -x run.sh now", "", "bash"),
    ('$env:CI="1"; npm test | Select-Object -Last 5', "npm test", "npm"),
    ("Set-Location app; dotnet test", "dotnet test", "dotnet"),
    (r'& "C:\Program Files\nodejs\npm.cmd" test', r'"C:\Program Files\nodejs\npm.cmd" test', "npm"),
    ("python -X dev -W error -um pytest", "python -X dev -W error -um pytest", "python"),
    ("conda run -n e pytest", "conda run -n e pytest", "pytest"),
    ("FOO='a b' make test", "make test", "make"),
    ("A='x; y' B=\"$(date '+%s')\" make", "make", "make"),
    ("echo it's fine", "echo it's fine", "echo"),
    ("make test 'unclosed ; rm", "make test 'unclosed ; rm", "make"),
    ("make \\\n  -j4 test", "make -j4 test", "make"),
    ("make test # not; this", "make test", "make"),
    ("make a#b", "make a#b", "make"),
    ('out=$(pytest -q 2>&1); echo "$out" | tail', "pytest -q", "pytest"),
    ("uv run pytest -q > 'my out.txt' 2>&1", "uv run pytest -q", "pytest"),
    ("pytest>out.txt", "pytest", "pytest"),
    ("npm run build >| log; tail log", "npm run build", "npm"),
    (">out.txt make test", "make test", "make"),
    ("dotnet build *> all.log", "dotnet build", "dotnet"),
    ("npm test < /dev/null", "npm test", "npm"),
    ("psql shop < seed.sql > /dev/null", "psql shop < seed.sql", "psql"),
    ("python - <<'EOF' > out.txt\nprint(1)\nEOF", "python -", "python"),
    ("(cd api && go test ./...) > out.txt 2>&1", "go test ./...", "go"),
    # what only prints is shown by the file that it writes
    ("echo hi >> notes.txt", "echo hi >> notes.txt", "echo"),
    ("printf x > 'a b'", "printf x > 'a b'", "printf"),
    ("jq .a in.json >out.json", "jq .a in.json > out.json", "jq"),
    ("> out.txt", "> out.txt", ">"),
    ("make <", "make <", "make"),
    # no redirections
    ("node x.js --min '>3'", "node x.js --min '>3'", "node"),
    ("diff <(sort a) <(sort b)", "diff <(sort a) <(sort b)", "diff"),
    ("gh pr view <number> --json title", "gh pr view <number> --json title", "gh"),
    ("case $1 in a) make;; esac", "", ""),
    ("f() { make; }; f", "make; f", "make"),
    ("{ make; }", "make", "make"),
    ("bash -c 'sh -c \"make x\" && make y'", "make x && make y", "make"),
    ("docker compose -f dev.yml exec -T web pytest -q", "", "pytest"),
    ("docker run --rm -v .:/w shop pytest", "", "pytest"),
    ("docker run shop", "", "docker"),
    ("nix develop -c cargo test", "", "cargo"),
    ("nix-shell --run 'make test'", "make test", "make"),
    ("nix develop", "", "nix"),
    ("direnv exec . make", "", "make"),
    ("dotenv -e .env -- npm test", "", "npm"),
    ("mise exec -- go test", "", "go"),
    ("kubectl exec web -- pytest", "", "pytest"),
    ("bundle exec rspec", "", "rspec"),
    ("rtk test bun run test", "", "bun"),
    ("rtk test", "", "test"),
    ("hatch run test", "", "hatch"),
    ("pnpm install", "", "pnpm"),
    ("php -d x=1 vendor/bin/phpunit", "", "phpunit"),
    ("", "(empty)", ""),
    ("A=1", "A=1", ""),
]  # fmt: skip


def test_a_command_line_is_shown_by_what_it_chiefly_runs() -> None:
    for command, head, tool in HEADS:
        line = command_line.parse_command_line(command)
        assert (line.head, line.tool) == (head or command, tool), command


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "git status",
        "cd api && git diff | head -20",
        "cat a.txt 2>/dev/null",
        "sed -n 1,20p a",
        "find . -name '*.py'",
        "pwd; date",
        "command -v pytest",
        "docker compose logs web 2>&1 | tail -50",
        "git -C /src/shop -c color.ui=false status && git --no-pager log -3",
        "gh run view 12 --json status",
        "grep -rn x . 2>&1 | sort",
        "observer recall 'rate limits' | head -5",
        "~/.observer/venv/bin/observer note show 12",
    ],
)
def test_looking_around_is_routine(command: str) -> None:
    assert command_line.parse_command_line(command).is_routine


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git -C status commit -m x",
        "gh pr create --fill",
        "observer remember 'list of limits'",
        "observer note edit 12 x",
        "observer",
        "git",
        "git branch -D old",
        "cat a > b",
        "echo x >> b",
        "sed -i s/a/b/ c",
        "find . -delete",
        "find . -exec rm {} ;",
        "ls && make",
        "",
    ],
)
def test_what_changes_something_is_not_routine(command: str) -> None:
    assert not command_line.parse_command_line(command).is_routine


def test_every_program_of_a_line_is_named() -> None:
    assert command_line.parse_command_line("ruff check && mypy . | tail").tools == (
        "ruff",
        "mypy",
        "tail",
    )


@given(st.text(st.sampled_from("ab'\"\\;&|<> \n$(){}=-#`"), max_size=300))
def test_any_text_is_a_command_line(command: str) -> None:
    assert command_line.parse_command_line(command).head


@given(
    st.text(st.sampled_from("ab'\"\\;&|<> \n$(){}=-#`"), min_size=1, max_size=12),
    st.integers(2, 40),
)
def test_reading_takes_steps_in_proportion_to_the_text(hostile: str, times: int) -> None:
    """No piece of a line is read again for another: each token starts where one ended."""
    text = hostile * times
    tokens = list(runners.TOKEN.finditer(text))
    ends = [0, *(token.end() for token in tokens)]
    assert all(token.start() >= end for token, end in zip(tokens, ends, strict=False))
    assert sum(len(word) for _, words in runners.split(text) for word in words) <= len(text)


@pytest.mark.parametrize("hostile", ["$(", "'", '"', "`", "<<a\n", "${", "bash -c '", "x=$("])
def test_a_hostile_line_of_any_length_is_read(hostile: str) -> None:
    assert command_line.parse_command_line(hostile * 100_000).head


CASES = [
    ("pytest -q", None),
    ("python3 run.py -c conf.toml", None),
    ("node server.js", None),
    ("python3 -c \"print(open('a').read())\"", InlineScript("python3", only_looks=True)),
    ("python3 -c 'import x; print(x.__version__)'", InlineScript("python3")),
    ("python3 -c \"open('a/b.txt', 'w').write('x')\"", InlineScript("python3", ("a/b.txt",))),
    ("cd api && python - <<'EOF'\nPath('b.py').write_text('x')\nEOF",
     InlineScript("python", ("b.py",))),
    ("python3 << EOF\nname = 'c.py'\nwith open(name, \"a\") as f:\n  f.write('x')\nEOF",
     InlineScript("python3", ("c.py",))),
    ("ruby -e \"File.write('e.rb', 'x')\"", InlineScript("ruby", ("e.rb",))),
    ("python3 -c \"import os; os.remove('x'); open('y').read()\"", InlineScript("python3")),
]  # fmt: skip


@pytest.mark.parametrize(("command", "script"), CASES, ids=[case[0][:40] for case in CASES])
def test_a_script_is_known_by_what_it_writes(command: str, script: InlineScript | None) -> None:
    assert inline_script(command) == script


def test_a_hostile_command_line_is_read_in_linear_time() -> None:
    for text in ("python3 ", "python3 -c '", "open(", "x = 'a'\n", "open(a, 'w'", "python3 <<"):
        found = inline_script(text * 20_000)
        assert found is None or found.program.startswith("python")


CHECKS = [
    # Python
    ("uv run pytest -q tests/a.py", "test", "pytest", "-q tests/a.py"),
    ("python -m unittest", "test", "unittest", ""),
    ("python manage.py test shop", "test", "django test", "shop"),
    ("python tests/test_cart.py", "test", "tests/test_cart.py", ""),
    ("make -n test", None, "", ""),
    ("ruff check --fix .", "lint", "ruff check", "--fix ."),
    ("tox run -e lint -- --fix", "test", "tox", "-e lint -- --fix"),
    ("nox --list", None, "", ""),
    ("hatch run test", "test", "hatch run test", ""),
    ("uv run poe lint", "lint", "poe lint", ""),
    # JavaScript, TypeScript
    ("npm test", "test", "script test", ""),
    ("npm run lint:fix", "lint", "script lint", ""),
    ("npm run format:check", "format", "script format", ""),
    ("make fmt-check", "format", "make fmt", ""),
    ("npm run lint:check", "lint", "script lint:check", ""),
    ("npm run typecheck -w web", "types", "script typecheck", "-w web"),
    ("rtk test bun run test", "test", "script test", ""),
    ("pnpm --filter web test", "test", "script test", "--filter web"),
    ("pnpm vitest run src/a.test.ts", "test", "vitest", "src/a.test.ts"),
    ("yarn workspace web test", "test", "script test", "-w=web"),
    ("yarn workspace", None, "", ""),
    ("yarn workspace web add vitest", None, "", ""),
    ("yarn workspace web run vitest run", "test", "vitest", ""),
    ("go -C api test ./...", "test", "go test", "-C api ./..."),
    (
        "cargo --manifest-path api/Cargo.toml test",
        "test",
        "cargo test",
        "--manifest-path api/Cargo.toml",
    ),
    ("npx nx run-many -t test", "test", "nx test", ""),
    ("pnpm nx run app:test", "test", "nx test", "app"),
    ("nx run-many -t test lint", "all", "nx test lint", ""),
    ("nx serve app", None, "", ""),
    ("nx", None, "", ""),
    ("npx turbo run test --filter=web", "test", "script test", "--filter=web"),
    ("node --test", "test", "node --test", ""),
    ("prettier --write src", "format", "prettier", "src"),
    # Go, Rust
    ("gotestsum ./...", "test", "go test", "./..."),
    ("cargo +nightly clippy", "lint", "cargo clippy", "+nightly"),
    # JVM, .NET
    ("mvn -pl core test", "test", "mvn test", "-pl core"),
    ("./mvnw -q compile verify", "test", "mvn verify", "-q"),
    ("./gradlew :app:test --tests X", "test", "gradle test", "--tests X -p=:app"),
    ("gradle dependencies", None, "", ""),
    ("gradle compileJava", "build", "gradle compileJava", ""),
    ("gradle assemble", "build", "gradle assemble", ""),
    ("./gradlew spotlessApply", "format", "gradle spotless", ""),
    # Ruby, PHP, others
    ("bin/rails test", "test", "minitest", ""),
    ("ruby -Itest test/cart_test.rb", "test", "minitest", "test/cart_test.rb"),
    ("php artisan test", "test", "phpunit", ""),
    ("vendor/bin/pest", "test", "phpunit", ""),
    ("cmake --build build", "build", "cmake --build", "build"),
    # tasks of a project
    ("FOO='a b' make test", "test", "make test", ""),
    ("make -C api test", "test", "make test", "-C api"),
    ("make -j4 lint test", "all", "make lint test", "-j4"),
    ("make", "build", "make", ""),
    ("make V=1 install", None, "", ""),
    ("make install test", None, "", ""),
    ("mise run ci", "all", "mise run ci", ""),
    ("mise lint", "lint", "mise run lint", ""),
    ("mise ls", None, "", ""),
    ("./scripts/run-tests.sh -v", "test", "scripts/run-tests.sh", "-v"),
    ("bash scripts/check", "all", "scripts/check", ""),
    # runs of programs, one-off commands, questions
    ("./bin/shop --help", None, "", ""),
    ("bun run scripts/build.ts", None, "", ""),
    ("bun run dev", None, "", ""),
    ("npm i test", None, "", ""),
    ("npm run dev -- test", None, "", ""),
    ("python scripts/load.py", None, "", ""),
    ("/tmp/try/test.sh", None, "", ""),
    ("curl localhost:1/test", None, "", ""),
    ("pytest --help", None, "", ""),
    ("pytest --collect-only -q", None, "", ""),
    ("php-cs-fixer fix --dry-run", "format", "php-cs-fixer", "fix --dry-run"),
    ("npm run test/unit", None, "", ""),
]


def test_what_a_command_judges() -> None:
    for command, kind, base, rest in CHECKS:
        (part,) = simple_commands(command)
        found = checker_of(part.words)
        shown = found and (found.kind, found.base, " ".join(found.rest))
        assert shown == (kind and (kind, base, rest)), command


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
    assert found[0].line == form("pytest -q").line


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
