"""The packed levels of points are the levels."""

from django.db import migrations

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("results", "0022_pack_levels")]

    operations = [
        migrations.RemoveField(model_name="point", name="levels"),
        migrations.RenameField(model_name="point", old_name="packed", new_name="levels"),
        migrations.AlterField(
            model_name="point",
            name="levels",
            field=webapp.results.packed.LevelsField(
                help_text="Mean and scatter by run, boot and build, and a digest of the builds."
            ),
        ),
    ]
