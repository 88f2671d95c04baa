from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.commands import command_line, runners
from observer.commands.command_line import InlineScript, inline_script

HEADS = [
    (
        "cd api && CI=1 timeout 60 python -m pytest -q tests | tail -5",
        "python -m pytest -q tests",
        "pytest",
    ),
    ("sudo -E docker compose up -d", "sudo -E docker compose up -d", "docker"),
    ("uv run ruff check .", "uv run ruff check .", "ruff"),
    (
        "uv run --with httpx -p 3.12 --no-project pytest -q",
        "uv run --with httpx -p 3.12 --no-project pytest -q",
        "pytest",
    ),
    ("poetry run -q pytest", "poetry run -q pytest", "pytest"),
    ("nice -n 10 make all", "make all", "make"),
    ("sudo -u postgres psql shop", "sudo -u postgres psql shop", "psql"),
    ("env -i -u HOME A=1 make", "make", "make"),
    ("npx -y -p typescript tsc", "npx -y -p typescript tsc", "tsc"),
    ("npx -p", "npx -p", "-p"),
    ("npx tsc --noEmit", "npx tsc --noEmit", "tsc"),
    ("npx", "npx", "npx"),
    (
        "uvx --from 'pyright[nodejs]' pyright src",
        "uvx --from 'pyright[nodejs]' pyright src",
        "pyright",
    ),
    ("pnpm dlx vitest run", "pnpm dlx vitest run", "vitest"),
    (
        "coverage run -m pytest -q && coverage report",
        "coverage run -m pytest -q && coverage report",
        "pytest",
    ),
    ("export A=1; source .venv/bin/activate; make test", "make test", "make"),
    ("timeout -s KILL 5 make", "make", "make"),
    ("timeout -k 5", "timeout -k 5", "timeout"),
    ("stdbuf -oL make x", "make x", "make"),
    ("env", "env", "env"),
    ("cat > a.txt <<EOF\nrm -rf /\nEOF", "cat > a.txt", "cat"),
    ("cat > t.py <<'EOF'\nrm -rf /\nEOF\npytest t.py", "cat > t.py; pytest t.py", "cat"),
    ("cat <<EOF | psql shop\nselect 1\nEOF", "cat", "cat"),
    ("python - <<-E && make\n\tprint(1)\n\tE\n", "python - && make", "python"),
    ("cat > a <<X\n" + "x\n" * 2000 + "X\nmake", "cat > a; make", "cat"),
    (
        "git commit -m \"$(cat <<'EOF'\nFix\nEOF\n)\" && git push",
        "git commit -m … && git push",
        "git",
    ),
    ("git commit -F - <<EOF\nFix (a)\nEOF\ngit push", "git commit -F -; git push", "git"),
    ("python -c 'print(1 << 2)'", "python -c 'print(1 << 2)'", "python"),
    ("cat <<< hello", "cat <<< hello", "cat"),
    ("cd /tmp", "cd /tmp", "cd"),
    ("(cd a; go test ./...)", "go test ./...", "go"),
    (r"C:\tools\make.exe all", r"C:\tools\make.exe all", "make"),
    ("git add -A && git commit -m 'a'", "git add -A && git commit -m 'a'", "git"),
    ("npm ci && npm test 2>&1 | tail", "npm ci && npm test", "npm"),
    ("ls\npytest -q | tail -3; git status", "pytest -q", "pytest"),
    ("make || true; make install", "make; make install", "make"),
    ("make || make all", "make || make all", "make"),
    ("cat a | grep b", "cat a", "cat"),
    ("git commit -m \"$(cat <<'EOF'\nFix it\nEOF\n)\"", "git commit -m …", "git"),
    ("git commit -m 'a && b; c'", "git commit -m 'a && b; c'", "git"),
    ("for i in 1 2; do pytest -q; done", "pytest -q", "pytest"),
    ("if [ -f a ]; then make; else cmake .; fi", "make; cmake .", "make"),
    ("while true; do make; sleep 1; done | tail", "make", "make"),
    ("git ls-files '*.py' | xargs -n 9 -r ruff check", "xargs -n 9 -r ruff check", "ruff"),
    ("find . -name '*.pyc' | xargs -I {} rm {}", "xargs -I {} rm {}", "rm"),
    ("ls | xargs grep -l x", "ls", "ls"),
    ("cat a | xargs", "cat a", "cat"),
    ("set -x CI 1; and pytest; or echo bad", "pytest", "pytest"),
    ("begin; pytest; and ruff check; end", "pytest; ruff check", "pytest"),
    ("bash -lc 'cd api && pytest -q | tail'", "pytest -q", "pytest"),
    ('/bin/sh -c "make all"', "make all", "make"),
    ('powershell.exe -NoProfile -Command "cd C:\\a; npm test"', "npm test", "npm"),
    ('cmd /c "npm test"', "npm test", "npm"),
    ("bash -c make", "make", "make"),
    ("bash -x run.sh now", "", "bash"),
    ('$env:CI="1"; npm test | Select-Object -Last 5', "npm test", "npm"),
    ("Set-Location app; dotnet test", "dotnet test", "dotnet"),
    (r'& "C:\Program Files\nodejs\npm.cmd" test', r'"C:\Program Files\nodejs\npm.cmd" test', "npm"),
    ("python -X dev -W error -um pytest", "python -X dev -W error -um pytest", "python"),
    ("python3 -u -X dev -m pytest -q", "python3 -u -X dev -m pytest -q", "pytest"),
    ("python -W error x.py", "python -W error x.py", "python"),
    ("conda run -n e pytest", "conda run -n e pytest", "pytest"),
    ("FOO='a b' make test", "make test", "make"),
    ("A='x; y' B=\"$(date '+%s')\" make", "make", "make"),
    ("echo it's fine", "echo it's fine", "echo"),
    ("make test 'unclosed ; rm", "make test 'unclosed ; rm", "make"),
    ("make \\\n  -j4 test", "make -j4 test", "make"),
    ("make test # not; this", "make test", "make"),
    ("make a#b", "make a#b", "make"),
    ("make |& tail -3", "make", "make"),
    (
        "make > out.log 2>&1 && make install &> all.log",
        "make && make install",
        "make",
    ),
    ('out=$(pytest -q 2>&1); echo "$out" | tail', "pytest -q", "pytest"),
    ("uv run pytest -q > 'my out.txt' 2>&1", "uv run pytest -q", "pytest"),
    ("pytest 2>err.txt 1>out.txt", "pytest", "pytest"),
    ("pytest>out.txt", "pytest", "pytest"),
    ("npm run build >| log; tail log", "npm run build", "npm"),
    ("npm test 2>&1 | tee log | tail -5", "npm test", "npm"),
    (">out.txt make test", "make test", "make"),
    ("dotnet build *> all.log", "dotnet build", "dotnet"),
    ("npm test < /dev/null", "npm test", "npm"),
    ("psql shop < seed.sql > /dev/null", "psql shop < seed.sql", "psql"),
    ("python - <<'EOF' > out.txt\nprint(1)\nEOF", "python -", "python"),
    ("(cd api && go test ./...) > out.txt 2>&1", "go test ./...", "go"),
    ("bash -c 'pytest -q > out.txt'", "pytest -q", "pytest"),
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
    ("diff <(make a | sort) <(make b)", "diff <(make a | sort) <(make b)", "diff"),
    ("case $1 in a) make;; esac", "", ""),
    ("f() { make; }; f", "make; f", "make"),
    ("{ make; }", "make", "make"),
    ("bash -c 'sh -c \"make x\" && make y'", "make x && make y", "make"),
    ("timeout 60 nice -n 5 time -p make", "make", "make"),
    ("docker compose -f dev.yml exec -T web pytest -q", "", "pytest"),
    ("docker run --rm -v .:/w shop pytest", "", "pytest"),
    ("docker run shop", "", "docker"),
    ("nix develop -c cargo test", "", "cargo"),
    ("nix-shell --run 'make test'", "make test", "make"),
    ("nix develop", "", "nix"),
    ("direnv exec . make", "", "make"),
    ("dotenv -e .env -- npm test", "", "npm"),
    ("mise exec -- go test", "", "go"),
    ("mise run test", "", "mise"),
    ("kubectl exec web -- pytest", "", "pytest"),
    ("bundle exec rspec", "", "rspec"),
    ("rtk test bun run test", "", "bun"),
    ("rtk test", "", "test"),
    ("rtk git status", "", "git"),
    ("hatch run pytest", "", "pytest"),
    ("hatch run test", "", "hatch"),
    ("pnpm vitest", "", "vitest"),
    ("pnpm install", "", "pnpm"),
    ("yarn run lint", "", "yarn"),
    ("php -d x=1 vendor/bin/phpunit", "", "phpunit"),
    ("", "(empty)", ""),
    ("A=1", "A=1", ""),
]


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
    assert sum(len(word) for part in runners.split(text) for word in part.words) <= len(text)


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
    ("node -e \"require('fs').writeFileSync('d.json', '{}')\"", InlineScript("node", ("d.json",))),
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
