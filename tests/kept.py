"""Data that many tests start from: made once in a process, and put back for each of them."""

import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, lru_cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import time_machine
from django.apps import apps
from django.db import connection, transaction
from django.db.models import AutoField, GeneratedField, Model

from webapp.pages.parts.cache import Cache
from webapp.readiness.models import Heartbeat
from webapp.results.models import HourlyRuns
from webapp.results.services import forget_names

BY_TRIGGERS = f'"{HourlyRuns._meta.db_table}"'
"""The table whose rows come with those of another."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Rows(NamedTuple):
    """All rows of a table, as PostgreSQL copies them, and the last number that it gave to one."""

    copying: str
    packed: bytes
    numbered: str


def forget_drawn() -> None:
    """Forget what this process keeps of rows: those that are put back have their numbers again."""
    for parts in parts_of_pages(len(sys.modules)):
        parts.clear()
    forget_names()


@lru_cache(maxsize=1)
def parts_of_pages(loaded: int) -> list[Cache[Any]]:
    """What the modules keep, once so many are ``loaded``: a list by hand would lack the next one,
    and a test would be shown the rows of the test before.
    """
    pages = [one for name, one in sys.modules.items() if name.startswith("webapp.pages.")]
    found = [held for one in pages for held in vars(one).values() if isinstance(held, Cache)]
    return list({id(one): one for one in found}.values())


def kept(make: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """``make``, which fills an empty database, run once for the same arguments: later calls copy
    its rows back, in milliseconds, and return a copy of its result. The result has nothing that
    is not in the database, and no test sees what another did to its copy.
    """
    made: dict[Hashable, tuple[list[Rows], Result]] = {}

    @wraps(make)
    def put(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        # What is made while the clock stands still has that time in it.
        is_still = time_machine.escape_hatch.is_travelling()
        key = (args, tuple(kwargs.items()), is_still)
        forget_drawn()
        if key in made:
            write(made[key][0])
        else:
            assert is_empty(), f"{make.__name__} needs an empty database"
            before = migrated()
            number_anew()  # the same numbers, whatever this process tested before
            result = make(*args, **kwargs)
            made[key] = ([rows for rows in read() if rows not in before], result)
            if is_still:
                number_anew()  # as where these rows are copied
        return deepcopy(made[key][1])

    return put


@contextmanager
def numbered_from_one() -> Iterator[None]:
    """Within, new rows are numbered as in a new database, whatever was numbered before."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT oid::regclass::text, coalesce(pg_sequence_last_value(oid), 1)"
            " FROM pg_class WHERE relkind = 'S'"
        )
        before = cursor.fetchall()
    number_anew()
    forget_drawn()
    yield
    with connection.cursor() as cursor:
        cursor.executemany(
            "SELECT setval(%s, greatest(%s, nextval(%s)))",
            [(name, last, name) for name, last in before],
        )
    forget_drawn()


def number_anew() -> None:
    """Let the next row of each table have the number after the last that is there."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'"
            # Heartbeats of other tests may be there: `read` leaves them out.
            " AND relname NOT IN ('django_migrations_id_seq', 'readiness_heartbeat_id_seq')"
        )
        for one in read():
            if one.numbered:
                cursor.execute(f"SELECT {one.numbered}")


@cache
def migrated() -> list[Rows]:
    """What a new database has; asked for before the first test."""
    return read()


def is_empty() -> bool:
    """Whether nothing is there but what a new database has."""
    return read() == migrated()


def read() -> list[Rows]:
    """All rows but heartbeats, which ``/readyz`` writes outside of a test's transaction."""
    tables = {
        model._meta.db_table: model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model is not Heartbeat
    }
    rows = " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM \"{table}\")" for table in tables
    )
    with connection.cursor() as cursor:
        cursor.execute(rows)
        return [_packed(tables[table]) for (table,) in cursor.fetchall()]


def write(tables: list[Rows]) -> None:
    """Put rows back."""
    with transaction.atomic(), connection.cursor() as cursor:
        # In any order, for foreign keys are checked when the transaction ends. To copy without the
        # checks (`session_replication_role`) would have PostgreSQL drop all plans.
        for one in tables:
            if BY_TRIGGERS not in one.copying:
                with cursor.copy(one.copying) as copy:
                    copy.write(one.packed)
        numbered = ", ".join(one.numbered for one in tables if one.numbered)
        if numbered:
            cursor.execute(f"SELECT {numbered}")


def _packed(model: type[Model]) -> Rows:
    table, fields = model._meta.db_table, model._meta.concrete_fields
    columns = [
        field.column for field in fields if field.column and not isinstance(field, GeneratedField)
    ]
    named = ", ".join(f'"{column}"' for column in columns)
    key, numbered = '", "'.join(str(field.column) for field in model._meta.pk_fields), ""
    with connection.cursor() as cursor:
        # In the order of keys: rows that are put back lie where there was room.
        ordered = f'SELECT {named} FROM "{table}" ORDER BY "{key}"'
        with cursor.copy(f"COPY ({ordered}) TO STDOUT (FORMAT binary)") as copy:
            packed = b"".join(copy)
        if isinstance(model._meta.pk, AutoField):
            sequence = f"pg_get_serial_sequence('{table}', '{key}')"
            cursor.execute(f'SELECT {sequence}, max("{key}") FROM "{table}"')
            name, last = cursor.fetchone()
            numbered = f"setval('{name}', greatest({last}, nextval('{name}')))"
    return Rows(f'COPY "{table}" ({named}) FROM STDIN (FORMAT binary)', packed, numbered)
