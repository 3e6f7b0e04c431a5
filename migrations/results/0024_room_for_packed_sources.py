"""Sources of runs are smaller as bytes: a column for them."""

from django.db import migrations, models

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("results", "0023_packed_levels")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="packed",
            field=webapp.results.packed.SourcesField(null=True),
        ),
        migrations.AlterField(
            model_name="run",
            name="sources",
            field=models.JSONField(null=True),
        ),
    ]
