from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.outbox.services.mailing import TestMailError, send_test_mail
from webapp.outbox.smtp import mail_settings


class Command(BaseCommand):
    help = "Send a test mail over the mail server in force, and say what it answered."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address", help="who gets it")

    def handle(self, *args: Any, **options: Any) -> None:
        force = mail_settings()
        self.stdout.write(f"from {force.sender} {force.route}")
        try:
            send_test_mail(options["address"])
        except TestMailError as error:
            raise CommandError(str(error)) from error
        taken = f"goes {force.way}" if force.way else "was taken by the server"
        self.stdout.write(f"The mail to {options['address']} {taken}.")
