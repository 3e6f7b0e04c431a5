"""A lab of bench-lab's scripts in a directory: the example's own commands, with stand-ins for the
script and for the machines behind `ssh`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from agents.tests.make import receiver_log
from agents.tests.work.lab import DirectoryLab

EXAMPLE = Path(__file__).parents[2] / "examples" / "benchlab.toml"
SCRIPT = Path(__file__).parents[1] / "standins" / "bench-lab.sh"
HOME = "/home/bench"
HARDWARE = "Atom_C2758_8Cores/Chelsio_T540-CR"

# The machine under test takes an image with `upgrade` and runs it from its next boot on. What the
# receiver prints is log.1, log.2, … one after the other.
SSH = """#!/bin/sh
cd '{here}' || exit 255
while [ "$1" = -o ]; do shift 2; done
shift
BUILT='Sat May  6 00:18:48 CEST 2017 root@builder:/usr/obj'
echo "$*" >> trace
case "$*" in
"uname -a")
    echo "FreeBSD dut 12.0-CURRENT FreeBSD 12.0-CURRENT #0 $(cat kernel): $BUILT amd64" ;;
upgrade) cat > next; ! [ -f refuses ] || exit 1 ;;
"config save") cat > /dev/null ;;
shutdown*) cp next kernel ;;
*"-f rx"*)
    if [ -f hangs ]; then echo $$ > held.rx; exec sleep 600; fi
    echo x >> benches
    tail -n +2 "log.$(grep -c x benches)" ;;
*"-f tx"*) printf 'up\\nup\\nup\\n' ;;
esac
"""

BUILD = """#!/bin/sh
# --revision R --options O --image FILE
mkdir -p "$(dirname "$6")" && cat '{here}/makes' > "$6"
"""

SETTINGS = """
DUT_ADMIN=atom
RECEIVER_ADMIN=generator
SENDER_ADMIN=generator
RECEIVER_START_CMD="pkt-gen -f rx -i igb3 -w 4"
SENDER_START_CMD="pkt-gen -f tx -i igb2 -w 4"
"""


class BenchLab(DirectoryLab):
    """`values` are what the receiver measures, iteration by iteration."""

    def __init__(self, directory: Path, values: Sequence[float]) -> None:
        self.directory = directory
        self.home = directory / "home"
        self.config = directory / "benchlab.toml"
        for name in ("bin", "configs/forwarding/forwarding", "pktgen/inet4"):
            (self.home / name).mkdir(parents=True)
        scripts = self.home / "netbenches" / "scripts"
        scripts.mkdir(parents=True)
        shutil.copy(SCRIPT, scripts)
        program(self.home / "bin" / "ssh", SSH.format(here=directory))
        program(self.home / "bin" / "build-image", BUILD.format(here=directory))
        (self.home / "configs" / "forwarding" / "forwarding" / "rc.conf").write_text("")
        (self.home / "configs" / "atom.config").write_text(SETTINGS)
        (self.home / "pktgen" / "inet4" / "inet4").write_text("FLOWS=2000\n")
        self.makes("r303643")
        self.config.write_text(EXAMPLE.read_text().replace(HOME, str(self.home)))
        for number, value in enumerate(values, 1):
            (directory / f"log.{number}").write_text(receiver_log(value))

    def makes(self, kernel: str) -> None:
        """The builder makes images of this kernel, whatever it is asked for."""
        (self.directory / "makes").write_text(kernel)

    def replace(self, old: str, new: str) -> None:
        """Change the lab's file."""
        text = self.config.read_text()
        assert old in text
        self.config.write_text(text.replace(old, new))

    def count(self, stage: str) -> int:
        return sum(stage in line for line in self.trace)


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
