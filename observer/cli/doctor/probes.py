"""Sends a marked event with a fake key through the installed hooks of each client, as it would.

The daemon answers in a folder below `Home.probes`; the key must be in no file of the home.
"""

from __future__ import annotations

import os
import secrets
import shutil
import string
import subprocess
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import orjson

from observer.cli.doctor.diagnosis import refused, well, wrong
from observer.cli.session import reading
from observer.clients.client import Client, HookSample
from observer.clients.config_files.context import InstallContext, command
from observer.clients.installers import install, installed, perform
from observer.clients.registry import agent_variables, clients
from observer.clients.shelf.git import CONFIGURED_SINCE, version
from observer.core.clock import now_ms
from observer.core.errors import ObserverError
from observer.core.paths import Home, make_private
from observer.git.launch import launch
from observer.ingest.pipeline import ANSWER
from observer.local import client as daemon
from observer.local.pauses import EVERYWHERE
from observer.local.spool import Spool
from observer.memory.values import Diagnosis
from observer.tools.hook_output import ANYONES, mirror
from observer.upkeep.shred import finder, left

GONE_S = 5.0
"""Within so long after the last answer nothing of a probe is left in the spool."""
NAME = "probes"


def probe_checks(context: InstallContext, names: Collection[str] = ()) -> Iterator[Diagnosis]:
    """Yield what became of a probe through each installed client, or through those named."""
    here = context.home
    with_hooks = installed(context)
    found = [clients()[name] for name in with_hooks if not names or name in names]
    if not found or not here.hooks.is_dir():
        return
    if any(pause.scope == EVERYWHERE for pause in Spool(here.spool).pauses.now(now_ms())):
        yield well(NAME, "none sent: recording is paused everywhere")
        return
    try:
        daemon.ensure_daemon(here, wait_s=20.0)
    except ObserverError as error:
        yield refused(NAME, error)
        return
    run = make_private(here.probes / secrets.token_hex(4))
    keys = [fake_key() for _ in found]
    try:
        for client, key in zip(found, keys, strict=True):
            mark = f"probe-{secrets.token_hex(4)}"
            folder = make_private(run / client.name)
            yield send(Probe(client, context, folder=folder, mark=mark, key=key))
    finally:
        shutil.rmtree(run, ignore_errors=True)
        with suppress(OSError):  # another doctor is at work
            here.probes.rmdir()
    yield _unleaked(here, keys)


def fake_key() -> str:
    """Return a key in the form of one of GitHub's, which opens nothing."""
    letters = string.ascii_letters + string.digits
    return "ghp_" + "".join(secrets.choice(letters) for _ in range(36))


def _unleaked(here: Home, keys: list[str]) -> Diagnosis:
    text = finder(keys)
    assert text is not None  # noqa: S101 - there is a key
    deadline = time.monotonic() + GONE_S
    while (holding := left(here, text)) and time.monotonic() < deadline:
        time.sleep(0.1)
    if holding:
        found = f"a fake key that was sent is in {', '.join(holding)}"
        return wrong("secrets", found, "please report it; run: observer purge --secrets")
    return well("secrets", f"{len(keys)} fake keys were sent; no file of the home has one")


WAIT_S = 10.0
LOOK_S = 0.02
_OURS = ("OBSERVER_", "GIT_", "CLAUDE_", "CURSOR_", "KIRO_")


class Probe(NamedTuple):
    """A probe of one client: its folder, and the mark and the fake key that it sends."""

    client: Client
    context: InstallContext
    folder: Path
    mark: str
    key: str

    @property
    def text(self) -> str:
        """What is sent as a prompt, a command or the message of a commit."""
        return f"{self.mark} of observer doctor with the key {self.key}"

    def environ(self) -> dict[str, str]:
        """Return the variables that the client's hooks have, without those of other clients."""
        others = agent_variables()
        environ = {
            name: value
            for name, value in self.context.environ.items()
            if name not in others and not name.startswith(_OURS)
        }
        return environ | {"HOME": str(self.context.user_home), "PWD": str(self.folder)}


def send(probe: Probe) -> Diagnosis:
    """Send a probe, wait for it, and return what became of it."""
    name = f"{probe.client.name} probe"
    began = time.monotonic()
    try:
        if probe.client.name == "git":
            _commit(probe)
        elif probe.client.sample:
            _call(probe, probe.client.sample)
        else:
            no_sample = "there is no sample of its payloads"
            return well(
                name, f"none sent: {no_sample if probe.client.is_agent else 'it needs typing'}"
            )
        _wait_for_answer(probe)
        took_ms = (time.monotonic() - began) * 1000
        is_shared = probe.client.sample is None or bool(probe.client.sample.words)
        context = "" if is_shared else _context(probe)
    except ObserverError as error:
        return refused(name, error)
    except OSError as error:
        return wrong(name, str(error))
    return well(name, f"stored after {took_ms:,.0f} ms without the key{context}")


def _found(probe: Probe) -> bytes:
    for path in probe.folder.glob(f"**/{ANSWER}*"):
        with suppress(FileNotFoundError):
            if probe.mark.encode() in (answer := path.read_bytes()):
                return answer
    return b""


def _wait_for_answer(probe: Probe) -> None:
    deadline = time.monotonic() + WAIT_S
    while not (answer := _found(probe)):
        if time.monotonic() > deadline:
            logs = probe.context.home.logs
            hint = f"see {logs}/hooks.log and {logs}/daemon.log, and `exclude` in the settings"
            raise ObserverError(f"no event arrived within {WAIT_S:.0f} s", hint=hint)
        time.sleep(LOOK_S)
    if probe.key.encode() in answer:
        raise ObserverError("a fake key was stored as it is", hint="please report it")


def _call(probe: Probe, sample: HookSample) -> None:
    """Run the command that stands in the client's configuration, with a sample of its payload."""
    line = _registered(probe, *(sample.words or ("post", probe.client.name, sample.event)))
    payload = sample.payload
    values = {"@SESSION@": probe.mark, "@FOLDER@": str(probe.folder), "@TEXT@": probe.text}
    for name, value in values.items():
        payload = payload.replace(name, orjson.dumps(value).decode()[1:-1])
    _run(line, probe, folder=probe.folder, payload=payload.encode())


def _registered(probe: Probe, *words: str) -> str:
    """Return the command line of one of our scripts, as it stands in a file of the client."""
    line = command(probe.context.home, *words)
    hooks = str(probe.context.home.hooks)
    plan = install(probe.client.name, probe.context)
    text = b"\n".join(edit.before or b"" for edit in plan.edits if not edit.is_ours)

    def has(form: str) -> bool:
        return orjson.dumps(form)[1:-1] in text

    # A plug-in has the folder alone, and starts the scripts in it itself.
    if has(line) or (has(hooks) and not has(f"{hooks}/")):
        return line
    hint = f"repeat: observer install {probe.client.name}"
    raise ObserverError(f"its configuration does not call {' '.join(words)}", hint=hint)


def _run(line: str, probe: Probe, *, folder: Path, payload: bytes = b"") -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - the command of our own hook
            ["/bin/sh", "-c", line],
            cwd=folder,
            env=probe.environ() | {"PWD": str(folder)},
            input=payload,
            capture_output=True,
            timeout=WAIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ObserverError(f"it did not end within {WAIT_S:.0f} s: {line}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        hint = f"repeat: observer install {probe.client.name}"
        raise ObserverError(f"it ended with {done.returncode}: {line}: {said}", hint=hint)
    return done.stdout


def _context(probe: Probe) -> str:
    if not probe.client.context_file:
        return ""
    line = _registered(probe, "context", probe.client.name)
    here, roots = probe.context.home, list[str]()
    if here.database.exists():
        with reading(here) as reader:
            roots = [root for project in reader.projects() for root in project.roots]
    known = (one for one in roots if Path(one).is_dir() and (mirror(here, one) / ANYONES).exists())
    root = next(reversed(list(known)), "")  # of the newest project that has one
    if not root:
        return "; there is no context yet"
    printed = _run(line, probe, folder=Path(root))
    files = (mirror(here, root) / name for name in (probe.client.context_file, ANYONES))
    if printed not in [path.read_bytes() for path in files if path.exists()] or not printed:
        message = f"its session-start hook does not print the context of {root}"
        hint = "refresh the hooks with: observer doctor --fix"
        raise ObserverError(message, hint=hint)
    if probe.client.wrap_context:
        orjson.loads(printed)
    return f", context of {len(printed):,} bytes returned"


def _commit(probe: Probe) -> None:
    environ = probe.environ() | {"GIT_TERMINAL_PROMPT": "0"}
    for kind in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{kind}_NAME": "observer doctor", f"GIT_{kind}_EMAIL": "doctor@localhost"}
    is_configured = version(probe.context) >= CONFIGURED_SINCE
    if not is_configured:
        environ["GIT_CONFIG_GLOBAL"] = os.devnull  # hooks of the repository alone
    _git(probe, environ, "init", "--quiet")
    if not is_configured:
        inside = replace(probe.context, environ=environ, project=probe.folder)
        perform(install("git", inside), inside.home, at_ms=now_ms())
    else:
        # The hooks that the person has beside ours are not to run here.
        _git(probe, environ, "config", "core.hooksPath", str(probe.folder / "none"))
    message = ("--quiet", "--allow-empty", "--no-gpg-sign", "--message", probe.text)
    _git(probe, environ, "commit", *message)


def _git(probe: Probe, environ: dict[str, str], *words: str) -> None:
    with launch(("-C", str(probe.folder), *words), environ=environ, wait_s=WAIT_S) as git:
        code = git.code()
    if code:
        raise ObserverError(f"git {words[0]} ended with {code} in a new repository")
