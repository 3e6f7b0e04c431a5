"""Series with their subjects, each tree, machine, mode, metric and variant made once.

A commit of twenty machines has hundreds of series, whose subjects are few: ``select_related`` makes
them anew in every row, which takes longer than everything else that a page does with them.
"""

from collections.abc import Collection

from django.db import connection

from webapp.labs.models import Lab
from webapp.results.models import Hardware, Metric, Mode, Series, Tree, Variant

SERIES = """
SELECT series.id, series.own_better, series.tree_id, tree.name, series.hardware_id, hardware.name,
       hardware.display_name, hardware.cpu, hardware.nic, lab.id, lab.name, lab.simulated,
       series.mode_id, mode.name, mode.workload, mode.traffic, mode.options,
       series.metric_id, metric.name, metric.unit, metric.better,
       series.variant_id, variant.name, metric.of_id, metric.option
  FROM results_series AS series
  JOIN results_tree AS tree ON tree.id = series.tree_id
  JOIN results_hardware AS hardware ON hardware.id = series.hardware_id
  JOIN labs_lab AS lab ON lab.id = hardware.lab_id
  JOIN results_mode AS mode ON mode.id = series.mode_id
  JOIN results_metric AS metric ON metric.id = series.metric_id
  LEFT JOIN results_variant AS variant ON variant.id = series.variant_id
 WHERE series.id = ANY(%s)
"""


SUBJECT = """
CASE WHEN metric.of_id IS NULL THEN mode.name
     ELSE 'cost of ' || metric.option || ' in ' || mode.workload
          || CASE WHEN mode.traffic = '' THEN '' ELSE '@' || mode.traffic END
          || array_to_string(
                 ARRAY(SELECT '+' || kept
                         FROM unnest(array_remove(mode.options, metric.option)) AS kept), '')
     END
"""


def subject_sql(mode: str, metric: str) -> str:
    """What a sentence calls a series (`Series.subject`), of the aliases of its mode and metric."""
    return SUBJECT.replace("mode.", f"{mode}.").replace("metric.", f"{metric}.")


def series_by_id(ids: Collection[int]) -> dict[int, Series]:
    """The series of these ids with everything a label names, by id. One query, none without ids.

    What is not named in a label (descriptions, versions, when it was made) is not read.
    """
    if not ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(SERIES, [list(ids)])
        rows = cursor.fetchall()
    trees: dict[int, Tree] = {}
    machines: dict[int, Hardware] = {}
    modes: dict[int, Mode] = {}
    metrics: dict[int, Metric] = {}
    variants: dict[int, Variant] = {}
    found = {}
    for row in rows:
        tree, machine, mode, metric, variant = row[2], row[4], row[12], row[17], row[21]
        if tree not in trees:
            trees[tree] = Tree(pk=tree, name=row[3])
        if machine not in machines:
            lab = Lab(pk=row[9], name=row[10], simulated=row[11])
            machines[machine] = Hardware(
                pk=machine, name=row[5], display_name=row[6], cpu=row[7], nic=row[8], lab=lab
            )
        if mode not in modes:
            modes[mode] = Mode(
                pk=mode, name=row[13], workload=row[14], traffic=row[15], options=row[16]
            )
        if metric not in metrics:
            metrics[metric] = Metric(
                pk=metric, name=row[18], unit=row[19], better=row[20], of_id=row[23], option=row[24]
            )
        if variant is not None and variant not in variants:
            variants[variant] = Variant(pk=variant, name=row[22])
        found[row[0]] = Series(
            pk=row[0],
            own_better=row[1],
            tree=trees[tree],
            hardware=machines[machine],
            mode=modes[mode],
            metric=metrics[metric],
            variant=variants.get(variant) if variant is not None else None,
        )
    return found
