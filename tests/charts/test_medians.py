"""Medians side by side."""

import re

from webapp.charts import medians


def test_labels_of_many_groups_keep_what_distinguishes_them() -> None:
    names = [
        f"Simulated {machine} {mode}"
        for machine in ("Atom 8Cores 10G", "Atom 4Cores 1G", "Xeon 12Cores 40G", "Xeon 2Cores 10G")
        for mode in ("forwarding", "ipfw-statefull", "pf-statefull")
    ]
    groups = [medians.Group(name, [medians.Bar(2.0, 1.0, 3.0)]) for name in names]
    texts = medians.Texts("title", "unit", note="Note: below")
    drawn = medians.draw(groups, sides=["a"], texts=texts, is_of_packets=True)
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" class="middle">([^<]+)', drawn)
    labels: dict[str, str] = {}
    for x, _, text in found:
        labels[x] = f"{labels.get(x, '')}{text}"
    assert len(set(labels.values())) == len(names)
    assert not any("Simul" in one for one in labels.values())
    lowest = max(float(y) for _, y, _ in found)
    note = re.search(r'y="([\d.]+)"[^>]*>Note', drawn)
    assert note
    assert lowest < float(note[1]) < medians.HEIGHT
