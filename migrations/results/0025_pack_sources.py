"""Sources of runs are packed, some thousand at a time."""

import json

from django.db import migrations

from migrations.batches import pack_column
from webapp.results.packed import SourcesField


def pack(apps, schema_editor):
    pack_column(
        schema_editor.connection,
        "results_run",
        "sources",
        "packed",
        lambda text: SourcesField.pack(json.loads(text)),
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("results", "0024_room_for_packed_sources")]

    operations = [migrations.RunPython(pack, migrations.RunPython.noop)]
