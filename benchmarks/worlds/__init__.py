"""Worlds that the statistics must survive, each simulated with a known truth.

Real series are not steps in stationary noise: they are young, their noise grows, machines drift.
`python -m benchmarks.worlds` measures how often the code is wrong, and how often right, in each.
A world is one function in a module of its own, and one line in `benchmarks/worlds/table.py`.
"""
