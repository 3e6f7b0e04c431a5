"""Profiles of runs, and the functions that they name."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labs", "0002_quotas"),
        ("results", "0014_names_by_facts"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProfiledFunction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                ("module", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("name", "module"), name="profiled_function_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Profile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of call tree, event and counts", max_length=64
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                (
                    "format",
                    models.CharField(
                        choices=[
                            ("pmcstat", "pmcstat"),
                            ("folded", "folded"),
                            ("perf", "perf"),
                            ("bpftrace", "bpftrace"),
                            ("btrace", "btrace"),
                            ("pprof", "pprof"),
                        ],
                        max_length=10,
                    ),
                ),
                ("event", models.CharField(blank=True, max_length=300)),
                ("iteration", models.IntegerField(blank=True, null=True)),
                ("boot", models.CharField(blank=True, max_length=300)),
                (
                    "expected",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(null=True), size=None
                    ),
                ),
                ("samples", models.BigIntegerField()),
                ("is_truncated", models.BooleanField()),
                ("unsymbolized", models.BigIntegerField(default=0)),
                ("pps", models.FloatField(blank=True, null=True)),
                ("cores", models.IntegerField(blank=True, null=True)),
                ("warnings", models.JSONField(blank=True, default=list)),
                (
                    "functions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), size=None
                    ),
                ),
                ("calls", models.BinaryField()),
                ("received_at", models.DateTimeField(db_index=True)),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="labs.agent",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="profiles",
                        to="results.run",
                    ),
                ),
            ],
            options={
                "ordering": ["run_id", "iteration", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "digest"), name="profile_once_of_a_run"),
                    models.CheckConstraint(
                        condition=models.Q(("samples__gt", 0)), name="profile_has_a_sample"
                    ),
                ],
            },
        ),
    ]
