import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("labs", "0001_labs_agents_tokens"),
        ("results", "0001_trees_runs_points"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("bisect", "bisect"),
                            ("confirm", "confirm this candidate"),
                            ("more runs", "more runs of this point"),
                            ("fill gap", "fill this gap"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True, help_text="Why it is measured, in words", max_length=500
                    ),
                ),
                ("boots", models.PositiveSmallIntegerField(default=1)),
                ("iterations", models.PositiveSmallIntegerField(default=1)),
                (
                    "rebuild",
                    models.BooleanField(
                        default=False,
                        help_text="Build it again, with another layout, instead of a kept build.",
                    ),
                ),
                ("build_key", models.CharField(blank=True, max_length=200)),
                ("priority", models.PositiveSmallIntegerField(default=50)),
                ("created_at", models.DateTimeField()),
                ("not_before", models.DateTimeField()),
                ("deadline", models.DateTimeField(blank=True, null=True)),
                ("estimate_seconds", models.FloatField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("leased", "leased"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=9,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("max_attempts", models.PositiveSmallIntegerField(default=5)),
                ("lease", models.CharField(blank=True, max_length=32)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("last_heard_at", models.DateTimeField(blank=True, null=True)),
                (
                    "stage",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("build", "build"),
                            ("boot", "boot"),
                            ("run", "run"),
                            ("upload", "upload"),
                            ("lab", "lab"),
                        ],
                        max_length=6,
                    ),
                ),
                ("stage_since", models.DateTimeField(blank=True, null=True)),
                ("progress", models.CharField(blank=True, max_length=200)),
                (
                    "log",
                    models.TextField(
                        blank=True, help_text="The end of the worker's log at its last word"
                    ),
                ),
                (
                    "failure_stage",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("build", "build"),
                            ("boot", "boot"),
                            ("run", "run"),
                            ("upload", "upload"),
                            ("lab", "lab"),
                        ],
                        max_length=6,
                    ),
                ),
                ("failure_reason", models.CharField(blank=True, max_length=500)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("cancel_reason", models.CharField(blank=True, max_length=500)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "hardware",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="jobs",
                        to="results.hardware",
                    ),
                ),
                (
                    "metric",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="jobs",
                        to="results.metric",
                    ),
                ),
                (
                    "mode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="jobs",
                        to="results.mode",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="jobs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="jobs",
                        to="results.revision",
                    ),
                ),
                (
                    "runs",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Its results; a late one may be a second.",
                        related_name="jobs",
                        to="results.run",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="jobs",
                        to="results.tree",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "queued")),
                        fields=["hardware", "-priority", "created_at", "id"],
                        name="jobs_to_claim",
                    ),
                    models.Index(
                        condition=models.Q(("state", "leased")),
                        fields=["lease_until"],
                        name="jobs_expired",
                    ),
                    models.Index(
                        condition=models.Q(("deadline__isnull", False), ("state", "queued")),
                        fields=["deadline"],
                        name="jobs_past_their_deadline",
                    ),
                    models.Index(
                        fields=["hardware", "mode", "-ended_at"], name="jobs_ended_lately"
                    ),
                    models.Index(
                        condition=models.Q(("ended_at__isnull", False)),
                        fields=["-ended_at", "-id"],
                        name="jobs_ended_last",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("lease_until__isnull", False),
                                ("state", "leased"),
                                models.Q(("lease", ""), _negated=True),
                            ),
                            models.Q(
                                models.Q(("state", "leased"), _negated=True),
                                ("lease_until__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="job_leased_until_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_at__isnull", False),
                                ("state__in", ["done", "failed", "cancelled"]),
                            ),
                            models.Q(
                                ("ended_at__isnull", True), ("state__in", ["queued", "leased"])
                            ),
                            _connector="OR",
                        ),
                        name="job_ended_at_a_moment",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "failed"), _negated=True),
                            models.Q(("failure_reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="job_failed_for_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cancel_requested", False),
                            models.Q(("cancel_reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="job_cancelled_for_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "cancelled"), _negated=True),
                            ("cancel_requested", True),
                            _connector="OR",
                        ),
                        name="job_cancelled_as_requested",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("attempts__lte", models.F("max_attempts")), ("max_attempts__gte", 1)
                        ),
                        name="job_attempts_within_bounds",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("boots__gte", 1),
                            ("boots__lte", 200),
                            ("iterations__gte", 1),
                            ("iterations__lte", 1000),
                        ),
                        name="job_measures_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("priority__lte", 100)), name="job_priority_to_100"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("version", models.CharField(blank=True, max_length=50)),
                ("serves", models.JSONField(blank=True, default=list)),
                ("draining", models.BooleanField(default=False, help_text="Takes no new job.")),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="workers",
                        to="labs.agent",
                    ),
                ),
                (
                    "last_revision",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="results.revision",
                    ),
                ),
            ],
            options={
                "ordering": ["agent", "name"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent", "name"), name="worker_once_of_an_agent"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JobEvent",
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
                            ("queued", "queued"),
                            ("leased", "taken"),
                            ("expired", "lease ran out"),
                            ("failed", "attempt failed"),
                            ("result", "result"),
                            ("late result", "late result"),
                            ("refused", "result refused"),
                            ("gave up", "given up"),
                            ("cancel requested", "to be cancelled"),
                            ("cancelled", "cancelled"),
                            ("priority", "priority changed"),
                            ("retried", "queued again by hand"),
                        ],
                        max_length=16,
                    ),
                ),
                ("lease", models.CharField(blank=True, max_length=32)),
                (
                    "stage",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("build", "build"),
                            ("boot", "boot"),
                            ("run", "run"),
                            ("upload", "upload"),
                            ("lab", "lab"),
                        ],
                        max_length=6,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("log", models.TextField(blank=True)),
                ("data", models.JSONField(blank=True, default=dict)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="jobs.job",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="jobs.worker",
                    ),
                ),
            ],
            options={
                "ordering": ["job", "pk"],
            },
        ),
        migrations.AddField(
            model_name="job",
            name="worker",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="jobs",
                to="jobs.worker",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "leased")),
                fields=("worker",),
                name="job_one_at_a_time_of_a_worker",
            ),
        ),
    ]
