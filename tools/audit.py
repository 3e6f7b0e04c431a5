"""`make audit`: known vulnerabilities of the locked packages, or that there were no data.

Exit status 0: the advisory service knows of none; 1: of some; 2: it did not answer for each
package.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NONE_KNOWN, SOME, NO_DATA = 0, 1, 2


def main(program: str, lock: str) -> int:
    """Ask pip-audit about the packages of ``lock``, and print what that means."""
    with tempfile.TemporaryDirectory() as directory:
        answer = Path(directory) / "answer.json"
        asking = subprocess.run(
            [
                *(program, "--requirement", lock, "--no-deps", "--disable-pip"),
                *("--progress-spinner", "off", "--format", "json", "--output", str(answer)),
            ],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        status, lines = meaning(answer.read_text() if answer.exists() else "", asking.stderr)
    print(*lines, sep="\n", file=sys.stderr if status == NO_DATA else sys.stdout)
    return status


def meaning(answer: str, failure: str) -> tuple[int, list[str]]:
    """The exit status, and what to print, for what pip-audit wrote and for how it failed."""
    try:
        packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        packages = []
    asked = [one for one in packages if "vulns" in one]
    found = [
        f"{one['name']} {one['version']}: {each['id']}, mended in "
        f"{', '.join(each['fix_versions']) or 'no version yet'}"
        for one in asked
        for each in one["vulns"]
    ]
    skipped = {one["name"]: one.get("skip_reason", "") for one in packages if "vulns" not in one}
    if not asked:
        # With every package skipped pip-audit itself ends well, and prints that it found nothing.
        reasons = [*skipped.values(), *failure.strip().splitlines()[-1:]]
        return NO_DATA, ["Had no data: nothing is known about any package.", *reasons[:1]]
    if found:
        return SOME, [*found, f"{len(found)} known vulnerabilities."]
    if skipped:
        return NO_DATA, [f"Had no data about {', '.join(skipped)}; of the others none is known."]
    return NONE_KNOWN, [f"No known vulnerability in {len(asked)} packages."]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
