"""Tell people what they asked to be told."""

from webapp.notifications.mails.alerts import preview
from webapp.notifications.mails.notices import (
    AddressNotTaken,
    NewAddress,
    ask_address,
    ask_new_password,
    asked_address,
    notify_of_change,
    take_address,
)
from webapp.notifications.mails.phrases import alert_line, one_line
from webapp.notifications.services.notifying import (
    NameTaken,
    delete_subscription,
    notify_events,
    save_subscription,
    switch,
)
from webapp.notifications.status import checks
