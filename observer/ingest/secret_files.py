"""Files that hold secrets by their nature: what they hold is made known, and not kept.

On the way to redaction. Whether a tool read or wrote such a file, a command printed it or a
credential helper answered: the event keeps the path, and says that the text is left out. A file
that a private key was printed of is one from then on, so that its next lines are not kept either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import translate
from typing import Any

from msgspec.structs import replace

from observer.clients.envelope import PAYLOAD
from observer.commands.command_line import simple_commands
from observer.commands.runners import program_name, unquoted, without_documents
from observer.core import json_text
from observer.core.events import (
    AnyBody,
    Command,
    Edit,
    Event,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Search,
    ToolUse,
)
from observer.core.text import word_set
from observer.redaction.redact import redact_text
from observer.redaction.seen import SEEN

LEFT_OUT = "[redacted:secret-file]"
_FILES = word_set(
    """
    .env .envrc .env.* .dev.vars .secrets *-secrets *.secrets *.pem *.key *.ppk *.p12 *.pfx *.jks
    *.jceks *.keystore *.keytab *.kdbx *.agekey *.ovpn *.tfstate *.tfstate.backup *.kubeconfig
    id_rsa id_rsa_* id_dsa id_dsa_* id_ecdsa id_ecdsa_* id_ed25519 id_ed25519_* secring.gpg
    kubeconfig .netrc _netrc .authinfo .npmrc .pypirc .pgpass pgpass.conf .my.cnf .mylogin.cnf
    .git-credentials .credentials .credentials.json credentials.json credentials.tfrc.json
    client_secret*.json *accessKeys.csv .htpasswd .vault-token .vault_pass* .vault-pass*
    .erlang.cookie .s3cfg .passwd-s3fs .boto .dockercfg .databrickscfg .sentryclirc .cvspass
    rclone.conf .terraformrc terraform.rc settings-security.xml wpa_supplicant.conf sasl_passwd
    .smbcredentials .smbpasswd smbpasswd .fetchmailrc .msmtprc .esmtprc .ldap.secret
    """
)
"""Names of such files; `*` stands for any characters."""
_PLACES = word_set(
    """
    .kube/config .aws/credentials .docker/config.json containers/auth.json .composer/auth.json
    .codex/auth.json opencode/auth.json gh/hosts.yml .config/hub .cargo/credentials
    .cargo/credentials.toml .gem/credentials .snowsql/config doctl/config.yaml .fly/config.yml
    ngrok/ngrok.yml stripe/config.toml .supabase/access-token .streamlit/secrets.toml
    .mc/config.json gcloud/application_default_credentials.json
    .azure/msal_token_cache.json .azure/accessTokens.json etc/shadow etc/gshadow
    etc/wireguard/*.conf davfs2/secrets
    """
)
"""Ends of such files' paths."""
_NAME = re.compile("|".join(map(translate, _FILES)))
_PLACE = re.compile("|".join(translate(f"*/{each}") for each in _PLACES))
_EXAMPLE = re.compile(r"\.(?:pub|example|sample|template|dist|tpl|defaults?)\b")
_MENTIONED = tuple({max(each.split("*"), key=len) for each in _FILES | _PLACES})
"""One is in every command line that is about such a file."""
_PRINTERS = word_set(
    """
    awk base64 bat batcat cat cut diff egrep fold gawk grep head hexdump jq less more nl od openssl
    paste rev rg sed sort strings tac tail tee tr type xxd yq
    """
)
"""Programs that print what is in a file."""
_GIT_PRINTERS = (["show"], ["diff"], ["blame"], ["cat-file"])
_HELPERS = re.compile(
    r"git credential(?:-\S+)? (?:fill|get)|(?:git|docker)-credential-\S+ get|gh auth token"
    r"|gcloud auth (?:application-default )?print-\S+-token|az account get-access-token"
    r"|aws (?:ecr|ecr-public|codeartifact|sts|configure) (?:get-\w[\w-]*|assume-role\S*|export-\S+)"
    r"|vault (?:kv get|read|token create)|pass show|op (?:read|item get)|secret-tool lookup"
    r"|security find-(?:generic|internet)-password|kubectl config view .*--raw|terraform output"
)
_NAMED = ("{", "[", "apiVersion:", "---")
"""How files begin in which a name says what a value is: they hold many that are no secrets."""
_PART = re.compile(r"[^\s\"',;{}<>|()]{10,512}")
_KEY = re.compile(r"\s{0,9}-----BEGIN [A-Z ]{0,40}PRIVATE KEY")
_IDS = re.compile(r"(?i:.*(?:id|path|cwd))\Z")
"""Names of what a client reports of itself: its ids and folders look as drawn as a secret."""
_MOST_KEPT = 1_000


class SecretFiles:
    """What this process knows of them: files that a key was printed of, and calls under way."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], None] = {}
        self._open: dict[tuple[str, str], int] = {}
        """How many calls of a session and tool wait for their results."""
        self._secret: dict[tuple[str, str], None] = {}
        """Of which one is about such a file. Results do not say whose they are."""

    def without_text(self, event: Event, entry: bytes = b"") -> Event:
        """Return an event without the text of a secret file, whose values are known from now on.

        The event itself where it is about none. `entry` is all that was reported.
        """
        body = event.body
        if isinstance(body, Outcome):
            return self._result(event, body)
        self._count(event)
        act = body.of if isinstance(body, Intent) else body
        names = list(_files(act, any_may_be=bool(self._keys)))
        is_known = any(
            is_secret_file(name) or (event.session, _base(name)) in self._keys for name in names
        )
        if not is_known and not (isinstance(act, Command) and _HELPERS.search(act.command)):
            if any(map(_KEY.match, _texts(act))):
                _keep(self._keys, *((event.session, _base(name)) for name in names))
            return event
        reported = _strings(entry[entry.find(PAYLOAD) + len(PAYLOAD) :], but=_IDS)
        _make_known([*_texts(act), *reported])
        if isinstance(body, Intent):
            _keep(self._secret, (event.session, body.tool))
            return replace(event, body=replace(body, of=_bare(act)))
        return replace(event, body=_bare(act))

    def _count(self, event: Event) -> None:
        """Note a call that begins, and that a prompt ends the wait for those before it."""
        if isinstance(event.body, Intent):
            call = (event.session, event.body.tool)
            self._open[call] = self._open.pop(call, 0) + 1
            _keep(self._open)
        elif isinstance(event.body, Prompt):
            for call in [one for one in self._open if one[0] == event.session]:
                self._close(call)

    def _result(self, event: Event, body: Outcome) -> Event:
        call = (event.session, body.tool)
        is_secret = call in self._secret
        self._open[call] = self._open.get(call, 1) - 1
        if self._open[call] < 1:
            self._close(call)
        if not is_secret:
            return event
        _make_known([body.output])
        return replace(event, body=replace(body, output=body.output and LEFT_OUT))

    def _close(self, call: tuple[str, str]) -> None:
        del self._open[call]
        self._secret.pop(call, None)


def is_secret_file(path: str) -> bool:
    """Return True for the path of a file that holds secrets by its nature."""
    name = _base(path)
    if _EXAMPLE.search(name):
        return False
    is_place = _PLACE.match("/" + path.replace("\\", "/")) is not None
    return is_place or _NAME.match(name) is not None


def _mentions(text: str) -> bool:
    return any(map(text.__contains__, _MENTIONED))


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _files(act: object, *, any_may_be: bool) -> Iterator[str]:
    """Yield the files whose text an act holds or shows."""
    match act:
        case FileWrite():
            yield act.path
        case FileRead():
            yield from act.paths
        case Search():
            yield act.path
        case ToolUse() if _mentions(act.input):
            yield from filter(is_secret_file, _strings(act.input.encode("utf-8", "replace")))
        case Command() if any_may_be or _mentions(act.command) or _KEY.match(act.output):
            for part in simple_commands(act.command):
                program = program_name(part.words[0])
                if program in _PRINTERS or (program == "git" and part.words[1:2] in _GIT_PRINTERS):
                    words = (word for word in part.words[1:] if not word.startswith("-"))
                    yield from (unquoted(word).rpartition(":")[2].lstrip("<@") for word in words)
                yield from filter(None, [part.into.lstrip("> ")])
        case _:
            pass


def _texts(act: object) -> Iterator[str]:
    """Yield what an act holds of a file."""
    match act:
        case FileWrite():
            yield act.content or ""
            yield from (text for edit in act.edits for text in (edit.old, edit.new))
        case Command():
            yield act.output
            yield act.command
        case Search() | ToolUse():
            yield act.output
        case _:
            pass


def _bare(act: AnyBody) -> AnyBody:
    """Return an act without what it holds of a file."""
    match act:
        case FileWrite():
            edits = (Edit(new=LEFT_OUT),) if act.edits else ()
            return replace(act, edits=edits, content=act.content and LEFT_OUT)
        case Command():
            command = without_documents(act.command)
            return replace(act, command=command, output=act.output and LEFT_OUT)
        case ToolUse():
            paths = filter(is_secret_file, _strings(act.input.encode("utf-8", "replace")))
            return replace(act, input=" ".join(paths), output=act.output and LEFT_OUT)
        case Search():
            return replace(act, output=act.output and LEFT_OUT)
        case _:
            return act


def _make_known(texts: Iterable[str]) -> None:
    """Have the values in the texts of secret files known."""
    for text in texts:
        redact_text(text)  # which learns what the rules find
        if not text.lstrip().startswith(_NAMED):
            parts = [part for part in _PART.findall(text) if "sha" not in part]
            SEEN.learn(cut for part in parts for cut in (part, *re.split("[=:@/]", part)))
            SEEN.learn(part.partition("=")[2] for part in parts)


def _strings(data: bytes, but: re.Pattern[str] | None = None) -> Iterator[str]:
    """Yield the texts in JSON, none of what is no JSON, nor of fields that are called so."""
    waiting = []
    with suppress(ValueError, RecursionError):
        waiting.append(json_text.load(data))
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [one for name, one in value.items() if not (but and but.match(name))]
        elif isinstance(value, list):
            waiting += value


def _keep(kept: dict[tuple[str, str], Any], *new: tuple[str, str]) -> None:
    kept.update(dict.fromkeys(new))
    for oldest in list(kept)[:-_MOST_KEPT]:
        del kept[oldest]
