"""`python -m tests.data_model [--write]`: what docs/figures.md takes from the code.

The settings, the errors of the API, and the tables of the database.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import django
from django.apps import AppConfig, apps
from django.db import models

from tests.places import PROJECT
from tests.variables import VARIABLES

PAGE = PROJECT / "docs" / "figures.md"
BLOCK = re.compile(r"(?<=<!-- tables -->\n).*?(?=<!-- end of tables -->)", re.DOTALL)
HEAD = "| table | one row is | foreign keys | unique | checked |\n|---|---|---|---|---|\n"
TABLES = """
## Tables of the database

The sentence is the first one of the model's docstring. Beside a foreign key stands the table it
points to, with `?` where it may be null. *Unique* are columns and constraints of uniqueness,
*checked* the constraints that the database checks.
"""


def rendered() -> str:
    """The settings, the errors, and a table for each room that has models, by layers."""
    return _settings() + _errors() + TABLES + _models()


def _settings() -> str:
    """A row for each variable of the environment, with the default that it is read with."""
    from webapp.config import settings  # noqa: PLC0415  once Django is set up

    rows = []
    for name, variable in VARIABLES.items():
        known = settings._env.defaults.get(name, "")
        default = variable.default or (f"`{known}`" if known else "(none)")
        rows.append(f"| `{name}` | {default} | {variable.what} |\n")
    head = "\n## Settings\n\n| variable | default | what |\n|---|---|---|\n"
    return head + "".join(rows)


def _errors() -> str:
    """A row for each code of an error of the API, by status."""
    from webapp.api import errors  # noqa: PLC0415  once Django is set up
    from webapp.config import admission  # noqa: PLC0415

    raised = errors.KINDS | errors.SIMPLE | {errors.TooManyRequests: errors.TOO_MANY}
    kinds = [(kind, summary(one) or "There is nothing here.") for one, kind in raised.items()]
    kinds += [(one, "") for one in (errors.UNAUTHENTICATED, errors.UNAVAILABLE)]
    kinds.append((errors.TOOK_TOO_LONG, ""))
    rows = {(one.status, one.code, one.message or when, one.remedy) for one, when in kinds}
    rows.add((429, errors.QUOTA, "The lab may store no more today.", "The answer has it."))
    rows |= {
        (int(status), code, "Caddy or the web server refused the request.", "The answer has it.")
        for status, code in admission.CODES.items()
    }
    head = "\n## Errors of the API\n\n| status | code | when | remedy |\n|---|---|---|---|\n"
    lines = [f"| {row[0]} | `{row[1]}` | {row[2]} | {row[3]} |\n" for row in sorted(rows)]
    others = "| others | `error` | As HTTP defines the status: 405, 415. | See /api/docs. |\n"
    return head + "".join(lines) + others


def _models() -> str:
    rooms = [room for room in apps.get_app_configs() if room.name.startswith("webapp.")]
    return "".join(_section(room) for room in rooms if any(True for _ in room.get_models()))


def _section(room: AppConfig) -> str:
    rows = [_row(model) for model in sorted(room.get_models(), key=lambda one: one._meta.db_table)]
    return f"\n### {room.label}\n\n{HEAD}" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(model: type[models.Model]) -> Sequence[str]:
    meta = model._meta
    return (
        f"`{meta.db_table}`",
        summary(model),
        _listed(_foreign_keys(model)),
        _listed([*_unique_columns(model), *_names(model, models.UniqueConstraint)]),
        _listed(_names(model, models.CheckConstraint)),
    )


def summary(kind: type) -> str:
    """The first sentence of a class's docstring, as a cell of a table."""
    paragraph = " ".join((kind.__doc__ or "").strip().partition("\n\n")[0].split())
    sentence = re.match(r".*?\.(?=\s|$)", paragraph)
    return (sentence.group() if sentence else paragraph).replace("``", "`").replace("|", r"\|")


def _foreign_keys(model: type[models.Model]) -> Iterator[str]:
    for field in model._meta.fields:
        if isinstance(field, models.ForeignKey):
            table = field.remote_field.model._meta.db_table
            yield f"`{field.name}` → {table}{'?' if field.null else ''}"


def _unique_columns(model: type[models.Model]) -> Iterator[str]:
    if isinstance(model._meta.pk, models.CompositePrimaryKey):
        yield " with ".join(f"`{field.name}`" for field in model._meta.pk_fields)
    for field in model._meta.fields:
        if field.unique and not (field.primary_key and field.remote_field is None):
            yield f"`{field.name}`"


def _names(model: type[models.Model], kind: type[models.BaseConstraint]) -> Iterator[str]:
    for one in model._meta.constraints:
        if isinstance(one, kind):
            yield f"`{one.name}`"


def _listed(items: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(items)


def write(page: Path = PAGE) -> None:
    """Put the tables between the marks of the page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(BLOCK.sub(lambda _: rendered(), text), encoding="utf-8")


def main() -> None:
    """Print what comes from the code, or write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.data_model")
    parser.add_argument("--write", action="store_true", help=f"put them into docs/{PAGE.name}")
    given = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.config.settings")
    django.setup()
    if given.write:
        write()
    else:
        sys.stdout.write(rendered())


if __name__ == "__main__":
    main()
