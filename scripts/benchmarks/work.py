"""Days of made-up but realistic work in Claude Code: what its hooks would have reported.

Text comes from this repository's own files. An edit changes a few lines of what it replaces, a
test run prints what pytest prints, and files are read, searched and edited in the same session.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import orjson

from observer.cli.doctor.lab import HookReport, sources

SESSIONS = 7
FILES_OF_A_SESSION = 12
_SORTS = {"Edit": 30, "Read": 25, "Test": 14, "Shell": 13, "Grep": 10, "Prompt": 8}
"""How many of a hundred reports are of each sort."""
_SHELL = (
    "git status --short", "git diff --stat", "ls -la {folder}", "ruff check {path}",
    "mypy {path}", "wc -l {path}", "sed -n 1,80p {path}", "git log --oneline -20",
)  # fmt: skip


class BenchSession:
    """One session: its project, the files it cares for, and how they read by now."""

    def __init__(self, number: int, project: Path, chance: random.Random) -> None:
        self.project = project
        self.id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        chosen = chance.sample(sorted(sources()), FILES_OF_A_SESSION)
        self.files = {path: list(sources()[path]) for path in chosen}
        self.prompt = number


class EndlessWork:
    """An endless row of reports from several sessions in turn."""

    def __init__(self, projects: Sequence[Path], chance: random.Random) -> None:
        self._chance = chance
        self._sessions = [
            BenchSession(number, projects[number % len(projects)], chance)
            for number in range(SESSIONS)
        ]
        self._count = 0

    def __iter__(self) -> Iterator[HookReport]:
        """Yield reports for ever."""
        while True:
            session = self._chance.choice(self._sessions)
            for _ in range(self._chance.randint(1, 6)):
                yield self._report(session)

    def _report(self, session: BenchSession) -> HookReport:
        self._count += 1
        sort = self._chance.choices(list(_SORTS), list(_SORTS.values()))[0]
        event = "UserPromptSubmit" if sort == "Prompt" else "PostToolUse"
        shared = {
            "session_id": session.id,
            "transcript_path": f"{session.project}/.claude/projects/{session.id}.jsonl",
            "cwd": str(session.project),
            "hook_event_name": event,
            "prompt_id": f"p{session.prompt}",
            "permission_mode": "acceptEdits",
        }
        own: dict[str, Callable[[BenchSession], dict[str, Any]]] = {
            "Edit": self._edit,
            "Read": self._read,
            "Test": self._test,
            "Shell": self._shell,
            "Grep": self._grep,
            "Prompt": self._prompt,
        }
        payload = shared | own[sort](session)
        if event == "PostToolUse":
            payload["tool_use_id"] = f"toolu_{self._count:09}"
        return HookReport(event, orjson.dumps(payload), session.project)

    def _edit(self, session: BenchSession) -> dict[str, Any]:
        path = self._chance.choice(list(session.files))
        lines = session.files[path]
        start, end = self._window(lines, 6, 45)
        old = lines[start:end]
        new = self._changed(old)
        lines[start:end] = new
        full = f"{session.project}/{path}"
        return {
            "tool_name": "Edit",
            "tool_input": {
                "file_path": full,
                "old_string": "\n".join(old),
                "new_string": "\n".join(new),
                "replace_all": False,
            },
            "tool_response": {"filePath": full, "structuredPatch": _hunks(old, new, start)},
        }

    def _changed(self, old: list[str]) -> list[str]:
        """Replace, add and take away a few lines; the rest stays."""
        new = list(old)
        for _ in range(self._chance.randint(1, 4)):
            place = self._chance.randrange(len(new) + 1)
            kind = self._chance.random()
            if kind < 0.6 and place < len(new):
                new[place] = self._line()
            elif kind < 0.9:
                new[place:place] = [self._line() for _ in range(self._chance.randint(1, 6))]
            else:
                del new[place : place + 2]
        return new or [self._line()]

    def _read(self, session: BenchSession) -> dict[str, Any]:
        path = self._chance.choice(list(session.files))
        start, end = self._window(session.files[path], 30, 180)
        numbered = (f"{n:>6}\t{line}" for n, line in enumerate(session.files[path][start:end]))
        content = "\n".join(numbered)[:7000]
        full = f"{session.project}/{path}"
        return {
            "tool_name": "Read",
            "tool_input": {"file_path": full, "offset": start + 1, "limit": end - start},
            "tool_response": {"type": "text", "file": {"filePath": full, "content": content}},
        }

    def _test(self, session: BenchSession) -> dict[str, Any]:
        path = self._chance.choice(list(session.files))
        target = f"tests/test_{Path(path).stem}.py"
        is_green = self._chance.random() < 0.7
        passed = self._chance.randint(8, 300)
        dots = "\n".join(f"{'.' * 72} [{p:>3}%]" for p in range(10, 101, 10))
        tail = f"{passed} passed in {self._chance.uniform(0.2, 9):.2f}s"
        trouble = "" if is_green else self._failure(session, target)
        tail = tail if is_green else f"1 failed, {tail}"
        return self._ran(f"pytest -q {target}", f"{dots}\n{trouble}{tail}\n", is_green=is_green)

    def _failure(self, session: BenchSession, target: str) -> str:
        lines = self._chance.choice(list(session.files.values()))
        start, end = self._window(lines, 10, 60)
        body = "\n".join(f"    {line}" for line in lines[start:end])
        name = f"test_{self._word()}_{self._word()}"
        return (
            f"=================================== FAILURES ===================\n"
            f"_______________ {name} _______________\n\n{body}\n"
            f">       assert found == expected\nE       AssertionError: assert 3 == 4\n\n"
            f"{target}:{self._chance.randint(5, 300)}: AssertionError\n"
            f"=========================== short test summary info ============\n"
            f"FAILED {target}::{name} - AssertionError: assert 3 == 4\n"
        )

    def _shell(self, session: BenchSession) -> dict[str, Any]:
        path = self._chance.choice(list(session.files))
        command = self._chance.choice(_SHELL).format(path=path, folder=Path(path).parent)
        start, end = self._window(session.files[path], 5, 80)
        return self._ran(command, "\n".join(session.files[path][start:end]), is_green=True)

    def _ran(self, command: str, output: str, *, is_green: bool) -> dict[str, Any]:
        stdout = output if is_green else f"Exit code 1\n{output}"
        program = command.partition(" ")[0]
        return {
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": f"Run {program}"},
            "tool_response": {
                "stdout": stdout[:7000], "stderr": "", "interrupted": False, "isImage": False,
            },
            "duration_ms": self._chance.randint(20, 9000),
        }  # fmt: skip

    def _grep(self, session: BenchSession) -> dict[str, Any]:
        word = self._word()
        hits = [
            f"{path}:{number}:{line}"
            for path, lines in session.files.items()
            for number, line in enumerate(lines)
            if word in line
        ]
        return {
            "tool_name": "Grep",
            "tool_input": {"pattern": word, "path": str(session.project), "output_mode": "content"},
            "tool_response": {"mode": "content", "content": "\n".join(hits[:60])[:6000]},
        }

    def _prompt(self, session: BenchSession) -> dict[str, Any]:
        session.prompt += SESSIONS
        words = " ".join(self._line().strip() for _ in range(self._chance.randint(2, 12)))
        return {
            "prompt": f"please look at {self._word()}: {words}",
            "prompt_id": f"p{session.prompt}",
        }

    def _window(self, lines: list[str], least: int, most: int) -> tuple[int, int]:
        length = min(len(lines), self._chance.randint(least, most))
        start = self._chance.randint(0, len(lines) - length)
        return start, start + length

    def _line(self) -> str:
        return self._chance.choice(sources()[self._chance.choice(sorted(sources()))])

    def _word(self) -> str:
        words = [word for word in self._line().split() if word.isidentifier() and len(word) > 3]
        return self._chance.choice(words) if words else "total"


def _hunks(old: list[str], new: list[str], start: int) -> list[dict[str, Any]]:
    """Return the differing stretches with three lines around each, as Claude Code reports them."""
    hunks = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, i, j, k, m in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[i:j]]
            else:
                lines += [f"-{line}" for line in old[i:j]] + [f"+{line}" for line in new[k:m]]
        first, last = group[0], group[-1]
        hunks.append({
            "oldStart": start + 1 + first[1], "oldLines": last[2] - first[1],
            "newStart": start + 1 + first[3], "newLines": last[4] - first[3],
            "lines": lines,
        })  # fmt: skip
    return hunks
