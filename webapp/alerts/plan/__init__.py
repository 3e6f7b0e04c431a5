"""Bring the alerts of a tree in line with its findings: what is to be done. Pure.

Which commits are suspected by which findings is a function of the data; which alert stands for a
commit is history: an alert keeps its number, its state and its log when its commit moves.
"""

from webapp.alerts.plan.making import plan_changes
