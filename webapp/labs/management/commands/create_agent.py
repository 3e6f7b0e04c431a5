from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from webapp.labs import services


class Command(BaseCommand):
    help = "Print a new token for an agent, once. The agent and its lab are created when new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the agent's name, for example the control host's")
        parser.add_argument("--lab", required=True, help="the lab it works for")

    def handle(self, *args: Any, **options: Any) -> None:
        agent = services.create_agent(name=options["name"], lab_name=options["lab"])
        self.stdout.write(services.issue_token(agent=agent).text)
