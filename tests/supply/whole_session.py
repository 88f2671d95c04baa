"""A day with observer: `whole_session.py REPOSITORY`, every way in and out once.

Prints `done` at its end. Set up and watched by tests/supply/test_network.py. Each command is a
process of its own, forked from this one, which has imported what takes a command most of its time.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path

from observer.cli import main as command_line

OBSERVER = [sys.executable, "-m", "observer"]
COMMANDS = (
    "status", "doctor", "search cart", "search total --explain", "timeline {item}",
    "show {item}", "why cart.py:1", "context", "search --notes cart", "today --days 7", "show",
    "sessions", "status --space", "status --projects", "note", "note link {note}", "policy",
    "pause --for 1h", "pause --end", "mcp list", "mcp list --snippets", "config", "config model",
    "config llm", "log", "export", "doctor --rebuild", "backup",
    "purge --text nowhere --dry-run", "forget {note} --yes",
)  # fmt: skip


def main(repository: str) -> None:
    """Live through the day."""
    import_module("observer.memory.api")
    os.chdir(repository)
    observer("install", "claude-code", "bash", "git")
    port = _free_port()
    observer("config", "set", "http_port", str(port))
    observer("up")
    for event, more in (
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "why is https://example.com/cart slow?"}),
        ("PostToolUse", {"tool_name": "WebFetch", "tool_input": {"url": "https://example.com/"}}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "curl example.com"}}),
        ("Stop", {}),
    ):
        payload = {"session_id": "s", "cwd": repository, "hook_event_name": event, **more}
        for hook in ("post", "context", "recall"):
            _hook(hook, event, json.dumps(payload))
    observer("remember", "Carts are kept for a day", "--type", "decision")
    observer("post", "command", "command=make", "exit_code:=2")
    _wait_until_stored()
    observer("import", "git", ".")
    found = json.loads(observer("search", "cart", "--type", "commit", "--json"))
    item = found["observations"][0]["id"]
    note = json.loads(observer("note", "--json"))[0]["id"]
    for words in COMMANDS:
        observer(*words.format(item=item, note=note).split())
    _speak_mcp()
    _speak_http(port)
    (Path(repository) / "cart.py").write_text("total = 3\n")  # what the watcher sees
    observer("down")
    observer("search", "cart")


def observer(*words: str) -> str:
    """Run a command, which must succeed."""
    with tempfile.TemporaryFile() as out, Path(os.devnull).open("rb") as nothing:
        child = os.fork()
        if not child:
            for number, file in enumerate((nothing, out, out)):
                os.dup2(file.fileno(), number)
            _end_as(words)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        said = out.read().decode()
    if code:
        sys.exit(f"observer {' '.join(words)}: {said}")
    return said


def _end_as(words: tuple[str, ...]) -> None:
    """Be a command, from its first import to its exit code."""
    code = 70
    try:
        sys.argv = ["observer", *words]
        command_line()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - nothing may return into the parent's work
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _hook(name: str, event: str, payload: str) -> None:
    hook = Path(os.environ["OBSERVER_HOME"]) / "hooks" / name
    subprocess.run([hook, "claude-code", event], input=payload.encode(), check=True)


def _wait_until_stored() -> None:
    deadline = time.monotonic() + 60
    while json.loads(observer("status", "--json"))["events"] < 4:
        if time.monotonic() > deadline:
            sys.exit("nothing was stored")
        time.sleep(0.1)


def _speak_mcp() -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}}
    client["clientInfo"] = {"name": "test", "version": "1"}
    call = {"name": "search", "arguments": {"query": "cart"}}
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        [*OBSERVER, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as pump:
        assert pump.stdin is not None
        assert pump.stdout is not None
        for request in requests:
            pump.stdin.write(json.dumps(request) + "\n")
            pump.stdin.flush()
            if "id" in request and "result" not in json.loads(pump.stdout.readline()):
                sys.exit("MCP: no result")
        pump.stdin.close()


def _speak_http(port: int) -> None:
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    asked.request("GET", "/schema/events")
    if asked.getresponse().status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        sys.exit("HTTP: no answer")
    asked.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.write("done\n")
