"""The parsers of tools' output, one module an ecosystem.

Part of interpretation (step 6). `PARSERS` goes from the tools' own summaries to what many programs
print: the first that finds a result is believed. A new tool is a function and a row in the table
of its module.
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
    *linters.PARSERS,
    *python.PARSERS,
    *checkers.PARSERS,
    *javascript.PARSERS,
    *more_tests.PARSERS,
    *swift.PARSERS,
    *runtimes.PARSERS,
    *bundlers.PARSERS,
    *go.PARSERS,
    *rust.PARSERS,
    *jvm.PARSERS,
    *dotnet.PARSERS,
    *ruby.PARSERS,
    *php.PARSERS,
    *tap.PARSERS,
    *reports.PARSERS,
    *native.PARSERS,
    *shells.PARSERS,
    *targets.PARSERS,
    *runners.PARSERS,
)
PARSERS: tuple[OutputParser, ...] = tuple(sorted(_EVERY, key=lambda reader: reader.is_raised))
