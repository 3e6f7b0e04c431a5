"""Why the demonstration could not be loaded."""


class DemonstrationError(Exception):
    """The message says why, and what to do."""
