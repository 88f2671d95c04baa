#!/usr/bin/env python3
"""Look every pinned dependency up among known vulnerabilities, with pip-audit.

    scripts/audit.py [LOCK ...] [--service URL]

LOCK is `runtime`, `build` or `dev` (all of requirements/; the default). Needs a network: versions
and names go to the OSV service. Exits with 0 if nothing is known, 1 if something is, and 2 if any
dependency could not be looked up, since no answer is not a clean one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from supply.pins import DEV, FOLDER, LOCKS, Pin, pins

CLEAN, VULNERABLE, UNKNOWN = 0, 1, 2
_LAST_LINES = 1


def main() -> int:
    """Audit the locks named on the command line."""
    chosen = _arguments()
    worst = CLEAN
    for lock in chosen.locks or [DEV]:
        worst = max(worst, _audited(lock, chosen.service))
    return worst


def _audited(lock: str, service: str) -> int:
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes"]
    command += ["--requirement", str(FOLDER / f"{lock}.txt"), "--vulnerability-service", "osv"]
    command += ["--format", "json", "--progress-spinner", "off"]
    if service:
        command += ["--osv-url", service]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        reason = "\n".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
        print(f"{lock}: not audited, the service gave no answer: {reason}", file=sys.stderr)
        return UNKNOWN
    return _verdict(lock, found)


def _verdict(lock: str, found: list[dict[str, Any]]) -> int:
    audited = {each["name"]: each for each in found if "vulns" in each}
    wanted = [pin for pin in pins(lock) if pin.applies()]
    missing = [pin for pin in wanted if pin.name not in audited]
    vulnerable = [each for each in audited.values() if each["vulns"]]
    for line in (*map(_vulnerable, vulnerable), *_not_audited(missing)):
        print(line)
    print(f"{lock}: {len(wanted) - len(missing)} of {len(wanted)} dependencies looked up, "
          f"{len(vulnerable)} with known vulnerabilities")  # fmt: skip
    if missing:
        return UNKNOWN
    return VULNERABLE if vulnerable else CLEAN


def _vulnerable(each: dict[str, Any]) -> str:
    named = ", ".join(
        f"{vuln['id']} (fixed in {', '.join(vuln['fix_versions']) or 'no version yet'})"
        for vuln in each["vulns"]
    )
    return f"{each['name']} {each['version']}: {named}"


def _not_audited(missing: list[Pin]) -> Iterator[str]:
    for pin in missing:
        yield f"{pin.name} {pin.version}: could not be looked up"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("locks", nargs="*", metavar="LOCK", choices=[*LOCKS, []])
    parser.add_argument("--service", default="", help="URL of another service that speaks OSV")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
