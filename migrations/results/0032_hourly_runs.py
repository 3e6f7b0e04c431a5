"""Live runs of each machine by the hour, kept by triggers: runs are written by a dozen statements,
and whatever is forgotten by one of them would be a wrong figure on the front page.

A transaction that meets an hour which another one holds begins a row of its own, so nobody waits.
"""

import django.db.models.deletion
from django.db import migrations, models

COUNT = """
CREATE FUNCTION driftline_count_runs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN
    SELECT hardware_id, date_bin('1 hour', COALESCE(measured_at, received_at),
                                 timestamptz 'epoch') AS hour,
           count(*)::int * TG_ARGV[0]::int AS runs
      FROM changed
     WHERE NOT history AND withdrawn_at IS NULL
     GROUP BY 1, 2
  LOOP
    UPDATE results_hourlyruns SET runs = runs + one.runs
     WHERE id = (SELECT id FROM results_hourlyruns
                  WHERE hardware_id = one.hardware_id AND hour = one.hour
                  LIMIT 1 FOR UPDATE SKIP LOCKED);
    IF NOT FOUND THEN
      INSERT INTO results_hourlyruns (hardware_id, hour, runs)
      VALUES (one.hardware_id, one.hour, one.runs);
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;
CREATE TRIGGER driftline_runs_added AFTER INSERT ON results_run
  REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION driftline_count_runs('1');
CREATE TRIGGER driftline_runs_were AFTER UPDATE ON results_run
  REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION driftline_count_runs('-1');
CREATE TRIGGER driftline_runs_are AFTER UPDATE ON results_run
  REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION driftline_count_runs('1');
CREATE TRIGGER driftline_runs_gone AFTER DELETE ON results_run
  REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION driftline_count_runs('-1');
"""
# The triggers hold up who writes runs until the end of the transaction, so none is missed.
FILL = """
INSERT INTO results_hourlyruns (hardware_id, hour, runs)
SELECT hardware_id,
       date_bin('1 hour', COALESCE(measured_at, received_at), timestamptz 'epoch'), count(*)
  FROM results_run
 WHERE NOT history AND withdrawn_at IS NULL
 GROUP BY 1, 2
"""
UNDO = "DROP FUNCTION driftline_count_runs() CASCADE"


class Migration(migrations.Migration):
    dependencies = [("results", "0031_packed_samples")]

    operations = [
        migrations.CreateModel(
            name="HourlyRuns",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("hour", models.DateTimeField(help_text="When it begins.")),
                ("runs", models.IntegerField()),
                (
                    "hardware",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="results.hardware",
                    ),
                ),
            ],
            options={
                "ordering": ["hardware", "hour", "id"],
                "indexes": [
                    models.Index(fields=["hardware", "hour"], name="hourly_runs_of_hardware")
                ],
            },
        ),
        migrations.RunSQL(COUNT, UNDO),
        migrations.RunSQL(FILL, ""),
    ]
