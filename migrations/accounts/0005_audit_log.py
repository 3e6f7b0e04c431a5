"""The audit log, written by triggers of the audited tables (webapp/config/audited.py)."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

VALUES = """
CREATE FUNCTION driftline_audit_values(one jsonb, left_out text[], hidden text[], sparse bool)
RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_object_agg(key, CASE
           WHEN key = ANY (hidden) THEN '"(not kept)"'
           WHEN jsonb_typeof(value) = 'string' THEN to_jsonb(left(value #>> '{}', 500))
           WHEN length(value::text) > 2000 THEN to_jsonb(left(value::text, 500))
           ELSE value END), '{}')
    FROM jsonb_each(one)
   WHERE NOT key = ANY (left_out) AND NOT (sparse AND value IN ('null', '""', '[]', '{}'))
$$
"""
# A statement about many rows is one entry with their number. In an UPDATE the columns that changed
# count, and a statement that changed none of them is no entry.
AUDIT = """
CREATE FUNCTION driftline_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  acting jsonb := current_setting('driftline.acting');
  key text := TG_ARGV[0];
  left_out text[] := TG_ARGV[1];
  hidden text[] := TG_ARGV[2];
  most int := TG_ARGV[3];
  number bigint;
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT count(*) INTO number FROM rows_after;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT count(*) INTO number FROM rows_before;
  ELSE
    SELECT count(*) INTO number
      FROM (SELECT to_jsonb(changed) AS was FROM rows_before AS changed) AS b
      JOIN (SELECT to_jsonb(changed) AS is_now FROM rows_after AS changed) AS a
        ON b.was -> key = a.is_now -> key
     WHERE b.was - left_out <> a.is_now - left_out;
  END IF;
  IF number = 0 THEN
    RETURN NULL;
  ELSIF number > most THEN
    INSERT INTO accounts_auditentry
           (at, kind, person_id, actor, origin, action, operation, subject, row_key, number)
    SELECT now(), who.kind, who.person, who.actor, who.origin, who.action,
           lower(TG_OP), TG_TABLE_NAME, '', number
      FROM jsonb_to_record(acting)
        AS who (kind text, person bigint, actor text, origin text, action text);
  ELSIF TG_OP = 'INSERT' THEN
    INSERT INTO accounts_auditentry
           (at, kind, person_id, actor, origin, action, operation, subject, row_key, number, after)
    SELECT now(), who.kind, who.person, who.actor, who.origin, who.action,
           'insert', TG_TABLE_NAME, a.is_now ->> key, 1,
           driftline_audit_values(a.is_now - key, left_out, hidden, true)
      FROM (SELECT to_jsonb(changed) AS is_now FROM rows_after AS changed) AS a,
           jsonb_to_record(acting)
        AS who (kind text, person bigint, actor text, origin text, action text);
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO accounts_auditentry
           (at, kind, person_id, actor, origin, action, operation, subject, row_key, number, before)
    SELECT now(), who.kind, who.person, who.actor, who.origin, who.action,
           'delete', TG_TABLE_NAME, b.was ->> key, 1,
           driftline_audit_values(b.was - key, left_out, hidden, true)
      FROM (SELECT to_jsonb(changed) AS was FROM rows_before AS changed) AS b,
           jsonb_to_record(acting)
        AS who (kind text, person bigint, actor text, origin text, action text);
  ELSE
    INSERT INTO accounts_auditentry
           (at, kind, person_id, actor, origin, action, operation, subject, row_key, number,
            before, after)
    SELECT now(), who.kind, who.person, who.actor, who.origin, who.action,
           'update', TG_TABLE_NAME, a.is_now ->> key, 1,
           driftline_audit_values(b.was, same.names, hidden, false),
           driftline_audit_values(a.is_now, same.names, hidden, false)
      FROM (SELECT to_jsonb(changed) AS was FROM rows_before AS changed) AS b
      JOIN (SELECT to_jsonb(changed) AS is_now FROM rows_after AS changed) AS a
        ON b.was -> key = a.is_now -> key
     CROSS JOIN LATERAL (
           SELECT left_out || coalesce(array_agg(each.key), '{}') AS names
             FROM jsonb_each(b.was) AS each
            WHERE each.value = a.is_now -> each.key) AS same
     CROSS JOIN jsonb_to_record(acting)
        AS who (kind text, person bigint, actor text, origin text, action text)
     WHERE b.was - left_out <> a.is_now - left_out;
  END IF;
  RETURN NULL;
END
$$
"""
# Whoever owns the table may change it by right; the trigger stops everybody else's code and our own.
GUARD = """
CREATE FUNCTION driftline_audit_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('driftline.audit_retention', true), '') = 'on' THEN
    RETURN coalesce(NEW, OLD);
  END IF;
  RAISE EXCEPTION 'the audit log is only added to' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER driftline_audit_guard BEFORE UPDATE OR DELETE ON accounts_auditentry
FOR EACH ROW EXECUTE FUNCTION driftline_audit_guard()
"""
# What may be removed: by age, never younger than 30 days, and where a removed person acted from.
# They run as the owner of the table, for the role of the web server may not.
REMOVING = """
CREATE FUNCTION driftline_prune_audit(days int, most int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  gone bigint;
BEGIN
  PERFORM set_config('driftline.audit_retention', 'on', true);
  DELETE FROM accounts_auditentry WHERE id IN (
    SELECT id FROM accounts_auditentry
     WHERE at < now() - make_interval(days => greatest(days, 30))
     ORDER BY id LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  PERFORM set_config('driftline.audit_retention', '', true);
  RETURN gone;
END
$$;
CREATE FUNCTION driftline_forget_origin(person bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM set_config('driftline.audit_retention', 'on', true);
  UPDATE accounts_auditentry SET origin = ''
   WHERE person_id = person AND origin <> ''
     AND EXISTS (SELECT 1 FROM accounts_user WHERE id = person AND removed_at IS NOT NULL);
  PERFORM set_config('driftline.audit_retention', '', true);
END
$$
"""
UNDO = """
DROP FUNCTION driftline_forget_origin(bigint);
DROP FUNCTION driftline_prune_audit(int, int);
DROP FUNCTION driftline_audit_guard() CASCADE;
DROP FUNCTION driftline_audit() CASCADE;
DROP FUNCTION driftline_audit_values(jsonb, text[], text[], bool)
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_saved_views")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="removed_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="The name and everything else about the person were erased then.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("person", "person"),
                            ("token", "token"),
                            ("command", "command"),
                            ("stranger", "nobody signed in"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("actor", models.TextField(blank=True)),
                ("origin", models.TextField(blank=True)),
                ("action", models.TextField(blank=True)),
                (
                    "operation",
                    models.CharField(
                        choices=[
                            ("insert", "added"),
                            ("update", "changed"),
                            ("delete", "removed"),
                            ("event", "event"),
                        ],
                        max_length=6,
                    ),
                ),
                ("subject", models.CharField(max_length=63)),
                ("row_key", models.TextField(blank=True)),
                ("number", models.BigIntegerField(db_default=1)),
                ("before", models.JSONField(blank=True, null=True)),
                ("after", models.JSONField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(fields=["subject", "row_key", "-id"], name="audit_of_a_row")
                ],
            },
        ),
        *(
            migrations.RunSQL(code, undo)
            for code, undo in ((VALUES, ""), (AUDIT, ""), (GUARD, ""), (REMOVING, UNDO))
        ),
    ]
