import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import webapp.bisects.models.bisects


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("alerts", "0001_alerts_thresholds_agreements"),
        ("jobs", "0001_jobs_and_workers"),
        ("results", "0001_trees_runs_points"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Bisect",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "along",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), size=None
                    ),
                ),
                (
                    "effect_pct",
                    models.FloatField(help_text="The alerted step, percent of the level before."),
                ),
                (
                    "noise",
                    models.JSONField(
                        help_text="As at the start; fields of webapp.stats.bisection."
                    ),
                ),
                (
                    "manual",
                    models.BooleanField(
                        default=False, help_text="People measure; no job is requested."
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("validating", "validating"),
                            ("searching", "searching"),
                            ("confirming", "confirming"),
                            ("done", "done"),
                            ("paused", "paused"),
                            ("starved", "starved"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("single", "one commit"),
                            ("range", "a range of commits"),
                            ("two steps", "two steps"),
                            ("not reproduced", "not reproduced"),
                            ("inconclusive", "inconclusive"),
                            ("lab failed", "the lab failed"),
                        ],
                        max_length=14,
                    ),
                ),
                ("probability", models.FloatField(blank=True, null=True)),
                (
                    "suspects",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "weights",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(),
                        blank=True,
                        help_text="Prior weight of each candidate; null: all are as likely.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "unlikely",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Index of each candidate of less weight, and why.",
                    ),
                ),
                (
                    "runs",
                    models.IntegerField(default=1, help_text="In each boot that is asked for."),
                ),
                ("build_hours", models.FloatField(help_text="What a build is expected to take.")),
                (
                    "boot_hours",
                    models.FloatField(help_text="What a boot with its runs is expected to take."),
                ),
                ("can_rebuild", models.BooleanField(default=False)),
                (
                    "most_boots",
                    models.IntegerField(help_text="The budget: boots that may be asked for."),
                ),
                (
                    "most_hours",
                    models.FloatField(blank=True, help_text="Machine-hours; null: any.", null=True),
                ),
                ("deadline", models.DateTimeField(blank=True, null=True)),
                (
                    "forecast",
                    models.JSONField(blank=True, default=dict, help_text="As at the start."),
                ),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("version", models.BigIntegerField(default=1)),
                (
                    "alert",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="bisects",
                        to="alerts.alert",
                    ),
                ),
                (
                    "hold",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="bisect",
                        to="alerts.alerthold",
                    ),
                ),
                (
                    "bad",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Null: started by Driftline itself.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="bisects",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "culprit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="named_by_bisects",
                        to="results.revision",
                    ),
                ),
                (
                    "good",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="bisects",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["done", "cancelled"]), _negated=True),
                        fields=["-id"],
                        name="bisects_running",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("created_by__isnull", True)),
                        fields=("alert", "series"),
                        name="bisect_started_itself_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("good", models.F("bad")), _negated=True),
                        name="bisect_between_two",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("effect_pct", 0), _negated=True),
                        name="bisect_of_a_step",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), models.Q(("outcome", ""), _negated=True)),
                            models.Q(models.Q(("state", "done"), _negated=True), ("outcome", "")),
                            _connector="OR",
                        ),
                        name="bisect_done_with_an_outcome",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome", "single"), _negated=True),
                            ("culprit__isnull", False),
                            _connector="OR",
                        ),
                        name="bisect_names_its_culprit",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("probability__isnull", True),
                            ("probability__range", (0, 1)),
                            _connector="OR",
                        ),
                        name="bisect_probability",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_at__isnull", False), ("state__in", ["done", "cancelled"])
                            ),
                            models.Q(
                                models.Q(("state__in", ["done", "cancelled"]), _negated=True),
                                ("ended_at__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="bisect_ended_at_a_moment",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("most_boots__gte", 1)), name="bisect_has_a_boot"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BisectAct",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.IntegerField()),
                ("at", models.DateTimeField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("force", "the step is here"),
                            ("exclude", "not this commit"),
                            ("allow", "as likely as any other"),
                            ("pin", "measure it next"),
                            ("skip", "cannot be measured"),
                            ("unskip", "can be measured again"),
                            ("weak", "measured weakly"),
                            ("same", "built as its parent"),
                            ("pause", "paused"),
                            ("resume", "resumed"),
                            ("cancel", "cancelled"),
                        ],
                        max_length=7,
                    ),
                ),
                ("index", models.IntegerField(null=True)),
                ("after_boots", models.IntegerField(default=0)),
                ("reason", models.TextField()),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "bisect",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="acts",
                        to="bisects.bisect",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
            ],
            options={
                "ordering": ["bisect", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("bisect", "number"), name="bisect_act_numbered"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("index__isnull", False),
                                (
                                    "kind__in",
                                    [
                                        "force",
                                        "exclude",
                                        "allow",
                                        "pin",
                                        "skip",
                                        "unskip",
                                        "weak",
                                        "same",
                                    ],
                                ),
                                ("revision__isnull", False),
                            ),
                            models.Q(
                                ("kind__in", ["pause", "resume", "cancel"]),
                                ("revision__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="bisect_act_on_a_revision",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="bisect_act_with_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BisectBoot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.IntegerField()),
                ("index", models.IntegerField()),
                ("build", models.CharField(max_length=340)),
                (
                    "values",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(), size=None
                    ),
                ),
                ("purpose", models.CharField(max_length=10)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("history", "measured before"),
                            ("run", "measured for it or meanwhile"),
                            ("pasted", "entered by hand"),
                        ],
                        max_length=7,
                    ),
                ),
                (
                    "boot",
                    models.IntegerField(default=0, help_text="The index of the boot in its run."),
                ),
                ("at", models.DateTimeField()),
                ("dropped_at", models.IntegerField(null=True)),
                (
                    "bisect",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="boots",
                        to="bisects.bisect",
                    ),
                ),
                (
                    "entered_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="results.run",
                    ),
                ),
            ],
            options={
                "ordering": ["bisect", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("bisect", "number"), name="bisect_boot_numbered"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("dropped_at__isnull", True)),
                        fields=("bisect", "run", "boot"),
                        name="bisect_boot_once_from_a_run",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("entered_by__isnull", False),
                                ("run__isnull", True),
                                ("source", "pasted"),
                            ),
                            models.Q(
                                models.Q(("source", "pasted"), _negated=True),
                                ("entered_by__isnull", True),
                                ("run__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="bisect_boot_from_one_source",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("values__len__gte", 1)), name="bisect_boot_has_a_value"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BisectDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.IntegerField()),
                ("at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("validating", "validating"),
                            ("searching", "searching"),
                            ("confirming", "confirming"),
                            ("done", "done"),
                            ("paused", "paused"),
                            ("starved", "starved"),
                            ("cancelled", "cancelled"),
                        ],
                        max_length=10,
                    ),
                ),
                ("action", models.CharField(max_length=40)),
                ("text", models.TextField()),
                ("figures", models.JSONField(default=dict)),
                ("boots", models.IntegerField()),
                ("acts", models.IntegerField()),
                (
                    "pending",
                    models.JSONField(default=list, help_text="[index, purpose, rebuild] of each."),
                ),
                ("agents", models.IntegerField()),
                ("hours", models.FloatField(default=0.0)),
                ("failure", models.TextField(blank=True)),
                (
                    "bisect",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="decisions",
                        to="bisects.bisect",
                    ),
                ),
            ],
            options={
                "ordering": ["bisect", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("bisect", "number"), name="bisect_decision_numbered"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BisectJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("index", models.IntegerField()),
                ("purpose", models.CharField(max_length=10)),
                ("settled", models.BooleanField(default=False)),
                (
                    "bisect",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="asked",
                        to="bisects.bisect",
                    ),
                ),
                (
                    "decision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="asked",
                        to="bisects.bisectdecision",
                    ),
                ),
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="for_bisect",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "ordering": ["bisect", "pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("settled", False)),
                        fields=["bisect"],
                        name="bisect_jobs_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="BisectSettings",
            fields=[
                (
                    "tree",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="bisect_settings",
                        serialize=False,
                        to="results.tree",
                    ),
                ),
                (
                    "automatic",
                    models.BooleanField(
                        default=False,
                        help_text="Start one for each alert that is open and has several suspects.",
                    ),
                ),
                (
                    "confirm_candidates",
                    models.BooleanField(
                        default=False,
                        help_text="Have agents boot each candidate and the revision before it once more.",
                    ),
                ),
                (
                    "most_boots",
                    models.IntegerField(
                        blank=True, help_text="Boots that one may ask for (default 60).", null=True
                    ),
                ),
                (
                    "most_hours",
                    models.FloatField(
                        blank=True,
                        help_text="Machine-hours that one may use (default 48).",
                        null=True,
                    ),
                ),
                (
                    "command",
                    models.TextField(
                        blank=True,
                        help_text="What a person runs to measure a revision by hand, with {revision}, {hardware}, {mode} and {metric}. Empty: the checkout of the revision alone.",
                    ),
                ),
                (
                    "unlikely_paths",
                    models.TextField(
                        blank=True,
                        help_text="Paths that cannot matter, a pattern a line as in .gitignore: share/man/, *.md, /sys/arm64/. A commit that touches nothing else is an unlikely suspect.",
                        validators=[webapp.bisects.models.bisects.validate_patterns],
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "bisect settings",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("most_boots__isnull", True),
                            ("most_boots__range", (1, 10000)),
                            _connector="OR",
                        ),
                        name="bisect_settings_boots_1_to_10000",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("most_hours__isnull", True),
                            models.Q(("most_hours__gt", 0), ("most_hours__lte", 10000)),
                            _connector="OR",
                        ),
                        name="bisect_settings_hours_to_10000",
                    ),
                ],
            },
        ),
    ]
