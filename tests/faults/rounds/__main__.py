"""`python -m tests.faults.rounds`: one JSON object a line; exit status 1 unless all is well."""

import argparse
import json
import signal
import sys

from benchmarks import recorded
from tests.faults.rounds import table
from tests.faults.rounds.breaking import targets
from tests.faults.rounds.playing import Outcome, plan, play
from tests.faults.rounds.rig import rig

RESULT, COMMAND = "faults-rounds", "make faults WRITE=--write"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.rounds")
    parser.add_argument("--rounds", type=int, default=50, help="rounds of kill -9 (50)")
    parser.add_argument("--only", default="", metavar="WORD", help="faults whose name holds WORD")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (1)")
    parser.add_argument("--write", action="store_true", help="keep the counts, for docs/figures.md")
    given = parser.parse_args()
    # The instance and its disk go with us, also when somebody ends this in the middle.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    found: list[Outcome] = []
    with rig() as running:
        faults = plan(targets(running), rounds=given.rounds, only=given.only)
        for outcome in play(running, faults, seed=given.seed):
            print(json.dumps(outcome.line()), flush=True)
            found.append(outcome)
            if given.write:
                recorded.record(RESULT, table.rendered(found), command=COMMAND)
                recorded.write()
    return 0 if all(one.is_well or one.is_skipped for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
