"""What the process is wired with: the API's door for ``webapp.config``."""

from webapp.api.auth import token_of
from webapp.api.errors import explain_loss
from webapp.api.urls import NAMESPACE, refuse_reader

__all__ = ["NAMESPACE", "explain_loss", "refuse_reader", "token_of"]
