from django.db import migrations, models
from django.db.models import Q


def keep_what_people_could_do(apps, schema_editor):
    """Superusers operated the instance, and whoever could sign in acted on alerts."""
    users = apps.get_model("accounts", "User").objects
    users.filter(is_superuser=True).update(role="operator", is_staff=True)
    users.filter(is_superuser=False).update(role="triager")


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_user"),
    ]

    operations = [
        migrations.AlterModelManagers(name="user", managers=[]),
        migrations.AddField(
            model_name="user",
            name="role",
            field=models.CharField(
                choices=[("viewer", "viewer"), ("triager", "triager"), ("operator", "operator")],
                default="viewer",
                help_text="A viewer reads and has settings of their own, a triager also acts on alerts, an operator also operates the instance.",
                max_length=8,
            ),
        ),
        # Going back leaves Django's flags as they are: they mean the same there.
        migrations.RunPython(keep_what_people_could_do, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=Q(("role__in", ["viewer", "triager", "operator"])), name="user_role_known"
            ),
        ),
    ]
