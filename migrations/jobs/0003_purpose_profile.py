"""Jobs that profile a kernel."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_purpose_canary"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("bisect", "bisect"),
                    ("confirm", "confirm this candidate"),
                    ("more runs", "more runs of this point"),
                    ("fill gap", "fill this gap"),
                    ("canary", "canary of this machine"),
                    ("profile", "profile of this kernel"),
                ],
                max_length=9,
            ),
        ),
    ]
