"""What the process is wired with: the API's door for ``webapp.config``."""

from webapp.api.auth import sent_by_an_agent
from webapp.api.errors import explain_loss
from webapp.api.urls import NAMESPACE, refuse_reader

__all__ = ["NAMESPACE", "explain_loss", "refuse_reader", "sent_by_an_agent"]
