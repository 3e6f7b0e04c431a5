import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("results", "0001_trees_runs_points"),
    ]

    operations = [
        migrations.CreateModel(
            name="SeriesAnalysis",
            fields=[
                (
                    "series",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="analysis",
                        serialize=False,
                        to="results.series",
                    ),
                ),
                (
                    "version",
                    models.BigIntegerField(
                        default=0, help_text="The series' version it describes."
                    ),
                ),
                ("analysed_at", models.DateTimeField(null=True)),
                (
                    "detector",
                    models.IntegerField(
                        default=0, help_text="The version of the method that was used."
                    ),
                ),
                (
                    "summary",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Levels, noise, the smallest provable change, and why nothing newer is flagged.",
                    ),
                ),
                (
                    "asked",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="Where its newest pair was asked while it could not tell its build noise.",
                        size=None,
                    ),
                ),
                (
                    "judged",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        help_text="What the pairs were judged by.",
                    ),
                ),
                (
                    "pairs",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        help_text="Those of them that a belief in build noise may find.",
                    ),
                ),
                (
                    "deviations",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="How far its latest revisions lie off their level, in standard deviations.",
                    ),
                ),
                (
                    "recent",
                    models.JSONField(
                        blank=True,
                        help_text="What its newest revisions say of each place; null: too little is known.",
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "series analyses",
                "indexes": [
                    models.Index(
                        condition=models.Q(("pairs", []), _negated=True),
                        fields=["series"],
                        name="analyses_with_pairs",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Finding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("candidate", "candidate"),
                            ("one build", "one build a side"),
                            ("confirmed", "confirmed"),
                            ("recovered", "recovered"),
                            ("superseded", "superseded"),
                            ("retracted", "retracted"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("better", "better"),
                            ("worse", "worse"),
                            ("equivalent", "equivalent"),
                            ("cannot tell", "cannot tell"),
                        ],
                        max_length=12,
                    ),
                ),
                ("position", models.BigIntegerField(help_text="Of the likeliest first revision.")),
                ("here", models.FloatField()),
                (
                    "change_pct",
                    models.FloatField(help_text="Null: beyond the double range.", null=True),
                ),
                ("low_pct", models.FloatField(null=True)),
                ("high_pct", models.FloatField(null=True)),
                ("level_before", models.FloatField(help_text="In the metric's unit.")),
                ("level", models.FloatField(help_text="In the metric's unit.")),
                ("revisions_before", models.IntegerField()),
                ("revisions_after", models.IntegerField()),
                ("score", models.FloatField(help_text="Evidence, in standard deviations.")),
                ("needed", models.FloatField(help_text="The limit it had to pass.")),
                (
                    "p_value",
                    models.FloatField(help_text="Of the scan, under no change; ranks alerts."),
                ),
                (
                    "one_build",
                    models.JSONField(help_text="Null: found by the detector.", null=True),
                ),
                (
                    "locations",
                    models.JSONField(
                        db_default=models.Value([], models.JSONField()),
                        default=list,
                        help_text="Where it may have begun: position, name and probability of each revision.",
                    ),
                ),
                ("probability", models.FloatField()),
                ("why", models.TextField(help_text="The rule and its figures, as a sentence.")),
                ("detector", models.IntegerField(help_text="The version of the method.")),
                ("first_detected_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "after",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "last",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "previous",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "recovered_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="results.revision",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="results.series",
                    ),
                ),
                (
                    "superseded_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="supersedes",
                        to="analysis.finding",
                    ),
                ),
            ],
            options={
                "ordering": ["series", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("state__in", ["candidate", "one build", "confirmed", "recovered"])
                        ),
                        fields=("series", "revision"),
                        name="finding_once_at_a_revision",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("recovered_by__isnull", False), ("state", "recovered")),
                            models.Q(
                                models.Q(("state", "recovered"), _negated=True),
                                ("recovered_by__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="finding_recovered_by_a_revision",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "superseded"), ("superseded_by__isnull", False)),
                            models.Q(
                                models.Q(("state", "superseded"), _negated=True),
                                ("superseded_by__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="finding_superseded_by_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("verdict__in", ["better", "worse"])),
                        name="finding_better_or_worse",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("here__range", (0, 1)),
                            ("p_value__range", (0, 1)),
                            ("probability__range", (0, 1)),
                        ),
                        name="finding_probabilities",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("revision", models.F("previous")), _negated=True),
                        name="finding_between_two_revisions",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FindingEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("detected", "detected"),
                            ("confirmed", "confirmed"),
                            ("moved", "moved to another revision"),
                            ("refined", "other suspects"),
                            ("resized", "size outside the interval said before"),
                            ("recovered", "recovered"),
                            ("returned", "no longer recovered"),
                            ("doubted", "a candidate again"),
                            ("superseded", "superseded by another finding"),
                            ("retracted", "retracted"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("candidate", "candidate"),
                            ("one build", "one build a side"),
                            ("confirmed", "confirmed"),
                            ("recovered", "recovered"),
                            ("superseded", "superseded"),
                            ("retracted", "retracted"),
                        ],
                        max_length=10,
                    ),
                ),
                ("change_pct", models.FloatField(null=True)),
                ("low_pct", models.FloatField(null=True)),
                ("high_pct", models.FloatField(null=True)),
                ("probability", models.FloatField()),
                (
                    "after",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "finding",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="analysis.finding",
                    ),
                ),
                (
                    "last",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
            ],
            options={
                "ordering": ["finding", "pk"],
            },
        ),
        migrations.CreateModel(
            name="SeriesSettings",
            fields=[
                (
                    "series",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="settings",
                        serialize=False,
                        to="results.series",
                    ),
                ),
                (
                    "margin_pct",
                    models.FloatField(
                        blank=True,
                        help_text="Differences within ± this are equivalent (default 2).",
                        null=True,
                    ),
                ),
                (
                    "min_effect_pct",
                    models.FloatField(
                        blank=True,
                        help_text="The smallest change of interest, set at /thresholds/ (default 2).",
                        null=True,
                    ),
                ),
                (
                    "is_canary",
                    models.BooleanField(
                        default=False,
                        help_text="No commit should ever move it: where it moves, the machine changed.",
                        verbose_name="canary",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "series settings",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("margin_pct__isnull", True),
                            ("margin_pct__range", (0, 100)),
                            _connector="OR",
                        ),
                        name="settings_margin_0_to_100",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("min_effect_pct__isnull", True),
                            ("min_effect_pct__range", (0, 1000)),
                            _connector="OR",
                        ),
                        name="settings_min_effect_0_to_1000",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.BigIntegerField()),
                ("detector", models.IntegerField()),
                ("state", models.JSONField()),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checkpoints",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "ordering": ["series", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("series", "position"), name="checkpoint_once_at_a_position"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Comparison",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.BigIntegerField()),
                (
                    "delta",
                    models.FloatField(help_text="Mean minus previous mean, in the metric's unit."),
                ),
                (
                    "error",
                    models.FloatField(
                        help_text="Half the 95 % interval; null: unknown.", null=True
                    ),
                ),
                (
                    "percent",
                    models.FloatField(
                        help_text="Of the previous mean; null when that is 0.", null=True
                    ),
                ),
                ("percent_error", models.FloatField(null=True)),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("better", "better"),
                            ("worse", "worse"),
                            ("equivalent", "equivalent"),
                            ("cannot tell", "cannot tell"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "flag",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "none"),
                            ("regressed", "regressed"),
                            ("improved", "improved"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "previous",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comparisons",
                        to="results.revision",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comparisons",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "ordering": ["series", "position"],
                "indexes": [
                    models.Index(fields=["series", "position"], name="comparisons_of_a_series"),
                    models.Index(
                        condition=models.Q(("flag", ""), _negated=True),
                        fields=["revision"],
                        name="comparisons_flagged",
                    ),
                    models.Index(
                        condition=models.Q(("flag", ""), _negated=True),
                        fields=["series"],
                        name="flags_of_a_series",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("series", "revision"), name="comparison_once_for_a_point"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("revision", models.F("previous")), _negated=True),
                        name="comparison_of_two_revisions",
                    ),
                ],
            },
        ),
    ]
