"""Each upload writes the analyses of its series anew: room in their pages takes the new ones."""

from django.db import migrations

SET = "ALTER TABLE analysis_seriesanalysis SET (fillfactor = 50)"
RESET = "ALTER TABLE analysis_seriesanalysis RESET (fillfactor)"


class Migration(migrations.Migration):
    dependencies = [("analysis", "0012_noted_points")]

    operations = [migrations.RunSQL(SET, RESET)]
