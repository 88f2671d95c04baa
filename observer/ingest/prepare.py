"""Steps 3 to 5 of an event's way, as far as no store is needed: decode, redact, truncate, locate.

Looks at the disk and at nothing else, so that any process can do it, and may do it again.

Commands like `observer remember …` are kept without their words, and what observer answered not at
all: a copy in the log would outlive the note, and show to all what is one person's. Where a line is
too twisted to read, more of it goes.

What files hold that are secret by their nature is made known to redaction and not kept, whether a
tool read or wrote one, a command printed it or a credential helper answered. A file that a private
key was printed of is one from then on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fnmatch import translate
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from observer.clients.envelope import PAYLOAD
from observer.commands.command_line import simple_commands
from observer.commands.runners import program_name, unquoted, without_documents
from observer.core import json_text
from observer.core.config import Settings
from observer.core.disk import SpoolEntry
from observer.core.errors import NotFound, Undecodable
from observer.core.events import (
    AnyBody,
    Command,
    Commit,
    Edit,
    Event,
    FileRead,
    FileWrite,
    Intent,
    Outcome,
    Prompt,
    Remember,
    Revise,
    Search,
    Shared,
    ToolUse,
    kind_of,
)
from observer.core.model import Place
from observer.core.routes import is_imported
from observer.core.text import word_set
from observer.git.log import read_commit
from observer.git.process import existing
from observer.ingest.commits import incoming_commits, is_reported, without_owner
from observer.ingest.decode import decode, truncate
from observer.ingest.file_changes import with_symbols
from observer.local.spool import Spool
from observer.observations.analysis import NOWHERE, EventRecord
from observer.projects import PlaceCache, event_folder, main_folder, work_tree_of
from observer.projects.fs_probe import from_windows
from observer.projects.policy import Policies, Policy, apply_policy, is_captured, unexcluded_files
from observer.projects.policy.apply import Exclusion
from observer.projects.policy.policies import Retention
from observer.redaction.redact import redact, redact_text
from observer.redaction.seen import SEEN

NOTE_BYTES = 1 << 20
"""Room for any note: it was bounded where it was written, and nobody would look for a cut."""

_json = msgspec.json.Encoder().encode


def spelled_here(event: Event) -> Event:
    """Return an event with folders and files as WSL spells them, by which projects are known."""
    cwd, roots = from_windows(event.cwd), tuple(map(from_windows, event.roots))
    body = event.body
    there = whole = body.of if isinstance(body, Intent) else body
    if isinstance(whole, FileWrite):
        there = replace(whole, path=from_windows(whole.path))
    elif isinstance(whole, FileRead):
        there = replace(whole, paths=tuple(map(from_windows, whole.paths)))
    if (cwd, roots, there) == (event.cwd, event.roots, whole):
        return event
    body = replace(body, of=there) if isinstance(body, Intent) else there
    return replace(event, cwd=cwd, roots=roots, body=body)


class EventPreparer:
    """Reads entries and events; what the disk said holds until `clear_cache`.

    `spool` knows when and where nothing is recorded, `places` looks up folders, and nothing happens
    later than `now_ms`.
    """

    def __init__(
        self, settings: Settings, spool: Spool, *, places: PlaceCache, now_ms: Callable[[], int]
    ) -> None:
        self._cap_bytes = settings.event_cap_bytes
        self._exclusion = Exclusion(settings.exclude)
        self.policies = Policies()
        self._retention = Retention(settings)
        self._places = places
        self._now_ms = now_ms
        self._pauses = spool.pauses
        self._seen = spool.home.seen
        self._secret_files = SecretFiles()
        self.clear_cache()

    def clear_cache(self) -> None:
        """Forget what the disk said; within a batch, a moment's work, it goes on saying it."""
        self.place_of = cache(self._look)
        self._work_tree_of = cache(work_tree_of)
        self._folder_of = partial(event_folder, work_tree_of=self._work_tree_of)
        self._policy_of = cache(lambda folder: self.policies.of(self.place_of(folder)[0]))
        self._has_pauses = bool(self._pauses)
        SEEN.use(self._seen)

    def read(self, entry: SpoolEntry) -> list[EventRecord]:
        """Return the events of an entry, without what settings, policies and pauses exclude.

        Commits that came in by one of git's stand before it. Raises Undecodable: it holds none.
        """
        if entry.fault:
            raise Undecodable(entry.fault)
        events = decode(entry.id, entry.data, entry.at_ms, cap_bytes=self._cap_bytes)
        heard = (event for event in map(spelled_here, events) if not self._is_paused(event))
        heard = (self._secret_files.without_text(event, entry.data) for event in heard)
        return [one for event in heard for one in self._with_arrivals(event)]

    def prepare_reported(self, event: Event, project_id: int | None = None) -> EventRecord | None:
        """Return an event that a front reports as `read` does; None while that is paused.

        Only of what a client kept of its sessions the time counts at which it happened.
        """
        event = spelled_here(event)
        at_ms = event.at_ms if is_imported(event) else self._now_ms()
        is_paused = is_captured(event.body) and self._is_paused(event, at_ms=at_ms)
        event = self._secret_files.without_text(event)
        return None if is_paused else self._prepare(event, project_id)[0]

    def _prepare(
        self, event: Event, project_id: int | None = None
    ) -> tuple[EventRecord | None, Place]:
        """Return an event, redacted and fitted, None if it is excluded, and its place as it is."""
        # A folder with a secret in its name is only found under that name.
        folder = self._folder_of(event)
        permitted = self._exclusion.applied(event, folder)
        if permitted is None:
            return None, NOWHERE
        place, kept = self.place_of(folder)
        policy = self._policy_of(folder)
        around = self._work_tree_of
        permitted = apply_policy(
            permitted, policy, lambda *at: self._policy_of(around(*at)), root=place.root
        )
        if permitted is None:
            return None, NOWHERE
        event, data = self._clean(with_symbols(permitted))
        if SEEN.doubtful:
            with suppress(NotFound):
                SEEN.settle(existing(place.root, SEEN.doubtful))
            SEEN.settle(())
        if isinstance(event.body, Commit):
            completed = self._completed(event.body, place, policy)
            known = event if completed is event.body else replace(event, body=completed)
            if (owned := without_owner(known, place)) is not event:
                event, data = self._clean(owned)
        body = event.body.of if isinstance(event.body, Intent) else event.body
        prepared = EventRecord(
            event=event,
            place=kept,
            project_id=project_id or 0,
            data=data,
            is_expired=self._retention.is_expired(
                kind_of(body),
                event.at_ms,
                now_ms=self._now_ms(),
                at_most=self._retention.of_folders(place.root, main_folder(place.common_dir)),
            ),
        )
        return prepared, place

    def _with_arrivals(self, event: Event) -> Iterator[EventRecord]:
        prepared, place = self._prepare(event)
        if prepared is None:
            return
        came = (one for one in incoming_commits(prepared.event, place) if not self._is_paused(one))
        yield from (ready for one in came if (ready := self._prepare(spelled_here(one))[0]))
        if is_reported(prepared.event):
            yield prepared

    def _is_paused(self, event: Event, *, at_ms: int | None = None) -> bool:
        """Return True if nothing is recorded where and when an event happened."""
        if not self._has_pauses:
            return False
        folder = self._folder_of(event)
        folders = {event.cwd, folder, self.place_of(folder)[0].root} - {""}
        at_ms = event.at_ms if at_ms is None else at_ms
        if not self._pauses.covers(at_ms, folders, event.session):
            return False
        if isinstance(event.body, FileWrite):
            self._pauses.withhold(str(Path(event.cwd, event.body.path)), event.at_ms)
        return True

    def _look(self, folder: str) -> tuple[Place, Place]:
        """Return the place of a folder as it is, and as it is kept."""
        place = self._places.at(folder) if folder else NOWHERE
        return place, replace(redact(place), name=self.policies.of(place).name)

    def _clean(self, event: Event) -> tuple[Event, str]:
        # Redaction sees the whole text: a cut through a secret would hide it from its pattern.
        event = redact(strip_self_commands(event))
        # What a clock that was wrong dated to the future would lead every answer until then.
        if event.at_ms > (now_ms := self._now_ms()):
            event = replace(event, at_ms=now_ms)
        cap_bytes = self._cap_bytes
        if isinstance(event.body, Remember | Revise | Shared):
            cap_bytes = max(cap_bytes, NOTE_BYTES)
        if len(data := _json(event)) > cap_bytes:
            event = truncate(event, cap_bytes)
            data = _json(event)
        return event, data.decode()

    def _completed(self, commit: Commit, place: Place, policy: Policy) -> Commit:
        """Return a commit with what a git hook has no time to read, without excluded files."""
        if not commit.subject and place.git:
            with suppress(NotFound):
                action, commit = commit.action, read_commit(place.root, commit.hash)
                commit = replace(commit, action=action)
        files = unexcluded_files(self._exclusion.beside(commit.files, place.root), policy)
        return commit if files == commit.files else replace(commit, files=files)


_OPTION = r"-\S{1,200}\s+"
_QUOTED = r"\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'"
_LAUNCHER = (
    r"(?:\S{0,200}/)?(?:python[\d.]*|py|uvx?|pipx|poetry|pdm|hatch|conda|micromamba|sudo|doas|env|time"
    r"|timeout|nice|nohup|stdbuf|xargs|command|exec|builtin|run|tool|watch|wsl"
    r"|then|do|else|if|elif|while|until|and|or|not|begin|!|\{|\()"
)
_SCRIPT = re.compile(
    r"(?:\b(?:ba|z|da|k|fi)?sh\s+(?:-\S+\s+){0,4}-\w{0,8}c|\beval|\bssh\s[^\n;|&\"']{1,200}"
    r"|\bsu\s[^\n;|&\"']{0,200}-c)\s*[\"']|[$<>]\(|`"
)
"""Where commands begin in quotes or brackets of their own: where one ends there cannot be known."""
_OWN = re.compile(
    rf"""
    (?:{_SCRIPT.pattern}|(?P<pipe>(?<!\|)\|&?(?!\|))|[;&|({{]|^)\s{{0,99}}+
    (?:(?:[A-Za-z_]\w*=(?:{_QUOTED}|[^\s\"'])*|{_LAUNCHER}|\d+[smhd]?)\s+
       (?:{_OPTION}(?:(?!-|\S*observer\s)[^\s;|&]{{1,200}}\s+)?){{0,6}}){{0,8}}
    [\"']?(?:[^\s\"';|&]{{0,200}}/)?observer(?:-memory)?
    (?:\.exe|\.__main__|[@=]=?[\w.]{{1,30}})?[\"']?
    (?:[ \t]+-\S{{1,200}})*[ \t]+(?:\\\n[ \t]*)?[\"']?
    (?:(?P<writes>remember|note|forget|purge)
      |recall|search|timeline|show|why|context|sessions|usage|export)\b[\"']?
    """,
    re.MULTILINE | re.VERBOSE,
)
_WORDS = re.compile(
    r"(?:'(?:\\'|[^'])*(?:'|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|\\.|[<>]&\d?|&>|[^'\"\\;|&\n])*",
    re.DOTALL,
)
"""What belongs to one command; quotes that nobody closes hold all that follows."""
_DOTS = " …"


def strip_self_commands(event: Event) -> Event:
    """Return the event without what a command gave to observer, and without the answer."""
    body = event.body
    act = body.of if isinstance(body, Intent) else body
    line = act.command if isinstance(act, Command) else ""
    if not isinstance(act, Command) or "observer" not in line or _OWN.search(line) is None:
        return event
    stripped = _without_words(line)
    said = act.description if stripped == line else ""
    quiet = replace(act, command=stripped, output="", description=said)
    return replace(event, body=replace(body, of=quiet) if isinstance(body, Intent) else quiet)


def _without_words(line: str) -> str:
    """Return a command line without the words of notes; what is piped into one goes with them."""
    kept = ""
    at = 0
    script = _SCRIPT.search(line)
    plain_until = script.start() if script else len(line)
    for found in _OWN.finditer(line):
        if found["writes"] and found.start() >= at:
            piped = found.end("pipe")
            kept = (
                line[piped : found.end()].lstrip() if piped > 0 else kept + line[at : found.end()]
            )
            kept += _DOTS
            words = next(_WORDS.finditer(line, found.end()))[0]
            has_document = "<<" in words or (found["pipe"] and "<<" in line[: found.start()])
            is_plain = found.start() < plain_until and not has_document
            at = found.end() + len(words.rstrip()) if is_plain else len(line)
    return kept + line[at:]


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
        """How many calls of a session and tool wait for their results, which do not say whose."""
        self._secret: dict[tuple[str, str], None] = {}
        """Of which one is about such a file."""

    def without_text(self, event: Event, entry: bytes = b"") -> Event:
        """Return an event without the text of a secret file; that of its `entry` is known then."""
        body = event.body
        if isinstance(body, Outcome):
            return self._result(event, body)
        if isinstance(body, Intent):
            call = (event.session, body.tool)
            self._open[call] = self._open.pop(call, 0) + 1
            _keep(self._open)
        elif isinstance(body, Prompt):  # which ends the wait for calls before it
            for call in [one for one in self._open if one[0] == event.session]:
                self._close(call)
        act = body.of if isinstance(body, Intent) else body
        keys = {
            name: (event.session, name.replace("\\", "/").rpartition("/")[2])
            for name in _files(act, any_may_be=bool(self._keys))
        }
        is_known = any(is_secret_file(name) or key in self._keys for name, key in keys.items())
        if not is_known and not (isinstance(act, Command) and _HELPERS.search(act.command)):
            if any(map(_KEY.match, _texts(act))):
                _keep(self._keys, *keys.values())
            return event
        reported = _strings(entry[entry.find(PAYLOAD) + len(PAYLOAD) :], but=_IDS)
        _make_known([*_texts(act), *reported])
        if isinstance(body, Intent):
            _keep(self._secret, (event.session, body.tool))
            return replace(event, body=replace(body, of=_bare(act)))
        return replace(event, body=_bare(act))

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
    path = "/" + path.replace("\\", "/")
    name = path.rpartition("/")[2]
    if _EXAMPLE.search(name):
        return False
    return _PLACE.match(path) is not None or _NAME.match(name) is not None


def _files(act: object, *, any_may_be: bool) -> Iterator[str]:
    """Yield the files whose text an act holds or shows."""
    match act:
        case FileWrite():
            yield act.path
        case FileRead():
            yield from act.paths
        case Search():
            yield act.path
        case ToolUse() if any(map(act.input.__contains__, _MENTIONED)):
            yield from filter(is_secret_file, _strings(act.input.encode("utf-8", "replace")))
        case Command() if (
            any_may_be or any(map(act.command.__contains__, _MENTIONED)) or _KEY.match(act.output)
        ):
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
