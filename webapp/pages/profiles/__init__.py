"""Flame graphs of profiles, and what changed between two sides."""
