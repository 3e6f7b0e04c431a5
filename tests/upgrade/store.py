"""Store the fixture of a release: ``python -m tests.upgrade.store 0.1.0 --sockets .run/sockets``.

The instance behind the sockets is one of that version, with data worth an upgrade: that of
``make demo``. What it writes into ``stored/`` is committed and never changed.
"""

import argparse
import re
from pathlib import Path

from tests.upgrade.databases import Database
from webapp.launcher.postgres import DATABASE, OWNER

STORED = Path(__file__).parent / "stored"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade.store")
    parser.add_argument("version", type=_version)
    parser.add_argument("--sockets", type=Path, required=True)
    options = parser.parse_args()
    database = Database(str(options.sockets.resolve()), OWNER, DATABASE)
    STORED.mkdir(exist_ok=True)
    for path in store(database, STORED / options.version):
        print(path)


def store(database: Database, place: Path) -> tuple[Path, Path]:
    """Write the dump and the digest of ``database`` beside one another."""
    dump, digest = place.with_name(f"{place.name}.sql"), place.with_name(f"{place.name}.digest")
    dump.write_text(database.dump(), encoding="utf-8")
    digest.write_text(database.manage("digest"), encoding="utf-8")
    return dump, digest


def _version(text: str) -> str:
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise argparse.ArgumentTypeError(f"{text} is not a version such as 0.1.0")
    return text


if __name__ == "__main__":
    main()
