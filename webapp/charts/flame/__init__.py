"""Flame graphs of call trees, and of the difference of two, drawn as SVG."""
