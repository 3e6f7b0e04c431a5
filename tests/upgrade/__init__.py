"""Upgrades: what a released version stored, brought to the present schema.

A fixture is the plain dump of a database of that version and the digest of its content, in
``stored/``. The release of a version adds its fixture (CONTRIBUTING.md); it is never changed.
"""
