"""The index of comparisons by revision and series serves both."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0009_packed_states")]

    operations = [
        migrations.RemoveConstraint(model_name="comparison", name="comparison_once_for_a_point"),
        migrations.AddConstraint(
            model_name="comparison",
            constraint=models.UniqueConstraint(
                fields=("revision", "series"), name="comparison_once_for_a_point"
            ),
        ),
        migrations.AlterField(
            model_name="comparison",
            name="revision",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="comparisons",
                to="results.revision",
            ),
        ),
    ]
