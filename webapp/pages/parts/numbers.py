"""Numbers that stand in an address or a form."""

NUMBER_MAX = 2**63 - 1  # of a bigint


def read_number(text: str) -> int:
    """A number of an alert or a version; 0, which none has, for anything else."""
    return min(int(text[:19]), NUMBER_MAX) if text.isascii() and text.isdigit() else 0
