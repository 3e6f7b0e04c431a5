"""Samples and boots are bytes in place of arrays, in the order of columns that rows had."""

from django.db import migrations, models
from django.db.models.functions import Length
from django.db.models.lookups import GreaterThan

import webapp.results.packed

TABLES = {
    "measurement": ("results_measurement", "measurement_has_a_sample"),
    "costsamples": ("results_costsamples", "cost_has_a_sample"),
}
# Functions of this connection alone: the expression of a change of type has no room for a query.
FUNCTIONS = """
CREATE FUNCTION pg_temp.packed_samples(double precision[]) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT string_agg(float8send(value), ''::bytea ORDER BY number)
      FROM unnest($1) WITH ORDINALITY AS sample (value, number) $$;
CREATE FUNCTION pg_temp.packed_boots(integer[]) RETURNS bytea
    LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE WHEN COALESCE(bool_and(value BETWEEN 0 AND 255), true)
                THEN '\\x01'::bytea || COALESCE(
                     string_agg(substring(int4send(value) FROM 4), ''::bytea ORDER BY number), '')
                ELSE '\\x04'::bytea || string_agg(int4send(value), ''::bytea ORDER BY number) END
      FROM unnest($1) WITH ORDINALITY AS boot (value, number) $$;
"""
PACK = """
ALTER TABLE {table}
    DROP CONSTRAINT {constraint},
    ALTER samples TYPE bytea USING pg_temp.packed_samples(samples),
    ALTER boots TYPE bytea USING pg_temp.packed_boots(boots),
    ADD CONSTRAINT {constraint} CHECK (length(samples) > 0);
"""
DROPPED = """
DROP FUNCTION pg_temp.packed_samples(double precision[]);
DROP FUNCTION pg_temp.packed_boots(integer[]);
"""


def statements():
    packs = (PACK.format(table=table, constraint=name) for table, name in TABLES.values())
    return "".join((FUNCTIONS, *packs, DROPPED))


def states():
    for model, (_, constraint) in TABLES.items():
        yield migrations.RemoveConstraint(model_name=model, name=constraint)
        yield migrations.AlterField(model, "samples", webapp.results.packed.SamplesField())
        boots = webapp.results.packed.BootsField(blank=True, null=True)
        yield migrations.AlterField(model, "boots", boots)
        yield migrations.AddConstraint(
            model_name=model,
            constraint=models.CheckConstraint(
                condition=GreaterThan(Length("samples"), 0), name=constraint
            ),
        )


class Migration(migrations.Migration):
    dependencies = [("results", "0030_runs_of_kernels")]

    operations = [
        migrations.RunSQL(statements(), state_operations=list(states())),
    ]
