"""The index of points by revision and series serves both; new points fill its pages in order."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0026_packed_sources")]

    operations = [
        migrations.RemoveConstraint(model_name="point", name="point_once_in_a_series"),
        migrations.AddConstraint(
            model_name="point",
            constraint=models.UniqueConstraint(
                fields=("revision", "series"), name="point_once_in_a_series"
            ),
        ),
        migrations.RemoveIndex(model_name="point", name="points_of_a_revision"),
    ]
