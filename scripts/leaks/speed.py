"""The processor time of redaction over ordinary text, beside that of another commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

_PROJECT = Path(__file__).parents[2]
_ROUNDS = 3
_MEASURE = """
import json, sys, time
from pathlib import Path
import observer
from observer.redaction.redact import redact_text
assert Path(observer.__file__).is_relative_to(sys.argv[2]), observer.__file__
texts = json.loads(Path(sys.argv[1]).read_text())
redact_text(texts[0])
begun = time.process_time()
for text in texts:
    redact_text(text)
print(time.process_time() - begun)
"""


class Speed(NamedTuple):
    """Seconds of processor time for a million characters, ours and the other's."""

    ours: float
    theirs: float


def against(ref: str, texts: Sequence[str]) -> Speed:
    """Return the least times of a few rounds in turn, each in a process of its own."""
    with TemporaryDirectory(prefix="observer-speed-") as temporary:
        given = Path(temporary) / "texts.json"
        given.write_text(json.dumps(texts), encoding="utf-8")
        other = Path(temporary) / "other"
        packed = _call("git", "archive", ref, "observer")
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(other, filter="data")
        rounds = [[_seconds(root, given) for root in (_PROJECT, other)] for _ in range(_ROUNDS)]
    size = max(sum(map(len, texts)), 1) / 1e6
    ours, theirs = (min(times) / size for times in zip(*rounds, strict=True))
    return Speed(ours, theirs)


def _seconds(root: Path, given: Path) -> float:
    return float(_call(sys.executable, "-c", _MEASURE, str(given), str(root), root=root))


def _call(*words: str, root: Path = _PROJECT) -> bytes:
    environment = os.environ | {"PYTHONPATH": str(root)}
    return subprocess.run(words, cwd=root, env=environment, capture_output=True, check=True).stdout
