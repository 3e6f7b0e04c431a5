import re
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webapp.labs import services
from webapp.labs.models import MOST_DAYS, Agent, Scope
from webapp.results.models import INVISIBLE

LONGEST_NAME = Agent._meta.get_field("name").max_length or 0  # noqa: SLF001 (documented)


class Command(BaseCommand):
    help = "Print a new token for an agent, once. The agent and its lab are created when new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "name", type=_name, help="the agent's name, for example the control host's"
        )
        parser.add_argument("--lab", type=_name, required=True, help="the lab it works for")

        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            default=[],
            help="what the token may do, once for each; default: everything",
        )
        parser.add_argument("--days", type=_days, metavar="N", help="it expires then")

    def handle(self, *args: Any, **options: Any) -> None:
        agent = services.create_agent(name=options["name"], lab_name=options["lab"])
        scopes, days = options["scope"], options["days"]
        issued = services.issue_token(agent=agent, scopes=scopes, days=days)
        self.stdout.write(issued.text)


def _name(text: str) -> str:
    if not text.strip() or len(text) > LONGEST_NAME or re.search(f"[{INVISIBLE}]", text):
        raise ArgumentTypeError(
            f"{text!a} is no name: write 1 to {LONGEST_NAME} characters, none of them invisible"
        )
    return text


def _days(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= MOST_DAYS:
        raise ArgumentTypeError(f"{text!a} is no number of days from 1 to {MOST_DAYS}")
    return int(text)
