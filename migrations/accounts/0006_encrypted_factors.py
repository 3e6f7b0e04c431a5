"""Secrets of authenticator apps, and the seeds of recovery codes, are encrypted."""

from django.db import migrations

from webapp.encryption import encrypt

# How every token of Fernet begins: its version, and the first bytes of a time. Secrets are in Base32 or
# hexadecimal, which have no g.
ENCRYPTED = "gAAAA"
SECRETS = {"totp": "secret", "recovery_codes": "seed"}


def encrypt_secrets(apps, schema_editor):
    """Those that are stored as they are; idempotent."""
    factors = apps.get_model("mfa", "Authenticator").objects.filter(type__in=SECRETS)
    for factor in factors.select_for_update().order_by("pk"):
        name = SECRETS[factor.type]
        if not factor.data[name].startswith(ENCRYPTED):
            factor.data[name] = encrypt(factor.data[name])
            factor.save(update_fields=["data"])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_audit_log"), ("mfa", "0003_authenticator_type_uniq")]

    operations = [migrations.RunPython(encrypt_secrets, migrations.RunPython.noop)]
