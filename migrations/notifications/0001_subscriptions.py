import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import webapp.notifications.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("results", "0001_trees_runs_points"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Subscription",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "severity",
                    models.FloatField(
                        default=0.0, help_text="Smallest size of a change, in percent."
                    ),
                ),
                (
                    "direction",
                    models.CharField(
                        choices=[("any", "any change"), ("regressions", "regressions only")],
                        default="any",
                        max_length=11,
                    ),
                ),
                (
                    "author",
                    models.CharField(
                        blank=True,
                        help_text="Name or address of the commit's author.",
                        max_length=254,
                    ),
                ),
                ("mine", models.BooleanField(default=False, help_text="Commits of mine only.")),
                (
                    "cadence",
                    models.CharField(
                        choices=[
                            ("immediate", "at once"),
                            ("daily", "once a day"),
                            ("weekly", "once a week"),
                        ],
                        default="immediate",
                        max_length=9,
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "feed_token",
                    models.CharField(
                        default=webapp.notifications.models.new_feed_token,
                        max_length=32,
                        unique=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "changed_at",
                    models.DateTimeField(help_text="A digest tells nothing that is older."),
                ),
                (
                    "hardware",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="results.hardware",
                    ),
                ),
                (
                    "metric",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="results.metric",
                    ),
                ),
                (
                    "mode",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="results.mode",
                    ),
                ),
                (
                    "tree",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="results.tree",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["user", "pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("user", "name"), name="subscription_name_once"),
                    models.CheckConstraint(
                        condition=models.Q(("severity__range", (0, 1000))),
                        name="subscription_severity_0_to_1000",
                    ),
                ],
            },
        )
    ]
