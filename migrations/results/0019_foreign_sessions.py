import django.contrib.postgres.fields
from django.db import migrations, models

from webapp.results.services.points import judge_sessions

NAME_SESSIONS = """
UPDATE results_point AS point SET sessions = named.sessions
  FROM (SELECT measurement.series_id, run.revision_id,
               array_agg(DISTINCT run.session ORDER BY run.session) AS sessions
          FROM results_run AS run
          JOIN results_measurement AS measurement ON measurement.run_id = run.id
         WHERE run.withdrawn_at IS NULL
           AND cardinality(measurement.samples) > COALESCE(cardinality(measurement.left_out), 0)
         GROUP BY measurement.series_id, run.revision_id
        HAVING max(run.session) <> '') AS named
 WHERE point.series_id = named.series_id AND point.revision_id = named.revision_id
"""


def judge(apps, schema_editor):
    """By the rule of this version: what it changes is no news of today's uploads."""
    named = apps.get_model("results", "Point").objects.exclude(sessions=[])
    series = list(
        named.filter(series__variant=None, series__metric__of=None)
        .values_list("series_id", flat=True)
        .distinct()
    )
    if series:
        judge_sessions(series)


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0018_histograms"),
    ]

    operations = [
        migrations.AddField(
            model_name="point",
            name="beside",
            field=models.JSONField(
                help_text="Why its session stands beside the series; null: it does not.", null=True
            ),
        ),
        migrations.AddField(
            model_name="point",
            name="sessions",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=300),
                db_default=[],
                default=list,
                help_text="Sessions of its runs; empty: none of them names one.",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="series",
            name="session_starts",
            field=models.JSONField(
                editable=False,
                help_text="Where sessions from elsewhere begin stretches of their own; null: none does.",
                null=True,
            ),
        ),
        migrations.RunSQL(NAME_SESSIONS, migrations.RunSQL.noop),
        migrations.RunPython(judge, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="point",
            index=models.Index(
                condition=models.Q(("sessions", []), _negated=True),
                fields=["series"],
                name="points_of_sessions",
            ),
        ),
    ]
