"""Every example of README, tutorial and guides prints what its page says."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def sample() -> ModuleType:
    spec = spec_from_file_location("sample", ROOT / "scripts" / "sample.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow(most_s=600)
def test_every_example_prints_what_its_page_says() -> None:
    script, ids = sample(), {}
    differ = []
    with script.playing() as home:
        for page in script.pages(home):
            for example in script.EXAMPLE.findall((ROOT / page).read_text(encoding="utf-8")):
                for line, printed, now in script.answers(home, example[1], ids):
                    if script.same(printed) != script.same(now):
                        differ.append(f"{page}: $ {line}\n{now}")
    assert "\n".join(differ) == "", "write them anew: python scripts/sample.py"


def test_an_example_is_the_same_but_for_times_ids_and_folds() -> None:
    same = sample().same
    assert same("#4 at 2026-11-28 11:31, 3 ms\n  more") == same(
        "#16 at 2026-12-01 09:00, 1.2 s more"
    )
    assert same("1 event stored") != same("1 event purged")
