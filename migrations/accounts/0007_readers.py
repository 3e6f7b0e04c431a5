"""Instances are private, but those that were in use before this stay as they were: public."""

from django.db import migrations, models


def keep_public(apps, schema_editor):
    """Whoever set DRIFTLINE_PUBLIC is not asked here."""
    used = ("accounts", "User"), ("labs", "Agent")
    if any(apps.get_model(*name).objects.exists() for name in used):
        apps.get_model("accounts", "Readers").objects.create(pk=1, everybody=True)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_encrypted_factors"), ("labs", "0004_scopes_of_tokens")]

    operations = [
        migrations.CreateModel(
            name="Readers",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("everybody", models.BooleanField()),
            ],
            options={
                "verbose_name_plural": "readers",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pk", 1)), name="readers_are_one_row"
                    )
                ],
            },
        ),
        migrations.RunPython(keep_public, migrations.RunPython.noop),
    ]
