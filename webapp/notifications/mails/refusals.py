"""The mail to a lab whose runs somebody else's agent tried to replace."""

from datetime import UTC, datetime, timedelta

from django.template.loader import render_to_string

from webapp.labs.models import Agent
from webapp.outbox.models import Mail
from webapp.outbox.services import Message, NothingToSay, absolute
from webapp.results.models import RefusedReplacement

RUNS_SHOWN = 10


def refused(mail: Mail) -> Message:
    """What an agent tried on the runs of a lab in a day. Raises NothingToSay when it is gone."""
    since = datetime.fromisoformat(mail.data["day"]).replace(tzinfo=UTC)
    lines = RefusedReplacement.objects.filter(
        agent=mail.data["agent"],
        run__hardware__lab=mail.data["lab"],
        last_at__range=(since, since + timedelta(days=1)),
    ).select_related("run__hardware__lab", "run__revision__tree", "run__mode")
    found = list(lines.order_by("first_at", "pk"))
    if not found:
        raise NothingToSay("No such attempt is on record.")
    context = _context(found, Agent.objects.select_related("lab").get(pk=mail.data["agent"]))
    return Message(
        subject=" ".join(render_to_string("emails/lab.refused-subject.txt", context).split()),
        text=render_to_string("emails/lab.refused.txt", context).strip() + "\n",
        html=render_to_string("emails/lab.refused.html", context),
    )


def _context(lines: list[RefusedReplacement], agent: Agent) -> dict[str, object]:
    runs = [line.run for line in lines]
    return {
        "agent": agent,
        "lab": runs[0].hardware.lab,
        "count": len(runs),
        "last_at": max(line.last_at for line in lines),
        "runs": [(run, absolute(run.revision.get_absolute_url())) for run in runs[:RUNS_SHOWN]],
        "more": max(len(runs) - RUNS_SHOWN, 0),
    }
