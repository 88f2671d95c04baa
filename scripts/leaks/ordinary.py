"""Ordinary text without a secret: what looks drawn, and what names secrets, as sources do."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

from leaks.drawing import draw

_UUID = "<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>"
_LINES = {
    "hash": "commit <hex:40>\nindex <hex:7>..<hex:7> 100644\nsha256:<hex:64>\nMD5 (a) = <hex:32>\n",
    "uuid": f'session {_UUID} ended\n{{"id": "{_UUID}", "trace_id": "<hex:32>"}}\n',
    "image": '<img src="data:image/png;base64,iVBORw0KGgo<b64:400>==">\n'
    "background: url(data:,<b64:80>)\n",
    "lock": '"integrity": "sha512-<b64:86>==",\n'
    '"resolved": "https://r.test/a/-/a-1.0.<dig:1>.tgz#<hex:40>"\n',
    "requirements": 'attrs==23.<dig:1>.0 --hash=sha256:<hex:64>\nhash = "<hex:64>"\n',
    "test": "tests/test_<word>.py::test_<word>_<word>_token_is_<word>[<dig:2>] PASSED [ <dig:2>%]\n"
    "--- PASS: Test<Word>Token<dig:2> (0.<dig:2>s)\n",
    "code": "token = self.<word>_token(<word>)\npassword: str = <word>.password\n"
    "api_key = settings.<word>_api_key\ncache_key = f'<word>:{user.id}:<word>'\n"
    'def <word>_key(self, primary_key: str = "<word>_id") -> PublicKey: ...\n',
    "url": "https://<word>.test/<word>/<dig:4>?page=<dig:2>&sort=<word>&ref=<hex:7>\n"
    "https://cdn.test/assets/<word>.<hex:8>.js\n",
    "sql": "SELECT id, password_hash FROM <word> WHERE token_id = <dig:6> AND key = ?;\n"
    "CREATE TABLE <word> (id uuid PRIMARY KEY, secret_name text, api_key_id bigint);\n",
    "minified": "function <low:1>(t,e){return t.token=e.key||t.keys[<dig:1>],t.<low:2>(e,!0)}var "
    '<low:2>=n(<dig:3>),<low:1>={key:"<word>",secret:!1,password:void 0};\n',
    "log": "2026-11-23T09:<dig:2>:<dig:2>.<dig:3>Z INFO "
    "<word> request_id=<hex:16> token_count=<dig:4>\n",
    "prose": "The password for <word> is checked first; a token names the <word> and no key is "
    "kept. See the <word> about secrets and how credentials are rotated.\n",
}
_MOST_CHARACTERS = 1 << 18
_SUFFIXES = frozenset(
    {".py", ".pyi", ".js", ".css", ".c", ".h", ".ts", ".html", ".json", ".md", ".txt"}
)


def drawn(*, times: int) -> Iterator[tuple[str, str]]:
    """Yield the kind of ordinary text and the text."""
    for kind, template in _LINES.items():
        for number in range(times):
            yield kind, draw(template, f"{kind}|{number}")


def sources(*, step: int) -> Iterator[tuple[Path, str]]:
    """Yield each so many'th source of the standard library and of what is installed."""
    folders = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    found = {path for folder in folders for path in folder.rglob("*") if path.suffix in _SUFFIXES}
    for path in sorted(found)[::step]:
        try:
            yield path, path.read_text(encoding="utf-8")[:_MOST_CHARACTERS]
        except (UnicodeDecodeError, OSError):
            continue  # what is no text is not read by agents either
