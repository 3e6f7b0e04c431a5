"""Why an instance cannot start or go on; every message carries its remedy."""


class StackError(Exception):
    """The instance cannot run. Shown as it is; the exit status is 1."""


class UsageError(StackError):
    """What was asked for makes no sense. The exit status is 2."""


class SupervisorLost(StackError):
    """supervisord is gone. What it ran may be running still; a new start takes it up."""


class Stopped(BaseException):
    """Somebody asked the launcher to stop. Not an error: the exit status is 0."""
