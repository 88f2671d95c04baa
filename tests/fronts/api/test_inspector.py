"""The MCP Inspector, a client of another make, against the real pump; needs `mcp-inspector`."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from mcp import StdioServerParameters

from observer.core.model import item_id

INSPECTOR = shutil.which("mcp-inspector")


@pytest.mark.slow
@pytest.mark.skipif(INSPECTOR is None, reason="mcp-inspector is not installed")
@pytest.mark.parametrize(
    ("method", "key"),
    [
        (["tools/list"], "tools"),
        (["resources/list"], "resources"),
        (["resources/templates/list"], "resourceTemplates"),
        (["prompts/list"], "prompts"),
        (["tools/call", "--tool-name", "search", "--tool-arg", "query=jwt"], "structuredContent"),
        (["prompts/get", "--prompt-name", "resume_work"], "messages"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_inspector_understands_us(
    stdio: StdioServerParameters, method: list[str], key: str
) -> None:
    assert INSPECTOR is not None
    assert stdio.env is not None
    command = [INSPECTOR, "--cli", "-e", f"OBSERVER_HOME={stdio.env['OBSERVER_HOME']}"]
    command += [stdio.command, *stdio.args, "--method", *method]
    run = subprocess.run(command, cwd=stdio.cwd, capture_output=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr.decode()
    shown: dict[str, Any] = json.loads(run.stdout)
    assert shown[key]
    if key == "structuredContent":
        assert item_id(12) in [row["id"] for row in shown[key]["observations"]]
