"""Levels of points take a tenth as bytes: a column for them."""

from django.db import migrations, models

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("results", "0020_imported_runs")]

    operations = [
        migrations.AddField(
            model_name="point",
            name="packed",
            field=webapp.results.packed.LevelsField(null=True),
        ),
        migrations.AlterField(
            model_name="point",
            name="levels",
            field=models.JSONField(null=True),
        ),
    ]
