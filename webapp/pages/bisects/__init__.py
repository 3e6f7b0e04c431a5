"""The list of bisects, a bisect, a new one."""
