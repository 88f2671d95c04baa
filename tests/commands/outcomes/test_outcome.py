from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import SETS

from observer.commands import command_line, ending, outcome
from observer.commands.parsers import PARSERS
from observer.commands.result import CommandResult
from observer.core.events import Command

WRITTEN = [
    ("pytest", ("____ T.test_x (i=0) ____\nE   assert 0 == 1\nt.py:6: AssertionError\n"
     "SUBFAILED(i=0) t.py::T::test_x - assert 0 == 1\n1 failed, 1 subtests passed in 0.10s"), False,
     "1 failed in 100 ms", "t.py::T::test_x - t.py:6: assert 0 == 1"),
    ("pytest", "FAILED t.py::a[one two [x]-3] - assert [1] == 1\n1 failed in 0.10s", False,
     "1 failed in 100 ms", "t.py::a[one two [x]-3] - assert [1] == 1"),
    ("pytest a; pytest b", ("FAILED a/t.py::a - no\n1 failed, 2 passed in 0.10s\n"
     "..      [100%]\n2 passed in 0.20s"), False, "1 failed, 4 passed in 300 ms",
     "a/t.py::a - no"),
    ("pytest", ("---- Captured stdout call ----\n7 failed in 0.10s\n3 passed in 0.10s\n"
     "===== short test summary info =====\nFAILED t.py::a - no\n1 failed in 0.20s"), False,
     "1 failed in 200 ms", "t.py::a - no"),
    ("pytest -qq", ("=== FAILURES ===\n___ test_a ___\nE   assert 1 == 2\nt.py:3: AssertionError\n"
     "==== short test summary info ====\nFAILED t.py::test_a - assert 1 == 2\nERROR t.py::b - no"),
     False, "2 failed", "t.py::test_a - t.py:3: assert 1 == 2"),
    ("pytest | head -30", ("=== FAILURES ===\n___ test_a ___\nE   assert 1 == 2\n"
     "t.py:3: AssertionError"), False, "tests failed", "test_a - t.py:3: assert 1 == 2"),
    ("pytest --cov=a", ("ERROR: Coverage failure: total of 80 is less than fail-under=100\n"
     "2 passed in 0.10s"), False, "2 passed in 100 ms",
     "Coverage failure: total of 80 is less than fail-under=100"),
    ("pytest --cov=a", ("FAIL Required test coverage of 100% not reached. Total coverage: 80.00%\n"
     "2 passed in 0.10s"), False, "2 passed in 100 ms",
     "Required test coverage of 100% not reached. Total coverage: 80.00%"),
    ("pytest -s", "ERROR: as the test wants it\n2 passed in 0.10s", True, "2 passed in 100 ms", ""),
    ("pytest -W error", ("INTERNALERROR> Traceback (most recent call last):\n"
     "INTERNALERROR> pytest.PytestWarning: unset\nINTERNALERROR> more"), False, "pytest broke",
     "pytest.PytestWarning: unset"),
    ("python -m unittest -k x", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", None,
     "no tests ran in 0 ms", ""),
    ("python -m unittest a; python -m unittest b", ("FAIL: test_a (m.T)\nRan 2 tests in 0.001s\n\n"
     "FAILED (failures=1, expected failures=1)\nRan 1 test in 0.002s\n\nOK"), False,
     "1 failed, 1 passed in 3 ms", "m.T.test_a"),
    ("npx jest", "FAIL a.test.js\nTests:       1 failed, 1 total\nTime: 2 s", False,
     "1 failed in 2.0 s", ""),
    ("npx jest", ("FAIL b.test.js\n  ● Test suite failed to run\n    No tests\nFAIL a.test.js\n"
     "  ● adds\n    no\n\n      at x (a.test.js:2:3)\nTests: 1 failed, 1 total"), False,
     "2 failed", "b.test.js - No tests"),
    ("bun test | tail", ("3 | expect(2).toBe(3)\nerror: expect(received).toBe(expected)\n\n"
     "      at <anonymous> (/p/a.test.ts:3:11)\n(fail) cart > totals [1.00ms]\n\n 1 pass\n 1 skip\n"
     " 1 fail\n 2 expect() calls\nRan 3 tests across 1 file. [20.00ms]"), False,
     "1 failed, 1 passed, 1 skipped",
     "cart > totals - /p/a.test.ts:3: expect(received).toBe(expected)"),
    ("deno test | tail", (" ERRORS \n\ntotals => ./a_test.ts:3:6\nerror: AssertionError: no\n\n"
     "FAILED | 1 passed | 1 failed (12ms)\n\nerror: Test failed"), False, "1 failed, 1 passed",
     "totals - ./a_test.ts:3: AssertionError: no"),
    ("deno task test", "ok | 2 passed (2 steps) | 0 failed | 1 ignored (3ms)", True,
     "2 passed, 1 skipped", ""),
    ("npm test -ws", ("Tests: 1 failed, 2 passed, 3 total\nTime: 1 s\n"
     "Tests: 4 passed, 4 total\nTime: 2 s"), False, "1 failed, 6 passed in 3.0 s", ""),
    ("npm test -ws", "# pass 2\n# fail 1\n# pass 2\n# fail 0\n", False, "1 failed, 4 passed", ""),
    ("go test -run Nope ./...", ("testing: warning: no tests to run\n"
     "ok  \tshop/cart\t0.01s [no tests to run]\nok  \tshop/api\t(cached) [no tests to run]\n"),
     None, "no tests ran", ""),
    ("cargo test", ("test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\n"
     "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured"), True,
     "7 passed, 1 skipped", ""),
    ("cargo build", "error: could not compile `t` (lib)", False, "1 error",
     "error: could not compile `t` (lib)"),
    ("ruff check --fix", "a.py:1:1: E501 no\nFound 4 errors (3 fixed, 1 remaining).", False,
     "1 error", "a.py:1: E501 no"),
    ("pyright", ("/p/cart.py\n  /p/cart.py:4:5 - warning: no\n  /p/cart.py:5:14 - error: Type no\n"
     "    more (reportX)\n2 errors, 1 warning, 0 informations "), False, "2 errors, 1 warning",
     "/p/cart.py:5: Type no"),
    ("npx pyright", "0 errors, 0 warnings, 0 informations ", True, "no errors", ""),
    ("basedpyright", "1 error, 0 warnings, 0 notes", False, "1 error",
     "1 error, 0 warnings, 0 notes"),
    ("ty check", ("error[no-x]: bad\n --> a.py:5:14\n  |\nwarning[y]: odd\n --> a.py:6:1\n"
     "Found 2 diagnostics"), False, "errors", "a.py:5: no-x bad"),
    ("ty check", "warning[y]: odd\n --> a.py:6:1\nFound 1 diagnostic", True, "no errors", ""),
    ("uvx ty check", "All checks passed!", True, "all checks passed", ""),
    ("flake8", "a.py:4:1: E302 expected 2\na.py:6:5: F401 unused", False, "errors",
     "a.py:4: E302 expected 2"),
    ("pycodestyle .", "a.py:4:1: W291 trailing", False, "errors", "a.py:4: W291 trailing"),
    ("python -m pyflakes .", "a.py:7:18: undefined name 'x'", False, "errors",
     "a.py:7: undefined name 'x'"),
    ("pylint a", ("************* Module a\na.py:1:0: C0114: Missing docstring (x)\n"
     "a.py:7:17: E0602: Undefined (y)\n\nYour code has been rated at 0.00/10"), False, "errors",
     "a.py:7: E0602: Undefined (y)"),
    ("pylint a", "Your code has been rated at 10.00/10 (previous run: 9.00/10, +1.00)", True,
     "rated at 10.00/10", ""),
    ("black --check .", ("would reformat a.py\nwould reformat b.py\n\nOh no!\n"
     "2 files would be reformatted, 1 file would be left unchanged."), False, "2 errors",
     "a.py: would reformat"),
    ("black .", "error: cannot parse: a.py:1:6\n1 file reformatted, 1 file failed to reformat.",
     False, "1 error", "cannot parse: a.py:1:6"),
    ("black .", "All done!\n1 file reformatted, 3 files left unchanged.", True,
     "1 file reformatted, 3 files left unchanged", ""),
    ("javac A.java", "A.java:1: エラー: シンボルを見つけられません\nエラー1個", False, "errors",
     "A.java:1: シンボルを見つけられません"),
    ("make", "b.c:1:24: schwerwiegender Fehler: x.h: Datei nicht gefunden", False, "errors",
     "b.c:1: x.h: Datei nicht gefunden"),
    ("gcc b.c", "b.c:1:24: erreur: « x » non déclaré", False, "errors",
     "b.c:1: « x » non déclaré"),
    ("gcc b.c", "b.c:1:24: 致命错误\uff1ax.h\uff1a没有那个文件", False, "errors",
     "b.c:1: x.h\uff1a没有那个文件"),
    ("./run", "thread 'main' panicked at src/main.rs:3:5:", False, "an error was raised",
     "src/main.rs:3: panicked"),
    ("pytest --tb=line", ("x.py:1: other\n/p/t.py:3: assert 1 == 2\n"
     "FAILED t.py::a - assert 1 == 2\n1 failed in 0.10s"), False, "1 failed in 100 ms",
     "t.py::a - /p/t.py:3: assert 1 == 2"),
    ("node --test", "not ok 1 - a\n  ---\n  error: 'no'\n  ...\n# pass 0\n# fail 1\n", False,
     "1 failed", "a - no"),
    ("rspec a; rspec b", ("Finished in 1 seconds\n2 examples, 1 failure\nrspec ./a.rb:1 # A f\n"
     "Finished in 2 seconds\n1 example, 0 failures"), False, "1 failed, 2 passed in 3.0 s", "A f"),
    ("rake test:all", ("Finished in 1.5s\n2 runs, 2 assertions, 1 failures, 0 errors, 0 skips\n"
     "Finished in 1.5s\n3 runs, 3 assertions, 0 failures, 0 errors, 1 skips"), False,
     "1 failed, 3 passed, 1 skipped in 3.0 s", ""),
]  # fmt: skip

RUNNERS_AND_BUNDLERS = [
    ("npx eslint x.js", ("Oops! Something went wrong! :(\n\nESLint: 9.1.0\n\nNo files matching the"
     " pattern 'x.js' were found.\nPlease check for typing mistakes."), False, "eslint stopped",
     "No files matching the pattern 'x.js' were found."),
    ("vitest run x", "No test files found, exiting with code 1\n\nexclude: **/.git/**", False,
     "no tests ran", "No test files found"),
    ("npx jest x", "No tests found, exiting with code 1\nRun with x", False, "no tests ran",
     "No tests found"),
    ("perl t/a.t", ("1..3\nok 1 - one\n"
     "not ok 2 - sum\n#   Failed test 'sum'\n#   at t/a.t line 4.\nnot ok 3 - later # TODO x"),
     False, "1 failed, 1 passed, 1 skipped", "sum - t/a.t:4"),
    ("bats t", "1..1\nok 1 adds", True, "1 passed", ""),
    ("vite build", ("x Build failed in 8ms\nerror during build:\nCould not resolve './x' from"
     " 'a.js'\nfile: /p/a.js:1:7\n    at f (x.js:1:2)"), False, "the build stopped",
     "/p/a.js:1: Could not resolve './x' from 'a.js'"),
    ("npm run build", "✓ built in 1.20s\n", True, "built in 1.20s", ""),
    ("prettier --check .",
     ("[warn] a.js\n[warn] b.js\n[warn] Code style issues found in 2 files. Run"), False,
     "2 errors", "a.js: code style issues"),
    ("prettier --check .", "Checking\nAll matched files use Prettier code style!", True,
     "all files are formatted", ""),
    ("prettier -w a.json", "[error] a.json: SyntaxError: Unexpected token (2:1)", False,
     "prettier stopped", "a.json:2: SyntaxError: Unexpected token"),
]  # fmt: skip


def judged(command: str, text: str = "", **fields: Any) -> CommandResult:
    return outcome.command_result(
        Command(command=command, output=text, **fields), command_line.parse_command_line(command)
    )


@pytest.mark.parametrize("name", ["outcomes", "signatures"])
def test_the_labelled_outputs_are_read(name: str) -> None:
    """But for what an action of GitHub prints, and a program that ends with words of its own."""
    wrong = {
        case.name
        for case in SETS[name](Path(__file__).parents[2] / "data" / name)
        if case.wrong or case.missed
    }
    assert wrong <= {"more-python-exit", "more-ruff-github", "ruff-concise", "ruff-full"}


def test_an_output_gives_the_result_and_the_first_error() -> None:
    for command, text, ok, said, first_error in WRITTEN + RUNNERS_AND_BUNDLERS:
        found = judged(command, text)
        assert (found.ok, found.said, found.first_error) == (ok, said, first_error), command


@pytest.mark.parametrize("text", ["\nhello\n", "\nFound 2 errors.\n", ""])
def test_a_reader_is_silent_on_words_that_are_not_its_tools(text: str) -> None:
    assert [one for one in PARSERS if one.marks and one.read(text) is not None] == []


def test_of_a_run_that_was_cut_off_nobody_knows_all_failures() -> None:
    found = judged("pytest | head", "=== FAILURES ===\n___ test_a ___\nE   assert 0")
    assert (found.failing, found.failed) == ((), None)


FAILED = "FAILED t.py::a - assert 1 == 2\n1 failed, 4 passed in 0.10s\n"
TRACEBACK = "Traceback (most recent call last):\nKeyError: 1"
THROWN = "Error: no\n    at f (a.js:1:2)"
LINT = "a.ts:3:22 lint/x ━━━\n\n  ! Unexpected any"
TERSE = {"exit_code": 0, "failed": False}
VERDICTS: list[tuple[str, str, str, dict[str, Any], bool | None]] = [
    ("without words the code decides", "deploy", "", {"exit_code": 0}, True),
    ("without words the code decides", "deploy", "", {"exit_code": 3}, False),
    ("or the client", "deploy", "", {"failed": True}, False),
    ("or the client", "deploy", "", {"failed": False}, True),
    ("or the output", "deploy", "Output:\nx\n\nExit Code: 2", {}, False),
    ("or nobody", "deploy", "", {}, None),
    ("interrupted", "deploy", "", {"exit_code": 130, "interrupted": True}, None),
    ("failing tests outweigh a pipe", "pytest | tail -3", "2 failed in 0.10s", {"exit_code": 0},
     False),
    ("a bad code outweighs tests", "pytest && false", "2 passed in 0.10s", {"exit_code": 1}, False),
    # the exit code of what comes behind says nothing
    ("behind", "python x.py 2>&1 | tail", f"{TRACEBACK}\n", {"exit_code": 0}, False),
    ("behind", "npm test; echo done 254", "done 254\n", {"exit_code": 0}, None),
    ("behind", "docker exec web pytest || true", "Cannot connect\n", {"exit_code": 0}, None),
    ("behind", "pytest -q | tail -1", "3 passed in 0.10s", {"exit_code": 0}, True),
    # one that the line shows is the tool's own
    ("shown", 'npm test > log 2>&1; echo "exit: $?"', "exit: 0", TERSE, True),
    ("shown", "npm test | tail -5; echo $?", "bye\n0\n", TERSE, None),
    ("shown", "npm ci; npm test; echo $?", "0", TERSE, None),
    ("shown", "npm test || echo $?", "1", TERSE, None),
    ("shown", "npm test; echo '$?'", "$?", TERSE, None),
    ("shown", "echo a; echo $?", "a\n0", TERSE, True),
    ("shown", "pytest; echo $?", "2 failed in 0.10s\n0", TERSE, False),
    # what only asks has not failed, whatever the answer
    ("asks", "git merge-base --is-ancestor a b; echo $?", "1", {"failed": False}, True),
    ("asks", "git maintenance status | cut -f1", "error: not started", {"failed": False}, True),
    ("asks", "git show HEAD:log | sed 's/a/b/'; ls", "error: handled", {"failed": False}, True),
    ("asks in vain", "git merge-base --is-ancestor a b", "fatal: Not a valid object name b",
     {"exit_code": 128}, False),
    # what a shell, a program or git only mentions
    ("mentioned", "./x", "bash: warning: setlocale: no such locale", {}, None),
    ("mentioned", "./x", "bash: foo: command not found\nwent on", {}, None),
    ("mentioned", "git pull && git status", "nothing to commit, working tree clean", {}, None),
    ("mentioned", "git commit -m x", "[main 1c5a] error: x is told\n 1 file changed", {}, None),
    ("handled", "python x.py", f"{TRACEBACK}\n", {"exit_code": 0}, True),
    ("handled", "./run | tail", f"{TRACEBACK}\ngoing on", {}, None),
    ("not handled", "./run | tail", f"{TRACEBACK}\n\nexit status 1", {}, False),
    ("handled", "./run | tail", f"{THROWN}\nserver started", {}, None),
    ("not handled", "./run | tail", f"{THROWN}\n\nNode.js v20.1.0", {}, False),
    ("not the last word", "./run | head -3", f"{THROWN}\n\nNode.js v20.1.0\n", {}, None),
    ("of itself", "curl x | cat", "curl: (7) Failed to connect", {}, False),
    ("of itself", "curl x | cat", "curl: done", {}, None),
    ("of itself", "curl x | cat", "Failed to connect", {}, None),
    # what a pipe lets through
    ("pipe", "pytest -q 2>&1 | tail -1", "FAILED t.py::a - no", TERSE, False),
    ("pipe", "pytest -q 2>&1 | tail -1", "", TERSE, None),
    ("pipe", "set -e; pytest | tail -3", "", TERSE, None),
    ("pipe", "cargo test | head -5", ("running 1 test\nok\n\ntest result: ok. 1 passed; 0 failed;"
     " 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"), TERSE, None),
    ("pipe", "pytest -v | head -5", "t.py::a PASSED\nt.py::b FAILED", TERSE, False),
    ("pipe", "bun test | grep -E '(pass|fail)'", " 3 pass\n 0 fail", TERSE, None),
    ("pipe", "bun test | grep pass", " 3 pass", TERSE, None),
    ("pipe", "bun test | grep fail", " 1 fail", TERSE, False),
    ("pipe", "pytest | grep passed", "3 passed in 0.10s", TERSE, None),
    ("pipe", "pytest -k none | tail -1", "no tests ran in 0.10s", TERSE, None),
    ("pipe", "timeout 5 pytest | tail -3", "", TERSE, None),
    ("pipe", "pytest | tail -3", "", {"exit_code": 137, "failed": True}, False),
    ("in part", "bun test src | tail -5", 'error: Cannot find "a.json"', {"exit_code": 0}, False),
    ("in part", "bun test | tail -2 && bun run lint | tail -1", (" 3 pass\n 0 fail\n"
     'error: script "lint" exited with code 1'), {"exit_code": 0}, False),
    ("in part", "npx biome check | head -3", LINT, {"exit_code": 0}, None),
    ("in part", "bun run lint | head -4", f"$ biome check --error-on-warnings\n{LINT}",
     {"exit_code": 0}, False),
    # silence of tools that print what is wrong
    ("silent", "tsc --noEmit 2>&1 | tail -5", "", {"failed": False}, True),
    ("silent", "npx tsc --noEmit 2>&1 | head -50", "", {"failed": False}, True),
    ("silent", "bun run typecheck 2>&1 | tail -1", "$ tsc --noEmit", {"failed": False}, True),
    ("silent", "npm run lint 2>&1 | tail -20", "\n> shop@1.0.0 lint\n> eslint src\n",
     {"failed": False}, True),
    ("silent", "mise run vet 2>&1 | tail -5", "[vet] $ go vet ./...\n[vet] Finished in 1.2s",
     {"failed": False}, True),
    ("silent", "go build ./... && go vet ./... 2>&1 | tail -5", "", {"failed": False}, True),
    ("silent", "gofmt -l . | cat", "", {"failed": False}, True),
    ("not silent", "tsc --noEmit 2>&1 | tail -1", "", {"failed": False}, None),
    ("not silent", "npm run lint 2>&1 | head -3", "\n> shop@1.0.0 lint\n> eslint src",
     {"failed": False}, None),
    ("not silent", "tsc --noEmit | grep error", "", {"failed": False}, None),
    ("not silent", "tsc --noEmit > log; tail -5 log", "", {"failed": False}, None),
    ("not silent", "go build ./... 2>/dev/null | tail -5", "", {"failed": False}, None),
    ("not quiet", "bun run build 2>&1 | tail -5", "$ ./build.sh", {"failed": False}, None),
    ("not quiet", "go test ./... 2>&1 | tail -5", "", {"failed": False}, None),
    ("not quiet", "go | tail -5", "", {"failed": False}, None),
    ("not silent", "tsc --noEmit 2>&1 | tail -5", "something", {"failed": False}, None),
]  # fmt: skip


@pytest.mark.parametrize("case", VERDICTS, ids=lambda case: f"{case[0]}: {case[1]}")
def test_what_is_proven_and_nothing_else_decides(
    case: tuple[str, str, str, dict[str, Any], bool | None],
) -> None:
    _, command, text, fields, ok = case
    assert judged(command, text, **fields).ok is ok


@pytest.mark.parametrize(
    "command", ["gh run view 7 --log-failed", "gh run view 7 --log | tail -50", "psql -c 'select'"]
)
def test_a_failure_in_a_log_that_is_shown_is_none_of_the_command(command: str) -> None:
    text = "test\t2026-01-01 --- FAIL\n--- FAIL: TestTotal (0.00s)\nFAIL\tshop\t0.1s\nexit status 1"
    assert judged(command, text, exit_code=0, failed=False).ok is not False


@pytest.mark.parametrize(
    "command", ["pytest a; pytest b", "pytest; pytest --lf", "ruff check; pytest; pytest"]
)
def test_runs_of_tests_are_added_up(command: str) -> None:
    assert judged(command, f"{FAILED}5 passed in 0.20s\n").passed == 9


LINTED = "2 passed in 0.10s\na.py:1:1: F401 no\nFound 1 error.\nmake: *** [lint] Error 1\n"
TRACED = f"2 passed in 0.10s\n{TRACEBACK}"
COMMIT = "git add -A && git commit -m x && git push"
ITEM = "error: Item 3 failed\n"
IGNORED = "The following paths are ignored by one of your .gitignore files:"
ERRORS: list[tuple[str, str, dict[str, Any], bool | None, str]] = [
    # what failed behind tests that passed
    ("make test lint", LINTED, {"exit_code": 2}, False, "a.py:1: F401 no"),
    ("make test lint", LINTED, {}, False, "a.py:1: F401 no"),
    # what broke behind a success, where nobody shows the end
    ("cargo run",
     "    Finished `dev` target(s) in 1s\nthread 'main' panicked at src/main.rs:3:5:\nno", {},
     False, "src/main.rs:3: panicked: no"),
    ("pip install a && python x.py", f"Successfully installed a-1\n{TRACEBACK}", {}, False,
     "KeyError: 1"),
    ("cmake -B b && ninja -C b",
     "-- Build files have been written to: b\na.c:1:2: error: no", {}, False, "a.c:1: no"),
    ("pytest -q && python x.py", TRACED, {}, False, "KeyError: 1"),
    ("python x.py && pytest -q", f"{TRACEBACK}\n2 passed in 0.10s", {}, True, ""),
    ("cargo build", "    Finished `dev` target(s) in 1s", {}, True, ""),
    # what put an end to a command
    ("timeout 5 pytest", "t.py::test_error PASSED\n", {"exit_code": 124}, False,
     "timed out; its last words: t.py::test_error PASSED"),
    ("./x", "on", {"exit_code": 139}, False, "crashed (SIGSEGV); its last words: on"),
    ("pytest", "1 passed in 0.10s\nbye", {"exit_code": 137}, False,
     "killed (SIGKILL); its last words: bye"),
    ("pytest", "FAILED t.py::a - no\n1 failed in 0.10s", {"exit_code": 143}, False, "t.py::a - no"),
    # without a known tool: a complaint, a warning where nothing worse is said, the last line
    ("deploy", "step 1\nfatal: no such host\nbye", {"exit_code": 1}, False, "fatal: no such host"),
    ("deploy", "npm warn Unknown user config\n> jest\nsh: 1: jest: not found\n", {"exit_code": 1},
     False, "sh: 1: jest: not found"),
    ("deploy", "│ Warning: Unable to open x\n╵\n│ Error: Unknown y\n", {"exit_code": 1}, False,
     "Error: Unknown y"),
    ("deploy", "[WARNING] unknown option\nbye\n", {"exit_code": 1}, False,
     "[WARNING] unknown option"),
    ("deploy", "step 1\nbye", {"exit_code": 1}, False, "bye"),
    # a number, a bracket and a heading say nothing
    ("node list.js", "34.\n35.", {"exit_code": 1}, False, ""),
    ("node list.js", "[\n  1,\n]", {"exit_code": 1}, False, ""),
    ("deploy", "cart is empty\n}", {"exit_code": 1}, False, "cart is empty"),
    ("deploy", "cart is empty\nResults:", {"exit_code": 1}, False, "cart is empty"),
    ("golangci-lint run", "1 issues:\n* errcheck: 1", {"exit_code": 1}, False, ""),
    # a commit that was made has not failed
    (COMMIT, f"{ITEM}[main abc1234] Add x\n 1 file changed", {}, None, ""),
    (COMMIT, f"{ITEM}[main (root-commit) abc1234] Add x\n 1 file changed", {"exit_code": 0}, True,
     ""),
    (COMMIT, f"{ITEM}src/a.ts(3,2): error TS2322: no\nhusky - pre-commit script failed",
     {"exit_code": 1}, False, "src/a.ts:3: TS2322: no"),
    (COMMIT, f"{IGNORED}\nx\nhint: Use -f", {"exit_code": 1}, False, IGNORED),
    (COMMIT, "[main abc1234] Add x\nerror: failed to push some refs to 'o'", {"exit_code": 1},
     False, "error: failed to push some refs to 'o'"),
    ("git commit -m x", f"{ITEM}no changes added to commit (use git add)", {"exit_code": 1}, False,
     "no changes added to commit (use git add)"),
]  # fmt: skip


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: f"{case[0]}: {case[1][:40]!r}")
def test_the_first_error_is_of_what_failed(
    case: tuple[str, str, dict[str, Any], bool | None, str],
) -> None:
    command, text, fields, ok, error = case
    found = judged(command, text, **fields)
    assert (found.ok, found.first_error) == (ok, error)


FIRST_LINES = [
    ("tool x 2>&1 | tail", "error: unrecognized subcommand 'bun'\n\nUsage: rtk <COMMAND>"),
    ("tool x 2>&1 | tail", 'error: Script not found "nosuch"'),
    ("tool x 2>&1 | tail", 'Error: unknown command "nope" for "gh"'),
    ("tool x 2>&1 | tail", "Usage Error: The command is not known"),
    ("foo --x", "bash: line 1: foo: command not found"),
    ("foo", "zsh:1: command not found: foo"),
    ("foo", "sh: 1: foo: not found"),
    ("foo", "bash: Zeile 1: foo: Kommando nicht gefunden."),
    ("foo", "'foo' is not recognized as an internal or external command,\noperable program"),
    ("foo", "foo : The term 'foo' is not recognized as the name of a cmdlet"),
    ("python -m foo", "/usr/bin/python3.11: No module named foo"),
    ("git merge x", "CONFLICT (content): Merge conflict in a\nAutomatic merge"),
    ("git checkout -- nope", "error: pathspec 'nope' did not match any file(s) known to git"),
    ("git add -A && git push", "fatal: No configured push destination.\nEither specify"),
    ("git nope", "git: 'nope' is not a git command. See 'git --help'."),
]


@pytest.mark.parametrize(("command", "text"), FIRST_LINES)
def test_what_could_not_be_run_has_failed_though_nobody_tells_the_end(
    command: str, text: str
) -> None:
    found = judged(command, text)
    assert (found.ok, found.first_error) == (False, text.partition("\n")[0])


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    [
        ("sed -n 1p x | cat -A", "cat: illegal option -- A\nusage: cat [-b]", False),
        ("/bin/cat -A x | head -5", "/bin/cat: illegal option -- A", False),
        ("find . -n x | head -5", "error: unexpected argument '-n' found\n\nUsage: x", False),
        ("ls nosuch | head -5", "ls: nosuch: No such file or directory", True),
        ("cat x | head -5", "cat: a pet", True),
    ],
)
def test_what_only_looks_and_is_called_wrong_has_failed(
    command: str, text: str, *, ok: bool
) -> None:
    assert judged(command, text, exit_code=0).ok is ok
    found = judged(command, text, exit_code=1)
    assert (found.ok, found.first_error) == (False, text.partition("\n")[0])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param("grep x a", "nothing found", id="grep"),
        pytest.param("cat x | grep y | wc -l | grep z", "nothing found", id="behind a pipe"),
        pytest.param("diff a b", "differences found", id="diff"),
        pytest.param("git diff --quiet", "differences found", id="git-diff"),
        pytest.param("git merge-base --is-ancestor a b", "nothing found", id="git-merge-base"),
        pytest.param("git fetch -q; git merge-base --is-ancestor a b", "", id="behind-another"),
    ],
)
def test_exit_1_of_a_searching_tool_is_an_answer(command: str, said: str) -> None:
    found = judged(command, exit_code=1)
    assert (found.ok, found.said) == (True if said else None, said)


@pytest.mark.parametrize(
    ("code", "text", "is_cut_off"),
    [
        pytest.param(124, "t.py ..F", True, id="timed out"),
        pytest.param(143, "t.py::a PASSED\nt.py::b FAILED\nt.py::c ", True, id="no error is told"),
        pytest.param(137, "9 passed in 0.10s", True, id="after its tests"),
        pytest.param(124, "FAILED t.py::a - no\n1 failed in 0.10s", False, id="failed before"),
        pytest.param(139, "t.py ..", False, id="crashed"),
    ],
)
def test_a_run_that_was_stopped_before_it_named_a_failure_is_cut_off(
    code: int, text: str, *, is_cut_off: bool
) -> None:
    found = judged("timeout -s TERM 5 pytest -v", text, exit_code=code)
    assert (found.ok, found.is_cut_off) == (False, is_cut_off)


def test_what_says_nothing_is_not_repeated() -> None:
    found = judged("timeout 5 ./x", exit_code=124)
    assert (found.ok, found.said, found.first_error) == (False, "timed out", "")
    assert judged("cat build.log", "error: old news\n3 failed in 1.00s").said == ""
    assert judged("touch a", "Tool ran without output or errors").said == ""


def test_an_output_is_read_as_plain_text() -> None:
    text = "start\n" + "x" * 100_000 + "\n5 passed in 1.00s"
    assert len(outcome.plain_output(text)) <= outcome.HEAD_CHARS + outcome.TAIL_CHARS + 1
    assert judged("pytest", text).passed == 5
    assert outcome.plain_output("\x1b[31m-a\x1b(B\x1b[m\x1b]8;;x\x1b\\b") == "-ab"
    assert outcome.plain_output("10%\r50%\rdone\r\nnext") == "done\nnext"


HOSTILE = {
    "one line": "x" * 5_000_000,
    "line ends": "\n" * 1_000_000,
    "progress": "10%\r" * 300_000,
    "colours": "\x1b[" * 500_000,
    "headings": "___ a ___\n" * 50_000 + "1 failed in 0.1s\n",
    "failures": "  1) a\n     b\n" * 20_000 + "  1 passing\n  1 failing\n",
    "errors": "AError\n" * 50_000 + "    at a (a:1:1)\n",
    "prefixes": ("a:" * 240 + "\n") * 500 + "undefined reference to",
    "quotes": "error: " + "'a' " * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_output_is_read_in_no_time(name: str) -> None:
    line = "pytest; npm test; mvn test; dotnet test; cargo test; make"
    assert not judged(line, HOSTILE[name], exit_code=1).ok


@given(st.text(alphabet="\x1b[]0m;?=_-E:\n\r ()FAILedpassin./", max_size=400))
def test_any_output_gives_a_verdict(text: str) -> None:
    """No output can break the readers."""
    assert judged("pytest && npm test && make", text).first_error is not None


@pytest.mark.parametrize(
    ("command", "code", "shown"),
    [
        ("make", 0, 0),
        ("make", 2, 2),
        ("make | tail -5", 0, None),
        ("make | tail -5", 1, None),
        ("make || true", 0, None),
        ("make | tail -5", 137, 137),
        ("make; echo $?", 0, 2),
        ("make; echo $other", 0, None),
        ("make; echo $? > code.txt", 0, None),
    ],
)
def test_the_exit_code_of_another_command_is_not_shown(
    command: str, code: int, shown: int | None
) -> None:
    ran = Command(command=command, output="bye\n2", exit_code=code)
    assert ending.own_exit_code(ran) == shown
