import json
import re
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.config.exporting import kcidb_reports, tree_with_hashes


class Command(BaseCommand):
    help = (
        "Print the verdicts about a tree's revisions as reports of KCIDB 5.3, one a line: FAIL is "
        "a regression that was found, PASS an improvement or a proven equivalence, DONE the rest."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tree", required=True)
        parser.add_argument("--origin", default="driftline", help="the CI system's name in KCIDB")

    def handle(self, *args: Any, **options: Any) -> None:
        if not re.fullmatch(r"[a-z0-9_]+", options["origin"]):
            raise CommandError("--origin has lower-case letters, digits and _ alone")
        tree = tree_with_hashes(options["tree"])
        for report in kcidb_reports(tree, options["origin"]):
            self.stdout.write(json.dumps(report))
