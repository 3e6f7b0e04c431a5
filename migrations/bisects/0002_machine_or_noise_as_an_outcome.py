from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("bisects", "0001_bisects_and_their_evidence")]

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
                    ("inconclusive", "inconclusive"),
                    ("machine or noise suspected", "the machine or the noise is suspected"),
                    ("lab failed", "the lab failed"),
                ],
                max_length=26,
            ),
        ),
    ]
