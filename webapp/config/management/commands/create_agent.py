from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webapp.labs import services
from webapp.labs.models import MOST_DAYS, Scope


class Command(BaseCommand):
    help = "Print a new token for an agent, once. The agent and its lab are created when new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the agent's name, for example the control host's")
        parser.add_argument("--lab", required=True, help="the lab it works for")

        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            default=[],
            help="what the token may do, once for each; default: everything",
        )
        parser.add_argument(
            "--days", type=int, choices=range(1, MOST_DAYS + 1), metavar="N", help="it expires then"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        agent = services.create_agent(name=options["name"], lab_name=options["lab"])
        scopes, days = options["scope"], options["days"]
        issued = services.issue_token(agent=agent, scopes=scopes, days=days)
        self.stdout.write(issued.text)
