"""What a person says when subscribing."""

import re
from typing import Any

from django import forms

from webapp.accounts.admin import ModelForm
from webapp.notifications.models import Subscription
from webapp.notifications.services import NameTaken, save_subscription

TOGETHER = re.compile(r"[\s,;<>]")
"""As in `Ada <ada@example.org>`: commits are compared with names and with addresses."""

NAME_TAKEN = "You have a subscription of this name; choose another."


def check_author(text: str) -> None:
    """Raise ValidationError for an address that does not stand alone: it would match no commit."""
    if "@" in text and TOGETHER.search(text):
        raise forms.ValidationError(
            f"“{text}” is more than an address: give the address alone, or the name alone."
        )


class SubscriptionForm(ModelForm):
    """A new or edited subscription; its person is that of the instance."""

    severity = forms.FloatField(
        label="At least, %",
        min_value=0,
        max_value=1000,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    class Meta:
        model = Subscription
        fields = [
            "name",
            "tree",
            "hardware",
            "mode",
            "metric",
            "severity",
            "direction",
            "author",
            "mine",
            "cadence",
        ]
        help_texts = {"mine": "by the names that your account lists"}
        labels = {"mine": "Only commits of mine", "cadence": "Mails"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, forms.ModelChoiceField):
                field.empty_label = "any"

    def clean_name(self) -> str:
        """One's subscriptions are told apart by their names."""
        name: str = self.cleaned_data["name"]
        others = Subscription.objects.filter(user=self.instance.user, name=name)
        if others.exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError(NAME_TAKEN)
        return name

    def is_saved(self) -> bool:
        """Store what was given; otherwise the form says what is to be mended."""
        if not self.is_valid():
            return False
        try:
            save_subscription(subscription=self.save(commit=False))
        except NameTaken:
            self.add_error("name", NAME_TAKEN)
            return False
        return True

    def clean_author(self) -> str:
        """The author as given. Raises ValidationError for more than an address alone."""
        author: str = self.cleaned_data["author"]
        check_author(author)
        return author

    def clean_severity(self) -> float:
        """Percent; nothing given is 0."""
        return self.cleaned_data["severity"] or 0.0
