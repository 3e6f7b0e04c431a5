from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("bisects", "0003_outside_the_range_as_an_outcome")]

    operations = [
        migrations.AddField(
            model_name="bisect",
            name="companions",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text=(
                    "Series that the same boots measure: id, name, scatter, whether commits move it."
                ),
            ),
        ),
        migrations.AddField(
            model_name="bisectboot",
            name="beside",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="What it measured of the bisect's companions: number, median.",
            ),
        ),
    ]
