"""observer without what Linux alone has: every such place has a branch, and no other appears."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observer.cli.doctor.lab import processor_s, rss_mib
from observer.core.paths import Home
from observer.tools.status import current

ROOT = Path(__file__).parents[1]
WITHOUT_LINUX = [sys.executable, str(ROOT / "tests/data/platforms/without_linux.py")]

LINUX_ONLY = re.compile(
    r"/proc\b|SO_PEERCRED|O_TMPFILE|O_PATH\b|renameat2|F_OFD_|prctl|sd_notify|ionice -|malloc_trim"
    r"|FS_IOC_|memfd|epoll|copy_file_range|sched_|platform [!=]= .linux"
)
PLACES = {
    "observer/local/client.py": "LOCAL_PEERCRED",
    "observer/local/pump.py": "LOCAL_PEERCRED",
    "observer/serve/drain.py": "memory is given back by the library alone",
    "observer/serve/servers.py": "whose a connection is stays open",
    "observer/serve/inotify.py": "no limit of watches is known",
    "observer/serve/worker.py": "the writer keeps the process's priority",
    "observer/cli/doctor/diagnosis.py": "the limit of watches is not shown",
    "observer/cli/doctor/lab.py": "ps",
    "observer/notes/folders/folders.py": "no such folders",
    "observer/notes/folders/tree.py": "links, else a rename",
    "observer/projects/fs_probe.py": "/sbin/mount; no generation",
    "hooks/pick": "LOCAL_PEERCRED",
    "hooks/post": "uname, uuidgen or od",
}
"""Where something of Linux is used, and what is used elsewhere. `docs/explanation/platforms.md`."""
GNU_ONLY = re.compile(
    r"\bsed (?:-\w+ )*-i|\bdate (?:-d|--)|\breadlink -f|\bstat (?:-c|--)|^\s*timeout |\bgrep -\w*P"
    r"|\bfind .*-printf|\bxargs -r|\bhead -n ?-|\bsort -V|\bmktemp (?:-p|--)|\bcp -\w*[at]"
    r"|\b(?:cp|rm|mv|mkdir|ln|cat|ls|tail|head|sort|grep|du|df|wc|touch|chmod) (?:\S+ )*--\w",
    re.MULTILINE,
)
SCRIPTS = ("hooks", "scripts/start", "scripts/environment")
FENCED = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        path = ROOT / folder
        yield from [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def texts(*folders: str) -> Iterator[tuple[str, str]]:
    for path in files(*folders):
        if path.suffix in {"", ".py", ".bash", ".zsh", ".fish"}:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_every_place_that_uses_linux_alone_is_known_and_named_on_the_page() -> None:
    found = {name for name, text in texts("observer", *SCRIPTS) if LINUX_ONLY.search(text)}
    assert found == set(PLACES)
    page = (ROOT / "docs/explanation/platforms.md").read_text(encoding="utf-8")
    assert [place for place in PLACES if f"`{place}`" not in page] == []


def test_scripts_and_commands_of_the_documents_use_no_option_that_only_gnu_has() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    shown = [(page.name, block) for page in pages for block in FENCED.findall(page.read_text())]
    shown += texts(*SCRIPTS)
    assert [(name, m[0]) for name, text in shown for m in GNU_ONLY.finditer(text)] == []


def test_a_process_is_measured_without_proc_too(tmp_path: Path) -> None:
    until = time.process_time() + 1.1  # ps counts whole seconds here
    while time.process_time() < until:
        pass
    for measure in (rss_mib, processor_s):
        assert measure(os.getpid(), proc=tmp_path / "none") > 0
    assert processor_s(1 << 30, proc=tmp_path / "none") == 0


@pytest.fixture
def mac(home: Home) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Run commands against a daemon, all of them without Linux."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [*WITHOUT_LINUX, *words]
        return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)

    daemon = subprocess.Popen([*WITHOUT_LINUX, "daemon"], stderr=subprocess.PIPE)
    while current(home).uptime_ms is None:
        assert daemon.poll() is None, daemon.communicate()[1]
    yield run
    run("down")
    daemon.communicate(timeout=60)


def post(home: Home, tmp_path: Path, payload: dict[str, str]) -> None:
    """Report an event by the hook, without Linux's `/proc`."""
    script = tmp_path / "post"
    script.write_text((ROOT / "hooks/post").read_text().replace("/proc/", "/nowhere/"))
    argv = ["sh", str(script), "claude-code", "UserPromptSubmit"]
    subprocess.run(argv, input=json.dumps(payload).encode(), check=True, env=os.environ)


def answered(line: str) -> str:
    """Return the pump's answer to a client that waits for it, as all do."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*WITHOUT_LINUX, "mcp"], text=True, **pipes) as pump:
        assert pump.stdin
        assert pump.stdout
        pump.stdin.write(line)
        pump.stdin.flush()
        return str(pump.stdout.readline())


@pytest.mark.slow
def test_hooks_daemon_commands_and_pump_work_without_linux(
    mac: Callable[..., subprocess.CompletedProcess[str]], home: Home, tmp_path: Path
) -> None:
    post(home, tmp_path, {"session_id": "s", "prompt": "oil the wheel", "cwd": str(tmp_path)})
    while current(home).events < 1:
        pass
    assert "oil the wheel" in mac("search", "wheel", "--type", "turn").stdout
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x"}}
    hello["clientInfo"]["version"] = "1"  # type: ignore[index]  # a dict
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    assert "serverInfo" in answered(json.dumps(asked) + "\n")
    assert mac("doctor", "--rebuild").stdout == "rebuilt from 1 event\n"
    assert mac("doctor").returncode == 0


@pytest.mark.slow
def test_work_trees_and_note_folders_are_followed_without_linux(
    mac: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    assert mac("note", "folder", "add", str(notes)).returncode == 0
    (notes / "Wheel.md").write_text("# Wheel\n\nIt is oiled on Mondays.\n")
    deadline = time.monotonic() + 60
    while "oiled on Mondays" not in mac("search", "Mondays").stdout:
        assert time.monotonic() < deadline
