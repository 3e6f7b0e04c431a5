"""Points keep their runs apart where they may disagree, and people decide; those stored before get
the same.

One transaction: who kills it finds everything as it was, and starts again.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from webapp.results.services.pooling import refresh_points

CHUNK = 2000


def pool_again(apps, schema_editor):
    points = apps.get_model("results", "Point").objects.filter(runs__gt=1).order_by("pk")
    rows = list(points.values_list("series_id", "revision_id", "position"))
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        refresh_points([row[:2] for row in chunk], {row[1]: row[2] for row in chunk})


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0002_levels_of_points"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PoolingDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=32)),
                ("runs", models.JSONField(help_text="The UUIDs of the runs.")),
                ("decided_at", models.DateTimeField()),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-decided_at", "-id"],
            },
        ),
        migrations.AddField(
            model_name="point",
            name="disagrees",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Its runs differ by more than their noise: it takes no part in findings.",
            ),
        ),
        migrations.AddField(
            model_name="point",
            name="uploads",
            field=models.JSONField(
                help_text="Each run apart, where their samples alone do not explain how they differ.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="point",
            index=models.Index(
                condition=models.Q(("uploads__isnull", False)),
                fields=["series"],
                name="points_of_uploads_apart",
            ),
        ),
        migrations.AddIndex(
            model_name="point",
            index=models.Index(
                condition=models.Q(("disagrees", True)),
                fields=["revision"],
                name="points_that_disagree",
            ),
        ),
        migrations.AddField(
            model_name="poolingdecision",
            name="decided_by",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="poolingdecision",
            name="undone_by",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="poolingdecision",
            constraint=models.UniqueConstraint(
                condition=models.Q(("undone_at__isnull", True)),
                fields=("key",),
                name="pooling_decided_once_of_the_same_runs",
            ),
        ),
        migrations.AddConstraint(
            model_name="poolingdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("undone_at__isnull", True), ("undone_by__isnull", True)),
                    models.Q(("undone_at__isnull", False), ("undone_by__isnull", False)),
                    _connector="OR",
                ),
                name="pooling_decision_undone_by_somebody",
            ),
        ),
        # Older code reads points and passes over the columns: nothing to take back.
        migrations.RunPython(pool_again, migrations.RunPython.noop),
    ]
