"""What a page calls a machine."""

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from webapp.results.models import Hardware, MachineName

NOTHING = mark_safe("")
SIMULATED = mark_safe(' <span class="sim">simulated</span>')


def machine_html(
    called: MachineName, identifier: str, *, simulated: bool, line: bool = False
) -> SafeString:
    """What people call a machine, in two lines or with ``line`` in one; its identifier on hover."""
    return format_html(
        '<span class="hw{}" title="{}"><b>{}</b> <span>{}{}</span></span>',
        " line" if line else "",
        identifier,
        called.first,
        called.second,
        SIMULATED if simulated else NOTHING,
    )


def hardware_html(hardware: Hardware, *, line: bool = False) -> SafeString:
    """`machine_html` of a row. Needs ``hardware.lab`` loaded."""
    simulated = hardware.lab.simulated
    return machine_html(hardware.called, hardware.name, simulated=simulated, line=line)
