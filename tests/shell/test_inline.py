"""Scripts that stand on the command line."""

from __future__ import annotations

import pytest

from observer.shell.command_line import InlineScript, inline_script

CASES = [
    ("pytest -q", None),
    ("python3 run.py -c conf.toml", None),
    ("node server.js", None),
    ("python3 -c \"print(open('a').read())\"", InlineScript("python3", only_looks=True)),
    ("python3 -c 'import x; print(x.__version__)'", InlineScript("python3")),
    ("python3 -c \"open('a/b.txt', 'w').write('x')\"", InlineScript("python3", ("a/b.txt",))),
    ("cd api && python - <<'EOF'\nPath('b.py').write_text('x')\nEOF",
     InlineScript("python", ("b.py",))),
    ("python3 << EOF\nname = 'c.py'\nwith open(name, \"a\") as f:\n  f.write('x')\nEOF",
     InlineScript("python3", ("c.py",))),
    ("node -e \"require('fs').writeFileSync('d.json', '{}')\"", InlineScript("node", ("d.json",))),
    ("ruby -e \"File.write('e.rb', 'x')\"", InlineScript("ruby", ("e.rb",))),
    ("python3 -c \"import os; os.remove('x'); open('y').read()\"", InlineScript("python3")),
]  # fmt: skip


@pytest.mark.parametrize(("command", "script"), CASES, ids=[case[0][:40] for case in CASES])
def test_a_script_is_known_by_what_it_writes(command: str, script: InlineScript | None) -> None:
    assert inline_script(command) == script


def test_a_hostile_command_line_is_read_in_linear_time() -> None:
    for text in ("python3 ", "python3 -c '", "open(", "x = 'a'\n", "open(a, 'w'", "python3 <<"):
        found = inline_script(text * 20_000)
        assert found is None or found.program.startswith("python")
