"""95 % intervals of counts and shares, and tables in Markdown."""

from collections.abc import Sequence

from scipy import stats


def rate(count: int, revisions: int) -> tuple[float, float, float]:
    """Return events per 1,000 revisions with the exact Poisson interval (Garwood 1936)."""
    low = stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    high = stats.chi2.ppf(0.975, 2 * count + 2) / 2
    scale = 1000.0 / revisions
    return count * scale, float(low) * scale, float(high) * scale


def share(hits: int, trials: int) -> tuple[float, float, float]:
    """Return a share with Wilson's interval (1927)."""
    if not trials:
        return 0.0, 0.0, 1.0
    z = 1.959964
    p = hits / trials
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * (p * (1 - p) / trials + z * z / (4 * trials**2)) ** 0.5
    return p, max(centre - half, 0.0), min(centre + half, 1.0)


def with_range(values: tuple[float, float, float], digits: int = 2) -> str:
    """Return `value [low, high]`."""
    value, low, high = (f"{number:.{digits}f}" for number in values)
    return f"{value} [{low}, {high}]"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
