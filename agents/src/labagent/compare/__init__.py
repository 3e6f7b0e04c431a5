"""Two sets of samples compared without a server, by its own rules and in plain Python.

`tests/stats/test_agent_compares_alike.py` holds both to the same numbers.
"""

from labagent.compare.comparing import MARGIN_PCT, Comparison, Side, compare

__all__ = ["MARGIN_PCT", "Comparison", "Side", "compare"]
