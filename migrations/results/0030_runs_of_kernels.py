"""A run has a kernel, and the packed digest is the digest."""

import django.db.models.deletion
from django.db import migrations, models

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("results", "0029_move_kernels")]

    operations = [
        migrations.RemoveField(model_name="run", name="build_id"),
        migrations.RemoveField(model_name="run", name="kernel_ident"),
        migrations.RemoveField(model_name="run", name="digest"),
        migrations.RenameField(model_name="run", old_name="packed", new_name="digest"),
        migrations.AlterField(
            model_name="run",
            name="digest",
            field=webapp.results.packed.DigestField(
                help_text="SHA-256 of the document as it was sent", max_length=64
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="kernel",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="results.kernel",
            ),
        ),
    ]
