"""What the commands import as they start: a person waits for it, and an agent many times a day."""

from __future__ import annotations

import json
import subprocess
import sys

from observer.cli.commands import COMMANDS

HEAVY = (
    *("apsw", "asyncio", "git", "httpx2", "mcp", "numpy", "onnxruntime", "pydantic", "rich"),
    *("starlette", "tokenizers", "tomlkit", "tree_sitter", "uvicorn", "watchfiles", "yaml"),
)
TIERS = (
    (("app", "read", "daemon", "log", "policy", "write"), ()),
    (("lifecycle", "pause", "install"), ("apsw",)),
    (("config", "llm"), ("asyncio", "tomlkit")),
    (
        (
            *(
                "backup",
                "doctor.command",
                "export",
                "import_",
                "mcp",
                "doctor.speed",
                "model",
                "note",
            ),
            *("purge",),
        ),
        ("numpy", "rich", "tree_sitter", "yaml"),
    ),
)
"""Modules of commands, and what they and all above may import of what is heavy."""
IMPORT = """
import importlib, json, sys
for modules in json.loads(sys.argv[1]):
    for module in modules:
        importlib.import_module("observer.cli." + module)
    print(json.dumps([*sys.modules]))
"""


def test_a_command_imports_nothing_heavy_that_its_tier_does_without() -> None:
    argv = [sys.executable, "-c", IMPORT, json.dumps([modules for modules, _ in TIERS])]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    allowed: set[str] = set()
    for (modules, more), line in zip(TIERS, shown, strict=True):
        allowed |= {*more}
        assert {*HEAVY} & {*json.loads(line)} <= allowed, modules


def test_every_command_is_in_a_tier() -> None:
    known = {"app", "llm", "model", "doctor.speed", *COMMANDS.values()}
    assert {module for modules, _ in TIERS for module in modules} == known
