"""Which files of the project an output names."""

from __future__ import annotations

from observer.observations.failure_tracker import FILES, files_named_in

ROOT = "/home/ana/shop"


def test_files_are_named_with_and_without_their_line() -> None:
    output = (
        " at src/a.ts format\n"
        "src/b.ts(3,1): error TS1: x\n"
        "/home/ana/shop/c.py:4: error\n"
        "    at run (/home/ana/shop/src/d.js:1:2)\n"
        " --> e/lib.rs:1:19\n"
        "src/a.ts again"
    )
    expected = ("src/a.ts", "src/b.ts", "c.py", "src/d.js", "e/lib.rs")
    assert files_named_in(output, root=ROOT, cwd=ROOT) == expected


def test_a_name_counts_from_the_folder_that_it_was_printed_in() -> None:
    assert files_named_in("cart_test.go:7: got 0", root=ROOT, cwd=f"{ROOT}/api") == (
        "api/cart_test.go",
    )


def test_packages_numbers_and_words_are_no_files() -> None:
    output = "node_modules/x/a.js 1.5 e.g. https://a.io/x.py v1.2.3 site-packages/y.py done."
    assert files_named_in(output, root=ROOT, cwd=ROOT) == ()


def test_only_so_many_are_kept() -> None:
    output = "\n".join(f"a{number}.py:1: error" for number in range(2 * FILES))
    assert len(files_named_in(output, root=ROOT, cwd=ROOT)) == FILES
