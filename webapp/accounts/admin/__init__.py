"""Pages of operators: those about people, and what the pages of all rooms share."""

from webapp.accounts.admin import users

__all__ = ["users"]
