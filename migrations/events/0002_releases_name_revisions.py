from django.db import migrations

# Releases that were recorded before runs could be of a release by its name alone
NAME = r"""
INSERT INTO results_revisionalias (tree_id, revision_id, name)
SELECT release.tree_id, release.revision_id, given.name
  FROM events_release AS release
 CROSS JOIN LATERAL (
       SELECT release.name
        UNION SELECT release.name || '-RELEASE' WHERE position('-' IN release.name) = 0
       ) AS given (name)
 WHERE release.kind = 'release'
   AND release.name ~ '^[0-9]{1,3}(\.[0-9]{1,3}){1,2}(-[A-Z]+[0-9]{0,2})?(-p[0-9]{1,3})?$'
    ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("events", "0001_lab_events_releases_canaries"),
        ("results", "0003_dismissed_twins"),
    ]

    operations = [migrations.RunSQL(NAME, migrations.RunSQL.noop)]
