from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.commands import command_line, ending, outcome
from observer.commands.parsers import PARSERS
from observer.commands.result import CommandResult
from observer.core.events import Command

REAL = [
    ("pytest", "pytest -q", "pytest", False, "3 failed, 1 passed, 1 skipped in 1.2 s",
     "test_x.py::test_total - test_x.py:5: AssertionError: sum off"),
    ("unittest", "python -m unittest", "unittest", False, "2 failed, 1 skipped in 1 ms",
     "test_x.T.test_e - /home/ana/py/test_x.py:8: KeyError: 'k'"),
    ("jest", "npx jest", "jest", False, "1 failed, 1 passed in 574 ms",
     "cart \u203a totals - t/a.test.js:2: expected 3, got 2"),
    ("vitest", "npm test", "vitest", False, "1 failed, 1 passed in 395 ms",
     "t/a.test.js > cart > totals - t/a.test.js:2: Error: expected 3, got 2"),
    ("mocha", "npm test", "mocha", False, "1 failed, 1 passed in 5 ms",
     "cart totals - t/a.test.js:2: Error: expected 3, got 2"),
    ("node-test", "npm test", "node", False, "1 failed, 1 passed in 175 ms",
     "totals - /home/ana/js/n.test.js:2: AssertionError [ERR_ASSERTION]: 1 == 2"),
    ("cargo-test", "cargo test", "cargo test", False, "1 failed, 1 passed in 150 ms",
     "bad - src/lib.rs:4: panicked: assertion `left == right` failed"),
    ("cargo-build", "cargo build", "cargo", False, "1 error",
     "src/lib.rs:1: E0308: mismatched types"),
    ("tsc", "npx tsc", "tsc", False, "errors",
     "b.ts:1: TS2322: Type 'string' is not assignable to type 'number'."),
    ("tsc-pretty", "npm run types", "tsc", False, "2 errors",
     "b.ts:1: TS2322: Type 'string' is not assignable to type 'number'."),
    ("eslint", "npm run lint", "eslint", False, "1 error, 1 warning",
     "/home/ana/js/c.js:1: 'q' is assigned a value but never used no-unused-vars"),
    ("ruff", "ruff check", "ruff", False, "2 errors",
     "bad.py:1: I001 Import block is un-sorted or un-formatted"),
    ("ruff-concise", "make lint", "ruff", False, "2 errors",
     "bad.py:1: I001 Import block is un-sorted or un-formatted"),
    ("mypy", "mypy bad.py", "mypy", False, "1 error",
     ('bad.py:2: Incompatible types in assignment (expression has type "str", variable has type'
     ' "int") [assignment]')),
    ("gcc", "gcc a.c", "compiler", False, "errors",
     "a.c:1: \u2018x\u2019 undeclared (first use in this function)"),
    ("make", "make", "compiler", False, "errors",
     "a.c:1: \u2018x\u2019 undeclared (first use in this function)"),
    ("npm-install", "npm i", "npm", True, "added 396 packages in 31s", ""),
    ("npm-error", "npm run nope", "npm", False, "npm stopped", 'Missing script: "nope"'),
    ("pip", "pip install x", "pip", False, "pip stopped",
     ("Could not find a version that satisfies the requirement nothing-such-pkg-xyz==99"
     " (from versions: none)")),
    ("python-traceback", "python x.py", "python", False, "an error was raised",
     "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
    ("bun-test", "bun test", "bun", False, "1 failed, 1 passed",
     "totals - /home/ana/js/a.test.ts:3: expect(received).toBe(expected)"),
    ("deno-test", "deno test", "deno", False, "1 failed, 1 passed",
     "totals - ./b_test.ts:2: Error: no"),
    ("jest-json", "npx jest --json", "jest", False, "1 failed, 1 passed, 1 skipped",
     "Error: expect(received).toBe(expected) // Object.is equality"),
    ("vitest-json", "npm test", "vitest", False, "1 failed, 1 passed, 1 skipped",
     "AssertionError: expected 2 to be 3 // Object.is equality"),
    ("junit", "npm test", "junit", False, "1 failed, 1 passed, 1 skipped",
     "cart &gt; totals - expected 2 to be 3 // Object.is equality"),
    ("mocha-json", "npx mocha -R json", "mocha", False, "1 failed, 1 passed, 1 skipped",
     "m/a.js:1: AssertionError [ERR_ASSERTION]: 2 == 3"),
    ("rspec-json", "make test", "rspec", False, "1 failed, 1 passed",
     "expected: 3"),
    ("node-error", "node x.js", "thrown", False, "an error was raised",
     "[eval]:1: TypeError: Cannot read properties of null (reading 'x')"),
]  # fmt: skip

WRITTEN = [
    ("pytest", "===== 14 passed, 2 warnings in 61.20s (0:01:01) =====", True,
     "14 passed in 61.2 s", ""),
    ("pytest", "no tests ran in 0.01s", None, "no tests ran in 10 ms", ""),
    ("pytest -x", "____ test_a ____\nE   assert 1 == 2\n1 failed in 0.10s", False,
     "1 failed in 100 ms", "test_a - assert 1 == 2"),
    ("pytest", "ERROR tests/a.py\n1 error in 0.10s", False, "1 failed in 100 ms",
     "tests/a.py"),
    ("pytest", "FAILED t.py::a - no\n1 failed, 4 passed, 3 subtests passed in 0.10s", False,
     "1 failed, 4 passed in 100 ms", "t.py::a - no"),
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
    ("pytest", "INTERNALERROR> OSError: full\n\nno tests ran in 0.10s", False, "no tests ran",
     "OSError: full"),
    ("python manage.py test", "x\nRan 12 tests in 3.210s\n\nOK", True, "12 passed in 3.2 s", ""),
    ("python -m unittest", "Ran 3 tests in 0.001s\n\nOK (skipped=1, expected failures=1)", True,
     "1 passed, 1 skipped in 1 ms", ""),
    ("python -m unittest -k x", "Ran 0 tests in 0.000s\n\nNO TESTS RAN", None,
     "no tests ran in 0 ms", ""),
    ("python -m unittest", ("UNEXPECTED SUCCESS: test_a (m.T.test_a)\nRan 2 tests in 0.001s\n\n"
     "FAILED (unexpected successes=1)"), False, "1 failed, 1 passed in 1 ms", "m.T.test_a"),
    ("python -m unittest a; python -m unittest b", ("FAIL: test_a (m.T)\nRan 2 tests in 0.001s\n\n"
     "FAILED (failures=1, expected failures=1)\nRan 1 test in 0.002s\n\nOK"), False,
     "1 failed, 1 passed in 3 ms", "m.T.test_a"),
    ("python -m unittest", "FAIL: test_a (m.T)\nRan 1 test in 0.001s\n\nFAILED (failures=1)",
     False, "1 failed in 1 ms", "m.T.test_a"),
    ("npx jest", "FAIL a.test.js\nTests:       1 failed, 1 total\nTime: 2 s", False,
     "1 failed in 2.0 s", ""),
    ("npx jest", "Tests:       3 passed, 3 total", True, "3 passed", ""),
    ("npx jest", ("FAIL a.test.js\n  ● adds\n    no\n\n      at x (a.test.js:2:3)\nFAIL b.test.js\n"
     "  ● Test suite failed to run\n    Cannot find module\nTests: 1 failed, 1 total"), False,
     "2 failed", "adds - a.test.js:2: no"),
    ("npx jest", ("FAIL b.test.js\n  ● Test suite failed to run\n    No tests\nFAIL a.test.js\n"
     "  ● adds\n    no\n\n      at x (a.test.js:2:3)\nTests: 1 failed, 1 total"), False,
     "2 failed", "b.test.js - No tests"),
    ("bun test | tail", ("3 | expect(2).toBe(3)\nerror: expect(received).toBe(expected)\n\n"
     "      at <anonymous> (/p/a.test.ts:3:11)\n(fail) cart > totals [1.00ms]\n\n 1 pass\n 1 skip\n"
     " 1 fail\n 2 expect() calls\nRan 3 tests across 1 file. [20.00ms]"), False,
     "1 failed, 1 passed, 1 skipped",
     "cart > totals - /p/a.test.ts:3: expect(received).toBe(expected)"),
    ("npm test", " 2 pass\n 0 fail\nRan 2 tests across 1 file. [20.00ms]", True, "2 passed", ""),
    ("deno test | tail", (" ERRORS \n\ntotals => ./a_test.ts:3:6\nerror: AssertionError: no\n\n"
     "FAILED | 1 passed | 1 failed (12ms)\n\nerror: Test failed"), False, "1 failed, 1 passed",
     "totals - ./a_test.ts:3: AssertionError: no"),
    ("deno task test", "ok | 2 passed (2 steps) | 0 failed | 1 ignored (3ms)", True,
     "2 passed, 1 skipped", ""),
    ("npm test -ws", ("Tests: 1 failed, 2 passed, 3 total\nTime: 1 s\n"
     "Tests: 4 passed, 4 total\nTime: 2 s"), False, "1 failed, 6 passed in 3.0 s", ""),
    ("npx vitest", " Tests  4 passed (4)\n", True, "4 passed", ""),
    ("npx jest --json", '{"numFailedTestSuites":1,"numFailedTests":0,"numTotalTests":2}', False,
     "1 failed, 2 passed", ""),
    ("pytest --junitxml=/dev/stdout", ('<testsuites name="p"><testsuite errors="1" failures="0"'
     ' tests="2"><testcase classname="t" name="a"/><testcase name="b"><error>no x</error>'
     "</testcase></testsuite></testsuites>"), False, "1 failed, 1 passed", "b - no x"),
    ("npx vitest", (" FAIL  b.test.ts [ b.test.ts ]\nError: no tests\n FAIL  a.test.ts > one\n"
     "Error: no\n \u276f a.test.ts:2:45\n Test Files  2 failed (2)\n"
     " Tests  1 failed | 1 passed (2)"), False, "2 failed, 1 passed",
     "b.test.ts - Error: no tests"),
    ("npm test -ws", ("  1 passing (4ms)\n  1 failing\n\n  1) f:\n     Error: bad\n"
     "      at Context.<anonymous> (t.js:1:19)\n\n  2 passing (4ms)\n"), False,
     "1 failed, 3 passed in 8 ms", "f - t.js:1: Error: bad"),
    ("npm test -ws", "# pass 2\n# fail 1\n# pass 2\n# fail 0\n", False, "1 failed, 4 passed", ""),
    ("npm run lint -ws", ("✖ 1 problem (0 errors, 1 warning)\n"
     "✖ 2 problems (1 error, 1 warning)"), False, "1 error, 2 warnings",
     "✖ 1 problem (0 errors, 1 warning)"),
    ("npm test", "  3 passing (12ms)\n  1 pending\n", True, "3 passed, 1 skipped in 12 ms", ""),
    ("npm test", "# tests 2\n# pass 2\n# fail 0\n", True, "2 passed", ""),
    ("go test ./...", ("ok  \tshop/cart\t0.01s\n--- FAIL: TestTotal (0.00s)\n"
     "    cart_test.go:12: got 2\nFAIL\nFAIL\tshop/api\t0.02s\n"), False,
     "1 failed, 1 of 2 packages ok", "TestTotal - cart_test.go:12: got 2"),
    ("go test ./...", "ok  \tshop/cart\t0.01s\nok  \tshop/api\t(cached)\n", True,
     "2 of 2 packages ok", ""),
    ("go test -run Nope ./...", ("testing: warning: no tests to run\n"
     "ok  \tshop/cart\t0.01s [no tests to run]\nok  \tshop/api\t(cached) [no tests to run]\n"),
     None, "no tests ran", ""),
    ("go test -run Total ./...", ("ok  \tshop/cart\t0.01s\n"
     "ok  \tshop/api\t(cached) [no tests to run]\n"), True, "1 of 1 packages ok", ""),
    ("make test", (
     '{"Action":"output","Package":"shop","Test":"TestB","Output":"=== RUN   TestB\\n"}\n'
     '{"Action":"output","Package":"shop","Output":"    c_test.go:4: not \\"3\\"\\n"}\n'
     '{"Action":"output","Package":"shop","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\\n"}\n'
     '{"Action":"output","Package":"shop","Output":"FAIL\\tshop\\t0.008s\\n"}\n'), False,
     "1 failed, 0 of 1 packages ok", 'TestB - c_test.go:4: not "3"'),
    ("go test -v", "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n", False,
     "1 failed, 1 passed", "TestB"),
    ("go test -v", "--- PASS: TestA (0.00s)\n", True, "1 passed", ""),
    ("go test", "x.go:3:5: undefined: y\nFAIL\tshop [build failed]\n", False,
     "0 of 1 packages ok", "x.go:3: undefined: y"),
    ("go build", "./x.go:3:5: undefined: y\n", False, "errors", "./x.go:3: undefined: y"),
    ("cargo test", "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured", True,
     "5 passed, 1 skipped", ""),
    ("cargo build", "warning: `t` (lib) generated 2 warnings\n    Finished `dev` target(s) in 1s",
     True, "built with 2 warnings", ""),
    ("cargo build", "error: could not compile `t` (lib)", False, "1 error",
     "error: could not compile `t` (lib)"),
    ("cargo check", "error: expected `;`\n --> src/a.rs:2:1\n", False, "errors",
     "src/a.rs:2: expected `;`"),
    ("eslint .", "✖ 1 problem (0 errors, 1 warning)", True, "1 warning", ""),
    ("eslint .", "  1:5  error  bad  rule\n✖ 1 problem (1 error, 0 warnings)", False, "1 error",
     "bad rule"),
    ("ruff check", "All checks passed!", True, "all checks passed", ""),
    ("ruff check a; ruff check b", "a.py:1:1: F401 no\nFound 1 error.\nAll checks passed!", False,
     "1 error", "a.py:1: F401 no"),
    ("ruff check --fix", "a.py:1:1: E501 no\nFound 4 errors (3 fixed, 1 remaining).", False,
     "1 error", "a.py:1: E501 no"),
    ("ruff check --fix", "Found 1 error (1 fixed, 0 remaining).", True, "all checks passed", ""),
    ("mypy a; mypy b", ("Success: no issues found in 1 source file\nb.py:1: error: no\n"
     "Found 1 error in 1 file"), False, "1 error", "b.py:1: no"),
    ("mypy .", "Success: no issues found in 3 source files", True,
     "no issues found in 3 source files", ""),
    ("mypy .", "Found 2 errors in 1 file", False, "2 errors", "Found 2 errors in 1 file"),
    ("pyright", ("/p/cart.py\n  /p/cart.py:4:5 - warning: no\n  /p/cart.py:5:14 - error: Type no\n"
     "    more (reportX)\n2 errors, 1 warning, 0 informations "), False, "2 errors, 1 warning",
     "/p/cart.py:5: Type no"),
    ("npx pyright", "0 errors, 0 warnings, 0 informations ", True, "no errors", ""),
    ("basedpyright", "1 error, 0 warnings, 0 notes", False, "1 error",
     "1 error, 0 warnings, 0 notes"),
    ("ty check", ("error[no-x]: bad\n --> a.py:5:14\n  |\nwarning[y]: odd\n --> a.py:6:1\n"
     "Found 2 diagnostics"), False, "errors", "a.py:5: no-x bad"),
    ("ty check", "warning[y]: odd\n --> a.py:6:1\nFound 1 diagnostic", True, "1 warning", ""),
    ("uvx ty check", "All checks passed!", True, "all checks passed", ""),
    ("flake8", "a.py:4:1: E302 expected 2\na.py:6:5: F401 unused", False, "errors",
     "a.py:4: E302 expected 2"),
    ("make lint", "flake8 .\na.py:4:1: E302 expected 2\n", False, "errors",
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
    ("isort --check .", "ERROR: /p/a.py Imports are incorrectly sorted and/or formatted.", False,
     "errors", "/p/a.py: Imports are incorrectly sorted and/or formatted"),
    ("bandit -r .", (">> Issue: [B101:assert_used] Use of assert.\n   Severity: Low\n"
     "   Location: t/a.py:4:18\n3\tx"), False, "errors", "t/a.py:4: B101 Use of assert."),
    ("make", "ld: a.o: undefined reference to `f'", False, "errors",
     "a.o: undefined reference to `f'"),
    ("javac A.java", "A.java:1: エラー: シンボルを見つけられません\nエラー1個", False, "errors",
     "A.java:1: シンボルを見つけられません"),
    ("make", "b.c:1:24: schwerwiegender Fehler: x.h: Datei nicht gefunden", False, "errors",
     "b.c:1: x.h: Datei nicht gefunden"),
    ("gcc b.c", "b.c:1:24: erreur: « x » non déclaré", False, "errors",
     "b.c:1: « x » non déclaré"),
    ("gcc b.c", "b.c:1:24: 致命错误\uff1ax.h\uff1a没有那个文件", False, "errors",
     "b.c:1: x.h\uff1a没有那个文件"),
    ("make lint", ("\nIn a.sh line 2:\necho $x\n     ^-- SC2154 (warning): x is not assigned.\n"
     "     ^-- SC2086 (info): Double quote.\n\nDid you mean:"), False, "errors",
     "a.sh:2: SC2154 x is not assigned."),
    ("make", "make: *** No rule to make target 'x'.  Stop.", False, "1 error",
     "No rule to make target 'x'. Stop."),
    ("npm i", "npm ERR! code ERESOLVE", False, "npm stopped", "ERESOLVE"),
    ("pip install x", "Successfully installed a-1 b-2", True, "installed 2 packages: a-1 b-2", ""),
    ("python x.py", ('Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n'
     "ValueError: no"), False, "an error was raised", "x.py:3: ValueError: no"),
    ("python x.py", "Traceback (most recent call last):", False, "an error was raised",
     "traceback"),
    ("./run", "thread 'main' panicked at src/main.rs:3:5:", False, "an error was raised",
     "src/main.rs:3: panicked"),
    ("./run", "panic: index out of range", False, "an error was raised",
     "panic: index out of range"),
    ("pytest --tb=line", ("x.py:1: other\n/p/t.py:3: assert 1 == 2\n"
     "FAILED t.py::a - assert 1 == 2\n1 failed in 0.10s"), False, "1 failed in 100 ms",
     "t.py::a - /p/t.py:3: assert 1 == 2"),
    ("ruff format --check", "Would reformat: a.py\n1 file would be reformatted\n", False,
     "1 error", "a.py: Would reformat"),
    ("node --test", "not ok 1 - a\n  ---\n  error: 'no'\n  ...\n# pass 0\n# fail 1\n", False,
     "1 failed", "a - no"),
    ("java -jar x", ('Exception in thread "main" java.lang.Error: no\n'
     "\tat java.base/java.util.X.y(X.java:1)\n"), False, "an error was raised",
     "java.lang.Error: no"),
    ("dotnet run", "Unhandled exception. System.Exception: no\n   at X.Main()\n", False,
     "an error was raised", "System.Exception: no"),
    ("phpunit", "1) T::a\nno\n\nTests: 1, Assertions: 1, Failures: 1.", False, "1 failed",
     "T::a - no"),
    ("rspec a; rspec b", ("Finished in 1 seconds\n2 examples, 1 failure\nrspec ./a.rb:1 # A f\n"
     "Finished in 2 seconds\n1 example, 0 failures"), False, "1 failed, 2 passed in 3.0 s", "A f"),
    ("rake test:all", ("Finished in 1.5s\n2 runs, 2 assertions, 1 failures, 0 errors, 0 skips\n"
     "Finished in 1.5s\n3 runs, 3 assertions, 0 failures, 0 errors, 1 skips"), False,
     "1 failed, 3 passed, 1 skipped in 3.0 s", ""),
    ("phpunit a; phpunit b", ("Time: 00:01.000\n1) T::a\nno\n\n"
     "Tests: 2, Assertions: 1, Failures: 1.\nTime: 00:01.000\nOK (3 tests, 3 assertions)"), False,
     "1 failed, 4 passed in 2.0 s", "T::a - no"),
    ("terraform plan", "Plan: 3 to add", None, "Plan: 3 to add", ""),
    ("ruff check && pytest", "All checks passed!\n14 passed in 0.10s", True,
     "ruff: all checks passed; pytest: 14 passed in 100 ms", ""),
]  # fmt: skip

RUNNERS_AND_BUNDLERS = [
    ("phpunit", ("There was 1 failure:\n\n1) T::a\nno\n\n/p/T.php:3\n\n"
     "--\n\nThere was 1 risky test:\n\n1) T::b\nThis test did nothing\n\n/p/T.php:4\n\n"
     "Tests: 3, Assertions: 1, Failures: 1, Risky: 1."), False, "1 failed, 2 passed",
     "T::a - /p/T.php:3: no"),
    ("npx eslint x.js", ("Oops! Something went wrong! :(\n\nESLint: 9.1.0\n\nNo files matching the"
     " pattern 'x.js' were found.\nPlease check for typing mistakes."), False, "eslint stopped",
     "No files matching the pattern 'x.js' were found."),
    ("vitest run x", "No test files found, exiting with code 1\n\nexclude: **/.git/**", False,
     "no tests ran", "No test files found"),
    ("npx jest x", "No tests found, exiting with code 1\nRun with x", False, "no tests ran",
     "No tests found"),
    ("npx jest x", "No tests found, exiting with code 0", None,
     "No tests found, exiting with code 0", ""),
    ("tape t.js", "not ok 1 sum\n  ---\n    at: x\n  ...\n1..1\n# tests 1\n# pass  0\n# fail  1\n",
     False, "1 failed", "sum"),
    ("mocha -R tap",
     "ok 1 a\nnot ok 2 cart b\n  Error: no\n      at f (m.js:2:7)\n# pass 1\n# fail 1", False,
     "1 failed, 1 passed", "cart b - m.js:2: Error: no"),
    ("perl t/a.t", ("1..3\nok 1 - one\n"
     "not ok 2 - sum\n#   Failed test 'sum'\n#   at t/a.t line 4.\nnot ok 3 - later # TODO x"),
     False, "1 failed, 1 passed, 1 skipped", "sum - t/a.t:4"),
    ("bats t", ("1..2\nok 1 adds\nnot ok 2 sums\n# (in test file t/a.bats, line 7)\n"
     "#   `[ 1 = 2 ]' failed"), False, "1 failed, 1 passed", "sums - t/a.bats:7"),
    ("bats t", "1..1\nok 1 adds", True, "1 passed", ""),
    ("make check", "1..1\nnot ok 1 - x", False, "1 failed", "x"),
    ("prove", ("#   Failed test 'sum'\n#   at t/a.t line 4.\nt/a.t .. Failed 1/3 subtests\n"
     "t/a.t (Wstat: 256 Tests: 3 Failed: 1)\n  Failed test:  2\n"
     "Files=2, Tests=4,  2 wallclock secs ( 0.02 usr)\nResult: FAIL"), False,
     "1 failed, 3 passed in 2.0 s", "t/a.t - t/a.t:4: sum"),
    ("prove", ("t/a.t (Wstat: 512 Tests: 0 Failed: 0)\n"
     "Files=1, Tests=0,  0 wallclock secs ( 0.02 usr)\nResult: FAIL"), False, "1 failed", "t/a.t"),
    ("prove", "Files=1, Tests=2,  0 wallclock secs ( 0.02 usr)\nResult: PASS", True, "2 passed",
     ""),
    ("npx ava", ("  ✔ ok\n  ✘ [fail]: sum Error thrown in test\n\n  sum\n\n  a/t.js:3\n\n"
     "   3: throw\n\n  Error: no db\n      at x\n\n\n  1 test passed\n  1 test failed\n"), False,
     "1 failed, 1 passed", "sum - a/t.js:3: Error: no db"),
    ("npx ava", "  ✘ [fail]: sum\n\n  1 test failed\n", False, "1 failed", "sum"),
    ("npx ava", "  ✔ ok\n  ─\n\n  3 tests passed\n", True, "3 passed", ""),
    ("npx webpack", ("./src/a.js 73 bytes [built] [1 error]\n\nERROR in ./src/a.js 2:0-19\n"
     "Module not found: Error: no './x'\n\n"
     "webpack 5.1.2 compiled with 1 error and 2 warnings in 2 ms"), False, "1 error, 2 warnings",
     "./src/a.js:2: Module not found: Error: no './x'"),
    ("npm run build", "ERROR in main\nno entry\nwebpack 5.1.2 compiled with 1 error in 2 ms", False,
     "1 error", "main: no entry"),
    ("npm run build", "webpack 5.1.2 compiled with 3 errors", False, "3 errors", ""),
    ("npm run build", "webpack 5.1.2 compiled with 1 warning in 2 ms", True, "1 warning", ""),
    ("vite build", ("x Build failed in 8ms\nerror during build:\nCould not resolve './x' from"
     " 'a.js'\nfile: /p/a.js:1:7\n    at f (x.js:1:2)"), False, "the build stopped",
     "/p/a.js:1: Could not resolve './x' from 'a.js'"),
    ("vite build", "error during build:\nBuild failed with 1 error:\n\n[X] no entry\n", False,
     "the build stopped", "[X] no entry"),
    ("npm run build", "✓ built in 1.20s\n", True, "built in 1.20s", ""),
    ("esbuild a.js", "✘ [ERROR] No './x'\n\n    a.js:1:7:\n      1 | x\n\n✘ [ERROR] b\n\n2 errors",
     False, "2 errors", "a.js:1: No './x'"),
    ("rollup a.js", "[!] RollupError: no 'x'\na.js (3:7)\n3: x", False, "the build stopped",
     "a.js:3: RollupError: no 'x'"),
    ("rollup a.js", "[!] no config", False, "the build stopped", "no config"),
    ("prettier --check .",
     ("[warn] a.js\n[warn] b.js\n[warn] Code style issues found in 2 files. Run"), False,
     "2 errors", "a.js: code style issues"),
    ("prettier --check .", "Checking\nAll matched files use Prettier code style!", True,
     "all files are formatted", ""),
    ("prettier -w a.json", "[error] a.json: SyntaxError: Unexpected token (2:1)", False,
     "prettier stopped", "a.json:2: SyntaxError: Unexpected token"),
    ("prettier -w x", "x 3ms", None, "x 3ms", ""),
]  # fmt: skip


def judged(command: str, text: str = "", **fields: Any) -> CommandResult:
    return outcome.command_result(
        Command(command=command, output=text, **fields), command_line.parse_command_line(command)
    )


@pytest.mark.parametrize("case", REAL, ids=[case[0] for case in REAL])
def test_the_output_of_a_real_run_is_understood(
    case: tuple[Any, ...], output: Callable[[str], str]
) -> None:
    sample, command, tool, ok, said, first_error = case
    found = judged(command, output(sample))
    assert (found.tool, found.ok, found.said, found.first_error) == (tool, ok, said, first_error)


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


def test_failing_tests_are_named(output: Callable[[str], str]) -> None:
    assert judged("pytest", output("pytest")).failing == (
        "test_x.py::test_total",
        "test_x.py::T::test_e",
        "test_x.py::T::test_u",
    )


@pytest.mark.parametrize(
    ("fields", "ok"),
    [
        pytest.param({"exit_code": 0}, True, id="zero"),
        pytest.param({"exit_code": 3}, False, id="not-zero"),
        pytest.param({"failed": True}, False, id="the-client-says-failed"),
        pytest.param({"failed": False}, True, id="the-client-says-fine"),
        pytest.param({"output": "Output:\nx\n\nExit Code: 2"}, False, id="stated-in-the-output"),
        pytest.param({}, None, id="nobody-says"),
        pytest.param({"exit_code": 130, "interrupted": True}, None, id="interrupted"),
    ],
)
def test_without_words_the_exit_code_decides(fields: dict[str, Any], ok: bool | None) -> None:
    text = str(fields.pop("output", ""))
    assert judged("deploy", text, **fields).ok is ok


_FAILED = "FAILED t.py::a - assert 1 == 2\n1 failed, 4 passed in 0.10s\n"
_PASSED = "5 passed in 0.20s\n"


@pytest.mark.parametrize(
    "command", ["pytest a; pytest b", "pytest; pytest --lf", "ruff check; pytest; pytest"]
)
def test_runs_of_tests_are_added_up(command: str) -> None:
    assert judged(command, _FAILED + _PASSED).passed == 9


@pytest.mark.parametrize("string", [r"\ud800", r"\x", r"\u12", "a\tb", "cut off"])
def test_odd_strings_of_json_do_no_harm(string: str) -> None:
    assert judged("go test -json", f'{{"Action":"output","Output":"{string}').ok is None
    odd = judged("go test -json", f'{{"Action":"output","Output":"{string}"}}', exit_code=0)
    assert odd.first_error == ""


def test_failing_tests_outweigh_the_exit_code_of_a_pipe() -> None:
    assert judged("pytest | tail -3", "2 failed in 0.10s", exit_code=0).ok is False


def test_a_bad_exit_code_outweighs_passing_tests() -> None:
    assert judged("pytest && false", "2 passed in 0.10s", exit_code=1).ok is False


@pytest.mark.parametrize("fields", [{"exit_code": 2}, {}], ids=["failed", "nobody-says"])
def test_what_failed_behind_tests_that_passed_is_shown(fields: dict[str, Any]) -> None:
    text = "2 passed in 0.10s\na.py:1:1: F401 no\nFound 1 error.\nmake: *** [lint] Error 1\n"
    found = judged("make test lint", text, **fields)
    assert (found.tool, found.ok, found.first_error) == ("ruff", False, "a.py:1: F401 no")


@pytest.mark.parametrize(
    ("command", "text", "ok", "said"),
    [
        pytest.param("cargo run",
            "    Finished `dev` target(s) in 1s\nthread 'main' panicked at src/main.rs:3:5:\nno",
            False, "src/main.rs:3: panicked: no", id="what-was-built-broke"),
        pytest.param("pip install a && python x.py",
            "Successfully installed a-1\nTraceback (most recent call last):\nKeyError: 1", False,
            "KeyError: 1", id="what-was-installed-broke"),
        pytest.param("cmake -B b && ninja -C b",
            "-- Build files have been written to: b\na.c:1:2: error: no", False, "a.c:1: no",
            id="another-program-broke"),
        pytest.param("pytest -q && python x.py",
            "2 passed in 0.10s\nTraceback (most recent call last):\nKeyError: 1", False,
            "KeyError: 1", id="behind-the-tests"),
        pytest.param("python x.py && pytest -q",
            "Traceback (most recent call last):\nKeyError: 1\n2 passed in 0.10s", True, "",
            id="the-tests-came-last"),
        pytest.param("cargo build", "    Finished `dev` target(s) in 1s", True, "", id="built"),
    ],
)  # fmt: skip
def test_what_broke_behind_a_success_is_shown_where_nobody_tells_the_end(
    command: str, text: str, said: str, *, ok: bool
) -> None:
    found = judged(command, text)
    assert (found.ok, found.first_error) == (ok, said)


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    [
        ("python x.py 2>&1 | tail", "Traceback (most recent call last):\nKeyError: 1\n", False),
        ("npm test; echo done 254", "done 254\n", None),
        ("docker exec web pytest || true", "Cannot connect\n", None),
        ("pytest -q | tail -1", "3 passed in 0.10s", True),
    ],
)
def test_the_exit_code_of_what_comes_behind_tells_nothing(
    command: str, text: str, *, ok: bool | None
) -> None:
    assert judged(command, text, exit_code=0).ok is ok


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    [
        ("npm test; echo $?", "254\n", False),
        ('npm test > log 2>&1; echo "exit: $?"', "exit: 0", True),
        ("npm test | tail -5; echo EXIT=${PIPESTATUS[0]}", "bye\nEXIT=1\n", False),
        ("npm test | tail -5; echo $?", "bye\n0\n", None),
        ("npm ci; npm test; echo $?", "0", None),
        ("npm test || echo $?", "1", None),
        ("npm test; Write-Host $LASTEXITCODE", "3", False),
        ("npm test; echo '$?'", "$?", None),
        ("echo a; echo $?", "a\n0", True),
        ("pytest; echo $?", "2 failed in 0.10s\n0", False),
    ],
)
def test_an_exit_code_that_the_command_line_shows_is_the_tools_own(
    command: str, text: str, *, ok: bool | None
) -> None:
    assert judged(command, text, exit_code=0, failed=False).ok is ok


def test_a_printed_traceback_is_no_failure_of_a_program_that_ended_well() -> None:
    text = "Traceback (most recent call last):\nValueError: handled\n"
    assert judged("python x.py", text, exit_code=0).ok is True


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param("grep x a", "nothing found", id="grep"),
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
    ("command", "text"),
    [
        ("git merge-base --is-ancestor a b; echo $?", "1"),
        ("git merge-base --is-ancestor a b && echo yes || echo no", "no"),
        ("git maintenance status | cut -f1", "error: not started"),
        ("git show HEAD:log | sed 's/a/b/'; ls", "error: handled"),
    ],
)
def test_what_only_asks_has_not_failed_whatever_the_answer(command: str, text: str) -> None:
    assert judged(command, text, failed=False).ok is True


def test_a_question_that_could_not_be_asked_has_failed() -> None:
    said = "fatal: Not a valid object name b"
    assert judged("git merge-base --is-ancestor a b", said, exit_code=128).ok is False


@pytest.mark.parametrize(
    ("command", "code", "text", "said"),
    [
        pytest.param("timeout 5 pytest", 124, "t.py::test_error PASSED\n",
            "timed out; its last words: t.py::test_error PASSED", id="timed-out"),
        pytest.param("./x", 139, "on", "crashed (SIGSEGV); its last words: on", id="signal"),
        pytest.param("pytest", 137, "1 passed in 0.10s\nbye",
            "killed (SIGKILL); its last words: bye", id="after-tests"),
        pytest.param("pytest", 143, "FAILED t.py::a - no\n1 failed in 0.10s", "t.py::a - no",
            id="something-bad"),
    ],
)  # fmt: skip
def test_what_put_an_end_to_a_command_is_its_error(
    command: str, code: int, text: str, said: str
) -> None:
    found = judged(command, text, exit_code=code)
    assert (found.ok, found.first_error) == (False, said)


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


def test_what_put_an_end_to_a_silent_command_is_its_result() -> None:
    found = judged("timeout 5 ./x", exit_code=124)
    assert (found.ok, found.said, found.first_error) == (False, "timed out", "")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("foo --x", "bash: line 1: foo: command not found"),
        ("foo", "zsh:1: command not found: foo"),
        ("foo", "sh: 1: foo: not found"),
        ("foo", "bash: Zeile 1: foo: Kommando nicht gefunden."),
        ("./x", "starting\n/bin/bash: ./x: Permission denied"),
        ("foo", "'foo' is not recognized as an internal or external command,\noperable program"),
        ("foo", "foo : The term 'foo' is not recognized as the name of a cmdlet"),
        ("python -m foo", "/usr/bin/python3.11: No module named foo"),
        ("git merge x", "Auto-merging a\nCONFLICT (content): Merge conflict in a\nAutomatic merge"),
        ("git checkout -- nope", "error: pathspec 'nope' did not match any file(s) known to git"),
        ("git add -A && git push", "fatal: No configured push destination.\nEither specify"),
        ("git nope", "git: 'nope' is not a git command. See 'git --help'."),
    ],
)
def test_what_could_not_be_run_has_failed_though_nobody_tells_the_end(
    command: str, text: str
) -> None:
    found = judged(command, text)
    assert (found.ok, found.first_error in text, found.first_error != "") == (False, True, True)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("./x", "bash: warning: setlocale: no such locale"),
        ("./x", "bash: foo: command not found\nwent on"),
        ("git pull && git status", "nothing to commit, working tree clean"),
        ("git commit -m x", "[main 1c5a] error: x is told\n 1 file changed"),
    ],
)
def test_what_a_shell_or_git_only_mentions_is_no_failure(command: str, text: str) -> None:
    assert judged(command, text).ok is None


def test_a_failure_without_a_known_tool_names_its_first_complaint() -> None:
    found = judged("deploy", "step 1\nfatal: no such host\nbye", exit_code=1)
    assert found.first_error == "fatal: no such host"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "npm warn Unknown user config\n> jest\nsh: 1: jest: not found\n",
            "sh: 1: jest: not found",
        ),
        ("│ Warning: Unable to open x\n╵\n│ Error: Unknown y\n", "Error: Unknown y"),
        ("[WARNING] unknown option\nbye\n", "[WARNING] unknown option"),
    ],
)
def test_a_warning_is_no_complaint_where_something_worse_is_said(text: str, said: str) -> None:
    assert judged("deploy", text, exit_code=1).first_error == said


def test_a_failure_without_a_complaint_names_its_last_line() -> None:
    assert judged("deploy", "step 1\nbye", exit_code=1).first_error == "bye"


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        ("node list.js", "34.\n35.", ""),
        ("node list.js", "[\n  1,\n]", ""),
        ("deploy", "cart is empty\n}", "cart is empty"),
        ("deploy", "cart is empty\nResults:", "cart is empty"),
        ("golangci-lint run", "1 issues:\n* errcheck: 1", ""),
    ],
)
def test_a_number_a_bracket_or_a_heading_is_no_first_error(
    command: str, text: str, said: str
) -> None:
    found = judged(command, text, exit_code=1)
    assert (found.ok, found.first_error) == (False, said)


def test_what_a_routine_command_printed_is_not_read() -> None:
    assert judged("cat build.log", "error: old news\n3 failed in 1.00s").said == ""


def test_a_client_saying_that_there_was_no_output_is_not_repeated() -> None:
    assert judged("touch a", "Tool ran without output or errors").said == ""


def test_only_head_and_tail_of_a_long_output_are_looked_at() -> None:
    text = "start\n" + "x" * 100_000 + "\n5 passed in 1.00s"
    shown = outcome.plain_output(text)
    assert len(shown) <= outcome.HEAD_CHARS + outcome.TAIL_CHARS + 1
    assert judged("pytest", text).passed == 5


def test_signs_that_end_a_colour_leave_nothing() -> None:
    assert outcome.plain_output("\x1b[31m-a\x1b(B\x1b[m\x1b]8;;x\x1b\\b") == "-ab"


def test_progress_bars_leave_their_last_state() -> None:
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
    "json": '{"numTotalTests":1,"numFailedTests":1,' + '"ancestorTitles"fullName":"' * 50_000,
    "one word of json": '{"example_count":1,"failure_count":1,"id""' + "a." * 500_000,
    "xml": "<testsuites " * 50_000 + 'tests="1">' + "<testcase <failure " * 50_000,
    "words of a failure": '<testsuite tests="1"><testcase ><failure>\n' + "(a.a" * 200_000,
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
        ("make | tail -5; echo ${PIPESTATUS[0]}", 0, 2),
    ],
)
def test_the_exit_code_of_another_command_is_not_shown(
    command: str, code: int, shown: int | None
) -> None:
    ran = Command(command=command, output="bye\n2", exit_code=code)
    assert ending.own_exit_code(ran) == shown


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    [
        ("pytest -q 2>&1 | tail -1", "FAILED t.py::a - no", False),
        ("pytest -q 2>&1 | tail -1", "", None),
        ("pytest -q 2>&1 | tail -3", "2 passed in 0.10s", True),
        ("set -e; pytest | tail -3", "", None),
        ("cargo test | head -5", ("running 1 test\nok\n\ntest result: ok. 1 passed; 0 failed;"
         " 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"), None),
        ("pytest -v | head -5", "t.py::a PASSED\nt.py::b FAILED", False),
        ("bun test | grep -E '(pass|fail)'", " 3 pass\n 0 fail", None),
        ("bun test | grep pass", " 3 pass", None),
        ("bun test | grep fail", " 1 fail", False),
        ("pytest | grep passed", "3 passed in 0.10s", None),
        ("pytest -k none | tail -1", "no tests ran in 0.10s", None),
        ("go vet ./... && echo OK || echo BROKEN", "OK", True),
        ("go vet ./... && echo OK || echo BROKEN", "BROKEN", False),
        ("timeout 5 pytest | tail -3", "", None),
    ],
)  # fmt: skip
def test_what_a_pipe_lets_through_is_read_for_what_it_proves(
    command: str, text: str, *, ok: bool | None
) -> None:
    assert judged(command, text, exit_code=0, failed=False).ok is ok


def test_what_a_signal_ended_behind_a_pipe_has_failed() -> None:
    assert judged("pytest | tail -3", "", exit_code=137, failed=True).ok is False
