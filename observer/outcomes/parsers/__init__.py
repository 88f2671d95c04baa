"""The tools' own readers, one module an ecosystem.

Part of interpretation (step 6). `READERS` goes from the tools' own summaries to what many programs
print: the first that speaks is believed. A new tool is a function and a row in its module's table.
"""

from __future__ import annotations

from observer.outcomes.parsers import (
    bundlers,
    checkers,
    dotnet,
    go,
    javascript,
    jvm,
    linters,
    more_tests,
    native,
    php,
    python,
    reports,
    ruby,
    runners,
    runtimes,
    rust,
    shells,
    swift,
    tap,
    targets,
)
from observer.outcomes.parsers.parser import OutputParser

_EVERY = (
    *linters.READERS,
    *python.READERS,
    *checkers.READERS,
    *javascript.READERS,
    *more_tests.READERS,
    *swift.READERS,
    *runtimes.READERS,
    *bundlers.READERS,
    *go.READERS,
    *rust.READERS,
    *jvm.READERS,
    *dotnet.READERS,
    *ruby.READERS,
    *php.READERS,
    *tap.READERS,
    *reports.READERS,
    *native.READERS,
    *shells.READERS,
    *targets.READERS,
    *runners.READERS,
)
READERS: tuple[OutputParser, ...] = tuple(sorted(_EVERY, key=lambda reader: reader.is_raised))
