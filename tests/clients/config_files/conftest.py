"""Where a client's configuration is edited: an empty home, and observer installed for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from observer.clients.config_files.context import InstallContext
from observer.core.paths import Home


@pytest.fixture
def context(tmp_path: Path) -> InstallContext:
    return InstallContext(
        home=Home(tmp_path / ".observer"),
        user_home=tmp_path,
        observer="/opt/observer/bin/observer",
        environ={},
        folder=tmp_path,
    )
