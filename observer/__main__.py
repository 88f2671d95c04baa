"""The `observer` command: sends `mcp` to the pump, everything else to the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the process was started with, and exit with its code."""
    if sys.argv[1:2] == ["mcp"] and not {"-h", "--help"} & set(sys.argv):
        from observer import pump  # noqa: PLC0415 - an editor waits for this one

        sys.exit(pump.main(sys.argv[2:]))
    from observer.cli import main as command_line  # noqa: PLC0415 - click is not for the pump

    command_line()


if __name__ == "__main__":
    main()
