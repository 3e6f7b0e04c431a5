"""The packed sources are the sources."""

from django.db import migrations

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("results", "0025_pack_sources")]

    operations = [
        migrations.RemoveField(model_name="run", name="sources"),
        migrations.RenameField(model_name="run", old_name="packed", new_name="sources"),
        migrations.AlterField(
            model_name="run",
            name="sources",
            field=webapp.results.packed.SourcesField(blank=True, default=list),
        ),
    ]
