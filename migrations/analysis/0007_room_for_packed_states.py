"""States of the detector are smaller as bytes: a column for them."""

from django.db import migrations, models

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("analysis", "0006_no_agreements")]

    operations = [
        migrations.AddField(
            model_name="checkpoint",
            name="packed",
            field=webapp.results.packed.StateField(null=True),
        ),
        migrations.AlterField(
            model_name="checkpoint",
            name="state",
            field=models.JSONField(null=True),
        ),
    ]
