"""Steps 3 to 5 of an event's way, as far as no store is needed: decode, redact, truncate, locate.

Looks at the disk and at nothing else, so that any process can do it, and may do it again.

Of observer's own commands what they say is in the memory already, and only there: `observer
remember …` and `observer purge …` are kept without their words, and what observer answered is not
kept at all: a copy in the log would outlive the note's being forgotten, and show to all what is one
person's. Where a line is too twisted to read, more of it goes.

Files that hold secrets by their nature: what they hold is made known, and not kept. Whether a tool
read or wrote such a file, a command printed it or a credential helper answered: the event keeps the
path, and says that the text is left out. A file that a private key was printed of is one from then
on, so that its next lines are not kept either.
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
    """Return an event with its folders and files as WSL spells them, whoever reported it.

    Whose project it is, and whether it is excluded, is known by that spelling.
    """
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

    Args:
        spool: knows when and where nothing is recorded, and the home.
        places: looks up folders.
        now_ms: the clock; nothing happens later than now.
    """

    def __init__(
        self, settings: Settings, spool: Spool, *, places: PlaceCache, now_ms: Callable[[], int]
    ) -> None:
        self._cap_bytes = settings.event_cap_bytes
        self._exclusion = Exclusion(settings.exclude)
        self._policies = Policies()
        self._retention = Retention(settings)
        self._places = places
        self._now_ms = now_ms
        self._pauses = spool.pauses
        self._seen = spool.home.seen
        self._secret_files = SecretFiles()
        self.clear_cache()

    def clear_cache(self) -> None:
        """Forget what the disk said; within a batch, a moment's work, it goes on saying it."""
        self._place_of = cache(self._look)
        self._work_tree_of = cache(work_tree_of)
        self._folder_of = partial(event_folder, work_tree_of=self._work_tree_of)
        self._policy_of = cache(lambda folder: self._policies.of(self._place_of(folder)[0]))
        self._has_pauses = bool(self._pauses)
        SEEN.use(self._seen)

    def read(self, entry: SpoolEntry) -> list[EventRecord]:
        """Return the events of an entry, without what settings, policies and pauses exclude.

        Commits that came in by one of git's stand before it.

        Raises:
            Undecodable: it holds none.
        """
        if entry.fault:
            raise Undecodable(entry.fault)
        events = decode(entry.id, entry.data, entry.at_ms, cap_bytes=self._cap_bytes)
        heard = (event for event in map(spelled_here, events) if not self._is_paused(event))
        heard = (self._secret_files.without_text(event, entry.data) for event in heard)
        return [one for event in heard for one in self._with_arrivals(event)]

    def prepare(self, event: Event, *, project_id: int | None = None) -> EventRecord | None:
        """Return a decoded event, redacted and fitted, with its place; None if it is excluded."""
        prepared, _ = self._prepare(spelled_here(event), project_id)
        return prepared

    def prepare_reported(
        self, event: Event, *, project_id: int | None = None
    ) -> EventRecord | None:
        """Return what `prepare` does of an event that a front reports; None while that is paused.

        When it happened does not matter, but for what a client kept of its sessions: what was
        paused then is left out.
        """
        event = spelled_here(event)
        at_ms = event.at_ms if is_imported(event) else self._now_ms()
        is_paused = is_captured(event.body) and self._is_paused(event, at_ms=at_ms)
        event = self._secret_files.without_text(event)
        return None if is_paused else self.prepare(event, project_id=project_id)

    def root_of(self, folder: str) -> str:
        """Return the root of the project that a folder lies in; "" where there is none."""
        return self._place_of(folder)[1].root

    def restricted(self) -> list[str]:
        """Return the roots of which a policy was read."""
        return self._policies.roots()

    def _prepare(self, event: Event, project_id: int | None) -> tuple[EventRecord | None, Place]:
        """Return what `prepare` does, and the place as it is, whatever its name holds."""
        # A folder with a secret in its name is only found under that name.
        folder = self._folder_of(event)
        permitted = self._exclusion.applied(event, folder)
        if permitted is None:
            return None, NOWHERE
        place, kept = self._place_of(folder)
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
        prepared, place = self._prepare(event, project_id=None)
        if prepared is None:
            return
        came = (one for one in incoming_commits(prepared.event, place) if not self._is_paused(one))
        yield from filter(None, map(self.prepare, came))
        if is_reported(prepared.event):
            yield prepared

    def _is_paused(self, event: Event, *, at_ms: int | None = None) -> bool:
        """Return True if nothing is recorded where and when an event happened."""
        if not self._has_pauses:
            return False
        folder = self._folder_of(event)
        folders = {event.cwd, folder, self._place_of(folder)[0].root} - {""}
        at_ms = event.at_ms if at_ms is None else at_ms
        if not self._pauses.covers(at_ms, folders, event.session):
            return False
        if isinstance(event.body, FileWrite):
            self._pauses.withhold(str(Path(event.cwd, event.body.path)), event.at_ms)
        return True

    def _look(self, folder: str) -> tuple[Place, Place]:
        """Return the place of a folder as it is, and as it is kept."""
        place = self._places.at(folder) if folder else NOWHERE
        return place, replace(redact(place), name=self._policies.of(place).name)

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
    """Return the event without what a command gave to observer, and without the answer.

    The event itself where there is nothing of the kind.
    """
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
