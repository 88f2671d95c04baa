"""A measured figure: its samples, the aim they are held against, and how both are printed."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_YARD = 20_000
_YARDS = 100


@dataclass(frozen=True, slots=True)
class Aim:
    """What one percentile has to be: `most` at most, `least` at least."""

    percent: int = 50
    most: float = math.inf
    least: float = -math.inf

    def text(self, found: float, unit: str) -> str:
        """Return the aim in words, and whether it is met."""
        is_most = self.most < math.inf
        limit = f"<= {shown(self.most)}" if is_most else f">= {shown(self.least)}"
        state = "met" if self.least <= found <= self.most else "MISSED"
        return f"aim p{self.percent} {limit}{unit}: {state}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report.

    `unit` follows the number as it stands: ``"x"``, ``" ms"``. `remark` stands at the line's end.
    """

    name: str
    samples: Sequence[float]
    unit: str
    aims: tuple[Aim, ...] = ()
    remark: str = ""

    def line(self) -> str:
        """Return name, what was measured, and the aims if there are any."""
        parts = [
            f"{self.name:46}",
            *self._spread(),
            *(aim.text(percentile(self.samples, aim.percent), self.unit) for aim in self.aims),
            *([self.remark] if self.remark else []),
        ]
        return " · ".join(parts)

    def _spread(self) -> list[str]:
        """Return p50, p95 and count; of a figure that was measured as a whole its only value."""
        if len(self.samples) == 1:
            return [f"{shown(self.samples[0]):>12}{self.unit}"]
        return [
            f"p50 {shown(percentile(self.samples, 50)):>8}{self.unit}",
            f"p95 {shown(percentile(self.samples, 95)):>8}{self.unit}",
            f"n {len(self.samples):>5}",
        ]

    def values(self) -> dict[str, object]:
        """Return the same for programs; what was not measured is None."""
        p50, p95 = (percentile(self.samples, percent) for percent in (50, 95))
        return {
            "name": self.name,
            "unit": self.unit.strip(),
            "p50": p50 if self.samples else None,
            "p95": p95 if self.samples else None,
            "count": len(self.samples),
            "aims": [each.text(percentile(self.samples, each.percent), "") for each in self.aims],
            "remark": self.remark,
        }


def percentile(samples: Sequence[float], percent: int) -> float:
    """Return the smallest sample that `percent` of all do not exceed; nan without samples."""
    if not samples:
        return math.nan
    return sorted(samples)[max(0, math.ceil(len(samples) * percent / 100) - 1)]


def shown(number: float) -> str:
    """Return a number with three significant digits, or more in front of the point."""
    digits = 0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2
    return f"{number:,.{digits}f}"


def machine() -> str:
    """Return what was measured on, and how busy it is right now."""
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return " · ".join(
        (
            _processor(),
            f"{os.cpu_count()} cores",
            f"{memory_bytes / (1 << 30):.0f} GiB",
            f"{platform.system()} {platform.release()}",
            f"{platform.python_implementation()} {platform.python_version()}",
            f"load {load}",
            f"yardstick {yardstick_ms():.2f} ms",
        )
    )


def yardstick_ms() -> float:
    """Return the processor time of a fixed piece of work, the median of many.

    Where others keep the machine busy it grows, as everything that is measured does: compare
    figures of two runs by it.
    """
    took = []
    for _ in range(_YARDS):
        begun = time.process_time()
        sum(number * number for number in range(_YARD))
        took.append((time.process_time() - begun) * 1000)
    return percentile(took, 50)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
