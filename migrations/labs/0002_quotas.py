import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labs", "0001_labs_agents_tokens"),
    ]

    operations = [
        migrations.CreateModel(
            name="LabQuota",
            fields=[
                (
                    "lab",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="quota",
                        serialize=False,
                        to="labs.lab",
                    ),
                ),
                ("most_runs", models.PositiveIntegerField(blank=True, null=True)),
                ("most_trees", models.PositiveIntegerField(blank=True, null=True)),
                ("most_series", models.PositiveIntegerField(blank=True, null=True)),
                ("day", models.DateField()),
                ("runs", models.PositiveIntegerField(default=0)),
                ("trees", models.PositiveIntegerField(default=0)),
                ("series", models.PositiveIntegerField(default=0)),
            ],
        ),
    ]
