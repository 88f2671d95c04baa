"""What detect-secrets says of the same texts, where it is installed beside us."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from leaks.planting import Planted


def missed(planted: Sequence[Planted]) -> list[Planted]:
    """Return the secrets of whose texts it flags no line."""
    lines, owners = [], []
    for each in planted:
        for line in each.text.splitlines():
            lines.append(line)
            owners.append(each)
    known = {owners[number - 1] for number in _flagged_lines(lines)}
    return [each for each in planted if each not in known]


def flagged(texts: Iterable[str]) -> tuple[int, int]:
    """Return how many lines of texts it flags, and the characters of all."""
    lines = [line for text in texts for line in text.split("\n")]
    return len(_flagged_lines(lines)), sum(map(len, lines)) + len(lines)


def _flagged_lines(lines: Sequence[str]) -> set[int]:
    from detect_secrets.core.scan import scan_file  # noqa: PLC0415 - only where it was asked for
    from detect_secrets.settings import default_settings  # noqa: PLC0415 - as above

    with TemporaryDirectory() as folder, default_settings():
        file = Path(folder) / "lines.txt"
        # What ends a line for it must be what ends one for us.
        clean = (line.translate({0x0C: " ", 0x0B: " ", 0x85: " ", 0x2028: " "}) for line in lines)
        file.write_text("\n".join(clean), encoding="utf-8", errors="replace")
        return {found.line_number for found in scan_file(str(file))}
