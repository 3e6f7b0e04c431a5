"""The table of keys as the site has it."""

import re

from tests.places import PROJECT

SOURCE = PROJECT / "static" / "js" / "keys.js"
ENTRY = re.compile(r'^  \{ key: "([^"]+)", text: "([^"]+)", group: "([^"]+)"', re.MULTILINE)


def table() -> list[tuple[str, str, str]]:
    """Key, what it does and its group, in the order of the table."""
    return ENTRY.findall(SOURCE.read_text())
