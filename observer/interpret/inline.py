"""Programs that are given their text on the command line: `python3 -c "..."`, `node << EOF`.

Part of interpretation (step 6), pure. What such a script is for stands in the words that the agent
gave with it, not in its first line; which files it writes stands in its calls.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from observer.interpret.wording import distinct

_READ_CHARS = 20_000
_FILES = 8
_INLINE = re.compile(
    r"(?:^|[\s;&|(])(?P<program>python[\d.]{0,6}|node|ruby|perl|php|bun|deno|tsx)"
    r"(?=[\s])[^\n|;&<]{0,80}?(?:\s-{1,2}(?:c|e|r|p|eval)\s+['\"]|\s*<<-?\s*['\"]?\w)"
)
_CALLS = (
    r"open\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*,\s*(?:mode\s*=\s*)?['\"][rb]{{0,2}}[wax]",
    r"Path\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*\)\.write_",
    r"(?:write|append)File(?:Sync)?\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*,",
    r"File\.write\(\s*(?P<name{0}>[^,()\n]{{1,400}}?)\s*,",
)
_WRITES = re.compile("|".join(call.format(at) for at, call in enumerate(_CALLS)))
_ACTS = re.compile(
    r"\.write|writeFile|appendFile|unlink|remove\(|rename|rmtree|subprocess|os\.system|execSync"
    r"|spawn|requests\.|fetch\(|urlopen|https?://|import_module|\bINSERT\b|\bUPDATE\b|\bDELETE\b"
)
_READS = re.compile(r"\bopen\(|read_text|readFile|File\.read|json\.load")
_NAMED = re.compile(
    r"(?m)^[ \t]*(?:const |let |var )?(\w{1,40})\s*=\s*(?:Path\()?[rf]?(['\"][^'\"\n]{1,400}['\"])"
)
_QUOTED = re.compile(r"[rf]?['\"](?P<text>[^'\"]+)['\"]\Z")


class Script(NamedTuple):
    """An inline script: its program, and the files that it writes, as it names them.

    `only_looks` holds where it reads files and changes nothing.
    """

    program: str
    writes: tuple[str, ...] = ()
    only_looks: bool = False


@lru_cache(maxsize=512)
def script_of(command: str) -> Script | None:
    """Return the first inline script of a command line; None without one."""
    text = command[:_READ_CHARS]
    begun = _INLINE.search(text)
    if begun is None:
        return None
    script = text[begun.end() :]
    names = dict(_NAMED.findall(script))
    found = (next(filter(None, match.groups()), "") for match in _WRITES.finditer(script))
    paths = (_QUOTED.match(names.get(name, name)) for name in found)
    return Script(
        program=begun["program"],
        writes=distinct((path["text"] for path in paths if path), _FILES),
        only_looks=_READS.search(script) is not None
        and not (_ACTS.search(script) or _WRITES.search(script)),
    )
