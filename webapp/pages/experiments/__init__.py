"""Experiments and their reports, as pages and as files."""
