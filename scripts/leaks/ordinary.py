"""Ordinary text without a secret: what looks drawn, and what names secrets, as sources do."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sysconfig
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

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
_KINDS = {
    **dict.fromkeys((".py", ".pyi", ".pyx"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts"), "javascript"),
    **dict.fromkeys((".css", ".html", ".svg", ".xml"), "markup"),
    **dict.fromkeys((".c", ".h", ".cpp", ".hpp", ".sh"), "other code"),
    **dict.fromkeys((".json", ".toml", ".yaml", ".yml", ".ini", ".cfg"), "data"),
    **dict.fromkeys((".md", ".rst", ".txt"), "docs"),
}
_MINIFIED = 400
"""Characters in the average line of a source from which on it counts as minified."""
SESSIONS = "transcripts: "
"""What the sort of the texts of sessions begins with."""
_PROJECT = Path(__file__).parents[2]
_GIT = (
    ("log", "--stat", "-n", "400"),
    ("log", "--format=raw", "-n", "600"),
    ("log", "--graph", "--oneline", "-n", "600"),
    ("ls-tree", "-r", "HEAD"),
    ("ls-files", "--stage"),
)


class Ordinary(NamedTuple):
    """A text without secrets: what sort of text it is, and where it is from."""

    sort: str
    name: str
    text: str


def drawn(*, times: int) -> Iterator[tuple[str, str]]:
    """Yield the kind of ordinary text and the text."""
    for kind, template in _LINES.items():
        for number in range(times):
            yield kind, draw(template, f"{kind}|{number}")


def everything(*, step: int) -> Iterator[Ordinary]:
    """Yield every sort of ordinary text; of sources each so many'th."""
    for kind, text in drawn(times=200):
        yield Ordinary("made up", kind, text)
    yield from _locks()
    yield from _history()
    yield from _digests()
    yield from sources(step=step)


def sources(*, step: int) -> Iterator[Ordinary]:
    """Yield each so many'th source of the standard library, of what is installed, and of npm."""
    folders = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    folders += [Path("/usr/lib/node_modules"), Path("/usr/share/nodejs"), _PROJECT / "docs"]
    found = {path for folder in folders for path in folder.rglob("*") if path.suffix in _KINDS}
    for path in sorted(found)[::step]:
        try:
            text = path.read_text(encoding="utf-8")[:_MOST_CHARACTERS]
        except (UnicodeDecodeError, OSError):
            continue  # what is no text is not read by agents either
        sort = _KINDS[path.suffix]
        is_minified = len(text) > _MINIFIED * (text.count("\n") + 1)
        is_code = sort in {"javascript", "markup"}
        yield Ordinary("minified" if is_minified and is_code else sort, str(path), text)


def _locks() -> Iterator[Ordinary]:
    """Yield what package managers lock, with the real digests of what is installed."""
    packages: list[tuple[str, str, list[str]]] = []
    for each in distributions():
        record = each.read_text("RECORD") or ""
        yield Ordinary("lock", f"{each.name} RECORD", record)
        digests = [hashlib.sha256(line.encode()).hexdigest() for line in record.split("\n")[:8]]
        packages.append((each.name, each.version, digests))
    pinned = (
        f"{name}=={version} \\\n" + " \\\n".join(f"    --hash=sha256:{one}" for one in digests)
        for name, version, digests in packages
    )
    yield Ordinary("lock", "requirements.txt", "\n".join(pinned))
    tables = (
        f'[[package]]\nname = "{name}"\nversion = "{version}"\nwheels = [\n'
        + "".join(
            f'  {{ url = "https://files.test/packages/{one[:2]}/{one[2:4]}/{one[4:]}/{name}.whl",'
            f' hash = "sha256:{one}", size = {len(name)}21 }},\n'
            for one in digests
        )
        + "]\n"
        for name, version, digests in packages
    )
    yield Ordinary("lock", "uv.lock", "\n".join(tables))
    nodes = (
        draw(
            f'"node_modules/{name}": {{\n  "version": "{version}",\n  "resolved": '
            f'"https://npm.test/{name}/-/{name}-{version}.tgz",\n'
            '  "integrity": "sha512-<b64:86>==",\n  "license": "MIT"\n},\n',
            f"{name}",
        )
        for name, version, _ in packages
    )
    yield Ordinary("lock", "package-lock.json", "".join(nodes))
    sums = (
        draw(f"github.com/{name} v{version} h1:<b64:43>=\n", name) for name, version, _ in packages
    )
    yield Ordinary("lock", "go.sum", "".join(sums))


def _history() -> Iterator[Ordinary]:
    for words in _GIT:
        shown = subprocess.run(
            ("git", *words),
            cwd=_PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        yield Ordinary("git", " ".join(words), shown.stdout[:_MOST_CHARACTERS])


def _digests() -> Iterator[Ordinary]:
    """Yield what sums and identifiers of files look like in a terminal."""
    names = [f"dist/<word>-{number}.tar.gz" for number in range(400)]
    forms = {
        "sha256sum": "<hex:64>  {}",
        "md5sum": "<hex:32>  {}",
        "sha512sum": "<hex:128>  {}",
        "shasum": "<hex:40> *{}",
        "uuids": "<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>",
        "docker images": "acme/shop  <none>  <hex:12>  2 days ago  sha256:<hex:64>  {}",
        "kubectl pods": "shop-<hex:10>-<az:5>   1/1   Running   0   <dig:2>m   {}",
        "etags": 'ETag: W/"<hex:32>"  {}',
        "request ids": "x-request-id: <hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12> {}",
        "bare ids": "<url:11>",
        "sri": 'integrity="sha384-<b64:64>" src="{}"',
        "nonces": "<script nonce=\"<b64:22>==\" src='{}'></script>",
        "fingerprints": "256 SHA256:<b64:43> ana@box (ED25519) {}",
        "public keys": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b64:43> ana@{}",
    }
    for title, form in forms.items():
        lines = (draw(form.format(name), f"{title}|{name}") for name in names)
        yield Ordinary("digests", title, "\n".join(lines))


def transcripts(folder: Path) -> Iterator[Ordinary]:
    """Yield the texts in the transcripts of a folder of sessions, each string on its own."""
    for path in sorted((folder / "transcripts").iterdir()):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    said = json.loads(line)
                except ValueError:
                    continue  # a torn line
                for text in _strings(said):
                    yield Ordinary(f"{SESSIONS}{folder.name}", path.name, text)


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
