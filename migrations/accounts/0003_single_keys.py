"""Whether single keys act on pages; people may switch them off."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_seen")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="single_keys",
            field=models.BooleanField(
                "single keys",
                db_default=True,
                default=True,
                help_text="Letters and signs act on pages without Ctrl: j, a, g t, ?, /.",
            ),
        ),
    ]
