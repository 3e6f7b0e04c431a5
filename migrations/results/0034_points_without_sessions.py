"""A point whose runs name no session has none: an empty array takes 13 bytes of each point."""

import django.contrib.postgres.fields
from django.db import migrations, models

# The table is written anew, in one statement: an update would leave it twice as large.
FORWARD = """
ALTER TABLE results_point
    ALTER sessions DROP DEFAULT,
    ALTER sessions DROP NOT NULL,
    ALTER sessions TYPE varchar(300)[] USING NULLIF(sessions, '{}');
"""
BACKWARD = """
ALTER TABLE results_point
    ALTER sessions TYPE varchar(300)[] USING COALESCE(sessions, '{}'),
    ALTER sessions SET NOT NULL,
    ALTER sessions SET DEFAULT '{}';
"""
SESSIONS = django.contrib.postgres.fields.ArrayField(
    base_field=models.CharField(max_length=300),
    help_text="Sessions of its runs; null: none of them names one.",
    null=True,
    size=None,
)


class Migration(migrations.Migration):
    dependencies = [("results", "0033_one_index_of_runs_in_time")]

    operations = [
        migrations.RemoveIndex(model_name="point", name="points_of_sessions"),
        migrations.RunSQL(
            FORWARD,
            BACKWARD,
            state_operations=[
                migrations.AlterField(model_name="point", name="sessions", field=SESSIONS)
            ],
        ),
        migrations.AddIndex(
            model_name="point",
            index=models.Index(
                condition=models.Q(("sessions__isnull", False)),
                fields=["series"],
                name="points_of_sessions",
            ),
        ),
    ]
