"""The newest live run of a machine is found by the hours that have live runs."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("results", "0032_hourly_runs")]

    operations = [
        migrations.RemoveIndex(model_name="run", name="live_runs_of_hardware_in_time"),
    ]
