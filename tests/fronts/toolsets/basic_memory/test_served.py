"""An agent and a person work on one note: a real client, the real daemon, a real editor's save."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from observer.core.paths import Home


@pytest.mark.slow
def test_an_agent_and_a_person_work_on_one_note(tmp_path: Path, home: Home) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "observer", "mcp", "--tools", "basic-memory"],
        env=dict(os.environ),
        cwd=tmp_path,
    )

    async def work() -> None:
        async with asyncio.timeout(90), Client(server) as client:

            async def said(tool: str, **arguments: Any) -> str:
                return str(await client.call_tool(tool, arguments))

            async def until(words: str, tool: str, **arguments: Any) -> None:
                while True:
                    if words in await said(tool, **arguments):
                        return
                    await asyncio.sleep(0.05)

            await said(
                "create_memory_project", project_name="shop", project_path=str(tmp_path / "notes")
            )
            await said(
                "write_note", title="Cart", content="- [fact] Sums in float", directory="design"
            )
            file = tmp_path / "notes" / "design" / "Cart.md"
            assert "- [fact] Sums in float" in file.read_text()
            draft = file.with_name(".Cart.md.swp")  # as editors save: another file, renamed
            draft.write_text(file.read_text().replace("float", "Decimal"))
            draft.rename(file)
            await until("shop/design/cart", "search_notes", query="decimal")
            appended = await said(
                "edit_note", identifier="Cart", operation="append", content="- about [[Tax]]"
            )
            assert "is_error=True" not in appended
            assert file.read_text().endswith("- [fact] Sums in Decimal\n- about [[Tax]]")
            file.unlink()
            await until("Note Not Found", "read_note", identifier="Cart")

    asyncio.run(work())
    assert home.database.exists()
