import zlib

from django.db import migrations, models

SIZE = 4


def count_nodes(apps, schema_editor):
    """The first number of a packed call tree is how many nodes it has."""
    Profile = apps.get_model("results", "Profile")
    for one in Profile.objects.only("calls").iterator(chunk_size=50):
        first = zlib.decompressobj().decompress(bytes(one.calls), SIZE)
        Profile.objects.filter(pk=one.pk).update(nodes=int.from_bytes(first, "little"))


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0016_event_rates_of_profiles"),
    ]

    operations = [
        migrations.AddField(
            model_name="profile",
            name="nodes",
            field=models.IntegerField(null=True),
        ),
        migrations.RunPython(count_nodes, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="profile",
            name="nodes",
            field=models.IntegerField(),
        ),
    ]
