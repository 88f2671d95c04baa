"""How a secret stands in text: every form of every family, half of them held back from tuning."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from leaks.drawing import draw
from leaks.kinds import Family, Kind

_STRINGS = (
    *('{name} = "{s}"', "{name} = '{s}'", '"{name}": "{s}",', 'const {camel} = "{s}";'),
    *('  {name}: "{s}"', 'os.environ["{NAME}"] = "{s}"', 'connect({name}="{s}")'),
    *('process.env.{NAME} || "{s}"', 'os.getenv("{NAME}") or "{s}"', 'self.set_{name}("{s}")'),
    *('client.set{Pascal}("{s}");', 'os.environ.get("{NAME}", "{s}")', "export {NAME}='{s}'"),
    *(
        '{camel} := "{s}"',
        'val {camel}: String = "{s}"',
        '{name} => "{s}",',
        "define('{NAME}', '{s}');",
    ),
    *('private static final String {NAME} = "{s}";', '{camel} ?? "{s}"', "with{Pascal}('{s}')"),
    *('ENV["{NAME}"] ||= "{s}"', '<add key="{Pascal}" value="{s}" />', '-D{camel}="{s}"'),
    *('{NAME}="{s}" make deploy', 'if ({camel} === "{s}")', '{"key": "{NAME}", "value": "{s}"}'),
)
_BARE = (
    *("{NAME}={s}", "export {NAME}={s}", "{NAME}={s} npm start", "docker run -e {NAME}={s} shop"),
    *("{name}={s}", "{name}: {s}", "  {name}: {s}", "{NAME}: {s}", "--{kebab}={s}"),
    *("serve --{kebab} {s}", "<{camel}>{s}</{camel}>", "ENV {NAME} {s}", "{dotted}={s}"),
    *("+{NAME}={s}", "{camel}={s}", "x-{kebab}: {s}", "[shop]\n{name} = {s}\n"),
)
_ANYWHERE = (
    *("{s}", "use {s} for it", "(see {s})", "`{s}`", "| ana | {s} |", "{NAME}={s}", "- {s}"),
    *("https://api.acme.test/v1?x={s}&n=2", 'client = Client("{s}")', '+    return "{s}"'),
    *("curl -H 'X-Auth: {s}' https://api.acme.test", "it is {s}.", '{"x":"{s}"}', "a: {s}, b: 1"),
    *("login {s} ok", "[{s}]", "x,{s},y", "ana@box:~$ echo {s}", "<x>{s}</x>", "'{s}'"),
)
_ADDRESSES = (
    *("{w}{s}", "curl -X POST -d '{}' {w}{s}", '"webhook_url": "{w}{s}"', "HOOK={w}{s}"),
    *("post it to {w}{s} please", "<{w}{s}>", "url: {w}{s}\n", 'notify("{w}{s}")'),
)
_SHOWN = (
    *("the password for staging is {s}", "log in as ana, password {s}", "my password: {s}"),
    *("use {s} as the password", "Das Passwort für die Datenbank lautet {s}", "pw: {s}"),
    *("pass is {s}, user is ana", "the admin password was changed to {s}", "password = {s}"),
    *("user ana / password {s}", "credentials: ana / {s}", "login with ana and {s}"),
    *("(password: {s})", "the db password, {s}, is old", "its passphrase is {s}", "пароль {s}"),
    *("password is now {s}", "set the password to {s}", 'the password "{s}" does not work'),
    *("le mot de passe est {s}", "PIN or password: {s}", "try password {s} on the box"),
)
_URL_FORMS = ("{w}", "DATABASE_URL={w}", 'url = "{w}"', "connect to {w} now", "-d {w}", "'{w}'")
_PEM = (
    "-----BEGIN {w}-----\n{s}\n-----END {w}-----",
    'key = """-----BEGIN {w}-----\n{s}\n-----END {w}-----"""',
    "key: |\n  -----BEGIN {w}-----\n{s}\n  -----END {w}-----",
    "cat id_rsa\n-----BEGIN {w}-----\n{s}\n",
)
_FORMS: dict[Family, tuple[str, ...]] = {
    "issuer": _ANYWHERE,
    "pair": (*_STRINGS, *_BARE),
    "password": _STRINGS,
    "webhook": _ADDRESSES,
    "url": _URL_FORMS,
    "key": _PEM,
    "prose": _SHOWN,
}


class Rendered(NamedTuple):
    """A secret in a text, and whether the text's form was held back while rules were tuned."""

    secret: str
    text: str
    is_held: bool


def render(kind: Kind, route: str, *, most: int) -> Iterator[Rendered]:
    """Yield a few renderings of a kind for a route, each with a value of its own; half are held."""
    forms = sorted(_FORMS[kind.family], key=lambda form: _digest(f"{kind.name}|{route}|{form}"))
    for number, form in enumerate(forms[:most]):
        secret = draw(kind.template, f"{kind.name}|{route}|{number}")
        is_held = bool(_digest(f"held|{form}") & 1)
        yield Rendered(secret, fill(form, kind, secret), is_held)


def joined(kind: Kind, route: str, *, most: int) -> Iterator[Rendered]:
    """Yield a kind as part of a name of a branch or file: the secret's name, then the secret."""
    for number, form in enumerate(
        ("{kebab}-{s}", "{name}={s}", "fix-{kebab}_{s}", "{name}_{s}")[:most]
    ):
        secret = draw(kind.template, f"{kind.name}|{route}|{number}")
        if not set(secret) & set("/\n ~^:?*[\\{@;|<>&()!#"):
            yield Rendered(secret, fill(form, kind, secret), bool(number & 1))


def fill(form: str, kind: Kind, secret: str) -> str:
    """Return a form with a secret and the names of its kind filled in."""
    words = kind.label.split("_")
    camel = words[0] + "".join(map(str.title, words[1:]))
    whole = draw(kind.label, secret)
    names = {
        "{s}": secret,
        "{w}": whole.replace("|", secret) if kind.family == "url" else whole,
        "{name}": kind.label,
        "{NAME}": kind.label.upper(),
        "{camel}": camel,
        "{Pascal}": camel[:1].upper() + camel[1:],
        "{kebab}": "-".join(words),
        "{dotted}": ".".join(("app", *words)),
    }
    for mark, value in names.items():
        if mark != "{s}":
            form = form.replace(mark, value)
    return form.replace("{s}", secret)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
