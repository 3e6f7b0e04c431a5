"""Secrets of webhooks and URLs of channels are encrypted."""

from django.db import migrations, models

import webapp.encryption
import webapp.outbox.models


def encrypt(apps, schema_editor):
    """Read as they are, and written through the field."""
    endpoint = apps.get_model("outbox", "Endpoint")
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT id, url, secret FROM outbox_endpoint")
        rows = cursor.fetchall()
    for pk, url, secret in rows:
        is_channel = not url.lower().startswith(("http:", "https:"))
        endpoint.objects.filter(pk=pk).update(url=url, secret=secret, is_channel=is_channel)


class Migration(migrations.Migration):
    dependencies = [("outbox", "0001_mails_and_webhooks")]

    operations = [
        migrations.AddField(
            model_name="endpoint",
            name="is_channel",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AlterField(
            model_name="endpoint",
            name="url",
            field=webapp.encryption.EncryptedTextField(),
        ),
        migrations.AlterField(
            model_name="endpoint",
            name="secret",
            field=webapp.encryption.EncryptedTextField(default=webapp.outbox.models.new_secret),
        ),
        migrations.RunPython(encrypt, migrations.RunPython.noop),
    ]
