"""How the commands of `webapp.stats` behave in a shell."""

import signal


def end_silently() -> None:
    """A reader that closes early (`| head`) or Ctrl-C ends the command without a word, as in C."""
    for name in ("SIGPIPE", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
