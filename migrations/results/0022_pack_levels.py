"""Levels of points are packed, some thousand at a time."""

import json

from django.db import migrations

from migrations.batches import pack_column
from webapp.stats.compare import pack_summary


def pack(apps, schema_editor):
    pack_column(
        schema_editor.connection,
        "results_point",
        "levels",
        "packed",
        lambda text: pack_summary(json.loads(text)),
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("results", "0021_room_for_packed_levels")]

    operations = [migrations.RunPython(pack, migrations.RunPython.noop)]
