"""How long ago something was, in its largest sensible unit."""

from datetime import timedelta

UNITS = ((86_400, "day", "days"), (3600, "h", "h"), (60, "min", "min"))


def age(length: timedelta) -> str:
    """``16 days``, ``2 h``, ``5 min``, ``1 min`` for anything less, the future included."""
    seconds = length.total_seconds()
    for size, one, many in UNITS:
        count = int(seconds // size)
        if count >= 1:
            return f"{count:,} {one if count == 1 else many}"
    return "1 min"
