"""People."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Q


class PersonManager(UserManager["User"]):
    use_in_migrations = False

    def operators(self) -> models.QuerySet["User"]:
        """Who may sign in and operate the instance."""
        operating = Q(role=User.Role.OPERATOR) | Q(is_staff=True) | Q(is_superuser=True)
        return self.filter(operating, is_active=True)


ROLES_HELP = (
    "A viewer reads and has settings of their own, a triager also acts on alerts, "
    "an operator also operates the instance."
)


class User(AbstractUser):
    """A person who signs in. What the person may do follows from the role alone.

    Django's own flags are kept in line with it: an operator is a superuser, others are neither
    that nor staff. So ``createsuperuser`` makes an operator, and the admin is for operators.
    """

    class Role(models.TextChoices):
        VIEWER = "viewer", "viewer"
        TRIAGER = "triager", "triager"
        OPERATOR = "operator", "operator"

    role = models.CharField(max_length=8, choices=Role, default=Role.VIEWER, help_text=ROLES_HELP)

    objects: ClassVar[PersonManager] = PersonManager()

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["viewer", "triager", "operator"]), name="user_role_known"
            )
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.is_superuser:
            self.role = User.Role.OPERATOR
        if self.role == User.Role.OPERATOR:
            self.is_staff = self.is_superuser = True
        super().save(*args, **kwargs)

    def take_role(self, role: str) -> None:
        """Have ``role`` and Django's flags that belong to it; not saved here."""
        self.role = role
        self.is_staff = self.is_superuser = role == User.Role.OPERATOR

    @property
    def is_operator(self) -> bool:
        return self.role == User.Role.OPERATOR or self.is_staff or self.is_superuser

    @property
    def is_triager(self) -> bool:
        return self.role == User.Role.TRIAGER or self.is_operator
