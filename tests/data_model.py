"""`python -m tests.data_model [--write]`: the tables of docs/data-model.md, from the models."""

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

PAGE = PROJECT / "docs" / "data-model.md"
BLOCK = re.compile(r"(?<=<!-- tables -->\n).*?(?=<!-- end of tables -->)", re.DOTALL)
HEAD = "| table | one row is | foreign keys | unique | checked |\n|---|---|---|---|---|\n"


def rendered() -> str:
    """A heading and a table for each room that has models, in the order of the layers."""
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


def summary(model: type[models.Model]) -> str:
    """The first sentence of the model's docstring, as a cell of a table."""
    paragraph = " ".join((model.__doc__ or "").strip().partition("\n\n")[0].split())
    sentence = re.match(r".*?\.(?=\s|$)", paragraph)
    return (sentence.group() if sentence else paragraph).replace("``", "`").replace("|", r"\|")


def _foreign_keys(model: type[models.Model]) -> Iterator[str]:
    for field in model._meta.fields:
        if isinstance(field, models.ForeignKey):
            table = field.remote_field.model._meta.db_table
            yield f"`{field.name}` → {table}{'?' if field.null else ''}"


def _unique_columns(model: type[models.Model]) -> Iterator[str]:
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
    """Print the tables, or write them."""
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
