"""States of the detector are packed, some thousand at a time."""

import json

from django.db import migrations

from migrations.batches import pack_column
from webapp.results.packed import StateField


def pack(apps, schema_editor):
    pack_column(
        schema_editor.connection,
        "analysis_checkpoint",
        "state",
        "packed",
        lambda text: StateField.pack(json.loads(text)),
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("analysis", "0007_room_for_packed_states")]

    operations = [migrations.RunPython(pack, migrations.RunPython.noop)]
