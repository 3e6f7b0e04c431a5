import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import webapp.outbox.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                ("url", models.CharField(max_length=500)),
                (
                    "secret",
                    models.CharField(default=webapp.outbox.models.new_secret, max_length=100),
                ),
                (
                    "kinds",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("enabled", models.BooleanField(default=True)),
                (
                    "allow_private",
                    models.BooleanField(
                        default=False,
                        help_text="May lie in the private networks that DRIFTLINE_WEBHOOKS_ALLOW lists.",
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=0)),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("next_try", models.DateTimeField(blank=True, null=True)),
                ("disabled_reason", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="MailServer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=0)),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("next_try", models.DateTimeField(blank=True, null=True)),
                ("reason", models.TextField(blank=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pk", 1)), name="mail_server_is_one_row"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="HookDelivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("about", models.CharField(max_length=80)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("claimed", "being sent"),
                            ("sent", "sent"),
                            ("dropped", "dropped"),
                            ("dead", "given up"),
                        ],
                        db_default="waiting",
                        max_length=8,
                    ),
                ),
                ("due", models.DateTimeField()),
                ("claim", models.UUIDField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(db_default=0)),
                ("reason", models.TextField(blank=True, db_default="")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("tried_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("uid", models.UUIDField(unique=True)),
                ("payload", models.JSONField()),
                ("status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("response", models.TextField(blank=True, db_default="")),
                ("milliseconds", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="outbox.endpoint",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["waiting", "claimed"])),
                        fields=["due", "id"],
                        name="hookdelivery_claimable",
                    ),
                    models.Index(fields=["state", "-id"], name="hookdelivery_in_state"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("claim__isnull", False), ("state", "claimed")),
                            models.Q(
                                models.Q(("state", "claimed"), _negated=True),
                                ("claim__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="hookdelivery_is_claimed_by_somebody",
                    ),
                    models.UniqueConstraint(
                        fields=("endpoint", "kind", "about"), name="event_once_for_an_endpoint"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Mail",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=40)),
                ("about", models.CharField(max_length=80)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("claimed", "being sent"),
                            ("sent", "sent"),
                            ("dropped", "dropped"),
                            ("dead", "given up"),
                        ],
                        db_default="waiting",
                        max_length=8,
                    ),
                ),
                ("due", models.DateTimeField()),
                ("claim", models.UUIDField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(db_default=0)),
                ("reason", models.TextField(blank=True, db_default="")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("tried_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("thread", models.CharField(blank=True, db_default="", max_length=80)),
                ("data", models.JSONField(blank=True, default=dict)),
                ("address", models.CharField(blank=True, db_default="", max_length=254)),
                ("subject", models.TextField(blank=True, db_default="")),
                ("text", models.TextField(blank=True, db_default="")),
                ("html", models.TextField(blank=True, db_default="")),
                ("unsubscribe_url", models.TextField(blank=True, db_default="")),
                ("message_id", models.CharField(blank=True, db_default="", max_length=320)),
                ("in_reply_to", models.CharField(blank=True, db_default="", max_length=320)),
                ("composed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "recipient",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mails",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["waiting", "claimed"])),
                        fields=["due", "id"],
                        name="mail_claimable",
                    ),
                    models.Index(fields=["state", "-id"], name="mail_in_state"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("claim__isnull", False), ("state", "claimed")),
                            models.Q(
                                models.Q(("state", "claimed"), _negated=True),
                                ("claim__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="mail_is_claimed_by_somebody",
                    ),
                    models.UniqueConstraint(
                        fields=("recipient", "kind", "about"),
                        name="mail_once_for_a_person_kind_and_thing",
                    ),
                ],
            },
        ),
    ]
