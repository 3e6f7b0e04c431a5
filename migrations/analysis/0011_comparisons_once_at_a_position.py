"""The index of comparisons along a series has each once; those of a revision have equal keys."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0010_comparisons_once_by_revision")]

    operations = [
        migrations.RemoveConstraint(model_name="comparison", name="comparison_once_for_a_point"),
        migrations.RemoveIndex(model_name="comparison", name="comparisons_of_a_series"),
        migrations.AlterField(
            model_name="comparison",
            name="revision",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="comparisons",
                to="results.revision",
            ),
        ),
        migrations.AddConstraint(
            model_name="comparison",
            constraint=models.UniqueConstraint(
                fields=("series", "position"), name="comparison_once_at_a_position"
            ),
        ),
    ]
