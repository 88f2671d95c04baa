"""What is fuzzed: everything that reads bytes of others, each as a function of bytes.

A target returns for any bytes. What it may raise for bytes that are not what it reads is its own
matter; all that it lets through is a defect, and so is an answer that breaks its promise.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from faults import imports
from faults.promise import promised
from faults.ways import NOW_MS
from observer.clients.config_files import jsonc
from observer.clients.registry import clients
from observer.code.edits import compare_files, compare_fragments
from observer.code.languages import EXTENSIONS
from observer.code.outline import outline
from observer.commands import command_line, ending, outcome, runners
from observer.core import config
from observer.core.config import Settings
from observer.core.disk import envelope
from observer.core.errors import ConfigInvalid, Undecodable
from observer.core.events import Command
from observer.core.paths import Home
from observer.git import repository
from observer.git.patch import CommitParser
from observer.ingest.decode import decode, decode_upcoming
from observer.ingest.pipeline import Pipeline
from observer.local.journal import Journal, Lines
from observer.local.spool import Spool
from observer.observations import prompt_injection, quoting
from observer.projects import PlaceCache
from observer.redaction.redact import redact_bytes, redact_text
from observer.search import query
from observer.store.database import SqliteStore
from observer.tools.fence import fenced

SAMPLES = Path(__file__).parents[2] / "tests/data"
CAP_BYTES = Settings().event_cap_bytes
TOKEN = "ghp_Zq7Rk2Lm9Xw4Tb8Vn3Hc6Yd1Pf5Jg0SaQeUi"  # noqa: S105 - made up
COMMANDS = (
    *("pytest -q", "cargo test", "go test ./...", "npm test", "tsc", "eslint .", "ruff check"),
    *(
        "mypy .",
        "gradle test",
        "mvn test",
        "dotnet test",
        "rspec",
        "jest",
        "make",
        "docker build .",
    ),
    *(
        "git push",
        "pip install x",
        "terraform plan",
        "npx playwright test",
        "phpunit",
        "swift test",
    ),
)
LANGUAGES = sorted(set(EXTENSIONS.values()))

Function = Callable[[bytes], object]


class Target(NamedTuple):
    """A reader, and bytes that it can read, from which others are made."""

    run: Function
    seeds: Callable[[], list[bytes]]


def text_of(data: bytes) -> str:
    """Return any bytes as a text, the way that captured texts are made of bytes."""
    return data.decode("utf-8", "replace")


def _spool_file(data: bytes) -> None:
    with suppress(Undecodable):
        decode_upcoming("fuzz", data, NOW_MS, cap_bytes=CAP_BYTES)
        decode("fuzz", data, NOW_MS, cap_bytes=CAP_BYTES)


def _payload(client: str, data: bytes) -> None:
    event, _, payload = data.partition(b"\n")
    name = text_of(event[:64]).replace("\0", "")
    fields = {"client": client, "event": name, "cwd": "/home/ana/shop", "ppid": "1", "host": "box"}
    with suppress(Undecodable):
        decode("fuzz", envelope(fields, payload), NOW_MS, cap_bytes=CAP_BYTES)


@cache
def _carried() -> tuple[Pipeline, Spool]:
    home = Home(Path(tempfile.mkdtemp(prefix="observer-fuzz-")))
    spool = Spool(home.spool)
    spool.prepare()
    pipeline = Pipeline(
        SqliteStore(home.database),
        spool,
        settings=Settings(),
        places=PlaceCache(),
        now_ms=lambda: NOW_MS,
    )
    return pipeline, spool


def _pipeline(data: bytes) -> None:
    """Store whatever can be decoded; what the interpreter fails at would be passed over in use."""
    pipeline, _ = _carried()
    try:
        events = decode(f"f{hash(data):x}", data, NOW_MS, cap_bytes=CAP_BYTES)
    except Undecodable:
        return
    pipeline.ingest(events)


def _command_line(data: bytes) -> None:
    text = text_of(data)
    command_line.parse_command_line(text)
    runners.split(text)
    runners.without_documents(text)
    ending.exit_status_of(text)


def _outcome(data: bytes) -> None:
    command = COMMANDS[data[0] % len(COMMANDS)] if data else "make"
    code = data[1] % 4 - 1 if len(data) > 1 else 0
    ran = Command(command=command, output=text_of(data[2:]), exit_code=None if code < 0 else code)
    outcome.command_result(ran, command_line.parse_command_line(command))


def _query(data: bytes) -> None:
    text = text_of(data)
    query.plan(text)
    query.dated(text, now_ms=NOW_MS)


def _prose(data: bytes) -> None:
    text = text_of(data)
    prompt_injection.suspicion(text)
    quoting.title_of(quoting.words_of(text))
    quoting.heading_of(text)
    quoting.opening(text)
    quoting.quoted(text, 80)
    inside = fenced(text).removeprefix("```text\n").removesuffix("\n```")
    promised("```" not in inside, "the fence was closed")


def _secrets(data: bytes) -> None:
    """Look for a token between any two texts: it is redacted, whatever stands around it."""
    half = len(data) // 2
    given = f"{text_of(data[:half])} {TOKEN} {text_of(data[half:])}"
    promised(TOKEN not in redact_text(given), "a token was not redacted")
    kept = redact_bytes(given.encode("utf-8", "replace"))
    promised(TOKEN.encode() not in kept, "a token was not redacted in bytes")


def _code(data: bytes) -> None:
    language = LANGUAGES[data[0] % len(LANGUAGES)] if data else "python"
    half = len(data) // 2
    old, new = text_of(data[1:half]), text_of(data[half:])
    outline(new, language)
    compare_fragments([(old, new)], language)
    compare_files(old, new, language)


def _diff(data: bytes) -> None:
    header = b"\0" + b"\0".join((b"1" * 40, b"", b"Ana", b"1", b"1", b"Change\n"))
    draft = CommitParser(header)
    for line in data.splitlines(keepends=True):
        draft.take(line)
    draft.finished()


def _settings(data: bytes) -> None:
    home = _carried()[1]
    root = Home(Path(home._new).parents[1])  # noqa: SLF001 - the one folder that is ours
    root.config.write_bytes(data)
    with suppress(ConfigInvalid):
        config.load(root, {})


def _git_configuration(data: bytes) -> None:
    repository.safe_config(repository.parse_config(text_of(data)))


def _client_settings(data: bytes) -> None:
    text = text_of(data)
    with suppress(ValueError):
        jsonc.load(text)
        changed = jsonc.put(text, ("mcpServers", "observer"), {"command": "observer"})
        found = jsonc.at(changed, ("mcpServers", "observer"))
        promised(found == {"command": "observer"}, "what was put is not there")


def _frames(data: bytes) -> None:
    """Let the pump keep what it has to of an editor's lines and a daemon's."""
    journal, lines = Journal(), Lines()
    for number, line in enumerate(lines.feed(data)):
        (journal.answered if number % 3 == 2 else journal.sent)(line)
    journal.is_settled()
    list(journal.give_up(sends=1))
    journal.replay()


def _samples(client: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((SAMPLES / client).glob("*.json"))]


def _payload_of(sample: Mapping[str, Any]) -> bytes:
    if "text" in sample:
        return str(sample["text"]).encode()
    return json.dumps(sample.get("payload", {})).encode()


def _payloads(client: str) -> list[bytes]:
    return [
        sample["fields"]["event"].encode() + b"\n" + _payload_of(sample)
        for sample in _samples(client)
    ]


def _envelopes() -> list[bytes]:
    return [
        envelope(sample["fields"], _payload_of(sample))
        for client in clients()
        for sample in _samples(client)
    ]


def _outputs() -> list[bytes]:
    return [b"\0\2" + path.read_bytes()[:4000] for path in (SAMPLES / "outcomes").glob("*.txt")]


def _texts(folder: str) -> list[bytes]:
    return [path.read_bytes()[:3000] for path in (SAMPLES / folder).glob("*.txt")]


def _given(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


_LINES = _given(
    "git add -A && git commit -m \"$(cat <<'E'\nx\nE\n)\" | tee log",
    "cd a && FOO=1 npm test || true; (make -j4; echo $?) > out",
    "for f in *; do sed -i 's/a/b/' \"$f\"; done 2>&1 | grep -v x",
    "bash -c 'ssh h \"docker exec c pytest -q\"' & wait",
)
_PATCH = _given(
    ":100644 100644 1111 2222 M\ta.py\n\ndiff --git a/a.py b/a.py\n@@ -1,2 +1,3 @@ def f\n-a\n+b\n",
    ':000000 100644 0 2 A\t"a\\303\\244"\ndiff --git "a/a\\303" "b/a\\303"\nBinary files a and b\n',
)
_QUERIES = _given(
    'title:auth* NOT (oauth OR "exact phrase") last Friday', "since 2026-11-21 a.py:3"
)
_FRAMES = _given(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'
    '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"search"}}\n'
    '{"jsonrpc":"2.0","id":"a","result":{}}\n'
)

TARGETS: Mapping[str, Target] = {
    "spool file": Target(_spool_file, _envelopes),
    **{
        f"payload of {name}": Target(partial(_payload, name), partial(_payloads, name))
        for name in clients()
    },
    "pipeline": Target(_pipeline, _envelopes),
    "command line": Target(_command_line, _LINES),
    "outcome": Target(_outcome, _outputs),
    "query": Target(_query, _QUERIES),
    "prose": Target(_prose, lambda: [*_texts("suspicion"), b"- [decision] Use it #x (y) [[Z]]"]),
    "secrets": Target(_secrets, _given('key = "', "https://u:p@h/?token=", '{"a": "\\"b\\": ')),
    "code": Target(_code, partial(_texts, "changes")),
    "diff": Target(_diff, _PATCH),
    "settings": Target(_settings, _given('exclude = ["/a"]\nhttp_port = 1\n', 'model = "instant"')),
    "git configuration": Target(
        _git_configuration, _given('[core]\nbare = true\n[remote "o"]\nurl = "h:\\"o/n"\n')
    ),
    "client settings": Target(_client_settings, _given('{// c\n"mcpServers": {"a": [1,],},}')),
    "frames": Target(_frames, _FRAMES),
    **{
        f"import of {name}": Target(*imports.fuzzed(name))
        for name in (*imports.CLIENTS, *imports.FILES)
    },
}
