"""A point against the one before it follows from the two: those unlike most are noted."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# Of a series with late points these are found again with its next analysis.
FORWARD = """
INSERT INTO analysis_notedpoint (series_id, revision_id, position, is_compared)
SELECT point.series_id, point.revision_id, point.position, comparison.id IS NOT NULL
  FROM results_point AS point
  LEFT JOIN analysis_comparison AS comparison
    ON comparison.series_id = point.series_id AND comparison.position = point.position
 WHERE comparison.id IS NULL OR comparison.verdict <> 'cannot tell'
 ORDER BY point.series_id, point.position;
UPDATE results_series AS series
   SET dirty_from = 0, dirty_since = COALESCE(dirty_since, now())
  FROM analysis_seriesanalysis AS analysis
 WHERE analysis.series_id = series.id AND analysis.epochs <> '{}';
SET CONSTRAINTS ALL IMMEDIATE;
"""
BACK = """
UPDATE results_series SET dirty_from = 0, dirty_since = COALESCE(dirty_since, now())
 WHERE id IN (SELECT series_id FROM results_point);
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0011_comparisons_once_at_a_position"),
        ("results", "0032_hourly_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="seriesanalysis",
            name="late",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(),
                blank=True,
                db_default=[],
                default=list,
                help_text="Positions measured after an event, before the first of its epoch.",
                size=None,
            ),
        ),
        migrations.CreateModel(
            name="NotedPoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.BigIntegerField()),
                ("is_compared", models.BooleanField()),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.series",
                    ),
                ),
            ],
            options={"ordering": ["series", "position"]},
        ),
        migrations.AddConstraint(
            model_name="notedpoint",
            constraint=models.UniqueConstraint(
                fields=("series", "position"), name="noted_point_once"
            ),
        ),
        migrations.AddIndex(
            model_name="notedpoint",
            index=models.Index(
                fields=["revision", "is_compared"], name="noted_points_of_a_revision"
            ),
        ),
        migrations.RunSQL(FORWARD, BACK),
        migrations.DeleteModel(name="Comparison"),
    ]
