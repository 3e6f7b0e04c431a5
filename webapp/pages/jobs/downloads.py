"""The agent's files, by which a machine of a lab begins."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from webapp.labs.services import (
    ZIPAPP,
    AgentMissing,
    agent_wheel,
    agent_wheel_name,
    agent_zipapp,
)


@login_not_required
@require_safe
def agent_file(request: HttpRequest, name: str) -> HttpResponse:
    """The wheel or the zipapp. Open on a private instance too: pip does not sign in, and neither
    holds anything of the instance."""
    try:
        made = {ZIPAPP: agent_zipapp, agent_wheel_name(): agent_wheel}.get(name)
        if made is None:
            raise Http404(f"the agent is {ZIPAPP} and {agent_wheel_name()}")
        content = made()
    except AgentMissing as error:
        raise Http404(str(error)) from error
    headers = {"Content-Disposition": f"attachment; filename={name}"}
    return HttpResponse(content, content_type="application/octet-stream", headers=headers)
