"""What an operator set for the bisects of one tree."""

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from webapp.bisects.path_patterns import PathPattern, PatternsError, read_patterns
from webapp.results.models import Tree


def validate_patterns(text: str) -> None:
    """For forms: every line that is no pattern, by its number."""
    try:
        read_patterns(text)
    except PatternsError as error:
        raise ValidationError([*error.problems]) from error


class BisectSettings(models.Model):
    """Whether bisects start by themselves, and what they may cost; empty fields: the default."""

    DEFAULT_BOOTS = 60
    DEFAULT_MACHINE_HOURS = 48.0

    tree = models.OneToOneField(
        Tree, on_delete=models.CASCADE, primary_key=True, related_name="bisect_settings"
    )
    automatic = models.BooleanField(
        default=False, help_text="Start one for each alert that is open and has several suspects."
    )
    confirm_candidates = models.BooleanField(
        default=False,
        help_text="Have agents boot each candidate and the revision before it once more.",
    )
    most_boots = models.IntegerField(
        null=True, blank=True, help_text=f"Boots that one may ask for (default {DEFAULT_BOOTS})."
    )
    most_hours = models.FloatField(
        null=True,
        blank=True,
        help_text=f"Machine-hours that one may use (default {DEFAULT_MACHINE_HOURS:g}).",
    )
    command = models.TextField(
        blank=True,
        help_text="What a person runs to measure a revision by hand, with {revision}, {hardware}, "
        "{mode} and {metric}. Empty: the checkout of the revision alone.",
    )

    unlikely_paths = models.TextField(
        blank=True,
        validators=[validate_patterns],
        help_text="Paths that cannot matter, a pattern a line as in .gitignore: share/man/, *.md, "
        "/sys/arm64/. A commit that touches nothing else is an unlikely suspect.",
    )

    class Meta:
        verbose_name_plural = "bisect settings"
        constraints = [
            models.CheckConstraint(
                condition=Q(most_boots__isnull=True) | Q(most_boots__range=(1, 10_000)),
                name="bisect_settings_boots_1_to_10000",
            ),
            models.CheckConstraint(
                condition=Q(most_hours__isnull=True) | Q(most_hours__gt=0, most_hours__lte=10_000),
                name="bisect_settings_hours_to_10000",
            ),
        ]

    def __str__(self) -> str:
        return f"bisects of {self.tree_id}"

    @property
    def budget_of_boots(self) -> int:
        """How many boots a bisect may cost at most."""
        return self.most_boots or BisectSettings.DEFAULT_BOOTS

    @property
    def unlikely_patterns(self) -> list[PathPattern]:
        """Raises PatternsError where what is stored was never validated."""
        return read_patterns(self.unlikely_paths)

    @property
    def budget_of_hours(self) -> float:
        """How many machine hours a bisect may cost at most."""
        return self.most_hours or BisectSettings.DEFAULT_MACHINE_HOURS
