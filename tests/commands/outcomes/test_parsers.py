"""Readers of tools that were not run here: their documented words."""

from __future__ import annotations

from typing import Any

import pytest

from observer.commands import command_line, outcome
from observer.commands.result import CommandResult
from observer.core.events import Command

MIX = """
  1) test adds prices (ShopTest)
     test/shop_test.exs:5
     Assertion with == failed
     code:  assert 3 == 4

Finished in 0.03 seconds (0.00s async, 0.03s sync)
2 tests, 1 failure
"""
SWIFT = """
Test Suite 'CartTests' failed at 2026-01-01 10:00:00.000.
\t Executed 3 tests, with 1 failure (0 unexpected) in 0.003 (0.005) seconds
/app/Tests/CartTests.swift:7: error: CartTests.testTotal : XCTAssertEqual failed: ("3") is not
Test Suite 'All tests' failed at 2026-01-01 10:00:00.000.
\t Executed 3 tests, with 1 failure (0 unexpected) in 0.003 (0.005) seconds
"""
SWIFT_NEW = """
\u2718 Test adds() recorded an issue at CartTests.swift:7:5: Expectation failed: (3) == 4
\u2718 Test adds() failed after 0.001 seconds with 1 issue.
\u2718 Test run with 2 tests in 1 suite failed after 0.002 seconds with 1 issue.
"""
SWIFT_MAC = """
/app/Tests/CartTests.swift:9: error: -[ShopTests.CartTests testTotal] : XCTAssertEqual failed
\t Executed 3 tests, with 1 failure (0 unexpected) in 0.2 (0.3) seconds
\u2714 Test run with 0 tests in 0 suites passed after 0.001 seconds.
"""
SWIFT_BUILD = """
Building for debugging...
[1/4] Compiling Shop Cart.swift
/app/Sources/Shop/Cart.swift:7:12: error: cannot find 'totl' in scope
    return totl
           ^~~~
error: emit-module command failed with exit code 1 (use -v to see invocation)
error: fatalError
"""
XCODE_LISTED = """
Failing tests:
\tCartTests.testTotal()
\tCartTests.testTax()

** TEST FAILED **
"""
NX_JEST = """
> nx run app:test

FAIL src/cart.spec.ts
  \u25cf cart \u203a adds up

    expect(received).toBe(expected)

      at Object.<anonymous> (src/cart.spec.ts:4:20)

Tests:       1 failed, 3 passed, 4 total
Time:        1 s

 NX   Running target test for project app failed

Failed tasks:

- app:test
"""
NX_MANY = """
   \u2714  nx run lib:lint (2s)
   \u2716  nx run app:lint
      /app/a.ts
        1:1  error  Unexpected var  no-var

      \u2716 1 problem (1 error, 0 warnings)

 NX   Ran target lint for 3 projects (5s)

   \u2714  2/3 succeeded [0 read from cache]

   \u2716  1/3 targets failed, including the following:

      - nx run app:lint
"""
TOX_END = """
  py311: OK (5.32=setup[3.1]+cmd[2.2] seconds)
  lint: FAIL code 1 (0.50=setup[0.1]+cmd[0.4] seconds)
  evaluation failed :( (6.00 seconds)
"""
TOX_OLD = """
___________ summary ___________
  py37: commands succeeded
ERROR:   py38: commands failed
"""
NOX_END = """
nox > Running session tests
nox > Session tests was successful in 3 seconds.
nox > Running session lint
nox > ./lint
nox > Command ./lint failed with exit code 1
nox > Session lint failed.
nox > Ran multiple sessions:
nox > * tests: success
nox > * lint: failed
"""
ONE_FAILED = "FAILED t.py::cart - assert 0 == 5\n1 failed, 3 passed in 0.10s\n"
ZIG = """
1/2 main.test.adds...FAIL (TestUnexpectedResult)
2/2 main.test.keeps...OK
1 passed; 0 skipped; 1 failed.
"""
PEST = """
   FAIL  Tests\\CartTest
  \u2a2f it adds prices
   FAILED  Tests\\CartTest > it adds prices   ExpectationFailedException
  Failed asserting that 3 is identical to 4.

  at tests/CartTest.php:5

  Tests:    1 failed, 2 passed (3 assertions)
  Duration: 0.10s
"""
TERRAFORM = """
\u2502 Error: Unsupported argument
\u2502
\u2502   on main.tf line 3, in resource "a" "b":
"""
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
    ("mix test", MIX, False, "1 failed, 1 passed",
     "adds prices - test/shop_test.exs:5: Assertion with == failed"),
    ("mix test", "5 tests, 0 failures", True, "5 passed", ""),
    ("mix compile", "** (CompileError) lib/shop.ex:3: undefined function f/0", False,
     "mix stopped", "lib/shop.ex:3: CompileError: undefined function f/0"),
    ("mix format --check-formatted", "** (Mix) mix format failed", False, "mix stopped",
     "mix format failed"),
    ("mix compile", ('error: undefined variable "x"\n  \u2502\n'
     "  \u2514\u2500 lib/shop.ex:3:5: Shop.f/0"), False,
     "the build stopped", 'lib/shop.ex:3: undefined variable "x"'),
    ("mix deps.get", "All is up to date", None, "All is up to date", ""),
    ("swift test", SWIFT, False, "1 failed, 2 passed",
     'CartTests.testTotal - /app/Tests/CartTests.swift:7: XCTAssertEqual failed: ("3") is not'),
    ("swift test", SWIFT_NEW, False, "1 failed, 1 passed",
     "adds() - CartTests.swift:7: Expectation failed: (3) == 4"),
    ("swift build", "Build complete! (3.1s)", True, "built", ""),
    ("swift test", SWIFT_MAC, False, "1 failed, 2 passed",
     "CartTests.testTotal - /app/Tests/CartTests.swift:9: XCTAssertEqual failed"),
    ("swift build", SWIFT_BUILD, False, "errors",
     "/app/Sources/Shop/Cart.swift:7: cannot find 'totl' in scope"),
    ("swift build | tail -1", "error: fatalError", False, "the build stopped",
     "error: fatalError"),
    ("xcodebuild test", "** TEST FAILED **", False, "tests failed", "** TEST FAILED **"),
    ("xcodebuild test", XCODE_LISTED, False, "tests failed", "CartTests.testTotal"),
    ("xcodebuild test", "** TEST SUCCEEDED **", True, "tests passed", ""),
    ("xcodebuild test", SWIFT_BUILD + "** TEST FAILED **", False, "errors",
     "/app/Sources/Shop/Cart.swift:7: cannot find 'totl' in scope"),
    ("xcodebuild build", "** BUILD FAILED **", False, "the build stopped", "** BUILD FAILED **"),
    ("swift package update", "Updated", None, "Updated", ""),
    ("zig build test", ZIG, False, "1 failed, 1 passed", "main.test.adds - TestUnexpectedResult"),
    ("zig test a.zig", "All 2 tests passed.", True, "2 passed", ""),
    ("vendor/bin/pest", PEST, False, "1 failed, 2 passed",
     ("Tests\\CartTest > it adds prices - tests/CartTest.php:5: Failed asserting that 3 is"
      " identical to 4.")),
    ("php artisan test", "  Tests:    2 passed (3 assertions)", True, "2 passed", ""),
    ("terraform validate", TERRAFORM, False, "errors", "main.tf:3: Unsupported argument"),
    ("terraform validate", "Success! The configuration is valid.", True,
     "Success! The configuration is valid.", ""),
    ("terraform fmt", "main.tf", None, "main.tf", ""),
    ("cargo nextest run", NEXTEST, False, "1 failed, 1 passed",
     "tests::adds - src/lib.rs:8: panicked: assertion failed"),
    ("cargo nextest run", "     Summary [ 0.010s] 2 tests run: 2 passed, 0 skipped", True,
     "2 passed", ""),
    ("cargo build", "error: no matching package named `x` found", False, "",
     "error: no matching package named `x` found"),
    ("go test ./nope", "stat /app/nope: directory not found", False, "",
     "stat /app/nope: directory not found"),
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
    ("golangci-lint run", "level=info", None, "level=info", ""),
    ("pre-commit run -a", PRE_COMMIT, False, "errors",
     "ruff - shop.py:1:8: F401 `os` imported but unused"),
    ("pre-commit run -a", "ruff......Passed\nmypy......Skipped\n", True, "all hooks passed", ""),
    ("pre-commit run -a", "ruff......Failed\n", False, "errors", "ruff - hook failed"),
    ("pre-commit run -a", "none", None, "none", ""),
    ("npx turbo test", " Tasks:    2 successful, 2 total", True, "all tasks ran", ""),
    ("npx turbo test", " Tasks:    1 successful, 3 total", False, "a task failed", ""),
    ("npx nx test", " NX   Successfully ran target test for project shop", True,
     "all targets ran", ""),
    ("npx nx test", " NX   Ran target test for project shop", False, "a target failed", ""),
    ("npx nx test app", NX_JEST, False, "1 failed, 3 passed in 1.0 s",
     "cart \u203a adds up - src/cart.spec.ts:4: expect(received).toBe(expected)"),
    ("npx nx test app", ("> nx run app:test\nTests:       4 passed, 4 total\nTime: 1 s\n\n"
     " NX   Successfully ran target test for project app"), True, "all targets ran", ""),
    ("npx nx run-many -t test", ("Tests: 4 passed, 4 total\nTime: 1 s\nTests: 2 passed, 2 total\n"
     "Time: 1 s\n\n NX   Successfully ran target test for 2 projects"), True,
     "all targets ran", ""),
    ("npx nx run-many -t lint", NX_MANY, False, "1 error", "/app/a.ts:1: Unexpected var no-var"),
    ("npx nx run-many -t build | tail -8", NX_MANY.partition(" NX ")[2].join(["\n NX ", ""]), False,
     "a target failed", "app:lint"),
    ("npx nx build app", " NX   Running target build for project app failed\n\n- app:build", False,
     "a target failed", "app:build"),
    ("npx nx run-many -t a b", " NX   Running targets a, b for 3 projects:", None,
     "NX Running targets a, b for 3 projects:", ""),
    ("tox", ONE_FAILED + "  py311: FAIL code 1 (1 seconds)\n  evaluation failed :(", False,
     "1 failed, 3 passed in 100 ms", "t.py::cart - assert 0 == 5"),
    ("tox | tail -3", TOX_END, False, "an environment failed", "lint: FAIL"),
    ("tox | tail -3", TOX_OLD, False, "an environment failed", "py38: commands failed"),
    ("tox | tail -3", "  py311: OK (1 seconds)\n  congratulations :) (1 seconds)", True,
     "all environments passed", ""),
    ("tox -e py311", "4 passed in 0.10s\n  py311: OK (1 seconds)\n  congratulations :)", True,
     "all environments passed", ""),
    ("tox", "4 passed in 0.1s\n4 passed in 0.1s\n  py311: OK (1 s)\n  py312: OK (1 s)", True,
     "all environments passed", ""),
    ("tox devenv", "created", None, "created", ""),
    ("npx nx affected -t test", " NX   No tasks were run", None, "No tasks were run", ""),
    ("nox", NOX_END, False, "a session failed", "lint failed"),
    ("nox | tail -1", "nox > Session lint failed.", False, "a session failed", "lint failed"),
    ("nox -s tests", ONE_FAILED + "nox > Session tests failed.", False,
     "1 failed, 3 passed in 100 ms", "t.py::cart - assert 0 == 5"),
    ("nox -s tests", "4 passed in 0.10s\nnox > Session tests was successful.", True,
     "all sessions passed", ""),
    ("nox | tail -1", "nox > Session tests(django='4.2') was successful.", True,
     "all sessions passed", ""),
    ("npx nx report", "none", None, "none", ""),
    ("dotnet test", DOTNET, False, "1 failed, 2 passed",
     "Cart.Adds - /app/CartTests.cs:7: Assert.Equal() Failure"),
    ("dotnet test", "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0", True,
     "3 passed", ""),
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
    ("npx biome check | tail -3", ("Found 1 warning.\n"
     "  \u00d7 Some warnings were emitted while running checks."), False, "1 warning", ""),
    ("npx biome init", "Welcome", None, "Welcome", ""),
    ("npx vitest run", " Tests  2 passed (2)\n Errors  1 error", False, "1 failed, 2 passed", ""),
    ("./gradlew test", ("e: file:///shop/a.kt:3:5 Unresolved reference: foo\n"
     "e: file:///shop/a.kt:9:5 Unresolved reference: bar\n\n* What went wrong:\nIt failed.\n\n"
     "BUILD FAILED in 2s"), False, "errors", "/shop/a.kt:3: Unresolved reference: foo"),
    ("gradle test", "e: /shop/a.kt: (3, 5): Unresolved reference: foo\nBUILD FAILED in 2s", False,
     "errors", "/shop/a.kt:3: Unresolved reference: foo"),
    ("npx vitest", (" FAIL  a.test.ts > adds\nAssertionError: expected 1 to be 2\n\n"
     " Test Files  1 failed (1)\n      Tests  1 failed (1)\n"
     " FAIL  Tests failed. Watching for file changes...\n       press h to show help"), False,
     "1 failed", "a.test.ts > adds - AssertionError: expected 1 to be 2"),
    ("bin/rails test", ("F\n\nFailure:\nCartTest#test_total [test/cart_test.rb:8]:\nExpected: 3\n"
     "  Actual: 2\n\n4 runs, 4 assertions, 1 failures, 0 errors, 0 skips"), False,
     "1 failed, 3 passed", "CartTest#test_total - test/cart_test.rb:8: Expected: 3 Actual: 2"),
    ("npx jest | tail -4", "Test Suites: 1 failed, 1 total\nTests:       0 total", False,
     "1 failed", ""),
    ("rspec | tail -1", "rspec ./spec/cart_spec.rb:6 # cart adds", False, "tests failed",
     "cart adds"),
    ("ruff check | tail -1", "Found 5 errors.", False, "5 errors", "Found 5 errors."),
    ("ruff check --fix | tail -1", "Found 5 errors (3 fixed, 2 remaining).", False, "2 errors",
     "Found 5 errors (3 fixed, 2 remaining)."),
    ("ruff format --check | tail -1", "2 files would be reformatted", False, "2 errors", ""),
    ("npx playwright test | tail -1", "  1 passed (1.3s)", None, "1 passed", ""),
    ("npx playwright test | head -9", "  1) a.spec.ts:2:1 \u203a adds \u2500\u2500\n\n  1 failed",
     False, "1 failed", "adds - a.spec.ts:2"),
    ("bun test | grep fail", "(fail) adds [0.1ms]", False, "1 failed", "adds"),
    ("bun test | tail -3", " 0 fail\n 3 expect() calls\nRan 2 tests across 1 file. [9.00ms]", True,
     "2 passed", ""),
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
