"""Simulation: series, labs and bisects with a known truth.

Tests, benchmarks and the demonstration measure against them. Everything is drawn from one seed by
a NumPy generator: the same seed gives the same numbers.
"""

from webapp.stats.simulate import bisect_lab
from webapp.stats.simulate.lab import (
    MACHINES,
    MEASURED_ON,
    Lab,
    LabRun,
    Planted,
    make_branch,
    make_lab,
)
from webapp.stats.simulate.series import (
    Drift,
    Event,
    Noise,
    OutlierRevision,
    OutlierSample,
    Scatter,
    Simulated,
    Step,
    draw_levels,
    draw_samples,
    make_series,
)
