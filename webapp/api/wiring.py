"""What the process is wired with: the API's door for ``webapp.config``."""

from webapp.api.errors import explain_loss
from webapp.api.prometheus import REFUSED
from webapp.api.prometheus import REGISTRY as METRICS
from webapp.api.requests import token_of
from webapp.api.urls import NAMESPACE, refuse_reader

__all__ = ["METRICS", "NAMESPACE", "REFUSED", "explain_loss", "refuse_reader", "token_of"]
