"""Which function composes each kind of mail, as dotted paths: rooms above the outbox own the words.

Each takes the stored mail and returns a `Message`. A system check tries every one of them.
"""

from collections.abc import Mapping

COMPOSERS: Mapping[str, str] = {
    "account.address": "webapp.notifications.mails.notices.address",
    "account.password": "webapp.notifications.mails.notices.new_password",
    "account.changed": "webapp.notifications.mails.notices.sign_in_changed",
    "alert.opened": "webapp.notifications.mails.alerts.opened",
    "alert.confirmed": "webapp.notifications.mails.alerts.confirmed",
    "alert.moved": "webapp.notifications.mails.alerts.moved",
    "alert.recovered": "webapp.notifications.mails.alerts.recovered",
    "alert.returned": "webapp.notifications.mails.alerts.returned",
    "alert.retracted": "webapp.notifications.mails.alerts.retracted",
    "digest.daily": "webapp.notifications.mails.digests.daily",
    "digest.weekly": "webapp.notifications.mails.digests.weekly",
    "lab.refused": "webapp.notifications.mails.notices.refused",
    "status.changed": "webapp.notifications.mails.notices.changed",
    "bisect.done": "webapp.bisects.mails.compose_done",
}
