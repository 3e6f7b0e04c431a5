"""Runs are not looked up by the agent that sent them, but where a lab is removed."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0035_points_by_their_revision")]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="labs.agent",
            ),
        ),
    ]
