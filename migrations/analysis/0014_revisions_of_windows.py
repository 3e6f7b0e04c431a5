"""The revisions of its window stand beside the state of a checkpoint: only the newest keeps them."""

from django.db import migrations

import webapp.results.packed

# The former version cannot go on from a state without them, and reads a series from its beginning.
BACKWARD = "DELETE FROM analysis_checkpoint"


class Migration(migrations.Migration):
    dependencies = [("analysis", "0013_room_for_newer_summaries")]

    operations = [
        migrations.RunSQL(migrations.RunSQL.noop, BACKWARD),
        migrations.AddField(
            model_name="checkpoint",
            name="rows",
            field=webapp.results.packed.StateField(
                help_text="The revisions of its window; null: they are to be read again.",
                null=True,
            ),
        ),
    ]
