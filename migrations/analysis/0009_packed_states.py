"""The packed states are the states."""

from django.db import migrations

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("analysis", "0008_pack_states")]

    operations = [
        migrations.RemoveField(model_name="checkpoint", name="state"),
        migrations.RenameField(model_name="checkpoint", old_name="packed", new_name="state"),
        migrations.AlterField(
            model_name="checkpoint",
            name="state",
            field=webapp.results.packed.StateField(),
        ),
    ]
