"""Post what is to leave, and send it: one file per step."""

from webapp.outbox.messages import (
    CHANNEL,
    Message,
    NewMail,
    NewMessage,
    NothingToSay,
    NotYet,
    absolute,
)
from webapp.outbox.models import LOST
from webapp.outbox.services.endpoints import (
    EndpointError,
    add_endpoint,
    change_endpoint,
    delete_endpoint,
    disable_endpoint,
    enable_endpoint,
    ping_endpoint,
    reencrypt_secrets,
    renew_secret,
    retry_deliveries,
)
from webapp.outbox.services.items import post_event, post_mails, post_messages
from webapp.outbox.services.mailing import (
    OTHER_ADDRESS,
    TestMailError,
    drop_mails,
    move_mails,
    retry_all_mails,
    retry_mails,
    send_due_mails,
    send_test_mail,
)
from webapp.outbox.smtp import mail_settings
