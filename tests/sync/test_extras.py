"""What is said where the packages of an extra are not installed, or a server is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from observer.core.errors import ShareUnavailable
from observer.sync import carriers

WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from pathlib import Path
from observer.core.errors import ShareUnavailable
from observer.sync import carriers
try:
    carriers.open_carrier(sys.argv[2], Path("/nowhere"))
except ShareUnavailable as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("package", "url", "extra"),
    [
        ("pyrage", "/nowhere", "sync"),
        ("zstandard", "ssh://example.com/share.git", "sync"),
        ("psycopg", "postgresql://example.com/share", "teams"),
    ],
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    package: str, url: str, extra: str
) -> None:
    command = [sys.executable, "-c", WITHOUT, package, url]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert f"needs the package {package} (" in said
    assert f" -m pip install 'observer-memory[{extra}]')" in said


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ShareUnavailable, match=r"cannot be used.*look whether it runs"):
        carriers.open_carrier(f"postgresql://ana@/share?host={tmp_path}", tmp_path)
