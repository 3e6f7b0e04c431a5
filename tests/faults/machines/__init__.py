"""Several machines on one database, each a network namespace of Linux, joined by a slow wire."""
