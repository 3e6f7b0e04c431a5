import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("labs", "0001_labs_agents_tokens"),
    ]

    operations = [
        migrations.CreateModel(
            name="Mode",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(editable=False, max_length=400, unique=True)),
                ("workload", models.CharField(max_length=100)),
                ("traffic", models.CharField(blank=True, max_length=100)),
                (
                    "options",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Tree",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                ("description", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Hardware",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                ("description", models.TextField(blank=True)),
                ("facts", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "lab",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="hardware",
                        to="labs.lab",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "hardware",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="HardwareAlias",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.hardware",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "hardware aliases",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Metric",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                ("unit", models.CharField(max_length=50)),
                (
                    "better",
                    models.CharField(
                        choices=[("more", "more is better"), ("less", "less is better")],
                        max_length=4,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("better__in", ["more", "less"])),
                        name="metric_better_is_more_or_less",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModeAlias",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=400, unique=True)),
                (
                    "mode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.mode",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "mode aliases",
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="As people write it: r303643, n302145, a hash", max_length=64
                    ),
                ),
                ("position", models.BigIntegerField()),
                (
                    "decided",
                    models.BooleanField(
                        default=False,
                        help_text="Its place was given by imported history or an operator.",
                    ),
                ),
                ("author_name", models.CharField(blank=True, max_length=200)),
                ("author_email", models.CharField(blank=True, max_length=254)),
                ("committed_at", models.DateTimeField(blank=True, null=True)),
                ("subject", models.CharField(blank=True, max_length=500)),
                ("message", models.TextField(blank=True)),
                (
                    "paths",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, null=True, size=None
                    ),
                ),
                (
                    "path_count",
                    models.IntegerField(blank=True, help_text="Files that it touched.", null=True),
                ),
                (
                    "proposed_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="labs.agent",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisions",
                        to="results.tree",
                    ),
                ),
            ],
            options={
                "ordering": ["tree", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tree", "position"), name="revision_once_at_a_position"
                    ),
                    models.UniqueConstraint(
                        fields=("tree", "name"), name="revision_name_once_in_a_tree"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("position__gte", 0)), name="revision_position_from_0"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("path_count__isnull", True), ("paths__isnull", True)),
                            models.Q(("path_count__gte", 0), ("paths__isnull", False)),
                            _connector="OR",
                        ),
                        name="revision_counts_its_paths",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("uuid", models.UUIDField()),
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of the document as it was sent", max_length=64
                    ),
                ),
                ("build_id", models.CharField(max_length=300)),
                ("kernel_ident", models.TextField(blank=True)),
                ("measured_at", models.DateTimeField(blank=True, null=True)),
                ("received_at", models.DateTimeField()),
                (
                    "history",
                    models.BooleanField(
                        default=False,
                        help_text="Uploaded as history: nobody is to be mailed about it.",
                    ),
                ),
                ("facts", models.JSONField(blank=True, default=dict)),
                ("sources", models.JSONField(blank=True, default=list)),
                ("warnings", models.JSONField(blank=True, default=list)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_reason", models.CharField(blank=True, max_length=500)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="labs.agent",
                    ),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.hardware",
                    ),
                ),
                (
                    "mode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.mode",
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="results.revision",
                    ),
                ),
                (
                    "superseded_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="supersedes",
                        to="results.run",
                    ),
                ),
                (
                    "withdrawn_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-received_at", "-id"],
                "indexes": [
                    models.Index(fields=["-received_at"], name="runs_lately"),
                    models.Index(fields=["revision", "mode", "hardware"], name="runs_of_a_point"),
                    models.Index(
                        fields=["hardware", "-received_at"], name="runs_lately_on_hardware"
                    ),
                    models.Index(
                        condition=models.Q(("superseded_by__isnull", False)),
                        fields=["superseded_by"],
                        name="runs_superseded_by",
                    ),
                    models.Index(
                        condition=models.Q(("superseded_by__isnull", False)),
                        fields=["uuid"],
                        name="runs_superseded_of_a_uuid",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("superseded_by__isnull", True)),
                        fields=("uuid",),
                        name="run_current_once_of_a_uuid",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("superseded_by__isnull", True),
                            ("withdrawn_at__isnull", False),
                            _connector="OR",
                        ),
                        name="run_superseded_is_withdrawn",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("withdrawn_at__isnull", True), ("withdrawn_reason", "")),
                            models.Q(
                                ("withdrawn_at__isnull", False),
                                models.Q(("withdrawn_reason", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="run_withdrawn_with_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RefusedReplacement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                ("tries", models.PositiveIntegerField(default=1)),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="refused_replacements",
                        to="labs.agent",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="refused_replacements",
                        to="results.run",
                    ),
                ),
            ],
            options={
                "ordering": ["-last_at", "-id"],
                "indexes": [
                    models.Index(fields=["agent", "-last_at"], name="refused_replacements_lately")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "agent"), name="refused_replacement_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Series",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "own_better",
                    models.CharField(
                        blank=True,
                        choices=[("more", "more is better"), ("less", "less is better")],
                        help_text="Which way is better here, where it differs from the metric's.",
                        max_length=4,
                        verbose_name="better",
                    ),
                ),
                ("version", models.BigIntegerField(default=0)),
                ("dirty_from", models.BigIntegerField(blank=True, null=True)),
                ("dirty_since", models.DateTimeField(blank=True, null=True)),
                (
                    "hardware",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="series",
                        to="results.hardware",
                    ),
                ),
                (
                    "metric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="series",
                        to="results.metric",
                    ),
                ),
                (
                    "mode",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="series",
                        to="results.mode",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="series",
                        to="results.tree",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "series",
                "ordering": ["tree", "hardware", "mode", "metric"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("dirty_from__isnull", False)),
                        fields=["dirty_since"],
                        name="series_to_analyse",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tree", "hardware", "mode", "metric"), name="series_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("dirty_from__isnull", True), ("dirty_since__isnull", True)),
                            models.Q(("dirty_from__isnull", False), ("dirty_since__isnull", False)),
                            _connector="OR",
                        ),
                        name="series_dirty_from_and_since",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("own_better__in", ["", "more", "less"])),
                        name="series_better_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Measurement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "samples",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(), size=None
                    ),
                ),
                (
                    "boots",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), blank=True, null=True, size=None
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measurements",
                        to="results.run",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="measurements",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "series"), name="measurement_once_in_a_run"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("samples__len__gte", 1)),
                        name="measurement_has_a_sample",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RevisionAlias",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=64)),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="results.revision",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.tree",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "revision aliases",
                "ordering": ["tree", "name"],
                "indexes": [
                    models.Index(
                        fields=["tree", "name"],
                        name="revision_by_hash_prefix",
                        opclasses=["int8_ops", "varchar_pattern_ops"],
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tree", "name"), name="revision_alias_once_in_a_tree"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PlaceProposal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.BigIntegerField()),
                ("at", models.DateTimeField(auto_now_add=True)),
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
                    "revision",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="proposals",
                        to="results.revision",
                    ),
                ),
            ],
            options={
                "ordering": ["revision", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("revision", "agent", "position"), name="place_proposal_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Point",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.BigIntegerField()),
                ("n", models.IntegerField()),
                ("runs", models.IntegerField()),
                ("builds", models.IntegerField()),
                (
                    "boots",
                    models.IntegerField(
                        help_text="Null where a run did not tell its boots.", null=True
                    ),
                ),
                ("mean", models.FloatField()),
                ("median", models.FloatField()),
                (
                    "variance",
                    models.FloatField(
                        help_text="Sample variance (n - 1); null for one sample.", null=True
                    ),
                ),
                ("minimum", models.FloatField()),
                ("maximum", models.FloatField()),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="points",
                        to="results.revision",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="points",
                        to="results.series",
                    ),
                ),
                (
                    "levels",
                    models.JSONField(
                        help_text="Mean and scatter by run, boot and build, and a digest of the builds."
                    ),
                ),
                (
                    "disagrees",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Its runs differ by more than their noise: it takes no part in findings.",
                    ),
                ),
                (
                    "uploads",
                    models.JSONField(
                        help_text="Each run apart, where their samples alone do not explain how they differ.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["series", "position"],
                "indexes": [
                    models.Index(fields=["series", "position"], name="points_of_a_series"),
                    models.Index(fields=["revision"], name="points_of_a_revision"),
                    models.Index(
                        condition=models.Q(("uploads__isnull", False)),
                        fields=["series"],
                        name="points_of_uploads_apart",
                    ),
                    models.Index(
                        condition=models.Q(("disagrees", True)),
                        fields=["revision"],
                        name="points_that_disagree",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("series", "revision"), name="point_once_in_a_series"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("n__gte", 1)), name="point_has_a_sample"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("median__lte", models.F("maximum")),
                            ("minimum__lte", models.F("median")),
                        ),
                        name="point_median_inside",
                    ),
                ],
            },
        ),
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
                (
                    "decided_by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "undone_by",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-decided_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at__isnull", True)),
                        fields=("key",),
                        name="pooling_decided_once_of_the_same_runs",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("undone_at__isnull", True), ("undone_by__isnull", True)),
                            models.Q(("undone_at__isnull", False), ("undone_by__isnull", False)),
                            _connector="OR",
                        ),
                        name="pooling_decision_undone_by_somebody",
                    ),
                ],
            },
        ),
    ]
