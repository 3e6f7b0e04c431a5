import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("analysis", "0001_comparisons_findings_pairs"),
        ("results", "0001_trees_runs_points"),
    ]

    operations = [
        migrations.CreateModel(
            name="Alert",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("named_probability", models.FloatField(blank=True, null=True)),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("regression", "regression"),
                            ("improvement", "improvement"),
                            ("mixed", "mixed"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("new", "new"),
                            ("acknowledged", "acknowledged"),
                            ("investigating", "investigating"),
                            ("reopened", "reopened"),
                            ("recovered", "recovered?"),
                            ("snoozed", "snoozed"),
                            ("resolved", "resolved"),
                        ],
                        default="new",
                        max_length=13,
                    ),
                ),
                ("is_active", models.BooleanField(default=True)),
                (
                    "history",
                    models.BooleanField(
                        default=False,
                        help_text="Rests on runs uploaded as history: nobody is to be mailed.",
                    ),
                ),
                (
                    "mailed",
                    models.BooleanField(
                        default=False,
                        help_text="Somebody was written to: it never counts as history again.",
                    ),
                ),
                ("triaged", models.BooleanField(default=False, help_text="A person acted on it.")),
                (
                    "resolution",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("fixed", "fixed"),
                            ("backed out", "backed out"),
                            ("expected", "expected"),
                            ("won't fix", "won't fix"),
                            ("not real", "not real: noise, lab or harness"),
                            ("duplicate", "duplicate"),
                            ("retracted", "retracted: later runs no longer show it"),
                        ],
                        max_length=10,
                    ),
                ),
                ("snoozed_until", models.DateTimeField(blank=True, null=True)),
                (
                    "snoozed_until_revision",
                    models.CharField(
                        blank=True, help_text="Its name; it may be a commit to come.", max_length=64
                    ),
                ),
                (
                    "snoozed_until_position",
                    models.BigIntegerField(
                        blank=True, help_text="Where that revision was, or is to be.", null=True
                    ),
                ),
                ("recovered_since", models.DateTimeField(blank=True, null=True)),
                ("opened_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("version", models.BigIntegerField(default=1)),
                (
                    "after",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "duplicate_of",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="duplicates",
                        to="alerts.alert",
                    ),
                ),
                (
                    "likeliest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "named",
                    models.ForeignKey(
                        blank=True,
                        help_text="The commit that a bisect named: while it is suspected, it is the likeliest.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "resolution_revision",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alerts",
                        to="results.revision",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="alerts",
                        to="results.tree",
                    ),
                ),
                (
                    "one_build",
                    models.BooleanField(
                        default=False,
                        help_text="Rests on one build a side: no fact about the commit yet.",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "resolved"), _negated=True),
                        fields=["-id"],
                        name="alerts_not_resolved",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tree", "revision"), name="alert_once_for_a_commit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("state", "resolved"), models.Q(("resolution", ""), _negated=True)
                            ),
                            models.Q(
                                models.Q(("state", "resolved"), _negated=True), ("resolution", "")
                            ),
                            _connector="OR",
                        ),
                        name="alert_resolved_as_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("resolution", "duplicate"),
                            ("duplicate_of__isnull", True),
                            _connector="OR",
                        ),
                        name="alert_duplicate_of_another",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("duplicate_of", models.F("id")), _negated=True),
                        name="alert_not_of_itself",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("resolution__in", ["fixed", "backed out"]),
                            ("resolution_revision__isnull", True),
                            _connector="OR",
                        ),
                        name="alert_fixed_by_a_revision",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "snoozed"), _negated=True),
                            ("snoozed_until__isnull", False),
                            ("snoozed_until_position__isnull", False),
                            ("history", True),
                            _connector="OR",
                        ),
                        name="alert_snoozed_until_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("snoozed_until_position__isnull", True),
                                ("snoozed_until_revision", ""),
                            ),
                            models.Q(
                                ("snoozed_until__isnull", True),
                                ("snoozed_until_position__isnull", False),
                                models.Q(("snoozed_until_revision", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="alert_snoozed_until_one_thing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("named_probability__isnull", True),
                            ("named_probability__range", (0, 1)),
                            _connector="OR",
                        ),
                        name="alert_named_probability",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertEvent",
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
                            ("opened", "opened"),
                            ("joined", "findings joined"),
                            ("left", "findings left"),
                            ("moved", "points at another commit"),
                            ("refined", "other suspects"),
                            ("named", "a bisect ended"),
                            ("turned", "another verdict"),
                            ("confirmed", "confirmed by more builds"),
                            ("one build", "rests on one build a side"),
                            ("recovered", "all findings recovered"),
                            ("returned", "no longer recovered"),
                            ("retracted", "no findings left"),
                            ("standing", "findings are back"),
                            ("snoozed", "snoozed"),
                            ("woke", "woke up"),
                            ("history", "rests on history alone"),
                            ("closed", "closed after quiet days"),
                            ("acknowledged", "acknowledged"),
                            ("investigating", "investigating"),
                            ("resolved", "resolved"),
                            ("reopened", "reopened"),
                            ("merged", "merged"),
                            ("split", "findings split off"),
                            ("sent", "findings moved"),
                            ("undone", "undone"),
                        ],
                        max_length=13,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("version", models.BigIntegerField()),
                ("before", models.JSONField(blank=True, default=dict)),
                (
                    "findings",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("is_read", models.BooleanField(default=False)),
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
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="alerts.alert",
                    ),
                ),
            ],
            options={
                "ordering": ["alert", "pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("is_read", False)),
                        fields=["id"],
                        name="alert_events_unread",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="alerts.alert",
                    ),
                ),
                (
                    "finding",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="membership",
                        to="analysis.finding",
                    ),
                ),
            ],
            options={
                "ordering": ["alert", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "after",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="alerts.alert",
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="alerts.alertevent",
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
                    "series",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="AlertHold",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("is_loss", models.BooleanField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("resolved", "the alert was resolved"),
                            ("outcome", "the bisect did not reproduce the step"),
                            ("cancelled", "the bisect was cancelled"),
                            ("joined", "the alert was joined to one with a bisect of its own"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "after",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="holds",
                        to="alerts.alert",
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
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at__isnull", True)),
                        fields=["alert"],
                        name="alert_holds_that_last",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("after", models.F("last")), _negated=True),
                        name="alert_hold_between_two",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("reason", "")),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("reason__in", ["resolved", "outcome", "cancelled", "joined"]),
                            ),
                            _connector="OR",
                        ),
                        name="alert_hold_ended_for_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FormerAlert",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="former",
                        to="alerts.alert",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MinEffect",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("percent", models.FloatField()),
                (
                    "hardware",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="min_effect",
                        to="results.hardware",
                    ),
                ),
                (
                    "mode",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="min_effect",
                        to="results.mode",
                    ),
                ),
                (
                    "tree",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="min_effect",
                        to="results.tree",
                    ),
                ),
            ],
            options={
                "verbose_name": "smallest effect",
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("hardware__isnull", True),
                                ("mode__isnull", True),
                                ("tree__isnull", False),
                            ),
                            models.Q(
                                ("hardware__isnull", False),
                                ("mode__isnull", True),
                                ("tree__isnull", True),
                            ),
                            models.Q(
                                ("hardware__isnull", True),
                                ("mode__isnull", False),
                                ("tree__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="min_effect_of_one_thing",
                        violation_error_message="Choose one tree, one hardware or one mode.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("percent__range", (0, 1000))),
                        name="min_effect_0_to_1000",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MinEffectChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("before", models.FloatField(null=True)),
                ("after", models.FloatField(null=True)),
                ("reason", models.TextField(blank=True)),
                (
                    "actor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.hardware",
                    ),
                ),
                (
                    "mode",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.mode",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.series",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.tree",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("hardware", None),
                                ("mode", None),
                                ("series", None),
                                ("tree__isnull", False),
                            ),
                            models.Q(
                                ("hardware__isnull", False),
                                ("mode", None),
                                ("series", None),
                                ("tree", None),
                            ),
                            models.Q(
                                ("hardware", None),
                                ("mode__isnull", False),
                                ("series", None),
                                ("tree", None),
                            ),
                            models.Q(
                                ("hardware", None),
                                ("mode", None),
                                ("series__isnull", False),
                                ("tree", None),
                            ),
                            _connector="OR",
                        ),
                        name="min_effect_change_of_one_thing",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Agreement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("here", models.FloatField()),
                (
                    "verdict",
                    models.CharField(
                        choices=[("better", "better"), ("worse", "worse")], max_length=6
                    ),
                ),
                ("series", models.IntegerField()),
                ("received", models.IntegerField()),
                ("machines", models.IntegerField()),
                ("received_machines", models.IntegerField()),
                (
                    "score",
                    models.FloatField(help_text="Of all series together, in standard deviations."),
                ),
                (
                    "false_share",
                    models.FloatField(help_text="Of commits without a change that show as much."),
                ),
                (
                    "change_pct",
                    models.FloatField(help_text="Median of those that agree; negative is worse."),
                ),
                (
                    "after",
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
                    "likeliest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="agreements",
                        to="results.revision",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="agreements",
                        to="results.tree",
                    ),
                ),
            ],
            options={
                "ordering": ["tree", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("likeliest",), name="agreement_once_at_a_revision"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("verdict__in", ["better", "worse"])),
                        name="agreement_better_or_worse",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("false_share__range", (0, 1)), ("here__range", (0, 1))),
                        name="agreement_probabilities",
                    ),
                ],
            },
        ),
    ]
