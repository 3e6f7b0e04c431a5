"""Variants of kernels, and the rules that tell what a part of a label is."""

from typing import Any, Self

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from webapp.labs.models import Lab
from webapp.results.spellings import NAME_MAX, PART_MAX, PartRule, wrong_with_rule


class VariantQuerySet(models.QuerySet["Variant"]):
    """Variants by their parts."""

    def having(self, part: str) -> Self:
        """Those with a part of this name, whatever its checksum."""
        return self.filter(parts__contains=[{"name": part}])


class Variant(models.Model):
    """What a kernel was built from besides its revision: patches, an image, a vendor's branch.

    ``parts`` (each of ``kind``, ``name``, ``checksum``) are in the order in which they were put on;
    ``name`` joins them with ``+``, each with the start of its checksum where that is known.
    """

    name = models.CharField(max_length=NAME_MAX, unique=True, editable=False)
    parts: Any = models.JSONField(editable=False)

    objects = VariantQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class LabelRuleQuerySet(models.QuerySet["LabelRule"]):
    """Rules in the order in which they are asked."""

    def of_lab(self, lab: int | None) -> Self:
        """Those that are asked about runs of a lab (id): its own before those of all."""
        own = Q(lab__isnull=True) if lab is None else Q(lab__isnull=True) | Q(lab=lab)
        first = models.F("lab").asc(nulls_last=True)
        return self.filter(own, is_active=True).order_by(first, "order", "pk")


class LabelRule(models.Model):
    """What a part of a label, a topic or an image's name is: the first rule that fits decides.

    Those that come with the program are ``is_builtin``: they can be changed and switched off, and
    are not deleted, so that an upgrade adds only what is new.
    """

    class Kind(models.TextChoices):
        OPTION = "option", "an option of the mode"
        KNOB = "knob", "a knob and its value"
        WORKLOAD = "workload", "the workload"
        TRAFFIC = "traffic", "the traffic"
        PATCH = "patch", "variant: a patch"
        IMAGE = "image", "variant: an image"
        VENDOR = "vendor", "variant: a vendor's branch"
        RELEASE = "release", "a release, revision or date: no part of the mode"

    lab = models.ForeignKey(
        Lab,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="label_rules",
        help_text="Empty: all labs. A lab's own rules are asked first.",
    )
    order = models.IntegerField(
        default=0, db_default=0, help_text="Of several that fit, the one with the lowest decides."
    )
    pattern = models.CharField(
        max_length=PART_MAX,
        help_text="Of a whole part, capitals and all: * stands for anything, [0-9] for a digit.",
    )
    of_image = models.BooleanField(
        "only from the image's name",
        default=False,
        db_default=False,
        help_text="Fits only what the name of the run's image holds too.",
    )
    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(
        "is called",
        max_length=PART_MAX,
        blank=True,
        default="",
        db_default="",
        help_text="Another name for it; of a knob its name, the value being what * stands for.",
    )
    is_active = models.BooleanField("is asked", default=True, db_default=True)
    is_builtin = models.BooleanField(default=False, db_default=False, editable=False)

    objects = LabelRuleQuerySet.as_manager()

    class Meta:
        ordering = [models.F("lab").asc(nulls_last=True), "order", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "pattern", "of_image"], nulls_distinct=False, name="label_rule_once"
            ),
            models.CheckConstraint(condition=~Q(pattern=""), name="label_rule_has_a_pattern"),
        ]

    def __str__(self) -> str:
        return f"{self.pattern}: {self.get_kind_display()}"

    def clean(self) -> None:
        """Raise ValidationError for a rule that could never be asked."""
        if wrong := wrong_with_rule(self.rule()):
            raise ValidationError(wrong)

    def rule(self) -> PartRule:
        """The rule as it is asked."""
        return PartRule(self.pattern, self.kind, self.name, self.of_image)  # type: ignore[arg-type]
