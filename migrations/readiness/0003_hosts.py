from django.db import migrations, models


class Migration(migrations.Migration):
    """What was seen before proves nothing of the instance that starts now."""

    dependencies = [("readiness", "0002_status")]

    operations = [
        migrations.DeleteModel("Heartbeat"),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("part", models.CharField(max_length=20)),
                ("host", models.TextField()),
                ("at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["part", "host"], name="one_heartbeat_of_a_host")
                ],
            },
        ),
    ]
