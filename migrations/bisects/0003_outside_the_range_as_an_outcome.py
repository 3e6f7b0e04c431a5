from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("bisects", "0002_machine_or_noise_as_an_outcome")]

    operations = [
        migrations.AlterField(
            model_name="bisect",
            name="outcome",
            field=models.CharField(
                blank=True,
                choices=[
                    ("single", "one commit"),
                    ("range", "a range of commits"),
                    ("two steps", "two steps"),
                    ("not reproduced", "not reproduced"),
                    ("outside the range", "outside the range"),
                    ("inconclusive", "inconclusive"),
                    ("machine or noise suspected", "the machine or the noise is suspected"),
                    ("lab failed", "the lab failed"),
                ],
                max_length=26,
            ),
        ),
    ]
