"""Points keep their scatter by run, boot and build; those stored before get theirs.

Every series is marked to be analysed anew: its analysis is to say which noise it measured itself.
One transaction: who kills it finds everything as it was, and starts again.
"""

from itertools import groupby

from django.db import migrations, models

from webapp.results.services.pooling import of_runs

CHUNK = 2000
NO_BUILD = ""

SAMPLES = """
SELECT point.id, measurement.samples, measurement.boots, run.build_id
  FROM results_point AS point
  JOIN results_run AS run
    ON run.revision_id = point.revision_id AND run.withdrawn_at IS NULL
  JOIN results_measurement AS measurement
    ON measurement.run_id = run.id AND measurement.series_id = point.series_id
 WHERE point.id = ANY(%s)
 ORDER BY point.id, run.uuid
"""


def fill(apps, schema_editor):
    points = apps.get_model("results", "Point").objects
    ids = list(points.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(SAMPLES, [chunk])
            rows = cursor.fetchall()
        runs = {pk: [row[1:] for row in group] for pk, group in groupby(rows, lambda row: row[0])}
        found = list(points.filter(pk__in=chunk).only("pk", "mean"))
        for point in found:
            # Without its samples nothing is known of its scatter: one sample says so.
            its_runs = runs.get(point.pk) or [([point.mean], None, NO_BUILD)]
            point.levels = of_runs(its_runs)["levels"]
        points.bulk_update(found, ["levels"], batch_size=500)


def mark_dirty(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE results_series AS series
               SET version = version + 1,
                   dirty_from = LEAST(dirty_from, first.position),
                   dirty_since = COALESCE(dirty_since, now())
              FROM (SELECT series_id, min(position) AS position
                      FROM results_point GROUP BY series_id) AS first
             WHERE first.series_id = series.id
            """
        )


class Migration(migrations.Migration):
    dependencies = [("results", "0001_trees_runs_series")]

    operations = [
        migrations.AddField("point", "levels", models.JSONField(null=True)),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(mark_dirty, migrations.RunPython.noop),
        migrations.AlterField(
            "point",
            "levels",
            models.JSONField(
                help_text="Mean and scatter by run, boot and build, and a digest of the builds."
            ),
        ),
    ]
