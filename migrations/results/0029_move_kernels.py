"""Kernels of runs move to rows of their own, and digests become bytes, some thousand at a time."""

from django.db import migrations

from migrations.batches import in_batches

KERNELS = """
INSERT INTO results_kernel (build_id, ident)
SELECT DISTINCT build_id, kernel_ident FROM results_run
 WHERE id > %(after)s AND id <= %(last)s AND kernel_id IS NULL
    ON CONFLICT DO NOTHING
"""
RUNS = """
UPDATE results_run AS run
   SET kernel_id = kernel.id, packed = decode(run.digest, 'hex'),
       build_id = NULL, kernel_ident = NULL, digest = NULL
  FROM results_kernel AS kernel
 WHERE run.id > %(after)s AND run.id <= %(last)s AND run.kernel_id IS NULL
   AND md5(kernel.build_id) = md5(run.build_id) AND md5(kernel.ident) = md5(run.kernel_ident)
"""


def move(apps, schema_editor):
    in_batches(schema_editor.connection, "results_run", KERNELS, RUNS)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("results", "0028_room_for_kernels")]

    operations = [migrations.RunPython(move, migrations.RunPython.noop)]
