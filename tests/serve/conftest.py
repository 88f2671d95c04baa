"""What serves has the memory that tools are tried on."""

from __future__ import annotations

from tests.tools.conftest import memory, serve, stdio, store

__all__ = ["memory", "serve", "stdio", "store"]
