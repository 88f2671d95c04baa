from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observer.outcomes import ending


@pytest.mark.parametrize(
    ("command", "success", "failure"),
    [
        ("", True, True),
        ("make", True, True),
        ("cd a && make && make install", True, True),
        ("ls; make", True, True),
        ("make && echo done", True, True),
        ("if test -f a; then make; fi", True, True),
        ("make || exit 1", True, True),
        ("pytest | tail -3", False, False),
        ("pytest 2>&1 | tee log", False, False),
        ("pytest | grep FAILED", False, False),
        ("(pytest | tail -3)", False, False),
        ("pytest | xargs make", False, True),
        ("make || true", False, True),
        ("ls f | xargs -r make", False, True),
        ("make; echo $?", False, False),
        ("make && make test; date", False, False),
        ("make; make test", False, True),
        ("make && make test | tail -3", False, True),
        ("make | tail -3 && make test", False, True),
        ("make && grep -q x log", True, False),
        ("make && cat log", True, True),
        ("make &", False, False),
        ("(make &)", False, False),
        ("make & sleep 1", False, False),
        ("! make", False, False),
        ("for d in a b; do make -C $d; done", False, True),
        ("set -o pipefail; make | tail", True, True),
        ("set -euo pipefail\nmake | tail\nmake test", True, True),
        ("bash -o pipefail -c 'make | tail'", True, True),
        ("set -e; make; make test", True, True),
        ("set -e; make | tail", False, False),
        ("set -x; make; date", False, False),
        ("make > log; rc=$?; tail -3 log; exit $rc", True, True),
        ("make | tail -3; exit ${PIPESTATUS[0]}", True, True),
        ("make | tail -3; rc=$?; exit $rc", False, False),
        ("make | tail -3; exit $rc", False, True),
        ("make; exit $?; date", False, False),
    ],
)
def test_an_exit_code_proves_only_what_it_is_of(
    command: str, *, success: bool, failure: bool
) -> None:
    status = ending.exit_status_of(command)
    assert (status.success, status.failure) == (success, failure)


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("make", "1", None),
        ("make; echo $?", "bye\n2\n", 2),
        ("make; echo $?", "bye", None),
        ('make; echo "exit: $?"; tail -3 log', "exit: 2\nbye 7", 2),
        ('make; echo "== EXIT $? =="; date', "== EXIT 0 ==\nMon", 0),
        ("make; echo $?; tail -3 log", "2\nbye 7", None),
        ("make; printf 'exit %d\\n' $?", "exit 2", 2),
        ("make > log; rc=$?; tail -3 log; echo rc=$rc", "7\nrc=2", 2),
        ('make | tail -3; rc=${PIPESTATUS[0]}; echo "rc=$rc"', "bye\nrc=2", 2),
        ('make | tail -3; rc=$?; echo "rc=$rc"', "bye\nrc=0", None),
        ("make; rc=$?; echo $other", "0", None),
        ("make | tail -3; echo ${PIPESTATUS[0]}", "bye\n2", 2),
        ("make | tail -3; echo $?", "bye\n0", None),
        ("make | tail -3; echo $?", "bye\n1", None),
        ("npm ci; npm test; echo $?", "0", None),
        ("npm ci; npm test; echo $?", "1", 1),
        ("cd a; echo $?; make", "0", None),
        ("make; echo done", "done 7", None),
        ("make; echo $? > code.txt", "42 files, 7 warnings 3", None),
    ],
)
def test_an_exit_code_may_be_shown_by_the_line(command: str, output: str, code: int | None) -> None:
    assert ending.exit_status_of(command).shown_code(output) == code


@pytest.mark.parametrize(
    ("command", "output", "ok"),
    [
        ("go build ./... && echo OK || echo BROKEN", "x.go:1:1: no\nBROKEN", False),
        ("go build ./... && echo OK || echo BROKEN", "OK\n", True),
        ('go vet ./... && echo "vet is OK"; git status', "vet is OK\nclean", True),
        ("go vet ./... || echo BROKEN; git status", "BROKEN\nclean", False),
        ("go build ./... && echo OK || echo OK", "OK", None),
        ("go build ./... | tail && echo OK || echo BROKEN", "OK", None),
        ("go build ./... && go vet ./... && echo OK || echo BROKEN", "OK", None),
        ("cat x || echo 'no x'", "no x", None),
        ("make && echo $x || echo BROKEN", "OK", None),
        ("make && printf OK", "OK", None),
        ("make && echo OK > done.txt", "OK", None),
    ],
)
def test_a_line_may_say_in_words_how_it_went(command: str, output: str, ok: bool | None) -> None:
    assert ending.exit_status_of(command).printed(output) is ok


@given(st.text(alphabet="make|&;!()$?{}'\" =>echoxitrcPIPESTATUS[0]\n", max_size=80))
def test_any_command_line_has_a_status(command: str) -> None:
    status = ending.exit_status_of(command)
    assert status.shown_code("1") in {1, None}
    assert status.printed("1") in {True, False, None}


@pytest.mark.parametrize(
    "command",
    ["bash -c '" * 10_000, "set -o pipefail;" + "set x " * 10_000, "make & " + " " * 60_000 + "x"],
    ids=["shells", "options", "blanks"],
)
def test_a_long_command_line_is_read_in_linear_time(command: str) -> None:
    assert ending.exit_status_of(command).shown_code("") is None
