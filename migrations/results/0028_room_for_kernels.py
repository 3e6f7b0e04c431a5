"""Many runs are of one build of a kernel, which has a row of its own, and digests are half as bytes."""

import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

import webapp.results.packed


class Migration(migrations.Migration):
    dependencies = [("results", "0027_points_once_by_revision")]

    operations = [
        migrations.CreateModel(
            name="Kernel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("build_id", models.CharField(max_length=300)),
                ("ident", models.TextField(blank=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.MD5("build_id"),
                        django.db.models.functions.text.MD5("ident"),
                        name="kernel_once",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="run",
            name="kernel",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="results.kernel",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="packed",
            field=webapp.results.packed.DigestField(max_length=64, null=True),
        ),
        *(
            migrations.AlterField(model_name="run", name=name, field=models.TextField(null=True))
            for name in ("build_id", "kernel_ident", "digest")
        ),
    ]
