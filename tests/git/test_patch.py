from __future__ import annotations

import pytest

from observer.git.patch import CommitParser

HEADER = b"\0" + b"\0".join((b"1" * 40, b"", b"Ana", b"1", b"1", b"Change\n"))


@pytest.mark.parametrize(
    "line", [b":\n", b": no entry\n", b"@@ -1 +1,%b @@\n" % (b"9" * 5000)], ids=len
)
def test_a_line_that_no_git_writes_adds_nothing(line: bytes) -> None:
    draft = CommitParser(HEADER)
    draft.take(line)
    _, commit = draft.finished()
    assert (commit.subject, commit.files) == ("Change", ())
