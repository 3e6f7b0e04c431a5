#!/usr/bin/env python3
"""Driftline's administration commands."""

import os
import sys

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError


def main() -> None:
    """Run one command; say in one line what is wrong with the environment, if something is."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.config.settings")
    try:
        django.setup()
        from webapp.config.audited import command_acting  # noqa: PLC0415  once Django is set up

        with command_acting(sys.argv):
            execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None):
            raise
        # No SQLSTATE: the server was never reached.
        sys.exit(
            f"manage.py: the database does not answer: {error}\n"
            "Start it with `make up`, give that instance's STATE=…, or set DATABASE_URL."
        )


if __name__ == "__main__":
    main()
