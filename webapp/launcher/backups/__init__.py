"""Everything of an instance in one file, and back on an empty one."""
