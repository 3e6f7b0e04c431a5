"""Pages of operators: those about people, and what the pages of all rooms share."""

from webapp.accounts.admin import users
from webapp.accounts.admin.operators import (
    Admin,
    Confirmation,
    Inline,
    InlineFormSet,
    ModelForm,
    OperatedAdmin,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ask,
    bind,
    confirmed,
    count_of,
    whether,
)
