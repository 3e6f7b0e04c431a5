"""The whole system on one machine, without Docker: `python -m webapp.launcher up`.

The launcher keeps one instance in one STATE directory: it finds or starts PostgreSQL and Redis,
prepares the database, and runs the web server, the worker and its scheduler under supervisord.
"""
