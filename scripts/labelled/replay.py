"""Replays a labelled session: real git in a real repository, with our real hooks and a store.

Owns the small language that the sessions are written in. Files are really edited and git is really
run; only what tests and other tools print is written down, so that nothing has to be installed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import orjson

from observer.core.config import Settings
from observer.core.model import Item
from observer.core.value import Value
from observer.git.launch import absolute_entries
from observer.ingest.pipeline import Pipeline
from observer.local.spool import Spool
from observer.projects import PlaceCache
from observer.store.database import SqliteStore

_HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
_NAMED = {"GIT_AUTHOR_NAME": "Ana", "GIT_AUTHOR_EMAIL": "ana@example.org"}
_NAMED |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in _NAMED.items()}
_BODY = "|-+"


class PlayedStep(Value):
    """One step: its sign, what stands behind it, and the lines below with theirs."""

    sign: str
    text: str
    lines: tuple[str, ...] = ()

    def side(self, sign: str) -> str:
        """Return the lines of one sign as they stand in a file."""
        return "".join(f"{line[2:]}\n" for line in self.lines if line.startswith(sign))


def steps(written: str) -> Iterator[PlayedStep]:
    """Read the steps of a session.

    = FILE    a file of the first commit: lines behind `|`
    @ NAME    go on as this session of an agent; `@ end` ends the one at hand
    > TEXT    a prompt
    ~ FILE    an edit: lines behind `-` become those behind `+`
    w FILE    a whole file is written: lines behind `|`
    x FILE    a file is deleted by a tool
    . COMMAND    it succeeds and prints the lines behind `|`
    ! COMMAND    it fails
    $ git …    really run by the agent
    % git …    really run by a person
    """
    head, below = "", []
    for line in [*written.splitlines(), ". "]:
        if line[:1] and line[0] in _BODY:
            below.append(line)
        elif line.strip():
            if head:
                yield PlayedStep(sign=head[0], text=head[1:].strip(), lines=tuple(below))
            head, below = line, []


class Stage:
    """A repository with our hooks, a spool and a store, for one session or several.

    Args:
        folder: an empty one.
        hooks: the `hooks` folder of observer.
    """

    def __init__(self, folder: Path, hooks: Path) -> None:
        self._home, self._root = folder / "home", folder / "shop"
        self._session = "s1"
        self._spool = Spool(self._home / "spool")
        self._spool.prepare()
        self.store = SqliteStore(self._home / "observer.db")
        self._hooks = hooks
        self.pipeline = Pipeline(
            self.store,
            self._spool,
            settings=Settings(),
            places=PlaceCache(),
            now_ms=lambda: time.time_ns() // 1_000_000,
        )
        self._play: Mapping[str, Callable[[PlayedStep], None]] = {
            "@": self._enter,
            ">": lambda step: self._post("UserPromptSubmit", {"prompt": step.text}),
            "~": self._edit,
            "w": self._write,
            "x": self._delete,
            ".": lambda step: self._ran(step.text, step.side("|"), failed=False),
            "!": lambda step: self._ran(step.text, step.side("|"), failed=True),
            "$": self._git,
            "%": self._by_person,
        }

    def play(self, written: str) -> list[Item]:
        """Play a session and return all items that were made of it."""
        todo = list(steps(written))
        self._begin([step for step in todo if step.sign == "="])
        for step in todo:
            if step.sign != "=":
                self._play[step.sign](step)
                self._drain()
        with self.store.read() as reader:
            return list(reader.all_items())

    def _begin(self, files: list[PlayedStep]) -> None:
        self._root.mkdir()
        self._run("git init -q -b main", {})
        for step in files:
            self._put(step.text, step.side("|"))
        self._run("git add -A", {})
        self._run("git commit -q --allow-empty -m start", {})
        script = (self._hooks / "git" / "hook").read_text(encoding="utf-8")
        script = script.replace("@POST@", shlex.quote(str(self._hooks / "post")))
        for event in _HOOKS:
            hook = self._root / ".git" / "hooks" / event
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(script.replace("@EVENT@", event), encoding="utf-8")
            hook.chmod(0o755)

    def _put(self, name: str, content: str) -> None:
        file = self._root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def _drain(self) -> None:
        while self.pipeline.drain().entries:
            pass

    def _enter(self, step: PlayedStep) -> None:
        if step.text == "end":
            self._post("SessionEnd", {"reason": "exit"})
        else:
            self._session = step.text

    def _edit(self, step: PlayedStep) -> None:
        old, new = step.side("-"), step.side("+")
        file = self._root / step.text
        before = file.read_text(encoding="utf-8")
        if old not in before:
            raise ValueError(f"{step.text} does not hold {old!r}")
        file.write_text(before.replace(old, new, 1), encoding="utf-8")
        given = {"file_path": str(file), "old_string": old, "new_string": new}
        self._post("PostToolUse", {"tool_name": "Edit", "tool_input": given})

    def _write(self, step: PlayedStep) -> None:
        file = self._root / step.text
        kind = "update" if file.exists() else "create"
        self._put(step.text, step.side("|"))
        given = {"file_path": str(file), "content": step.side("|")}
        answer = {"tool_name": "Write", "tool_input": given, "tool_response": {"type": kind}}
        self._post("PostToolUse", answer)

    def _delete(self, step: PlayedStep) -> None:
        (self._root / step.text).unlink()
        self._ran(f"rm {step.text}", "", failed=False)

    def _git(self, step: PlayedStep) -> None:
        # As an agent's shell has it, so that the hooks know whose shell it is.
        whose = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": self._session}
        code, output = self._run(step.text, whose)
        self._drain()
        self._ran(step.text, output, failed=code != 0)

    def _by_person(self, step: PlayedStep) -> None:
        self._run(step.text, {})

    def _run(self, command: str, whose: Mapping[str, str]) -> tuple[int, str]:
        # Nothing of the user's own git settings, and no editor.
        env = {"PATH": absolute_entries(os.environ["PATH"]), "HOME": str(self._home), "LC_ALL": "C"}
        env |= {"OBSERVER_HOME": str(self._home), "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self._root,
            env=env | _NAMED | dict(whose),
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return done.returncode, done.stdout

    def _ran(self, command: str, output: str, *, failed: bool) -> None:
        payload = {"tool_name": "Bash", "tool_input": {"command": command}}
        if failed:
            self._post("PostToolUseFailure", payload | {"error": f"Exit code 1\n{output}"})
        else:
            answer = {"stdout": output, "stderr": "", "interrupted": False}
            self._post("PostToolUse", payload | {"tool_response": answer})

    def _post(self, event: str, payload: Mapping[str, object]) -> None:
        whole = {"session_id": self._session, "cwd": str(self._root), "hook_event_name": event}
        fields = {"client": "claude-code", "event": event, "cwd": str(self._root)}
        self._spool.append(fields, orjson.dumps(whole | dict(payload)))
