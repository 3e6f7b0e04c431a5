"""Writes about people, and who may do what."""

from webapp.accounts.factors import (
    FactorUnreadable,
    is_readable,
    read_secret,
    reencrypt_factors,
    take_code,
    unreadable_factors,
)
from webapp.accounts.limits import Asking, CodeAttempt, LimitedPasswordChange
from webapp.accounts.roles import (
    is_operator,
    is_triager,
    operator_required,
    signed_in_required,
    signed_in_user,
    triager_required,
)
from webapp.accounts.services.audit import lines_of, prune_entries
from webapp.accounts.services.people import (
    OWN,
    Pseudonyms,
    ViewError,
    everybody_may_read,
    note_visit,
    open_to_everybody,
    person_removed,
    pseudonym_of,
    pseudonyms,
    save_own_settings,
    save_view,
    share_view,
    views_for,
    without_addresses,
)
