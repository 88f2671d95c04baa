"""Readers of tools that were not run here: their documented words."""

from __future__ import annotations

from typing import Any

import pytest

from observer.commands import command_line, outcome
from observer.commands.result import CommandResult
from observer.core.events import Command

NEXTEST = """
        PASS [   0.005s] shop tests::keeps
        FAIL [   0.006s] shop tests::adds
  stderr \u2500\u2500\u2500
    thread 'tests::adds' (7) panicked at src/lib.rs:8:5:
    assertion failed
     Summary [   0.010s] 2 tests run: 1 passed, 1 failed, 0 skipped
        FAIL [   0.006s] shop tests::adds
error: test run failed
"""
PHPSTAN = """
 ------ ---------------------------
  Line   src/Cart.php
 ------ ---------------------------
  12     Undefined variable: $total
 ------ ---------------------------

 [ERROR] Found 1 error
"""
GOLANGCI = """
cart/cart.go:12:9: Error return value of `f.Close` is not checked (errcheck)
\tdefer f.Close()
\t             ^
1 issues:
* errcheck: 1
"""
PRE_COMMIT = """
trim trailing whitespace.................................................Passed
ruff.....................................................................Failed
- hook id: ruff
- exit code: 1

shop.py:1:8: F401 `os` imported but unused
mypy.................................................(no files to check)Skipped
"""
DOTNET = """
/app/CartTests.cs(7): error TESTERROR:
  Cart.Adds (2ms): Error Message: Assert.Equal() Failure
Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0, duration: 1.5s
Build failed with 1 error(s) in 2.1s
"""
TESTIFY = """
--- FAIL: TestTotal (0.00s)
    cart_test.go:15:\x20
        \tError Trace:\t/app/cart_test.go:15
        \tError:      \tNot equal:\x20
        \t            \texpected: 4
        \t            \tactual  : 3
        \tTest:       \tTestTotal
FAIL
FAIL\texample.com/shop\t0.003s
"""

WRITTEN: list[tuple[str, str, bool | None, str, str]] = [
    ("cargo nextest run", NEXTEST, False, "1 failed, 1 passed",
     "tests::adds - src/lib.rs:8: panicked: assertion failed"),
    ("cargo nextest run", "     Summary [ 0.010s] 2 tests run: 2 passed, 0 skipped", True,
     "2 passed", ""),
    ("go test ./... | tail -1", "FAIL", False, "tests failed", ""),
    ("go test ./...", TESTIFY, False, "1 failed, 0 of 1 packages ok",
     "TestTotal - cart_test.go:15: Not equal: expected: 4 actual : 3"),
    ("vendor/bin/phpstan", PHPSTAN, False, "1 error",
     "src/Cart.php:12: Undefined variable: $total"),
    ("vendor/bin/phpstan", " [OK] No errors", True, "no errors", ""),
    ("golangci-lint run", GOLANGCI, False, "1 error",
     "cart/cart.go:12: Error return value of `f.Close` is not checked (errcheck)"),
    ("golangci-lint run", "0 issues.", True, "no errors", ""),
    ("golangci-lint run", "a.go:1:2: no (x)\na.go:3:2: no (x)", False, "errors",
     "a.go:1: no (x)"),
    ("golangci-lint run", 'level=error msg="no go files to analyze"', False, "",
     "no go files to analyze"),
    ("pre-commit run -a", PRE_COMMIT, False, "errors",
     "ruff - shop.py:1:8: F401 `os` imported but unused"),
    ("pre-commit run -a", "ruff......Passed\nmypy......Skipped\n", True, "all hooks passed", ""),
    ("dotnet test", DOTNET, False, "1 failed, 2 passed",
     "Cart.Adds - /app/CartTests.cs:7: Assert.Equal() Failure"),
    ("dotnet build", "Build succeeded in 3.2s", True, "built", ""),
    ("dotnet build", "Build failed with 1 error(s) in 2.1s", False, "the build stopped", ""),
    ("dotnet build | tail -3", "    0 Warning(s)\n    2 Error(s)\n\nTime Elapsed 00:00:01.05",
     False, "2 errors", ""),
    ("npx oxlint", ("  \u00d7 eslint(no-debugger): `debugger` is not allowed\n"
     "   \u256d\u2500[a.js:3:1]\n\nFound 0 warnings and 1 error."), False, "1 error",
     "a.js:3: eslint(no-debugger): `debugger` is not allowed"),
    ("mvn -q verify", "[ERROR] BUILD FAILURE", False, "the build stopped", ""),
    ("gradle test --continue", ("Cart > adds FAILED\n    Error at Cart.java:5\n"
     "2 tests completed, 1 failed\n3 tests completed, 2 failed"), False, "3 failed, 2 passed",
     "Cart > adds - Cart.java:5: Error"),
    ("gradle build", "BUILD FAILED in 3s", False, "the build stopped", ""),
    ("npx biome check", "configuration \u2501\u2501\u2501\u2501\n\n  \u00d7 Found an unknown key",
     False, "biome stopped", "Found an unknown key"),
    ("npx biome check | tail -3", "  \u00d7 Some warnings were emitted while running checks.",
     False, "warnings", ""),
    ("npx nx affected -t test", " NX   No tasks were run", None, "No tasks were run", ""),
    ("npx vitest run", " Tests  2 passed (2)\n Errors  1 error", False, "1 failed, 2 passed", ""),
    ("./gradlew test", ("e: file:///shop/a.kt:3:5 Unresolved reference: foo\n"
     "e: file:///shop/a.kt:9:5 Unresolved reference: bar\n\n* What went wrong:\nIt failed.\n\n"
     "BUILD FAILED in 2s"), False, "errors", "/shop/a.kt:3: Unresolved reference: foo"),
    ("gradle test", "e: /shop/a.kt: (3, 5): Unresolved reference: foo\nBUILD FAILED in 2s", False,
     "errors", "/shop/a.kt:3: Unresolved reference: foo"),
    ("npx jest | tail -4", "Test Suites: 1 failed, 1 total\nTests:       0 total", False,
     "1 failed", ""),
    ("rspec | tail -1", "rspec ./spec/cart_spec.rb:6 # cart adds", False, "tests failed",
     "cart adds"),
    ("ruff check | tail -1", "Found 5 errors.", False, "5 errors", "Found 5 errors."),
    ("ruff check --fix | tail -1", "Found 5 errors (3 fixed, 2 remaining).", False, "2 errors",
     "Found 5 errors (3 fixed, 2 remaining)."),
    ("ruff format --check | tail -1", "2 files would be reformatted", False, "2 errors", ""),
    ("npx playwright test | tail -1", "  1 passed (1.3s)", None, "1 passed", ""),
    ("bun test | grep fail", "(fail) adds [0.1ms]", False, "1 failed", "adds"),
    ("bun test | head -9", ("# Unhandled error between tests\n---------------------\n"
     "error: Cannot find module 'x' from 'a.test.ts'\n---------------------\n"), False,
     "tests failed", "Cannot find module 'x' from 'a.test.ts'"),
    ("bun test | head -9", "# Unhandled error between tests\n---------------------\n", False,
     "tests failed", ""),
    ("bun test | tail -5", "      at f (/app/a.test.ts:7:3)\n(fail) adds [0.1ms]\n 1 fail", False,
     "1 failed", "adds - /app/a.test.ts:7"),
]  # fmt: skip

WRAPPERS = [
    'error: script "test" exited with code 1',
    "error Command failed with exit code 1.",
    "\u2009ELIFECYCLE\u2009 Test failed. See above for more details.",
    "npm error Lifecycle script `test` failed with error:",
    "husky - pre-commit script failed (code 1)",
    "error: Recipe `test` failed on line 3 with exit code 1",
    'task: Failed to run task "test": exit status 1',
    "[test] ERROR task failed",
    "mise ERROR task failed",
    " ERROR  run failed: command  exited (1)",
    "lerna ERR! npm run test exited 1 in 'shop'",
    "exit status 1",
    "Error: Process completed with exit code 1.",
    "FAILED: git commit",
    "make: *** [Makefile:3: test] Error 1",
    "ninja: build stopped: subcommand failed.",
]


def judged(command: str, output: str, **fields: Any) -> CommandResult:
    ran = Command(command=command, output=output, **fields)
    return outcome.command_result(ran, command_line.parse_command_line(command))


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: f"{case[0]}-{case[3]}")
def test_an_output_gives_the_result_and_the_first_error(
    case: tuple[str, str, bool | None, str, str],
) -> None:
    command, text, ok, said, first_error = case
    found = judged(command, text)
    assert (found.ok, found.said, found.first_error) == (ok, said, first_error)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_started_a_tool_is_never_the_error(wrapper: str) -> None:
    text = f"$ ./check --errors\n\u2713 shows errors\n0 errors\ncannot open x\n{wrapper}\n"
    assert judged("./all", text, exit_code=1).first_error == "cannot open x"
    assert judged("./all | tail", text).first_error == "cannot open x"
    assert judged("./all | tail", wrapper).ok is False
