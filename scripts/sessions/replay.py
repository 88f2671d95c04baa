"""Playing a corpus: every hook call and commit in order, under the clock of that time."""

from __future__ import annotations

import time
from collections import Counter

import msgspec

from sessions.history import Made, git
from sessions.kept import Asked, Counts, Finished, Kept, Log, Recalled, Start
from sessions.product import Clock, Fields, Product
from sessions.timeline import Committers, Step
from sessions.transcript import HookEvent
from sessions.worktree import WorkTree

HITS = 80
QUERY_CHARS = 4_000
RECENT_COMMITS = 60
RECENT_FILES = 60
_AHEAD = frozenset({"Bash", "Edit", "MultiEdit", "Write"})
"""Tools before whose calls memory is asked, as `PreToolUse` would."""
_AFTER = frozenset({"PostToolUse", "PostToolUseFailure"})
_CLIENT = "claude-code"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay does beyond storing and printing contexts; `limit` is of steps, 0 is all."""

    embed: bool = False
    search: bool = False
    recall: bool = False
    limit: int = 0


class Replay:
    """One replay of a corpus into an empty folder.

    Args:
        kept: where everything goes.
        options: what to do.
    """

    def __init__(self, kept: Kept, options: Options) -> None:
        self._kept = kept
        self._options = options
        self._clock = Clock()
        self._product = Product(kept.home, self._clock, with_vectors=options.embed)
        self._committers = Committers(kept.steps)
        self._trees = {each.name: WorkTree(each.folder, each.history) for each in kept.repositories}
        self._branches: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self._sent = 0
        self._starts: list[Start] = []
        self._ends: list[Finished] = []
        self._prompts: list[Asked] = []
        self._recalls: list[Recalled] = []

    def run(self) -> None:
        """Play everything and keep what was noted."""
        begun = time.monotonic()
        for step in self._kept.steps[: self._options.limit or None]:
            self._begin(step)
            self._clock.at_ms = step.at_ms
            if isinstance(step.happened, Made):
                self._commit(step, step.happened)
            else:
                self._hook(step, step.happened)
        self._product.settle()
        seconds = round(time.monotonic() - begun, 1)
        self._kept.write(
            Log(
                corpus=str(self._kept.corpus),
                counts=Counts(sent=self._sent, bad=self._product.bad, seconds=seconds),
                starts=tuple(self._starts),
                ends=tuple(self._ends),
                prompts=tuple(self._prompts),
                recalls=tuple(self._recalls),
            )
        )
        self._product.close()

    def _begin(self, step: Step) -> None:
        """Import a repository's history when its first session is about to begin."""
        tree = self._tree(step)
        if tree.head:
            return
        self._clock.at_ms = step.at_ms - 1
        tree.move(step.repository.history.main_name, step.at_ms)
        self._product.import_git(tree.folder)

    def _tree(self, step: Step) -> WorkTree:
        return self._trees[step.repository.name]

    def _commit(self, step: Step, made: Made) -> None:
        self._product.drain()  # edits before it belong to the head that they were made on
        tree = self._tree(step)
        tree.commit(made.hash)
        is_merge = len(made.parents) > 1
        fields = [("env.git.action", "merge" if is_merge else "commit")]
        if is_merge:
            fields += [("env.git.was", made.parents[0]), ("arg", "0")]
        if session := self._committers.of(step.repository, made):
            fields += [("env.CLAUDECODE", "1"), ("env.CLAUDE_CODE_SESSION_ID", session)]
        self._git(step, "post-merge" if is_merge else "post-commit", fields)
        self._product.drain()  # it is read from the repository

    def _git(self, step: Step, event: str, fields: Fields) -> None:
        tree = self._tree(step)
        shown = [
            ("client", "git"),
            ("event", event),
            ("cwd", str(tree.folder)),
            ("env.git.head", tree.head),
            ("env.git.dir", str(tree.folder / ".git")),
        ]
        if tree.branch_name:
            shown.append(("env.git.branch", tree.branch_name))
        self._product.spool([*shown, *fields], b"")

    def _hook(self, step: Step, event: HookEvent) -> None:
        if step.is_first or event.branch != self._branches.get(step.session, event.branch):
            self._follow(step, event.branch)
        if event.branch:
            self._branches[step.session] = event.branch
        if step.is_first:
            self._start(step)
        payload = msgspec.json.encode(event.payload)
        fields = [("client", _CLIENT), ("event", event.event), ("cwd", event.payload["cwd"])]
        if self._options.search and event.event == "UserPromptSubmit":
            self._search(step, event)
        if self._options.recall:
            self._recall(step, event)
        folder = str(self._tree(step).folder)
        env = [("env.CLAUDECODE", "1"), ("env.CLAUDE_PROJECT_DIR", folder)]
        self._product.spool([*fields, *env], payload)
        self._sent += 1
        if event.event == "PostToolUse" and event.payload["tool_name"] in {"Edit", "Write"}:
            self._product.drain()
            self._tree(step).edit(event.payload)
        if event.event == "SessionEnd":
            self._end(step)

    def _follow(self, step: Step, branch: str) -> None:
        """Check out the branch of a session as it was then, and report that as git would."""
        if not branch:
            return
        self._product.drain()
        tree = self._tree(step)
        before = tree.move(branch, step.at_ms)
        if before is None:
            return
        if before.branch == branch:
            was = ("env.git.was", before.head)
            self._git(step, "post-merge", [was, ("env.git.action", "merge"), ("arg", "0")])
        else:
            old = before.head or "0" * 40
            self._git(step, "post-checkout", [("arg", old), ("arg", tree.head), ("arg", "1")])

    def _start(self, step: Step) -> None:
        self._product.settle()
        name, tree = step.repository.name, self._tree(step)
        self._numbers[name] += 1
        words = ("log", "-n", str(RECENT_COMMITS), "--first-parent", "-m", "--name-only")
        listed = git(tree.folder, *words, "--format=").splitlines()
        self._starts.append(
            Start(
                repository=name,
                session=step.session,
                number=self._numbers[name],
                at_ms=step.at_ms,
                context=self._product.context(tree.folder),
                head=tree.head,
                branch=tree.branch,
                recent=tuple(dict.fromkeys(filter(None, listed)))[:RECENT_FILES],
                dirty=tuple(tree.dirty()),
            )
        )

    def _end(self, step: Step) -> None:
        self._ends.append(
            Finished(
                repository=step.repository.name,
                session=step.session,
                at_ms=step.at_ms,
                dirty=tuple(self._tree(step).dirty()),
            )
        )

    def _search(self, step: Step, event: HookEvent) -> None:
        """Search for what a prompt says, before it is sent."""
        self._product.settle()
        query = event.payload["prompt"][:QUERY_CHARS]
        found = self._product.search(query, self._tree(step).folder, limit=HITS)
        self._prompts.append(
            Asked(
                repository=step.repository.name,
                session=step.session,
                place=step.place,
                at_ms=step.at_ms,
                number=self._numbers[step.repository.name],
                prompt=query,
                hits=tuple(item.id for item in found),
                next_item=self._product.next_item(),
            )
        )

    def _recall(self, step: Step, event: HookEvent) -> None:
        """Ask for reminders where the hooks of an installation do, before the event is sent."""
        tool = event.payload.get("tool_name")
        asked = ["PreToolUse"] if event.event in _AFTER and tool in _AHEAD else []
        if event.event == "UserPromptSubmit" or (event.event in _AFTER and tool == "Bash"):
            asked.append(event.event)
        if asked:
            self._product.drain()
        for name in asked:
            payload = msgspec.json.encode({**event.payload, "hook_event_name": name})
            fields = [("client", _CLIENT), ("event", name), ("cwd", event.payload["cwd"])]
            printed = self._product.remind(fields, payload)
            self._recalls.append(
                Recalled(
                    repository=step.repository.name,
                    session=step.session,
                    place=step.place,
                    at_ms=step.at_ms,
                    event=name,
                    printed=printed,
                    call=event.payload.get("tool_use_id", ""),
                )
            )
