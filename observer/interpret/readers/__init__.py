"""The tools' own readers, one module an ecosystem.

Part of interpretation (step 6). `READERS` goes from the tools' own summaries to what many programs
print: the first that speaks is believed. A new tool is a function and a row in its module's table.
"""

from __future__ import annotations

from observer.interpret.readers import (
    bundlers,
    checkers,
    dotnet,
    go,
    javascript,
    jvm,
    native,
    php,
    python,
    reports,
    ruby,
    runtimes,
    rust,
    shell,
    tap,
)
from observer.interpret.readers.reader import Reader

_EVERY = (
    *python.READERS,
    *checkers.READERS,
    *javascript.READERS,
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
    *shell.READERS,
)
READERS: tuple[Reader, ...] = tuple(sorted(_EVERY, key=lambda reader: reader.is_raised))
