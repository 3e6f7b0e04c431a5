"""The settings of mail that are in force, without the password."""

from dataclasses import dataclass

from django.conf import settings

SMTP = "webapp.outbox.smtp.EmailBackend"
OTHER_WAYS = {
    "django.core.mail.backends.console.EmailBackend": "into the log, to nobody",
    "django.core.mail.backends.filebased.EmailBackend": "into files, to nobody",
    "django.core.mail.backends.dummy.EmailBackend": "nowhere",
    "django.core.mail.backends.locmem.EmailBackend": "into memory, to nobody",
}


@dataclass(frozen=True, slots=True)
class MailSettings:
    """``way`` is empty when mail goes over SMTP to ``host``; otherwise it names where it goes."""

    way: str
    host: str
    port: int
    tls: str
    user: str
    sender: str

    @property
    def route(self) -> str:
        """Which way mails leave, to end a sentence with."""
        return self.way or f"by {self.host}:{self.port}, {self.tls}"


def in_force() -> MailSettings:
    """What DRIFTLINE_EMAIL_URL and DRIFTLINE_EMAIL_FROM came to."""
    tls = "TLS from the start" if settings.EMAIL_USE_SSL else "no TLS"
    backend = settings.EMAIL_BACKEND
    return MailSettings(
        way="" if backend == SMTP else OTHER_WAYS.get(backend, backend),
        host=settings.EMAIL_HOST,
        port=settings.EMAIL_PORT,
        tls="STARTTLS" if settings.EMAIL_USE_TLS else tls,
        user=settings.EMAIL_HOST_USER or "",
        sender=settings.DEFAULT_FROM_EMAIL,
    )
