"""Profiles: what functions cost per packet, and which a change made dearer."""
