"""The demonstration: published results and a simulated lab, loaded as an agent would.

Described in docs/pages.md; `manage.py load_demo` loads it.
"""
